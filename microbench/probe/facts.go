package probe

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// buildSet makes a data set of the launches.
func (m *measurement) buildSet(out *microbench.ExperimentResult) (*sample.Set, error) {
	first := m.greetings[0]
	for i := range out.Series {
		x := &out.Series[i]
		x.Platform, x.Library, x.Clock = PlatformName, libraryName(first.library), "real"
		if len(m.Pairs) == 0 {
			x.Place = cmp.Or(m.settings.Place, first.placeOfRanks())
		}
		if x.Protocol == "" {
			x.Protocol = "auto"
		}
	}
	return &sample.Set{Facts: m.setFacts(out), Series: out.Series}, nil
}

// placeOfRanks is where the ranks are to each other.
func (p *launchGreeting) placeOfRanks() string {
	if p.hosts == 1 {
		return "intra"
	}
	return "inter"
}

// hostNames names the hosts.
func (p *launchGreeting) hostNames() string {
	return truncateFact(strings.Join(p.distinctValues(rank.hostAndProcessor), " and "), 1000)
}

func (r rank) hostAndProcessor() string { return r.host }

// distinctValues returns what is true of any of the ranks, once each.
func (p *launchGreeting) distinctValues(of func(rank) string) []string {
	var list []string
	for _, r := range p.ranks {
		if x := of(r); !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// settingOfLaunch is what samples must have in common to be launches of one thing. It is kept as a
// sum, so that no host is named.
func (m *measurement) settingOfLaunch(r *launchGreeting) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %q", r.library, r.standard, r.threads, r.hosts, m.launcher)
	for _, x := range r.ranks {
		fmt.Fprintf(h, "%q %q", x.host, x.processor)
	}
	for _, name := range mpiEnvironment(os.Environ()) {
		fmt.Fprintf(h, "%q", name)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// mpiEnvironment returns those variables that are known to set up an MPI.
func mpiEnvironment(all []string) []string {
	var list []string
	for _, e := range all {
		for _, begins := range []string{"OMPI_MCA_", "PMIX_MCA_", "PRTE_MCA_", "MPICH_", "MPIR_", "MV2_", "I_MPI_", "UCX_", "FI_", "PSM"} {
			if strings.HasPrefix(e, begins) {
				list = append(list, e)
			}
		}
	}
	slices.Sort(list)
	return list
}

// setFacts says what is known about the run.
func (m *measurement) setFacts(out *microbench.ExperimentResult) []sample.Fact {
	r := m.greetings[0]
	version := m.compilerVersion
	if version == "" {
		version = "unknown"
	}
	eager := "not asked for"
	if !m.settings.SkipsEagerLimits {
		eager = eagerLimitsText(r.library, m.eagerVariables)
	}
	list := []sample.Fact{
		{Key: sample.PlatformSumFact, Value: m.settingOfLaunch(r)},
		{Key: "library_version", Value: truncateFact(r.library, 1000)},
		{Key: "mpi_standard", Value: r.standard},
		{Key: "thread_level", Value: r.threads + " (MPI_Init)"},
		{Key: "eager_limits", Value: eager},
		{Key: "compiler", Value: version},
		{Key: "compile", Value: quoteCommand(append([]string{m.compilerPath}, m.options...))},
		{Key: "launcher", Value: quoteCommand(m.launcher)},
		{Key: "hosts", Value: countHosts(r.hosts)},
		{Key: sample.RanksFact, Value: strconv.Itoa(m.ranks)},
		{Key: BindingFact, Value: valueOfLaunches(m.greetings, (*launchGreeting).bindingText)},
	}
	switch {
	case len(m.Collectives) > 0:
		list = append(list, m.collectiveFacts(out)...)
	case len(m.Pairs) > 0:
		list = append(append(list, sample.Fact{Key: sample.PairFact, Value: sample.AllPairsValue}), m.placementFacts()...)
		if len(r.distinctValues(rank.hostAndProcessor)) == m.ranks {
			list = append(list, sample.Fact{Key: sample.OnePlaceFact, Value: "inter"})
		} else if r.hosts == 1 {
			list = append(list, sample.Fact{Key: sample.OnePlaceFact, Value: "intra"})
		}
		list = append(list, m.timingFacts()...)
	default:
		list = append(list, m.pairFacts()...)
	}
	return append(list,
		sample.Fact{Key: sample.ResolutionFact, Value: largestTime(m.greetings, func(x rank) unit.Time { return x.resolution }).MicrosString()},
		sample.Fact{Key: sample.ClockCostFact, Value: largestTime(m.greetings, func(x rank) unit.Time { return x.cost }).MicrosString()},
		sample.Fact{Key: sample.ClockCostHandlingFact, Value: sample.ClockCostSubtracted},
	)
}

func countHosts(n int) string {
	if n <= 2 {
		return []string{"one", "two"}[n-1]
	}
	return strconv.Itoa(n)
}

// pairFacts says what is known of a pair of ranks, and of how it was measured.
func (m *measurement) pairFacts() []sample.Fact {
	r := m.greetings[0]
	list := []sample.Fact{{Key: sample.PairFact, Value: "0 1"}}
	for i := range r.ranks {
		of := fmt.Sprintf("p%d_", i+1)
		list = append(list,
			sample.Fact{Key: of + "processor", Value: r.ranks[i].processor},
			sample.Fact{Key: of + "bound_to", Value: valueOfLaunches(m.greetings, func(h *launchGreeting) string { return h.ranks[i].bound })})
	}
	return append(list, m.timingFacts()...)
}

// timingFacts says how messages were timed.
func (m *measurement) timingFacts() []sample.Fact {
	delta := "half the shortest round of the warm-up"
	if m.Delta > 0 {
		delta = m.Delta.MicrosString() + " us"
	}
	return []sample.Fact{
		{Key: "warmup", Value: "round trips until they take the same time again and again; rounds of 100 us at each visit"},
		{Key: "delta", Value: delta},
		{Key: sample.RootsFact, Value: "2"},
		{Key: "timer", Value: "clock_gettime(CLOCK_MONOTONIC); rtt: the mean of up to 64 round trips"},
	}
}

// BindingFact is the fact that says whether each rank was kept on a processor of its own, and
// UnboundValue how it begins if not.
const (
	BindingFact  = "binding"
	UnboundValue = "none"
)

// bindingText says whether the ranks are bound to processors of their own.
func (p *launchGreeting) bindingText() string {
	if p.areRanksBoundApart() {
		return "each rank on a processor of its own"
	}
	return UnboundValue + ": the system may move a rank from one processor to another"
}

// valueOfLaunches returns what holds for all launches, or what holds for which.
func valueOfLaunches(launches []*launchGreeting, of func(*launchGreeting) string) string {
	var values []string
	for _, p := range launches {
		values = append(values, of(p))
	}
	if len(slices.Compact(slices.Clone(values))) == 1 {
		return values[0]
	}
	for n := range values {
		values[n] = fmt.Sprintf("%s (launch %d)", values[n], n)
	}
	return truncateFact(strings.Join(values, "; "), 10_000)
}

// truncateFact returns the beginning of a text that may be too long for a fact or a name.
func truncateFact(s string, most int) string {
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), most)], ""))
}

func largestTime(launches []*launchGreeting, of func(rank) unit.Time) unit.Time {
	var t unit.Time
	for _, p := range launches {
		for _, r := range p.ranks {
			t = max(t, of(r))
		}
	}
	return t
}

var libraryNames = []struct {
	says *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`^Open MPI v(\S+?),`), "Open MPI"},
	{regexp.MustCompile(`^MPICH Version: *(\S+?);`), "MPICH"},
	{regexp.MustCompile(`^MVAPICH\S* Version *: *(\S+?);`), "MVAPICH"},
	{regexp.MustCompile(`^Intel\(R\) MPI Library (\S+)`), "Intel MPI"},
	{regexp.MustCompile(`CRAY MPICH version (\S+)`), "Cray MPICH"},
}

// libraryName returns a short name of a library from what it says of its version: Open MPI 4.1.4.
// One that is not known keeps its own words, as far as they fit.
func libraryName(version string) string {
	for _, l := range libraryNames {
		if m := l.says.FindStringSubmatch(version); m != nil {
			return truncateFact(l.name+" "+m[1], maxNameLength)
		}
	}
	version, _, _ = strings.Cut(version, ";")
	version = truncateFact(strings.TrimLeft(version, "# "), maxNameLength)
	if version == "" {
		return "unknown"
	}
	return version
}

// maxNameLength is what a name may have.
const maxNameLength = 60

// eagerLimitsText returns those of the library's variables that are limits in bytes of what is sent
// eagerly, or "unknown". MPICH has those of all its devices, and a number below zero where a device
// decides for itself.
func eagerLimitsText(library string, variables []eagerVariable) string {
	var list []string
	for _, v := range variables {
		name := strings.ToLower(v.name)
		size := strings.HasSuffix(name, "eager_limit") || strings.HasSuffix(name, "_sz") || strings.HasSuffix(name, "msg_size")
		if size && v.value > 0 && v.value < 1<<31-1 && !isVariableOfOtherDevice(name, library) {
			list = append(list, fmt.Sprintf("%s=%d", v.name, v.value))
		}
	}
	if len(list) == 0 {
		return "unknown"
	}
	return strings.Join(list, " ")
}

var devicePattern = regexp.MustCompile(`MPICH Device: *(\w+):(\w+)`)

// isVariableOfOtherDevice says whether a variable is of another device than the library runs on,
// such as ch4:ucx.
func isVariableOfOtherDevice(name, library string) bool {
	m := devicePattern.FindStringSubmatch(library)
	if m == nil {
		return false
	}
	if m[1] == "ch3" {
		return strings.Contains(name, "_ch4_")
	}
	return strings.Contains(name, "_ch3_") || strings.Contains(name, "_nemesis_") ||
		strings.Contains(name, "_ofi_") && m[2] != "ofi" || strings.Contains(name, "_ucx_") && m[2] != "ucx"
}

// reasonForSeparateClocks says why ranks cannot begin at the same time by their clocks, or returns
// "".
func (p *launchGreeting) reasonForSeparateClocks() string {
	switch {
	case p.hosts > 1 || len(p.distinctValues(rank.hostAndProcessor)) > 1:
		return "hosts have clocks of their own"
	case p.isOversubscribed():
		return fmt.Sprintf("%d ranks have %d processors, and cannot all begin at once", len(p.ranks), p.usableProcessors())
	}
	return ""
}

// isOversubscribed says whether ranks on one host take turns on its processors.
func (p *launchGreeting) isOversubscribed() bool {
	n := p.usableProcessors()
	return p.hosts == 1 && 0 < n && n < len(p.ranks)
}

// usableProcessors returns on how many processors any of the ranks may run, which are lists such as
// 0-3,8; 0 if that is not known.
func (p *launchGreeting) usableProcessors() int {
	all := map[int]bool{}
	for _, part := range strings.Split(strings.Join(p.distinctValues(func(r rank) string { return r.bound }), ","), ",") {
		first, last, several := strings.Cut(part, "-")
		if !several {
			last = first
		}
		from, err := strconv.ParseUint(first, 10, 16)
		to, err2 := strconv.ParseUint(last, 10, 16)
		if err != nil || err2 != nil {
			return 0
		}
		for i := from; i <= to; i++ {
			all[int(i)] = true
		}
	}
	return len(all)
}

// placementFacts says on what all ranks ran.
func (m *measurement) placementFacts() []sample.Fact {
	const long = 10_000
	r := m.greetings[0]
	bound := func(p *launchGreeting) string {
		var of []string
		for _, r := range p.ranks {
			of = append(of, r.bound)
		}
		return truncateFact(strings.Join(of, "; "), long/len(m.greetings))
	}
	return []sample.Fact{
		{Key: "processor", Value: truncateFact(strings.Join(r.distinctValues(func(r rank) string { return r.processor }), "; "), long)},
		{Key: "bound_to", Value: valueOfLaunches(m.greetings, bound)},
	}
}

// collectiveFacts says what is known of all ranks, and of how they were measured.
func (m *measurement) collectiveFacts(out *microbench.ExperimentResult) []sample.Fact {
	r := m.greetings[0]
	return append(m.placementFacts(), []sample.Fact{
		{Key: "algorithms", Value: VendorAlgorithm + ": chosen by the library, by length and ranks; it does not report which"},
		{Key: "elements", Value: "MPI_DOUBLE and MPI_SUM, or MPI_UNSIGNED_CHAR where bytes are no multiple of 8"},
		{Key: "root", Value: "0"},
		microbench.CollectiveStartFact(r.reasonForSeparateClocks(), out.LateStartCount, out.AgreedStartAttempts),
		{Key: "timer", Value: "clock_gettime(CLOCK_MONOTONIC)"},
	}...)
}

// areRanksBoundApart says whether each rank is bound to a processor of its own.
func (p *launchGreeting) areRanksBoundApart() bool {
	taken := p.distinctValues(func(r rank) string {
		if _, err := strconv.Atoi(r.bound); err != nil {
			return ""
		}
		return r.host + " " + r.bound
	})
	return !slices.Contains(taken, "") && (len(taken) == len(p.ranks) || p.hosts == len(p.ranks))
}
