//go:build unix

package probe

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// What comes of a result, up to the file of samples.
func TestMeasure(t *testing.T) {
	s := fakes(t)
	s.Launches, s.Seed = 3, 7
	plan := *small
	plan.Delta = 5 * unit.Microsecond
	var done []int
	set, err := Measure(t.Context(), &plan, s, func(n int) { done = append(done, n) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(done, []int{1, 2, 3}) {
		t.Errorf("done with %v", done)
	}
	for key, want := range map[string]string{
		"library_version": "Fake MPI 1.0;of no use", "mpi_standard": "3.1", "thread_level": "single (MPI_Init)",
		"eager_limits": "btl_fake_eager_limit=4096", "compiler": "fake 1.0", "launches": "3", "hosts": "one", sample.Ranks: "2", sample.Pair: "0 1",
		"p1_processor": "Fake", "p2_bound_to": "1", "reps": "8", "delta": "5 us", sample.Roots: "2", sample.Resolution: "0.001", "timer_cost_us": "0.02",
	} {
		if got, _ := set.Fact(key); got != want {
			t.Errorf("fact %s is %q, want %q", key, got, want)
		}
	}
	if launcher, _ := set.Fact("launcher"); !strings.HasSuffix(launcher, "testdata/mpirun -n 2") {
		t.Errorf("launcher %q", launcher)
	}
	first := set.Series[0]
	want := sample.Key{Platform: "mpi", Library: "Fake MPI 1.0", Clock: "real", Place: "intra", Mode: "send", Protocol: "auto", Timer: "timer11"}
	if first.Key != want || len(first.Times) != 16 || first.Times[0] != unit.Microsecond {
		t.Errorf("the first series is %v", first)
	}
	if last := set.Series[len(set.Series)-1]; last.Launch != 2 || last.Bytes != 100 || last.Timer != sample.Train {
		t.Errorf("the last series is %v", last.Key)
	}
	var b bytes.Buffer
	if err := sample.Write(&b, set); err != nil {
		t.Fatal(err)
	}
	if back, err := sample.Read(&b, "samples"); err != nil || back.Rows() != set.Rows() {
		t.Errorf("read back: %v", err)
	}
}

// A place that was named counts.
func TestPlace(t *testing.T) {
	s := fakes(t)
	s.Place = "inter"
	set, err := Measure(t.Context(), small, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if place := set.Series[0].Place; place != "inter" {
		t.Errorf("place %s", place)
	}
}

// What cannot be measured is refused before anything is compiled.
func TestRefused(t *testing.T) {
	for want, p := range map[string]microbench.Plan{
		"protocol RTA":      {Modes: []string{"send"}, Sizes: []int{1}, Reps: 1, Protocol: "RTA"},
		"low-level":         {Modes: []string{microbench.Message}, Sizes: []int{1}, Reps: 1},
		"repetition":        {Modes: []string{"send"}, Sizes: []int{1}},
		"no mode":           {Modes: []string{"zsend"}, Sizes: []int{1}, Reps: 1},
		"samples, and at m": {Modes: microbench.Modes(), Sizes: []int{1, 2}, Reps: 1_000_000},
	} {
		if _, err := Measure(t.Context(), &p, Settings{Compiler: "/none"}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// The program has the timers of package microbench, and as many samples of each.
func TestSameAsMicrobench(t *testing.T) {
	job, err := world.Open("loggp", "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, reps := range []int{1, 8, 200} {
		plan := &microbench.Plan{Modes: microbench.Modes(), Sizes: []int{16}, Reps: reps, Common: true}
		series, err := microbench.Sweep(t.Context(), plan, job.Options(""), func(ctx context.Context, n int) (mpi.World, error) {
			return job.World(ctx, uint64(n))
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var theirs, ours []string
		for _, s := range series {
			theirs = append(theirs, fmt.Sprint(s.Mode, s.Timer, len(s.Times)))
		}
		for _, c := range plan.Cells() {
			for _, x := range timers(c.Mode, reps) {
				ours = append(ours, fmt.Sprint(c.Mode, x.name, x.samples))
			}
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("%d repetitions:\n%v, and microbench has\n%v", reps, ours, theirs)
		}
	}
}

func TestPlanText(t *testing.T) {
	p := &microbench.Plan{Reps: 600, Warmup: 10, Delta: 1500}
	got := string(planText(p, []microbench.Cell{{Mode: "ssend", Bytes: 16}, {Mode: "send", Bytes: 0}}))
	if want := "loggp-plan 1\nreps 600\nwarmup 10\ndelta 2\ncells 2\nssend 16\nsend 0\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The order of cells is the same for a seed, and another in each launch and for each seed.
func TestOrder(t *testing.T) {
	p := &microbench.Plan{Modes: microbench.Modes(), Sizes: []int{0, 1, 2, 3}}
	seen := map[string]bool{fmt.Sprint(p.Cells()): true}
	for seed := range uint64(3) {
		for launch := range 3 {
			cells := order(p, seed, launch)
			text := fmt.Sprint(cells)
			if seen[text] {
				t.Errorf("seed %d, launch %d: an order that was there", seed, launch)
			}
			seen[text] = true
			if again := fmt.Sprint(order(p, seed, launch)); again != text {
				t.Errorf("seed %d, launch %d: %s, then %s", seed, launch, text, again)
			}
			for _, c := range p.Cells() {
				if !slices.Contains(cells, c) {
					t.Errorf("no cell %v", c)
				}
			}
		}
	}
}

const good = `loggp-probe 1
library Fake
standard 3.1
threads single
hosts 2
host a
processor x
bound 0
cost 27053
resolution 1000
host b
processor
bound 1
cost 27054
resolution 1000
variable a_eager_limit 18446744073709551615
series send 16 timer11 2
5
7
series send 16 timer12 1
9
end 3 21
`

func TestRead(t *testing.T) {
	r, err := read(strings.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	if r.hosts != 2 || r.ranks[1].host != "b" || r.ranks[1].processor != "" || r.ranks[0].cost != 27053 || r.variables[0].value != -1 ||
		len(r.series) != 2 || r.series[0].Times[1] != 7 || r.series[1].Timer != "timer12" {
		t.Errorf("read as %+v", r)
	}
	// Each of these in place of what stands there is an error, which names the line.
	for _, c := range []struct{ old, with, want string }{
		{"loggp-probe 1", "loggp-probe 2", `line 1: version "2"`},
		{"loggp-probe 1", strings.Repeat("x", 20000), "line 1: it is longer"},
		{"hosts 2", "hosts 3", `line 5: "3" is not a number from 1 to 2`},
		{"host b", "hast b", `line 11: "hast" where "host"`},
		{"library Fake", "library Fa\x01ke", "line 2:"},
		{"cost 27053", "cost -1", "line 9:"},
		{"resolution 1000", "resolution 0", "line 10:"},
		{"variable a_eager_limit 18446744073709551615", "variable a_eager_limit x", "line 16:"},
		{"variable a", "variable \x02a", "line 16:"},
		{"series send 16 timer11 2", "series send 16 timer11", "line 17:"},
		{"series send 16 timer11 2", "series send -16 timer11 2", "line 17:"},
		{"series send 16 timer11 2", "series send 16 timer11 0", "line 17:"},
		{"series send 16 timer11 2", "series send 16 timer11 3", `line 20: "series send 16 timer12 1" is not a time`},
		{"series send 16 timer11 2", "series send 16 timer11 1", `line 19: "7" where a series or the end`},
		{"series send 16 timer11 2", "series send 16 timer11 99999999999", "line 17:"},
		{"\n7\n", "\n07\n", "line 19:"},
		{"\n7\n", "\n7 \n", ""},
		{"\n7\n", "\n-7\n", "line 19:"},
		{"\n7\n", "\n8\n", `line 22: it ends with "3 21", and what stands above comes to "3 22"`},
		{"\n7\n", "\n86400000000000001\n", "line 19:"},
		{"end 3 21\n", "end 3 21", "line 22: it ends too early"},
		{"end 3 21\n", "", "line 22: it ends too early"},
		{"end 3 21\n", "end 3 21\n\n", "line 22: something stands behind"},
	} {
		_, err := read(strings.NewReader(strings.Replace(good, c.old, c.with, 1)))
		if c.want == "" {
			if err != nil {
				t.Errorf("%q: %v", c.with, err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q for %q: %v, want %q", c.with, c.old, err, c.want)
		}
	}
}

// Whatever a result is, it is read or refused with the place of the error, and what is read can be written as samples.
func FuzzRead(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, "end", "series", 1)))
	f.Add([]byte(strings.Replace(good, "2\n5\n", "50000000\n5\n", 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := read(bytes.NewReader(b))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") || len(err.Error()) > 2000 {
				t.Errorf("error %q", err)
			}
			return
		}
		plan := &microbench.Plan{Modes: []string{"send"}, Sizes: []int{16}, Reps: 1}
		if r.of(plan) != nil {
			return
		}
		set, err := join([]*result{r}, plan, Settings{Place: ""}, &built{compiler: "cc"}, []string{"mpirun"})
		if err != nil {
			t.Fatal(err)
		}
		if err := sample.Write(new(bytes.Buffer), set); err != nil {
			t.Errorf("%v of %q", err, b)
		}
	})
}

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		"mpirun -n 2":            {"mpirun", "-n", "2"},
		"  srun\t-n 2 \n":        {"srun", "-n", "2"},
		`a 'b c' "d 'e" f\ g ''`: {"a", "b c", "d 'e", "f g", ""},
		`x'y'"z"`:                {"xyz"},
		"":                       nil,
	} {
		if got, err := Words(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"'", `a "b`, `a \`} {
		if got, err := Words(in); err == nil {
			t.Errorf("%q is %q", in, got)
		}
	}
}

// What words prints, Words reads.
func FuzzWords(f *testing.F) {
	f.Add("mpirun", "a b'c\"\\", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		in := []string{strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?")}
		if out, err := Words(words(in)); err != nil || !slices.Equal(in, out) {
			t.Errorf("%q became %q, %v", in, out, err)
		}
	})
}

func TestLibraryName(t *testing.T) {
	for says, want := range map[string]string{ // what MPI_Get_library_version of these says, line ends as semicolons
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022":           "Open MPI 4.1.4",
		"MPICH Version: 4.0.2;MPICH Release date: Thu Apr  7 12:34:45 CDT 2022;MPICH Device: ch4:ucx":      "MPICH 4.0.2",
		"Intel(R) MPI Library 2021.10 for Linux* OS;":                                                      "Intel MPI 2021.10",
		"MVAPICH2 Version      : 2.3.7;MVAPICH2 Release date : Wed March 02 22:00:00 EST 2022":             "MVAPICH 2.3.7",
		"MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2);MPI BUILD INFO : Sun Feb 26 15:15": "Cray MPICH 8.1.25.17",
		"Vendor's own, 3;more": "Vendor's own, 3",
		"":                     "unknown",
		"#1":                   "1",
	} {
		if got := libraryName(says); got != want {
			t.Errorf("%q is %q, want %q", says, got, want)
		}
	}
}

func TestEagerLimits(t *testing.T) {
	variables := []variable{{"btl_tcp_rndv_eager_limit", 65536}, {"MPIR_CVAR_CTXID_EAGER_SIZE", 2}, {"MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ", 65536},
		{"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", 131072}, {"MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE", 16384}, {"MPIR_CVAR_CH4_OTHER_EAGER_MAX_MSG_SIZE", -1}}
	for device, want := range map[string]string{
		"none":                  "btl_tcp_rndv_eager_limit=65536 MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ=65536 MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=131072 MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE=16384",
		"MPICH Device: ch3:nem": "btl_tcp_rndv_eager_limit=65536 MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ=65536 MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=131072",
		"MPICH Device: ch4:ofi": "btl_tcp_rndv_eager_limit=65536 MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE=16384",
		"MPICH Device: ch4:ucx": "btl_tcp_rndv_eager_limit=65536",
	} {
		if got := eagerLimits(&result{library: device, variables: variables}); got != want {
			t.Errorf("%s: %s, want %s", device, got, want)
		}
	}
	if got := eagerLimits(&result{}); got != "unknown" {
		t.Errorf("of none: %s", got)
	}
}

// What differs between launches is told for each.
func TestEach(t *testing.T) {
	results := []*result{{standard: "a"}, {standard: "b"}, {standard: "a"}}
	of := func(r *result) string { return r.standard }
	if got := each(results, of); got != "a (launch 0); b (launch 1); a (launch 2)" {
		t.Error(got)
	}
	if got := each(results[:1], of); got != "a" {
		t.Error(got)
	}
}
