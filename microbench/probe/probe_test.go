//go:build unix

package probe

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// What comes of results, up to the file of samples.
func TestMeasure(t *testing.T) {
	for name, of := range map[string]func(c *microbench.Campaign){
		"by turns": func(*microbench.Campaign) {},
		"together": func(c *microbench.Campaign) { c.Budget = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			c := small()
			c.Launches, c.Seed, c.Delta = 3, 7, 5*unit.Microsecond
			of(c)
			var part float64
			set, out, err := Measure(t.Context(), c, fakes(t), func(now float64) {
				if now < part || now > 1 {
					t.Errorf("%v is over after %v", now, part)
				}
				part = now
			})
			if err != nil {
				t.Fatal(err)
			}
			if out.Launches != 3 || out.Took <= 0 {
				t.Errorf("%d launches took %v", out.Launches, out.Took)
			}
			checkSet(t, set)
		})
	}
}

// checkSet checks what the fake program brings.
func checkSet(t *testing.T, set *sample.Set) {
	t.Helper()
	for key, want := range map[string]string{
		"library_version": "Fake MPI 1.0;of no use", "mpi_standard": "3.1", "thread_level": "single (MPI_Init)",
		"eager_limits": "btl_fake_eager_limit=4096", "compiler": "fake 1.0", "hosts": "one", sample.Ranks: "2", sample.Pair: "0 1",
		"p1_processor": "Fake", "p2_bound_to": "1", "delta": "5 us", sample.Roots: "2", sample.Resolution: "0.001", "timer_cost_us": "0.02",
		"timer_cost": "taken out", Binding: "each rank on a processor of its own",
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
	if last := set.Series[len(set.Series)-1]; last.Launch != 2 || last.Bytes != 100 || last.Mode != "isend" || last.Timer != sample.PRTTWaiting(10) {
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

// A place that was named counts. Ranks that may run on several processors are known for it, and a quick campaign does not ask for limits.
func TestPlace(t *testing.T) {
	s := fakes(t, "FAKE_BOUND=0-3")
	s.Place = "inter"
	c := small()
	c.Quick = true
	set, _, err := Measure(t.Context(), c, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if place := set.Series[0].Place; place != "inter" {
		t.Errorf("place %s", place)
	}
	if b, _ := set.Fact(Binding); !strings.HasPrefix(b, Unbound) {
		t.Errorf("binding: %s", b)
	}
	if limits, _ := set.Fact("eager_limits"); limits != "not asked for" {
		t.Errorf("eager limits: %s", limits)
	}
}

// Sizes are added where round trips break, in the first launch, and are those of the next, too.
func TestRefine(t *testing.T) {
	s := fakes(t, "FAKE_EAGER=3000")
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"ssend", "send"}, Sizes: []int{256, 512, 1024, 2048, 4096, 8192, 16384}}, Launches: 2, Refine: true}
	set, out, err := Measure(t.Context(), c, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{2560, 2816, 2944, 3072}; !slices.Equal(out.Added, want) {
		t.Errorf("added %v, want %v", out.Added, want)
	}
	for launch := range 2 {
		var sizes []int
		for _, x := range set.Series {
			if x.Launch == launch && x.Mode == "ssend" && x.Timer == sample.Timer11 {
				sizes = append(sizes, x.Bytes)
			}
		}
		if len(sizes) != len(c.Sizes)+len(out.Added) || !slices.IsSorted(sizes) {
			t.Errorf("launch %d has %v", launch, sizes)
		}
	}
}

// Where no time is left sizes are looked for nevertheless, but not without end.
func TestNoTimeLeft(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Modes: []string{"send"}, Sizes: []int{256, 512, 1024, 2048}}, Launches: 1, Refine: true, Budget: 1}
	if _, _, err := Measure(t.Context(), c, fakes(t), nil); err != nil {
		t.Error(err)
	}
}

// What cannot be measured is refused before anything is compiled.
func TestRefused(t *testing.T) {
	for want, p := range map[string]microbench.Plan{
		"protocol RTA":      {Modes: []string{"send"}, Sizes: []int{1}, Reps: 1, Protocol: "RTA"},
		"low-level":         {Modes: []string{microbench.Message}, Sizes: []int{1}, Reps: 1},
		"a plan needs":      {Modes: []string{"send"}, Reps: 1},
		"no mode":           {Modes: []string{"zsend"}, Sizes: []int{1}, Reps: 1},
		"samples, and at m": {Modes: microbench.Modes(), Sizes: []int{1, 2}, Reps: 1_000_000},
	} {
		if _, _, err := Measure(t.Context(), &microbench.Campaign{Plan: p}, Settings{Compiler: "/none"}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// The program has the timers that a campaign of package microbench has, and as many samples of each.
func TestSameAsMicrobench(t *testing.T) {
	job, err := world.Open("loggp", "", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, reps := range []int{1, 8, 200} {
		c := &microbench.Campaign{Plan: microbench.Plan{Modes: microbench.Modes(), Sizes: []int{16}, Reps: reps}, Launches: 1}
		out, err := c.Run(t.Context(), func(ctx context.Context, l microbench.Launch) ([]sample.Series, error) {
			w, err := job.World(ctx, 0)
			if err != nil {
				return nil, err
			}
			return c.On(w, job.Options(""), l)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var theirs, ours []string
		for _, s := range out.Series {
			theirs = append(theirs, fmt.Sprint(s.Mode, s.Timer, len(s.Times)))
		}
		for _, x := range c.Cells() {
			for _, timer := range timersOf(x.Mode, all) {
				ours = append(ours, fmt.Sprint(x.Mode, timer, repeated(timer, reps)))
			}
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("%d repetitions:\n%v, and microbench has\n%v", reps, ours, theirs)
		}
	}
}

func TestPlanText(t *testing.T) {
	c := &microbench.Campaign{Plan: microbench.Plan{Warmup: 10, Delta: 1500}, Precision: 0.05}
	p := planOf(c, []microbench.Cell{{Mode: "ssend", Bytes: 16}, {Mode: "send", Bytes: 0}}, 15, 4000, 3*time.Microsecond)
	p.looks = looks{1893, 1901}
	want := "loggp-plan 4\ncollective 0\ntime 3000\nreps 0\nleast 2\nmost 133\nprecision 50000\nwarmup 10\ndelta 2\nseed 7\nvariables 0\nlooks 1893 1901\ncells 2\nssend 16 all\nsend 0 all\n"
	if got := string(p.text()); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	p.brief = true
	if got := string(p.text()); !strings.HasSuffix(got, "ssend 16 brief\nsend 0 brief\n") {
		t.Errorf("%q", got)
	}
	c.Sizes, c.Trips = []int{0, 16}, []int{8, 16}
	p = planOf(c, []microbench.Cell{{Mode: "ssend", Bytes: 16}, {Mode: "send", Bytes: 8}}, 15, 4000, 0)
	if got := string(p.text()); !strings.HasSuffix(got, "ssend 16 all\nsend 8 trips\n") || p.most != 4000/14 {
		t.Errorf("%q", got)
	}
	last := plan{variables: true}
	if got := string(last.text()); !strings.Contains(got, "least 1\nmost 1\n") || !strings.HasSuffix(got, "variables 1\nlooks 0 0\ncells 0\n") {
		t.Errorf("%q", got)
	}
}

const good = `loggp-probe 4
library Fake
standard 3.1
threads single
hosts 2
ranks 2
processors 2
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
looks 1893 1901
series send 16 timer11 full 2
5
7
series send 16 timer12 p1 1
9
end 3 21
`

func TestRead(t *testing.T) {
	r, err := read(strings.NewReader(good), &plan{ranks: 2})
	if err != nil {
		t.Fatal(err)
	}
	if r.hosts != 2 || r.ranks[1].host != "b" || r.ranks[1].processor != "" || r.ranks[0].cost != 27053 ||
		r.looks != (looks{1893, 1901}) ||
		len(r.series) != 2 || r.series[0].Times[1] != 7 || r.series[0].Disturbed || r.series[1].Timer != "timer12" || !r.series[1].Disturbed {
		t.Errorf("read as %+v", r)
	}
	// Each of these in place of what stands there is an error, which names the line.
	for _, c := range []struct{ old, with, want string }{
		{"loggp-probe 4", "loggp-probe 2", `line 1: version "2"`},
		{"loggp-probe 4", strings.Repeat("x", 20000), "line 1: it is longer"},
		{"hosts 2", "hosts 3", `line 5: "3" is not a number from 1 to 2`},
		{"ranks 2", "ranks 3", `line 6: "3" is not a number from 2 to 2`},
		{"processors 2", "processors -1", "line 7:"},
		{"host b", "hast b", `line 13: "hast" where "host"`},
		{"library Fake", "library Fa\x01ke", "line 2:"},
		{"cost 27053", "cost -1", "line 11:"},
		{"resolution 1000", "resolution 0", "line 12:"},
		{"series send 16 timer11 full 2", "series send 16 timer11 full", "line 19:"},
		{"series send 16 timer11 full 2", "series send -16 timer11 full 2", "line 19:"},
		{"series send 16 timer11 full 2", "series send 16 timer11 full 0", "line 19:"},
		{"series send 16 timer11 full 2", "series send 16 timer11 full 3", `line 22: "series send 16 timer12 p1 1" is not a time`},
		{"series send 16 timer11 full 2", "series send 16 timer11 full 1", `line 21: "7" where a series, a variable or the end`},
		{"series send 16 timer11 full 2", "series send 16 timer11 full 99999999999", "line 19:"},
		{"timer11 full", "timer11 P1 slowed", "line 19:"},
		{"timer11 full", "timer11 quick", `line 19: "quick" is no pace`},
		{"timer11 full", "timer11 ", `line 19: "" is no pace`},
		{"timer11 full", "timer11", "line 19:"},
		{"looks 1893 1901", "looks 0 1901", "line 18: \"0 1901\" are looks of one rank alone"},
		{"looks 1893 1901", "looks 1893", "line 18:"},
		{"looks 1893 1901", "looks 1893 1901 1", "line 18:"},
		{"looks 1893 1901", "looks -1893 1901", "line 18:"},
		{"looks 1893 1901", "looks 1893 86400000000001", "line 18:"},
		{"looks 1893 1901\n", "", `line 18: "series" where "looks" belongs`},
		{"\n7\n", "\n07\n", "line 21:"},
		{"\n7\n", "\n7 \n", ""},
		{"\n7\n", "\n-7\n", "line 21:"},
		{"\n7\n", "\n8\n", `line 24: it ends with "3 21", and what stands above comes to "3 22"`},
		{"\n7\n", "\n86400000000000001\n", "line 21:"},
		{"end 3 21\n", "end 3 21", "line 24: it ends too early"},
		{"end 3 21\n", "", "line 24: it ends too early"},
		{"end 3 21\n", "end 3 21\n\n", "line 24: something stands behind"},
	} {
		_, err := read(strings.NewReader(strings.Replace(good, c.old, c.with, 1)), &plan{ranks: 2})
		if c.want == "" {
			if err != nil {
				t.Errorf("%q: %v", c.with, err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q for %q: %v, want %q", c.with, c.old, err, c.want)
		}
	}
}

// A result has all that a plan asks for, as often with one root as with the other, and nothing else.
func TestOf(t *testing.T) {
	key := func(timer string) sample.Key { return sample.Key{Mode: "rsend", Bytes: 16, Timer: timer} }
	times := make([]unit.Time, 4)
	p := &plan{brief: true, cells: []microbench.Cell{{Mode: "rsend", Bytes: 16}}}
	all := func() *result {
		r := &result{}
		for _, timer := range []string{"timer22", "timer21", "timer12", "timer11"} {
			r.series = append(r.series, sample.Series{Key: key(timer), Times: times})
		}
		return r
	}
	r := all()
	if err := r.of(p); err != nil || r.series[0].Timer != "timer11" {
		t.Errorf("%v, and the first series is %s", err, r.series[0].Timer)
	}
	for want, change := range map[string]func(*result){
		"no samples of timer22":  func(r *result) { r.series[0].Times = nil },
		"3 samples of timer21":   func(r *result) { r.series[1].Times = times[:3] },
		"it has 5 series, not 4": func(r *result) { r.series = append(r.series, sample.Series{Key: key("idle"), Times: times}) },
		"no samples of timer11":  func(r *result) { r.series[3].Bytes = 17 },
		"as many with each root": func(r *result) { r.series[3].Times = times[:1] },
	} {
		r := all()
		change(r)
		if err := r.of(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	p.reps = 3
	if err := all().of(p); err == nil || !strings.Contains(err.Error(), "4 samples of timer11 of rsend at 16 bytes, not 6") {
		t.Error(err)
	}
}

// Whatever a result is, it is read or refused with the place of the error, and what is read can be written as samples.
func FuzzRead(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(strings.Replace(good, "end", "series", 1)))
	f.Add([]byte(strings.NewReplacer("timer12 p1 1\n9\nend 3 21", "timer11 p1 2\n9\n1\nend 4 22").Replace(good)))
	f.Add([]byte(strings.NewReplacer("looks 1893 1901", "looks 0 0", "full", "unknown", "p1", "unknown").Replace(good)))
	f.Add([]byte(strings.Replace(good, "2\n5\n", "50000000\n5\n", 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := &plan{ranks: 2, cells: []microbench.Cell{{Mode: "send", Bytes: 16}}}
		r, err := read(bytes.NewReader(b), p)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") || len(err.Error()) > 2000 {
				t.Errorf("error %q", err)
			}
			return
		}
		if r.of(p) != nil {
			return
		}
		m := &measurement{campaign: &microbench.Campaign{}, results: []*result{r}, fleet: &fleet{built: &built{compiler: "cc"}, launcher: []string{"mpirun"}, places: []*places{&r.places}}}
		set, err := m.join(&microbench.Outcome{Series: r.series}, Settings{}, "auto")
		if err != nil {
			t.Fatal(err)
		}
		if err := sample.Write(new(bytes.Buffer), set); err != nil {
			t.Errorf("%v of %q", err, b)
		}
	})
}

func TestReadVariables(t *testing.T) {
	got, err := readVariables(strings.NewReader("variable a_eager_limit 18446744073709551615\nvariable b -7\nend\n"))
	if want := []variable{{"a_eager_limit", -1}, {"b", -7}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"variable a x\nend\n": "line 1:", "variable \x02a 1\nend\n": "line 1:", "variable a 1\n": "line 2: it ends too early",
		"variable a 1\nend 1\n": "line 2: it ends with", "end\nend\n": "line 1: something stands behind", "series\n": "line 1:",
	} {
		if _, err := readVariables(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestReadPlaces(t *testing.T) {
	_, text, _ := strings.Cut(good, "threads single\n")
	text, _, _ = strings.Cut(text, "looks")
	p, err := readPlaces(strings.NewReader(text), 2)
	if err != nil || p.ranks[1].bound != "1" {
		t.Errorf("%v, %v", p, err)
	}
	for _, wrong := range []string{"", text[:len(text)-1], text + "x\n"} {
		if _, err := readPlaces(strings.NewReader(wrong), 2); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}

// Variables that set up an MPI make another platform, and others do not.
func TestEnvironment(t *testing.T) {
	got := environment([]string{"UCX_TLS=sm", "HOME=/", "OMPI_MCA_btl=tcp,self", "PMIX_RANK=1"})
	if want := []string{"OMPI_MCA_btl=tcp,self", "UCX_TLS=sm"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
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
		if got := eagerLimits(device, variables); got != want {
			t.Errorf("%s: %s, want %s", device, got, want)
		}
	}
	if got := eagerLimits("", nil); got != "unknown" {
		t.Errorf("of none: %s", got)
	}
}

// What differs between launches is told for each.
func TestEach(t *testing.T) {
	results := []*places{{hosts: 1}, {hosts: 2}, {hosts: 1}}
	of := func(p *places) string { return p.place() }
	if got := each(results, of); got != "intra (launch 0); inter (launch 1); intra (launch 2)" {
		t.Error(got)
	}
	if got := each(results[:1], of); got != "intra" {
		t.Error(got)
	}
}
