package papers

import (
	"math"
	"testing"

	"github.com/loggp/loggp/model"
)

// The classes of one counter add up to 100 %.
func TestClassSharesAddUp(t *testing.T) {
	got := classShares(map[string]int64{"calls, up to 64 B": 3, "calls, up to any B": 1, "bytes by calls, up to 64 B": 0, "messages": 7})
	for c, want := range map[sizeClass]float64{{"calls", "64"}: 75, {"calls", "any"}: 25, {"bytes by calls", "64"}: 0} {
		if got[c] != want {
			t.Errorf("%v: %v percent, want %v", c, got[c], want)
		}
	}
	if len(got) != 3 {
		t.Errorf("shares of %v", got)
	}
}

// A product of matrices takes little more than the time of its operations if all ranks are in one
// node. A round trip between nodes takes longer than one inside.
func TestPlacementDecidesTimes(t *testing.T) {
	x := NewResults()
	var processor model.Processor
	for id, place := range map[string]string{"near": "intra", "far": "inter"} {
		s := openSite(t, Subject{ID: id, Platform: "start-x", Library: "mpi-start", Place: place})
		processor = s.Job.Platform.Machine.Processor
		e := Experiment{Sizes: []int{8}, Ranks: []int{2}, Programs: []string{"columns"}, Placements: []string{"2", "4+4"}}
		measure(t, "posted", s, e, x)
		e.Sizes = []int{512, 2048, 2049}
		measure(t, "programs", s, e, x)
	}
	v := func(key string) float64 { return x.Numbers[key] }
	if near, far := v("round_trip(near,8)"), v("round_trip(far,8)"); !(near > 0 && far > 1.2*near) {
		t.Errorf("a round trip takes %v us inside an SMP and %v us between SMPs", near, far)
	}
	operations := 512.0 * 512 * (2*512*processor.Operation + processor.Loop).Micros() / 1e6
	if two := v("program_time(near,columns,2,512)"); !(two > operations/2 && two < 1.05*operations/2) {
		t.Errorf("a product on two ranks takes %v s, its operations %v s", two, operations/2)
	}
	if eight := v("program_time(near,columns,4+4,512)"); !(eight > operations/8 && eight < 1.5*operations/8) {
		t.Errorf("a product on eight ranks takes %v s, its operations %v s", eight, operations/8)
	}
	// Two columns of 2,048 numbers fill the cache of 16 KiB. With one row more each loop reads its
	// column again: 513 pieces of 16 bytes.
	misses := 2049.0 * 2049 * 513 * processor.Cache.Miss.Micros() / 1e6
	if fits, more := v("program_time(near,columns,2,2048)"), v("program_time(near,columns,2,2049)"); math.Abs(more-fits-misses/2) > 0.01*fits {
		t.Errorf("a product of 2,048 rows takes %v s and one of 2,049 %v s: %v s for misses, want %v s", fits, more, more-fits, misses/2)
	}
}
