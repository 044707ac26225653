package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// join makes a data set of the launches.
func join(results []*result, p *microbench.Plan, s Settings, b *built, launcher []string) (*sample.Set, error) {
	first := results[0]
	set := &sample.Set{Facts: facts(results, p, s, b, launcher)}
	for n, r := range results {
		if setting(r, launcher) != setting(first, launcher) {
			return nil, fmt.Errorf("launch %d ran on %s with %s, and the first on %s with %s: they are no launches of one thing",
				n+1, r.where(), libraryName(r.library), first.where(), libraryName(first.library))
		}
		for _, x := range r.series {
			x.Platform, x.Library, x.Clock, x.Place, x.Protocol, x.Launch = Platform, libraryName(r.library), "real", s.Place, "auto", n
			if x.Place == "" {
				x.Place = r.place()
			}
			set.Series = append(set.Series, x)
		}
	}
	return set, nil
}

// place is where the ranks are to each other.
func (r *result) place() string {
	if r.hosts == 1 {
		return "intra"
	}
	return "inter"
}

// where names the hosts.
func (r *result) where() string {
	if a, b := r.ranks[0].host, r.ranks[1].host; a != b {
		return a + " and " + b
	}
	return r.ranks[0].host
}

// setting is what samples must have in common to be launches of one thing. It is kept as a sum, so that no host is named.
func setting(r *result, launcher []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %d %q", r.library, r.standard, r.threads, r.hosts, launcher)
	for _, x := range r.ranks {
		fmt.Fprintf(h, "%q %q", x.host, x.processor)
	}
	fmt.Fprint(h, r.variables)
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// facts says what is known about the run.
func facts(results []*result, p *microbench.Plan, s Settings, b *built, launcher []string) []sample.Fact {
	r := results[0]
	version := b.version
	if version == "" {
		version = "unknown"
	}
	delta := "twice the median round of the warm-up"
	if p.Delta > 0 {
		delta = p.Delta.MicrosString() + " us"
	}
	list := []sample.Fact{
		{Key: sample.PlatformSum, Value: setting(r, launcher)},
		{Key: "library_version", Value: start(r.library, 1000)},
		{Key: "mpi_standard", Value: r.standard},
		{Key: "thread_level", Value: r.threads + " (MPI_Init)"},
		{Key: "eager_limits", Value: eagerLimits(r)},
		{Key: "compiler", Value: version},
		{Key: "compile", Value: words(append([]string{b.compiler}, options...))},
		{Key: "launcher", Value: words(launcher)},
		{Key: "launches", Value: strconv.Itoa(len(results))},
		{Key: "hosts", Value: map[int]string{1: "one", 2: "two"}[r.hosts]},
		{Key: sample.Ranks, Value: "2"},
		{Key: sample.Pair, Value: "0 1"},
	}
	for i := range r.ranks {
		of := fmt.Sprintf("p%d_", i+1)
		list = append(list,
			sample.Fact{Key: of + "processor", Value: r.ranks[i].processor},
			sample.Fact{Key: of + "bound_to", Value: each(results, func(r *result) string { return r.ranks[i].bound })})
	}
	return append(list,
		sample.Fact{Key: "seed", Value: strconv.FormatUint(s.Seed, 10) + ", of the order of cells"},
		sample.Fact{Key: "reps", Value: strconv.Itoa(p.Reps)},
		sample.Fact{Key: "warmup", Value: strconv.Itoa(p.Warmup)},
		sample.Fact{Key: "delta", Value: delta},
		sample.Fact{Key: sample.Roots, Value: "2"},
		sample.Fact{Key: "timer", Value: "clock_gettime(CLOCK_MONOTONIC), its cost taken out of every sample; rtt: the mean of up to 64 round trips that last 10 us"},
		sample.Fact{Key: sample.Resolution, Value: largest(results, func(x rank) unit.Time { return x.resolution }).MicrosString()},
		sample.Fact{Key: "timer_cost_us", Value: largest(results, func(x rank) unit.Time { return x.cost }).MicrosString()},
	)
}

// each returns what holds for all launches, or what holds for which.
func each(results []*result, of func(*result) string) string {
	var values []string
	for _, r := range results {
		values = append(values, of(r))
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

func largest(results []*result, of func(rank) unit.Time) unit.Time {
	var t unit.Time
	for _, r := range results {
		t = max(t, of(r.ranks[0]), of(r.ranks[1]))
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

// libraryName returns a short name of a library from what it says of its version: Open MPI 4.1.4. One that is not known keeps its own
// words, as far as they fit.
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

// eagerLimits returns those of the library's variables that are limits in bytes of what is sent eagerly, or "unknown". MPICH has those of
// all its devices, and a number below zero where a device decides for itself.
func eagerLimits(r *result) string {
	var list []string
	for _, v := range r.variables {
		name := strings.ToLower(v.name)
		size := strings.HasSuffix(name, "eager_limit") || strings.HasSuffix(name, "_sz") || strings.HasSuffix(name, "msg_size")
		if size && v.value > 0 && v.value < 1<<31-1 && !foreign(name, r.library) {
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
