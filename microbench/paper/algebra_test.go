package paper

import (
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
				if s.job.Platform.Machine.Ethernet != nil {
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
