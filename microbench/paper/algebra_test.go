package paper

import (
	"math"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// The benchmark by algebra and the benchmark on the emulated machine share nothing but the machine's data. Without noise all timers agree to
// the steps of the clock that programs read, of which a receive in two parts has two; but not where TCP is between: what a connection has not
// yet acknowledged goes with later messages, and interrupts calls that another message is for.
func TestAlgebraIsExact(t *testing.T) {
	for _, subject := range subjects {
		s, err := subject.open(0)
		if err != nil {
			t.Fatal(err)
		}
		e := Experiment{subject, []string{"send", "ssend", "rsend", "isend", "issend", "irsend"}, []int{1, 16, 500, 700, 3000, 20000}, "", 8}
		series, err := e.run(t.Context(), s, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[sample.Key][]unit.Time{}
		for _, x := range e.predict(s) {
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
				exact := 2 * s.job.Platform.Machine.Timer
				if s.job.Platform.Machine.Network.Kind() == "ethernet" {
					exact = got / 4
				}
				if d := got - w[root]; max(d, -d) > exact {
					t.Errorf("%v, root %d: emulated %v, by algebra %v", x.Key, root+1, got, w[root])
				}
			}
		}
		if compared != len(want) || compared < len(e.Modes)*len(e.Sizes)*3 {
			t.Errorf("%v: %d timers compared, of %d", subject, compared, len(want))
		}
	}
}

// L is a small difference of two timers, in which what one message leaves to the next counts: on NOW, that every second segment is acknowledged
// falls into timer21 with one of the two roots, and adds half of what it costs to the mean. By algebra and without noise it is the same, but
// for the steps of the clock and the poll that finds a message: a tenth of a microsecond on machines whose L is a few.
func TestAlgebraOfL(t *testing.T) {
	for _, subject := range subjects {
		s, err := subject.open(0)
		if err != nil {
			t.Fatal(err)
		}
		e := Experiment{subject, []string{"ssend"}, []int{small, tableSizes[1]}, "", 8}
		series, err := e.run(t.Context(), s, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		measured, err := resultsOf(series, []*site{s})
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := resultsOf(e.predict(s), []*site{s})
		if err != nil {
			t.Fatal(err)
		}
		got, want := measured.latency(subject).V, predicted.latency(subject).V
		if !(math.Abs(got-want) <= 0.05*want) {
			t.Errorf("%v: L is %.4g us emulated, %.4g us by algebra", subject, got, want)
		}
	}
}
