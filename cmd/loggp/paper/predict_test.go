package paper

import (
	"math"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/microbench/papers"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// subjects are one of each kind of network.
var subjects = []papers.Subject{
	{ID: "t3d", Platform: "t3d", Library: "chimp", Place: "inter"}, {ID: "now", Platform: "now", Library: "chimp", Place: "inter"}, {ID: "now_mpich", Platform: "now", Library: "mpich", Place: "inter"},
	{ID: "inter", Platform: "convex", Library: "mpich", Place: "inter"}, {ID: "intra", Platform: "convex", Library: "mpich", Place: "intra"},
}

// both runs an experiment of a subject without noise, and predicts it.
func both(t *testing.T, subject papers.Subject, e papers.Experiment) (s *papers.Site, measured, predicted []sample.Series) {
	t.Helper()
	p, err := platform.Load(subject.Platform)
	if err != nil {
		t.Fatal(err)
	}
	s, err = subject.Open(p, 0)
	if err != nil {
		t.Fatal(err)
	}
	e.Subject = subject.ID
	out := papers.NewResults()
	if err := papers.Benchmarks["timers"].Run(t.Context(), s, &e, 1, out, func(int) {}); err != nil {
		t.Fatal(err)
	}
	return s, out.Series[s.ID], predictTimers(&e, s)
}

// The benchmark by algebra and the benchmark on the emulated machine share nothing but the
// machine's data. Without noise all timers agree to the steps of the clock that programs read, of
// which a receive in two parts has two; but not where TCP is between: what a connection has not yet
// acknowledged goes with later messages, and interrupts calls that another message is for.
func TestAlgebraIsExact(t *testing.T) {
	for _, subject := range subjects {
		e := papers.Experiment{Modes: []string{"send", "ssend", "rsend", "isend", "issend", "irsend"}, Sizes: []int{1, 16, 500, 700, 3000, 20000}, Reps: 8}
		s, series, predicted := both(t, subject, e)
		want := map[sample.Key][]unit.Time{}
		for _, x := range predicted {
			want[x.Key] = x.Times
		}
		compared := 0
		for _, x := range series {
			w, ok := want[x.Key]
			if !ok {
				continue
			}
			compared++
			n := len(x.Times) / 2
			for root, got := range []unit.Time{x.Times[n-1], x.Times[2*n-1]} {
				exact := 2 * s.Job.Platform.Machine.TimerResolution
				if s.Job.Platform.Machine.Network.Kind() == "ethernet" {
					exact = got / 4
				}
				if d := got - w[root]; max(d, -d) > exact {
					t.Errorf("%v, root %d: emulated %v, by algebra %v", x.Key, root+1, got, w[root])
				}
			}
		}
		if compared != len(want) || compared < len(e.Modes)*len(e.Sizes)*3 {
			t.Errorf("%v: %d timers compared, of %d", subject.ID, compared, len(want))
		}
	}
}

// L is a small difference of two timers, in which what one message leaves to the next counts: on
// NOW, that every second segment is acknowledged falls into timer21 with one of the two roots, and
// adds half of what it costs to the mean. By algebra and without noise it is the same, but for the
// steps of the clock and the poll that finds a message: a tenth of a microsecond on machines whose
// L is a few.
func TestAlgebraOfL(t *testing.T) {
	for _, subject := range subjects {
		s, series, predicted := both(t, subject, papers.Experiment{Modes: []string{"ssend"}, Sizes: []int{16, 10000}, Reps: 8})
		var l [2]float64
		for i, x := range [][]sample.Series{series, predicted} {
			c := quantityValues{}
			if _, err := newReproduction(&Paper{}, Options{}).fitParameters(c, s, x); err != nil {
				t.Fatal(err)
			}
			l[i] = c[expr.QuantityKey("L", s.ID, "ssend")].Center
		}
		if !(math.Abs(l[0]-l[1]) <= 0.05*l[1]) {
			t.Errorf("%v: L is %.4g us emulated, %.4g us by algebra", subject.ID, l[0], l[1])
		}
	}
}

// A paper may read L at a size of its own: the fit takes the smallest of those that remain.
func TestSmall(t *testing.T) {
	s, series, _ := both(t, subjects[0], papers.Experiment{Modes: []string{"ssend"}, Sizes: []int{1, 1000}, Reps: 8})
	var l [2]float64
	for i, small := range []int{0, 1000} {
		c := quantityValues{}
		if _, err := newReproduction(&Paper{Small: small}, Options{}).fitParameters(c, s, series); err != nil {
			t.Fatal(err)
		}
		l[i] = c[expr.QuantityKey("L", s.ID, "ssend")].Center
	}
	if !(l[1] > 2*l[0]) {
		t.Errorf("L is %.4g us by one byte and %.4g us by 1000", l[0], l[1])
	}
}
