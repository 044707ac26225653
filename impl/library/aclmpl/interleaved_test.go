package aclmpl

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model/unit"
)

// All interleavings of a receiver with its senders. The receiver is a PE; each time it reads a word
// that others write, some of the senders' puts may take effect before. What senders do is here, so
// that it happens at these places alone, and all places are tried.

// explorer chooses, and has tried all choices some time.
type explorer struct {
	choices, options []int // of this run so far: what was chosen, of how many
	at               int
}

// choose returns a number below n.
func (x *explorer) choose(n int) int {
	if x.at == len(x.choices) {
		x.choices, x.options = append(x.choices, 0), append(x.options, n)
	}
	x.at++
	return x.choices[x.at-1]
}

// next begins another run, or reports false if there is none.
func (x *explorer) next() bool {
	for x.at = 0; len(x.choices) > 0; {
		last := len(x.choices) - 1
		if x.choices[last]++; x.choices[last] < x.options[last] {
			return true
		}
		x.choices, x.options = x.choices[:last], x.options[:last]
	}
	return false
}

// scene is a run: senders with so many messages each.
type scene struct {
	device.Port
	x     *explorer
	slots int
	left  []int // messages that each sender has to write
	slot  []int // of its next message, once it has claimed one; or none
	early bool  // senders claim slots as soon as there are some; else when they write
	hasty bool  // slots that are free seem to be received while the last one is not free
	key   device.Key
	known bool
}

func (s *scene) Memory() device.Memory { return sceneMemory{s.Port.Memory(), s} }
func (s *scene) Watch() device.Watch   { return sceneWatch{s.Port.Watch(), s} }

type sceneMemory struct {
	device.Memory
	s *scene
}

// Expose notes the key of symmetric memory, which is the first.
func (m sceneMemory) Expose(b []byte) device.Key {
	k := m.Memory.Expose(b)
	if !m.s.known {
		m.s.key, m.s.known = k, true
	}
	return k
}

type sceneWatch struct {
	device.Watch
	s *scene
}

func (w sceneWatch) LoadWord(k device.Key, off int) uint64 {
	for w.s.step(true) {
	}
	word := w.Watch.LoadWord(k, off)
	if w.s.hasty {
		e := PE{peCount: 1, options: Options{SlotBytes: 8}}
		for i := range w.s.slots - 1 {
			if off == barrierWords+e.slotOffset(i)+slotStatusOffset && word == slotFree && w.Watch.LoadWord(k, barrierWords+e.slotOffset(w.s.slots-1)+slotStatusOffset) != slotFree {
				return slotReceived
			}
		}
	}
	return word
}

// WaitForEvent lets senders go on until there is an event. There is none if all wait for the
// receiver.
func (w sceneWatch) WaitForEvent(seen uint64, deadline unit.Time) bool {
	for w.EventCount() == seen {
		if !w.s.step(false) {
			panic(&Error{Call: "WaitForEvent", Text: "nothing is under way"})
		}
	}
	return true
}

// step lets a sender write its next message, or none if that is an option, and reports whether one
// did.
func (s *scene) step(may bool) bool {
	var able [8]int
	n := 0
	if may {
		able[0], n = noAwaitedPE, 1
	}
	for i := range s.left {
		if s.early {
			s.claim(i)
		}
		if s.left[i] > 0 && (s.slot[i] != noAwaitedPE || !s.early && s.Counters().FetchAndAddRegister(0, 0, 0) < int64(s.slots)) {
			able[n] = i
			n++
		}
	}
	if n == 0 || n == 1 && may {
		return false
	}
	c := able[0]
	if n > 1 {
		c = able[s.x.choose(n)]
	}
	if c == noAwaitedPE {
		return false
	}
	s.claim(c)
	s.write(c)
	return true
}

// claim gives a sender a slot if it needs one and there is one.
func (s *scene) claim(i int) {
	if s.left[i] > 0 && s.slot[i] == noAwaitedPE && s.Counters().FetchAndAddRegister(0, 0, 0) < int64(s.slots) {
		s.slot[i] = int(s.Counters().FetchAndAddRegister(0, 0, 1))
	}
}

// write puts the message of a sender into its slot: data, header, then status. Messages are
// numbered down.
func (s *scene) write(i int) {
	e := PE{peCount: 1, options: Options{SlotBytes: 8}}
	at := barrierWords + e.slotOffset(s.slot[i])
	var b [24]byte
	binary.NativeEndian.PutUint64(b[:], uint64(s.left[i]))
	s.Port.Memory().Put(0, s.key, at+slotHeaderBytes, b[:8], device.NoCompletion)
	binary.NativeEndian.PutUint64(b[:], uint64(i)<<32)
	binary.NativeEndian.PutUint64(b[8:], 8<<32|uint64(s.left[i]))
	s.Port.Memory().Put(0, s.key, at, b[:slotStatusOffset], device.NoCompletion)
	binary.NativeEndian.PutUint64(b[slotStatusOffset:], slotWritten)
	s.Port.Memory().Put(0, s.key, at+slotStatusOffset, b[slotStatusOffset:], device.NoCompletion)
	s.left[i]--
	s.slot[i] = noAwaitedPE
}

// sceneWorld is one rank.
type sceneWorld struct {
	device.World
	s *scene
}

func (w sceneWorld) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error {
		w.s.Port = p
		return program(w.s)
	})
}

// explore runs a receiver of all messages with all interleavings, and returns how many there are
// and how many are wrong.
func explore(t *testing.T, slots int, messages []int, early, hasty bool, change func(*PE)) (runs, wrong int) {
	t.Helper()
	const most = 200_000
	var x explorer
	for more := true; more; more = x.next() {
		if runs++; runs > most {
			t.Fatalf("more than %d interleavings of %d slots and messages %v", most, slots, messages)
		}
		s := &scene{x: &x, slots: slots, early: early, hasty: hasty}
		total := 0
		for _, n := range messages {
			s.left, s.slot = append(s.left, n), append(s.slot, noAwaitedPE)
			total += n
		}
		err := Run(sceneWorld{loop.New(1), s}, Options{PoolSlots: slots, SlotBytes: 8}, func(e *PE) error {
			if change != nil {
				change(e)
			}
			left := append([]int{}, messages...)
			var b [8]byte
			for range total {
				from := e.ReceiveAsync(AnyPE, AnyTag, b[:]).Source
				if got := binary.NativeEndian.Uint64(b[:]); got != uint64(left[from]) {
					return fmt.Errorf("message %d of sender %d came in place of %d", got, from, left[from])
				}
				left[from]--
			}
			return nil
		})
		if err != nil {
			wrong++
		}
	}
	return runs, wrong
}

// Messages of a sender are received in its order, and none is lost or waited for in vain, in every
// interleaving: with pools that are drained, senders that write late, and more senders than one.
func TestAllInterleavings(t *testing.T) {
	for _, c := range []struct {
		slots    int
		messages []int
		early    bool
	}{{1, []int{3}, false}, {2, []int{3}, false}, {3, []int{3}, false}, {2, []int{1, 1}, true}, {2, []int{2, 1}, true}, {3, []int{1, 1, 1}, true}} {
		runs, wrong := explore(t, c.slots, c.messages, c.early, false, nil)
		t.Logf("%d interleavings of %+v", runs, c)
		if wrong > 0 {
			t.Errorf("%d of %d interleavings of %+v are wrong", wrong, runs, c)
		}
	}
}

// The same finds the faults that the rules are about: a receiver that takes the first message it
// sees without looking again for an earlier one, and one that frees the pool as soon as its last
// slot has been written.
func TestInterleavingsFindFaults(t *testing.T) {
	careless := func(e *PE) {
		p := putTransport{e}
		e.segmentTaker = func(w segmentPattern, b []byte, wait bool) (segment, bool) {
			for {
				seen := e.memory.EventCount()
				p.drainWhileWaiting()
				if s, ok := e.takeFromList(&w, b); ok {
					return s, true
				}
				if i, s := e.findSlot(&w, e.options.PoolSlots); i != noAwaitedPE {
					e.copyToUser(&s, b)
					e.setSlotStatus(i, slotReceived)
					return s, true
				}
				e.memory.WaitForEvent(seen)
			}
		}
	}
	if runs, wrong := explore(t, 3, []int{3}, false, false, careless); wrong == 0 {
		t.Errorf("a receiver that does not look again is right in all %d interleavings", runs)
	} else {
		t.Logf("without a second look %d of %d interleavings are wrong", wrong, runs)
	}
	if runs, wrong := explore(t, 2, []int{1, 1}, true, true, nil); wrong == 0 {
		t.Errorf("a pool that is freed when its last slot has been written is right in all %d interleavings", runs)
	} else {
		t.Logf("reset on the last slot alone: %d of %d interleavings are wrong", wrong, runs)
	}
}
