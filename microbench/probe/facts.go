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

// join makes a data set of the launches.
func (m *measurement) join(out *microbench.ExperimentResult) (*sample.Set, error) {
	first := m.launches[0]
	for i := range out.Series {
		x := &out.Series[i]
		x.Platform, x.Library, x.Clock = Platform, libraryName(first.library), "real"
		if len(m.Pairs) == 0 {
			x.Place = cmp.Or(m.settings.Place, first.place())
		}
		if x.Protocol == "" {
			x.Protocol = "auto"
		}
	}
	return &sample.Set{Facts: m.facts(out), Series: out.Series}, nil
}

// place is where the ranks are to each other.
func (p *hello) place() string {
	if p.hosts == 1 {
		return "intra"
	}
	return "inter"
}

// where names the hosts.
func (p *hello) where() string { return start(strings.Join(p.distinct(rank.hosted), " and "), 1000) }

func (r rank) hosted() string { return r.host }

// distinct returns what is true of any of the ranks, once each.
func (p *hello) distinct(of func(rank) string) []string {
	var list []string
	for _, r := range p.ranks {
		if x := of(r); !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}

// setting is what samples must have in common to be launches of one thing. It is kept as a sum, so
// that no host is named.
func (m *measurement) setting(r *hello) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %q", r.library, r.standard, r.threads, r.hosts, m.launcher)
	for _, x := range r.ranks {
		fmt.Fprintf(h, "%q %q", x.host, x.processor)
	}
	for _, name := range environment(os.Environ()) {
		fmt.Fprintf(h, "%q", name)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// environment returns those variables that are known to set up an MPI.
func environment(all []string) []string {
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

// facts says what is known about the run.
func (m *measurement) facts(out *microbench.ExperimentResult) []sample.Fact {
	r := m.launches[0]
	version := m.version
	if version == "" {
		version = "unknown"
	}
	eager := "not asked for"
	if !m.settings.Brief {
		eager = eagerLimits(r.library, m.eager)
	}
	list := []sample.Fact{
		{Key: sample.PlatformSumFact, Value: m.setting(r)},
		{Key: "library_version", Value: start(r.library, 1000)},
		{Key: "mpi_standard", Value: r.standard},
		{Key: "thread_level", Value: r.threads + " (MPI_Init)"},
		{Key: "eager_limits", Value: eager},
		{Key: "compiler", Value: version},
		{Key: "compile", Value: words(append([]string{m.compiler}, m.options...))},
		{Key: "launcher", Value: words(m.launcher)},
		{Key: "hosts", Value: hosts(r.hosts)},
		{Key: sample.RanksFact, Value: strconv.Itoa(m.ranks)},
		{Key: Binding, Value: each(m.launches, (*hello).binding)},
	}
	switch {
	case len(m.Collectives) > 0:
		list = append(list, m.ofAll(out)...)
	case len(m.Pairs) > 0:
		list = append(append(list, sample.Fact{Key: sample.PairFact, Value: sample.AllPairsValue}), m.placed()...)
		if len(r.distinct(rank.hosted)) == m.ranks {
			list = append(list, sample.Fact{Key: sample.OnePlaceFact, Value: "inter"})
		} else if r.hosts == 1 {
			list = append(list, sample.Fact{Key: sample.OnePlaceFact, Value: "intra"})
		}
		list = append(list, m.timed()...)
	default:
		list = append(list, m.ofPair()...)
	}
	return append(list,
		sample.Fact{Key: sample.ResolutionFact, Value: largest(m.launches, func(x rank) unit.Time { return x.resolution }).MicrosString()},
		sample.Fact{Key: sample.ClockCostFact, Value: largest(m.launches, func(x rank) unit.Time { return x.cost }).MicrosString()},
		sample.Fact{Key: sample.ClockCostHandlingFact, Value: sample.ClockCostSubtracted},
	)
}

func hosts(n int) string {
	if n <= 2 {
		return []string{"one", "two"}[n-1]
	}
	return strconv.Itoa(n)
}

// ofPair says what is known of a pair of ranks, and of how it was measured.
func (m *measurement) ofPair() []sample.Fact {
	r := m.launches[0]
	list := []sample.Fact{{Key: sample.PairFact, Value: "0 1"}}
	for i := range r.ranks {
		of := fmt.Sprintf("p%d_", i+1)
		list = append(list,
			sample.Fact{Key: of + "processor", Value: r.ranks[i].processor},
			sample.Fact{Key: of + "bound_to", Value: each(m.launches, func(h *hello) string { return h.ranks[i].bound })})
	}
	return append(list, m.timed()...)
}

// timed says how messages were timed.
func (m *measurement) timed() []sample.Fact {
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

// Binding is the fact that says whether each rank was kept on a processor of its own, and Unbound
// how it begins if not.
const (
	Binding = "binding"
	Unbound = "none"
)

// binding says whether the ranks are bound to processors of their own.
func (p *hello) binding() string {
	if p.apart() {
		return "each rank on a processor of its own"
	}
	return Unbound + ": the system may move a rank from one processor to another"
}

// each returns what holds for all launches, or what holds for which.
func each(launches []*hello, of func(*hello) string) string {
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
	return start(strings.Join(values, "; "), 10_000)
}

// start returns the beginning of a text that may be too long for a fact or a name.
func start(s string, most int) string {
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), most)], ""))
}

func largest(launches []*hello, of func(rank) unit.Time) unit.Time {
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
			return start(l.name+" "+m[1], longName)
		}
	}
	version, _, _ = strings.Cut(version, ";")
	version = start(strings.TrimLeft(version, "# "), longName)
	if version == "" {
		return "unknown"
	}
	return version
}

// longName is what a name may have.
const longName = 60

// eagerLimits returns those of the library's variables that are limits in bytes of what is sent
// eagerly, or "unknown". MPICH has those of all its devices, and a number below zero where a device
// decides for itself.
func eagerLimits(library string, variables []variable) string {
	var list []string
	for _, v := range variables {
		name := strings.ToLower(v.name)
		size := strings.HasSuffix(name, "eager_limit") || strings.HasSuffix(name, "_sz") || strings.HasSuffix(name, "msg_size")
		if size && v.value > 0 && v.value < 1<<31-1 && !foreign(name, library) {
			list = append(list, fmt.Sprintf("%s=%d", v.name, v.value))
		}
	}
	if len(list) == 0 {
		return "unknown"
	}
	return strings.Join(list, " ")
}

var device = regexp.MustCompile(`MPICH Device: *(\w+):(\w+)`)

// foreign says whether a variable is of another device than the library runs on, such as ch4:ucx.
func foreign(name, library string) bool {
	m := device.FindStringSubmatch(library)
	if m == nil {
		return false
	}
	if m[1] == "ch3" {
		return strings.Contains(name, "_ch4_")
	}
	return strings.Contains(name, "_ch3_") || strings.Contains(name, "_nemesis_") ||
		strings.Contains(name, "_ofi_") && m[2] != "ofi" || strings.Contains(name, "_ucx_") && m[2] != "ucx"
}

// clocksApart says why ranks cannot begin at the same time by their clocks, or returns "".
func (p *hello) clocksApart() string {
	switch {
	case p.hosts > 1 || len(p.distinct(rank.hosted)) > 1:
		return "hosts have clocks of their own"
	case p.crowded():
		return fmt.Sprintf("%d ranks have %d processors, and cannot all begin at once", len(p.ranks), p.usable())
	}
	return ""
}

// crowded says whether ranks on one host take turns on its processors.
func (p *hello) crowded() bool { n := p.usable(); return p.hosts == 1 && 0 < n && n < len(p.ranks) }

// usable returns on how many processors any of the ranks may run, which are lists such as 0-3,8; 0
// if that is not known.
func (p *hello) usable() int {
	all := map[int]bool{}
	for _, part := range strings.Split(strings.Join(p.distinct(func(r rank) string { return r.bound }), ","), ",") {
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

// placed says on what all ranks ran.
func (m *measurement) placed() []sample.Fact {
	const long = 10_000
	r := m.launches[0]
	bound := func(p *hello) string {
		var of []string
		for _, r := range p.ranks {
			of = append(of, r.bound)
		}
		return start(strings.Join(of, "; "), long/len(m.launches))
	}
	return []sample.Fact{
		{Key: "processor", Value: start(strings.Join(r.distinct(func(r rank) string { return r.processor }), "; "), long)},
		{Key: "bound_to", Value: each(m.launches, bound)},
	}
}

// ofAll says what is known of all ranks, and of how they were measured.
func (m *measurement) ofAll(out *microbench.ExperimentResult) []sample.Fact {
	r := m.launches[0]
	return append(m.placed(), []sample.Fact{
		{Key: "algorithms", Value: Vendor + ": chosen by the library, by length and ranks; it does not report which"},
		{Key: "elements", Value: "MPI_DOUBLE and MPI_SUM, or MPI_UNSIGNED_CHAR where bytes are no multiple of 8"},
		{Key: "root", Value: "0"},
		microbench.CollectiveStartFact(r.clocksApart(), out.LateStartCount, out.AgreedStartCount),
		{Key: "timer", Value: "clock_gettime(CLOCK_MONOTONIC)"},
	}...)
}

// apart says whether each rank is bound to a processor of its own.
func (p *hello) apart() bool {
	taken := p.distinct(func(r rank) string {
		if _, err := strconv.Atoi(r.bound); err != nil {
			return ""
		}
		return r.host + " " + r.bound
	})
	return !slices.Contains(taken, "") && (len(taken) == len(p.ranks) || p.hosts == len(p.ranks))
}
