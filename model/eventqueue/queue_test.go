package eventqueue

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type due struct {
	at     uint64
	serial uint32
}

// The queue gives events in the order of a sort, also if pushes and pops alternate, if times are
// mostly the same or mostly not, and if events that were taken out come back later under their
// serial, before or behind others of that time.
func TestEventsComeInOrderOfTimeAndSerial(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 2))
	for _, times := range []int{1, 2, 3, 50, 1 << 20, 1 << 30} {
		var q Queue[uint32, uint32]
		var all, taken []due
		now, longest := uint64(0), 0
		for step := range uint32(8000) {
			if rng.IntN(4) < 2+int(step/2000)%2 {
				d := due{now + uint64(rng.IntN(times)), step}
				if n := len(taken); n > 0 && rng.IntN(3) == 0 {
					d.serial, taken = taken[n-1].serial, taken[:n-1]
				}
				q.Push(d.at, d.serial, ^d.serial)
				all = append(all, d)
				longest = max(longest, len(all))
				continue
			}
			if q.IsEmpty() != (len(all) == 0) {
				t.Fatalf("%d times, seed %d: empty is %v of %d", times, seed, q.IsEmpty(), len(all))
			}
			if q.IsEmpty() {
				continue
			}
			least := slices.MinFunc(all, func(a, b due) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.serial, b.serial)) })
			all = slices.DeleteFunc(all, func(d due) bool { return d == least })
			if first := q.FirstTime(); first != least.at {
				t.Fatalf("%d times, seed %d: the first event is at %d, not %d", times, seed, first, least.at)
			}
			at, serial, payload := q.Pop()
			if at != least.at || serial != least.serial || payload != ^serial {
				t.Fatalf("%d times, seed %d: popped %d/%d with %d, the first is %d/%d", times, seed, at, serial, payload, least.at, least.serial)
			}
			now = at
			taken = append(taken, least)
		}
		if len(q.nodes) != longest+1 {
			t.Errorf("%d times: there is room for %d events, and there were %d at once", times, len(q.nodes)-1, longest)
		}
	}
}

// Reserved room is used before more is allocated, and a queue that has reached its length allocates
// nothing.
func TestQueueDoesNotAllocate(t *testing.T) {
	var q Queue[uint64, *int]
	q.Reserve(100)
	if n := testing.AllocsPerRun(10, func() {
		for i := range uint64(100) {
			q.Push(i%7, i, nil)
		}
		for !q.IsEmpty() {
			q.Pop()
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
