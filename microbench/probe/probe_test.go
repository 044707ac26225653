//go:build unix

package probe

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Results are converted correctly, up to the file of samples.
func TestMeasure(t *testing.T) {
	for name, of := range map[string]func(c *microbench.Experiment){
		"by turns": func(*microbench.Experiment) {},
		"together": func(c *microbench.Experiment) { c.Budget = time.Minute },
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
			if out.LaunchCount != 3 || out.WallDuration <= 0 {
				t.Errorf("%d launches took %v", out.LaunchCount, out.WallDuration)
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
		"eager_limits": "btl_fake_eager_limit=4096", "compiler": "fake 1.0", "hosts": "one", sample.RanksFact: "2", sample.PairFact: "0 1",
		"p1_processor": "Fake", "p2_bound_to": "1", "delta": "5 us", sample.RootsFact: "2", sample.ResolutionFact: "0.001", "timer_cost_us": "0.02",
		"timer_cost": "taken out", BindingFact: "each rank on a processor of its own",
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
	if last := set.Series[len(set.Series)-1]; last.Launch != 2 || last.Bytes != 100 || last.Mode != "isend" || last.Timer != sample.SpacedTrainTimer(10) {
		t.Errorf("the last series is %v", last.Key)
	}
	var b bytes.Buffer
	if err := sample.Write(&b, set); err != nil {
		t.Fatal(err)
	}
	if back, err := sample.Read(&b, "samples"); err != nil || back.SampleCount() != set.SampleCount() {
		t.Errorf("read back: %v", err)
	}
}

// A place that was named counts. Ranks that may run on several processors are known for it, and the
// library need not be asked for limits.
func TestPlace(t *testing.T) {
	s := fakes(t, "FAKE_BOUND=0-3")
	s.Place = "inter"
	c := small()
	s.SkipsEagerLimits = true
	set, _, err := Measure(t.Context(), c, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if place := set.Series[0].Place; place != "inter" {
		t.Errorf("place %s", place)
	}
	if b, _ := set.Fact(BindingFact); !strings.HasPrefix(b, UnboundValue) {
		t.Errorf("binding: %s", b)
	}
	if limits, _ := set.Fact("eager_limits"); limits != "not asked for" {
		t.Errorf("eager limits: %s", limits)
	}
}

// If ranks take longer to start than the budget is, some of it is left to measure.
func TestSlowStart(t *testing.T) {
	c := small()
	c.Reps, c.Budget = 0, 800*time.Millisecond
	if _, _, err := Measure(t.Context(), c, fakes(t, "FAKE_LAUNCHER=slow"), nil); err != nil {
		t.Error(err)
	}
}

// Sizes are added where round trips break, in the first launch, and are those of the next, too.
func TestRefine(t *testing.T) {
	s := fakes(t, "FAKE_EAGER=3000")
	c := &microbench.Experiment{Plan: microbench.Plan{Modes: []string{"ssend", "send"}, Sizes: []int{256, 512, 1024, 2048, 4096, 8192, 16384}}, Launches: 2, RefineSizes: true}
	set, out, err := Measure(t.Context(), c, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{2560, 2816, 2944, 3072}; !slices.Equal(out.AddedSizes, want) {
		t.Errorf("added %v, want %v", out.AddedSizes, want)
	}
	for launch := range 2 {
		var sizes []int
		for _, x := range set.Series {
			if x.Launch == launch && x.Mode == "ssend" && x.Timer == sample.Timer11 {
				sizes = append(sizes, x.Bytes)
			}
		}
		if len(sizes) != len(c.Sizes)+len(out.AddedSizes) || !slices.IsSorted(sizes) {
			t.Errorf("launch %d has %v", launch, sizes)
		}
	}
}

// A setting that cannot be measured is refused before anything is compiled.
func TestRefused(t *testing.T) {
	for want, p := range map[string]microbench.Plan{
		"protocol RTA":      {Modes: []string{"send"}, Sizes: []int{1}, Reps: 1, ForcedProtocol: "RTA"},
		"low-level":         {Modes: []string{microbench.LowLevelMode}, Sizes: []int{1}, Reps: 1},
		"a plan needs":      {Modes: []string{"send"}, Reps: 1},
		"no mode":           {Modes: []string{"zsend"}, Sizes: []int{1}, Reps: 1},
		"samples, and at m": {Modes: microbench.SendModeNames(), Sizes: []int{1, 2}, Reps: 1_000_000},
	} {
		if _, _, err := Measure(t.Context(), &microbench.Experiment{Plan: p}, Settings{Compiler: "/none"}, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestReadVariables(t *testing.T) {
	got, err := readVariables("variable a_eager_limit -1\nvariable b -7\n")
	if want := []eagerVariable{{"a_eager_limit", -1}, {"b", -7}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		"variable a x\n": "line 1:", "variable \x02a 1\n": "line 1:", "variable a 1": "something", "variable a 1\nseries\n": "line 2:",
	} {
		if _, err := readVariables(text); want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

const good = `library Fake MPI 1.0
standard 3.1
threads single
stages timer11 idle rtt train - - prtt10 prtt10-d
modes send ssend rsend bsend isend issend irsend ibsend
operations barrier bcast
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
`

func TestReadHello(t *testing.T) {
	h, err := readGreeting(good, 2)
	if err != nil || h.hosts != 2 || h.ranks[1].host != "b" || h.ranks[1].processor != "" || h.ranks[0].cost != 27053 {
		t.Errorf("%+v, %v", h, err)
	}
	// Each of these in place of what stands there is an error, which names the line.
	for _, c := range []struct{ old, with, want string }{
		{"hosts 2", "hosts 3", `line 7: "3" is not a number from 1 to 2`},
		{"host b", "hast b", `line 13: "hast" where "host"`},
		{"library Fake", "library Fa\x01ke", "line 1:"},
		{"idle rtt", "rtt idle", "line 4: stages"},
		{"send ssend", "ssend send", "line 5: modes"},
		{"barrier bcast", "barrier zcast", "line 6: operations"},
		{"cost 27053", "cost -1", "line 11:"},
		{"resolution 1000", "resolution 0", "line 12:"},
		{"bound 1\ncost 27054\nresolution 1000\n", "bound 1\n", "line 16:"},
		{"cost 27054\nresolution 1000\n", "cost 27054\nresolution 1000\nx\n", "something stands"},
	} {
		if _, err := readGreeting(strings.Replace(good, c.old, c.with, 1), 2); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.60q for %q: %v, want %q", c.with, c.old, err, c.want)
		}
	}
}

// Whatever an answer is, it is a result within the bounds or an error.
func FuzzReadResult(f *testing.F) {
	good, _ := binary.Append(nil, binary.LittleEndian, []int64{3, 4, 2, 1900, 2000, 2, 2, 5, 6, 1, 7})
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := readResult(raw, microbench.Command{Rounds: 3, OperationsPerSample: 1}, 2)
		if err != nil {
			return
		}
		if len(r.TimeColumns) == 0 || len(r.TimeColumns) > 8 || r.AllRoundsDuration < 0 || r.FixedWorkTimes != nil && len(r.FixedWorkTimes) != 2 {
			t.Errorf("%+v", r)
		}
		for _, c := range r.TimeColumns {
			if len(c) > 3 || len(c) > 0 && slices.Min(c) < microbench.LateStartMarker {
				t.Errorf("%v", c)
			}
		}
	})
	if r, err := readResult(good, microbench.Command{Rounds: 3}, 2); err != nil || r.WarmupRoundTime != 3 || r.AllRoundsDuration != 4 || !slices.Equal(r.FixedWorkTimes, []unit.Time{1900, 2000}) || !slices.Equal(r.TimeColumns[0], []unit.Time{5, 6}) || !slices.Equal(r.TimeColumns[1], []unit.Time{7}) {
		f.Errorf("%+v, %v", r, err)
	}
}

// Variables that set up an MPI make another platform, and others do not.
func TestEnvironment(t *testing.T) {
	got := mpiEnvironment([]string{"UCX_TLS=sm", "HOME=/", "OMPI_MCA_btl=tcp,self", "PMIX_RANK=1"})
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
		if got, err := SplitCommand(in); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{"'", `a "b`, `a \`} {
		if got, err := SplitCommand(in); err == nil {
			t.Errorf("%q is %q", in, got)
		}
	}
}

// SplitCommand reads the output of words.
func FuzzWords(f *testing.F) {
	f.Add("mpirun", "a b'c\"\\", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		in := []string{strings.ToValidUTF8(a, "?"), strings.ToValidUTF8(b, "?"), strings.ToValidUTF8(c, "?")}
		if out, err := SplitCommand(quoteCommand(in)); err != nil || !slices.Equal(in, out) {
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
	variables := []eagerVariable{{"btl_tcp_rndv_eager_limit", 65536}, {"MPIR_CVAR_CTXID_EAGER_SIZE", 2}, {"MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ", 65536},
		{"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", 131072}, {"MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE", 16384}, {"MPIR_CVAR_CH4_OTHER_EAGER_MAX_MSG_SIZE", -1}}
	for device, want := range map[string]string{
		"none":                  "btl_tcp_rndv_eager_limit=65536 MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ=65536 MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=131072 MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE=16384",
		"MPICH Device: ch3:nem": "btl_tcp_rndv_eager_limit=65536 MPIR_CVAR_NEMESIS_SHM_EAGER_MAX_SZ=65536 MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=131072",
		"MPICH Device: ch4:ofi": "btl_tcp_rndv_eager_limit=65536 MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE=16384",
		"MPICH Device: ch4:ucx": "btl_tcp_rndv_eager_limit=65536",
	} {
		if got := eagerLimitsText(device, variables); got != want {
			t.Errorf("%s: %s, want %s", device, got, want)
		}
	}
	if got := eagerLimitsText("", nil); got != "unknown" {
		t.Errorf("of none: %s", got)
	}
}

// Facts that differ between launches are listed for each launch.
func TestEach(t *testing.T) {
	results := []*launchGreeting{{hosts: 1}, {hosts: 2}, {hosts: 1}}
	of := func(p *launchGreeting) string { return p.placeOfRanks() }
	if got := valueOfLaunches(results, of); got != "intra (launch 0); inter (launch 1); intra (launch 2)" {
		t.Error(got)
	}
	if got := valueOfLaunches(results[:1], of); got != "intra" {
		t.Error(got)
	}
}
