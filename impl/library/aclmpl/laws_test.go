package aclmpl

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model/unit"
)

// A law is a program that returns an error where the library breaks it. PEs may be processes, so
// they share nothing.
type law struct {
	name    string
	pes     []int
	options []Options
	program func(*PE) error
}

var (
	few  = []Options{{PoolSlots: 1, SlotBytes: 8}, {PoolSlots: 3, SlotBytes: 64}} // slots, so that pools are often full
	some = []Options{{PoolSlots: 3, SlotBytes: 64}}
	all  = []Options{{}}
)

var laws = []law{
	{"synchronous order", []int{2, 5}, all, syncOrder},
	{"lengths", []int{2}, all, lengths},
	{"buffers may be used again", []int{2}, few, reuse},
	{"all send first", []int{1, 2, 5}, all, allExchange},
	{"one receiver", []int{6}, all, manyToOne},
	{"asynchronous order", []int{2, 4}, few, asyncOrder},
	{"tags", []int{3}, few, tags},
	{"long messages", []int{3}, few, segments},
	{"full pool", []int{2, 5}, few, fullPool},
	{"two with full pools", []int{2}, few, bothFull},
	{"all have full pools", []int{6}, some, allFull},
	{"polled more often than it polls", []int{3, 4}, few[:1], fullChain},
	{"drained while slots are written", []int{6}, []Options{{PoolSlots: 4, SlotBytes: 2048}}, drainEarly},
	{"nothing there", []int{2}, all, nothing},
	{"to itself", []int{1, 2}, few, itself},
	{"copies", []int{2}, []Options{{PoolSlots: 4, SlotBytes: 64}}, copies},
	{"broadcast", []int{1, 2, 3, 4, 7, 8}, all, broadcasts},
	{"reduce by a tree", []int{1, 2, 3, 4, 6, 7, 8, 13}, []Options{{MinBinarySwapElements: 1 << 30}}, reductions},
	{"reduce by binary swap", []int{1, 2, 3, 4, 6, 7, 8, 13}, []Options{{MinBinarySwapElements: 1}}, reductions},
	{"random programs", []int{2, 3, 7}, slices.Concat(few, all), random(0)},
}

var (
	randoms = flag.Int("random", 15, "random programs in each world")
	first   = flag.Uint64("first", 1, "seed of the first of them")
)

func TestLaws(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			for _, l := range laws {
				t.Run(l.name, func(t *testing.T) {
					for _, n := range l.pes {
						if !w.CanHold(n) {
							continue
						}
						for _, o := range l.options {
							if err := runIn(w.Open(t, library(), n), o, l.program); err != nil {
								t.Errorf("%d PEs, %+v: %v", n, o, err)
							}
						}
					}
				})
			}
		})
	}
}

// The laws hold on every port, but for the one that counts copies: each once, with most PEs, in
// every world.
func TestLawsOfPorts(t *testing.T) {
	own := map[string]bool{"copies": true}
	for name, port := range map[string]PortKind{"arena": ArenaPort, "PVM": PVMPort} {
		for _, w := range worlds {
			t.Run(name+", "+w.Name, func(t *testing.T) {
				for i, l := range laws {
					n := slices.Max(l.pes)
					if own[l.name] || !w.CanHold(n) {
						continue
					}
					o := l.options[i%len(l.options)]
					o.Port, o.ArenaBytes = port, 512<<(3*(i%3)) // segments of 512, 4096 or 32768 bytes
					if err := runIn(w.Open(t, library(), n), o, l.program); err != nil {
						t.Errorf("%s, %d PEs, %+v: %v", l.name, n, o, err)
					}
				}
			})
		}
	}
}

// Processes start slowly, so each law runs once, with most PEs.
func TestLawsOfProcesses(t *testing.T) {
	if enginetest.RaceDetectorOn {
		t.Skip("the race detector does not see between processes")
	}
	for _, w := range enginetest.ProcessWorlds[:3] {
		t.Run(w.Name, func(t *testing.T) {
			for i, l := range laws {
				t.Run(l.name, func(t *testing.T) {
					if err := Run(w.Open(t, library(), min(slices.Max(l.pes), 7)), l.options[i%len(l.options)], l.program); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

// TestRandom runs many random programs. The law above is one of them.
func TestRandom(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			for i := range *randoms {
				s := *first + uint64(i)
				r := rand.New(rand.NewPCG(s, 7))
				n, o := 1+r.IntN(7), Options{PoolSlots: 1 + r.IntN(6), SlotBytes: 8 << r.IntN(8), MinBinarySwapElements: 1 + r.IntN(40)}
				if err := runIn(w.Open(t, library(), n), o, random(s)); err != nil {
					t.Fatalf("-first %d -random 1: %d PEs, %+v: %v", s, n, o, err)
				}
			}
		})
	}
}

// equal compares what was received with the text of a seed.
func equal(e *PE, what string, got []byte, size, seed int) error {
	if !bytes.Equal(got, program.Payload(size, seed)) {
		return fmt.Errorf("PE %d: %s: %d bytes that are not the %d of message %d", e.Rank(), what, len(got), size, seed)
	}
	return nil
}

// The k-th message goes to the k-th receive, whatever lengths they have and whoever is late.
func syncOrder(e *PE) error {
	sizes := []int{0, 1, 7, 8, 1000, 3, 70000, 16}
	for round := range 3 {
		for a := range e.Size() {
			for b := range e.Size() {
				for i, size := range sizes {
					id := ((round*e.Size()+a)*e.Size()+b)*len(sizes) + i
					switch {
					case a == b:
					case a == e.Rank():
						e.Compute(unit.Time(id%3) * us)
						e.Send(b, program.Payload(size, id))
					case b == e.Rank():
						e.Compute(unit.Time(id%4) * us)
						got := make([]byte, size)
						n := e.Receive(a, got)
						if err := equal(e, "Receive", got[:n], size, id); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	return nil
}

// A receive returns the length of the message, and leaves the rest of its buffer alone.
func lengths(e *PE) error {
	for size := range 100 {
		if e.Rank() == 0 {
			e.Send(1, program.Payload(size, size))
			continue
		}
		b := bytes.Repeat([]byte{0xaa}, 120)
		if n := e.Receive(0, b); n != size {
			return fmt.Errorf("Receive returned %d, want %d", n, size)
		}
		if err := equal(e, "Receive", b[:size], size, size); err != nil {
			return err
		}
		if !bytes.Equal(b[size:], bytes.Repeat([]byte{0xaa}, 120-size)) {
			return fmt.Errorf("a message of %d bytes wrote beyond them", size)
		}
	}
	return nil
}

// When a send returns, the program may write its buffer.
func reuse(e *PE) error {
	const rounds = 20
	out, in := make([]byte, 3000), make([]byte, 3000)
	for i := range rounds {
		if e.Rank() == 0 {
			for range 2 {
				copy(out, program.Payload(len(out), i))
				if i%2 == 0 {
					e.Send(1, out)
				} else {
					e.SendAsync(1, i, out)
				}
				clear(out)
			}
			continue
		}
		for range 2 {
			clear(in)
			if i%2 == 0 {
				e.Receive(0, in)
			} else {
				e.ReceiveAsync(0, i, in)
			}
			if err := equal(e, "receive", in, len(in), i); err != nil {
				return err
			}
		}
	}
	return nil
}

// All PEs exchange at once, by every shift. The PE itself may be a partner.
func allExchange(e *PE) error {
	n := e.Size()
	for round := range 3 {
		for shift := range n {
			to, from := (e.Rank()+shift)%n, (e.Rank()+n-shift)%n
			size := 10 * (shift + 1)
			in := make([]byte, size)
			if got := e.SendReceive(to, program.Payload(size, e.Rank()+100*round), from, in); got != size {
				return fmt.Errorf("PE %d: SendReceive returned %d, want %d", e.Rank(), got, size)
			}
			if err := equal(e, "SendReceive", in, size, from+100*round); err != nil {
				return err
			}
		}
	}
	return nil
}

// A PE receives from all others in the order that it likes.
func manyToOne(e *PE) error {
	if e.Rank() != 0 {
		for i := range 5 {
			e.Send(0, program.Payload(500, e.Rank()*10+i))
		}
		return nil
	}
	in := make([]byte, 500)
	for i := range 5 {
		for src := e.Size() - 1; src > 0; src-- {
			e.Receive(src, in)
			if err := equal(e, "Receive", in, 500, src*10+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Messages of one sender are received in its order.
func asyncOrder(e *PE) error {
	const count = 100
	if e.Rank() > 0 {
		for i := range count {
			e.Compute(unit.Time(i%3) * us)
			e.SendAsync(0, i%2, program.Payload(i%90, e.Rank()*count+i))
		}
		return nil
	}
	next := make([]int, e.Size())
	in := make([]byte, 100)
	for range count * (e.Size() - 1) {
		s := e.ReceiveAsync(AnyPE, AnyTag, in)
		i := next[s.Source]
		next[s.Source]++
		if s.Tag != i%2 || s.Bytes != i%90 {
			return fmt.Errorf("message %d of PE %d came as %+v", i, s.Source, s)
		}
		if err := equal(e, "ReceiveAsync", in[:s.Bytes], i%90, s.Source*count+i); err != nil {
			return err
		}
	}
	return nil
}

// A receive may ask for a message by source and tag, and others do not keep it.
func tags(e *PE) error {
	const count = 30
	if e.Rank() > 0 {
		for i := range count {
			e.SendAsync(0, i%3, program.Payload(20, e.Rank()*count+i))
		}
		return nil
	}
	in := make([]byte, 20)
	for src := e.Size() - 1; src > 0; src-- {
		for _, tag := range []int{2, 0, 1} {
			for i := tag; i < count; i += 3 {
				if s := e.ReceiveAsync(src, tag, in); s != (Status{src, tag, 20}) {
					return fmt.Errorf("receive of tag %d of PE %d: %+v", tag, src, s)
				}
				if err := equal(e, "ReceiveAsync", in, 20, src*count+i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A message that is longer than slots comes whole, whichever of several is received first.
func segments(e *PE) error {
	sizes := []int{300, 1, 0, 64, 65, 128, 1000}
	if e.Rank() > 0 {
		for i, size := range sizes {
			e.SendAsync(0, i, program.Payload(size, e.Rank()*10+i))
		}
		return nil
	}
	for _, i := range []int{3, 0, 6, 1, 5, 4, 2} {
		for src := 1; src < e.Size(); src++ {
			in := make([]byte, sizes[i])
			if s := e.ReceiveAsync(src, i, in); s.Bytes != sizes[i] {
				return fmt.Errorf("PE %d, tag %d: %+v", src, i, s)
			}
			if err := equal(e, "ReceiveAsync", in, sizes[i], src*10+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Messages that do not fit a pool wait, and none is lost.
func fullPool(e *PE) error {
	const count = 40
	if e.Rank() > 0 {
		for i := range count {
			e.SendAsync(0, i, program.Payload(30, e.Rank()*count+i))
		}
		return nil
	}
	e.Compute(300 * us) // until the pool is full
	in := make([]byte, 30)
	for i := range count {
		for src := 1; src < e.Size(); src++ {
			e.ReceiveAsync(src, i, in)
			if err := equal(e, "ReceiveAsync", in, 30, src*count+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// PEs that send to each other more than pools can take do not wait for each other.
func bothFull(e *PE) error { return flood(e, 60, 1) }

func allFull(e *PE) error { return flood(e, 20, e.Size()-1) }

// A PE that waits for a full pool is asked for slots of its own by all others, again and again, and
// still goes on.
func fullChain(e *PE) error {
	const count = 20
	last := e.Size() - 1
	dst, senders := 0, []int{}
	switch e.Rank() {
	case 0:
		dst = last
		for src := 1; src <= last; src++ {
			senders = append(senders, src)
		}
	case last:
		senders = []int{0}
	}
	for i := range count {
		e.SendAsync(dst, i, program.Payload(25, e.Rank()*count+i))
	}
	in := make([]byte, 25)
	for i := range count {
		for _, src := range senders {
			e.ReceiveAsync(src, i, in)
			if err := equal(e, "ReceiveAsync", in, 25, src*count+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// flood sends to some PEs above, and then receives from as many below.
func flood(e *PE, count, peers int) error {
	n := e.Size()
	for i := range count {
		for d := 1; d <= peers; d++ {
			e.SendAsync((e.Rank()+d)%n, i, program.Payload(25, e.Rank()*count+i))
		}
	}
	in := make([]byte, 25)
	for i := range count {
		for d := 1; d <= peers; d++ {
			src := (e.Rank() - d + n) % n
			e.ReceiveAsync(src, i, in)
			if err := equal(e, "ReceiveAsync", in, 25, src*count+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// The last slot is often written before others: it has less data. Nothing is lost where the pool is
// drained then.
func drainEarly(e *PE) error {
	const count = 60
	size := func(src, i int) int { return (src*7 + i*5) % 4 * 680 }
	if e.Rank() > 0 {
		for i := range count {
			e.SendAsync(0, i, program.Payload(size(e.Rank(), i), e.Rank()*count+i))
		}
		return nil
	}
	in := make([]byte, 2048)
	next := make([]int, e.Size())
	for range count * (e.Size() - 1) {
		s := e.ReceiveAsync(AnyPE, AnyTag, in)
		if s.Tag != next[s.Source] {
			return fmt.Errorf("message %d of PE %d came in place of %d", s.Tag, s.Source, next[s.Source])
		}
		next[s.Source]++
		if err := equal(e, "ReceiveAsync", in[:s.Bytes], size(s.Source, s.Tag), s.Source*count+s.Tag); err != nil {
			return err
		}
	}
	return nil
}

// TryReceive returns at once if there is nothing for it, and a loop of it sees what comes.
func nothing(e *PE) error {
	in := make([]byte, 8)
	if e.Rank() == 1 {
		if s, ok := e.TryReceive(0, 0, in); ok {
			return fmt.Errorf("a message that was not sent: %+v", s)
		}
		e.Send(0, nil)
		for {
			if s, ok := e.TryReceive(AnyPE, 5, in); ok {
				break
			} else if s != (Status{}) {
				return fmt.Errorf("no message, and status %+v", s)
			}
		}
		if s := e.ReceiveAsync(0, 4, in); s.Tag != 4 {
			return fmt.Errorf("tag %d, want 4", s.Tag)
		}
		return nil
	}
	e.Receive(1, nil)
	e.Compute(100 * us)
	e.SendAsync(1, 4, in)
	e.SendAsync(1, 5, in)
	return nil
}

// A PE may send to itself, more than its pool holds.
func itself(e *PE) error {
	for i := range 20 {
		e.SendAsync(e.Rank(), i, program.Payload(13, i))
	}
	in := make([]byte, 13)
	for i := 19; i >= 0; i-- {
		e.ReceiveAsync(e.Rank(), i, in)
		if err := equal(e, "ReceiveAsync", in, 13, i); err != nil {
			return err
		}
	}
	return nil
}

// A message is copied once if it is received from the pool, and twice if it went through the list.
func copies(e *PE) error {
	if e.Rank() == 0 {
		for i := range 4 {
			e.SendAsync(1, i, nil)
		}
		e.Receive(1, nil)
		for i := range 3 {
			e.SendAsync(1, i, nil)
		}
		e.Send(1, nil)
		return nil
	}
	for i := range 4 { // the pool is full at the last, which only the next call can find out
		e.ReceiveAsync(0, 3-i, nil)
	}
	if got := e.Statistics(); got.ReceivedFromList+got.ReceivedFromPool != 4 || got.PoolDrains > 1 {
		return fmt.Errorf("after four messages that filled the pool: %+v", got)
	}
	before := e.Statistics()
	e.TryReceive(0, 0, nil)
	if got := e.Statistics(); got.PoolDrains != 1 {
		return fmt.Errorf("the pool was full, and was drained %d times", got.PoolDrains)
	}
	e.Send(0, nil)
	e.Receive(0, nil)
	for range 3 {
		e.ReceiveAsync(0, AnyTag, nil)
	}
	if got := e.Statistics(); got.ReceivedFromPool != before.ReceivedFromPool+3 || got.ReceivedFromList != before.ReceivedFromList {
		return fmt.Errorf("three messages of a pool that is not full: %+v, and before %+v", got, before)
	}
	return nil
}

func broadcasts(e *PE) error {
	for i, size := range []int{0, 1, 9, 1000, 70000} {
		b := make([]byte, size)
		if e.Rank() == 0 {
			copy(b, program.Payload(size, i))
		}
		e.Broadcast(b)
		if err := equal(e, "Broadcast", b, size, i); err != nil {
			return err
		}
	}
	return nil
}

// span is an operand that is made of those of some PEs, in order: the operation does not commute.
type span struct {
	From, To int32
	Sum      uint16
	Wrong    bool
}

func join(lower, higher, result []span) {
	for i := range result {
		a, b := lower[i], higher[i]
		result[i] = span{a.From, b.To, a.Sum + b.Sum, a.Wrong || b.Wrong || a.To != b.From}
	}
}

// reductions reduces arrays of all lengths, which PEs do not divide evenly.
func reductions(e *PE) error {
	for _, n := range []int{0, 1, 2, 3, 5, 8, 17, 100, 1023, 1024} {
		x := make([]span, n)
		for i := range x {
			x[i] = span{int32(e.Rank()), int32(e.Rank()) + 1, uint16(i * (e.Rank() + 1)), false}
		}
		Reduce(e, x, join)
		for i, got := range x {
			if want := (span{0, int32(e.Size()), uint16(i * e.Size() * (e.Size() + 1) / 2), false}); e.Rank() == 0 && got != want {
				return fmt.Errorf("element %d of %d is %+v, want %+v", i, n, got, want)
			}
		}
	}
	return nil
}

// random returns a program that is drawn from a seed, alike in all PEs: a sequence of steps, of
// which each PE takes those that name it. A step waits for earlier ones alone, so the program ends.
// Each PE knows what was sent to it and in which order, and checks what it gets.
func random(seed uint64) func(*PE) error {
	return func(e *PE) error {
		r := rand.New(rand.NewPCG(seed, 1))
		n := e.Size()
		sent := make([][][]message, n) // by receiver and sender: not received yet
		for i := range sent {
			sent[i] = make([][]message, n)
		}
		steps := 20 + r.IntN(60)
		for id := range steps {
			a, b, size, pause := r.IntN(n), r.IntN(n), r.IntN(1<<r.IntN(10)), unit.Time(r.IntN(4))*us
			if e.Rank() == a || e.Rank() == b {
				e.Compute(pause)
			}
			switch kind := r.IntN(10); {
			case kind < 4:
				m := message{tag: r.IntN(3), size: size, id: id}
				sent[b][a] = append(sent[b][a], m)
				if e.Rank() == a {
					e.SendAsync(b, m.tag, program.Payload(size, id))
				}
			case kind < 7:
				if err := receiveOne(e, r, sent, b, a); err != nil {
					return fmt.Errorf("step %d: %w", id, err)
				}
			case kind == 7 && a != b:
				// PEs with full pools help no one in synchronous calls, so all are made to be idle
				e.Barrier()
				if err := meet(e, a, b, size, id); err != nil {
					return fmt.Errorf("step %d: %w", id, err)
				}
			case kind == 8:
				e.Barrier()
				if err := collective(e, r, size, id); err != nil {
					return fmt.Errorf("step %d: %w", id, err)
				}
			default:
				e.Barrier()
			}
		}
		for a := range n {
			for b := range n {
				for len(sent[b][a]) > 0 {
					if err := receiveOne(e, r, sent, b, a); err != nil {
						return fmt.Errorf("at the end: %w", err)
					}
				}
			}
		}
		return nil
	}
}

// message is an asynchronous message of a random program.
type message struct{ tag, size, id int }

// receiveOne lets PE b receive the first message of PE a with the tag of one of them, or with any.
func receiveOne(e *PE, r *rand.Rand, sent [][][]message, b, a int) error {
	open := sent[b][a]
	if len(open) == 0 {
		return nil
	}
	tag, at := open[r.IntN(len(open))].tag, 0
	if r.IntN(3) == 0 {
		tag = AnyTag
	} else {
		at = slices.IndexFunc(open, func(m message) bool { return m.tag == tag })
	}
	poll, larger := r.IntN(2) == 0, r.IntN(2)
	m := open[at]
	sent[b][a] = slices.Delete(open, at, at+1)
	if e.Rank() != b {
		return nil
	}
	in := make([]byte, m.size+larger)
	s, ok := Status{}, false
	for poll && !ok {
		s, ok = e.TryReceive(a, tag, in)
	}
	if !poll {
		s = e.ReceiveAsync(a, tag, in)
	}
	if s != (Status{a, m.tag, m.size}) {
		return fmt.Errorf("PE %d, receive from PE %d with tag %d: %+v, want message %+v", b, a, tag, s, m)
	}
	return equal(e, "receive", in[:m.size], m.size, m.id)
}

// meet sends from a to b, and lets both exchange.
func meet(e *PE, a, b, size, id int) error {
	in := make([]byte, size)
	switch e.Rank() {
	case a:
		e.Send(b, program.Payload(size, id))
		e.SendReceive(b, program.Payload(size, id+1), b, in)
		return equal(e, "SendReceive", in, size, id+2)
	case b:
		e.Receive(a, in)
		if err := equal(e, "Receive", in, size, id); err != nil {
			return err
		}
		e.SendReceive(a, program.Payload(size, id+2), a, in)
		return equal(e, "SendReceive", in, size, id+1)
	}
	return nil
}

func collective(e *PE, r *rand.Rand, size, id int) error {
	if r.IntN(2) == 0 {
		b := make([]byte, size)
		if e.Rank() == 0 {
			copy(b, program.Payload(size, id))
		}
		e.Broadcast(b)
		return equal(e, "Broadcast", b, size, id)
	}
	x := make([]span, size/8)
	for i := range x {
		x[i] = span{int32(e.Rank()), int32(e.Rank()) + 1, uint16(i), false}
	}
	Reduce(e, x, join)
	for i, got := range x {
		if want := (span{0, int32(e.Size()), uint16(i * e.Size()), false}); e.Rank() == 0 && got != want {
			return fmt.Errorf("element %d is %+v, want %+v", i, got, want)
		}
	}
	return nil
}

// A program that makes a mistake is told which PE made it, in which call.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		want    string
		program func(*PE)
	}{
		{"PE 0: Send: 9 bytes for PE 1, whose receive has a buffer of 8", func(e *PE) {
			if e.Rank() == 0 {
				e.Send(1, make([]byte, 9))
			} else {
				e.Receive(0, make([]byte, 8))
			}
		}},
		{"PE 0: ReceiveAsync: a message of 9 bytes from PE 1 with tag 3 does not fit a buffer of 8", func(e *PE) {
			if e.Rank() == 0 {
				e.ReceiveAsync(1, 3, make([]byte, 8))
			} else {
				e.SendAsync(0, 3, make([]byte, 9))
			}
		}},
		{"PE 1: end of the program: 2 asynchronous messages were not received; the first is from PE 0 with tag 8, of 5 bytes", func(e *PE) {
			if e.Rank() == 0 {
				e.SendAsync(1, 8, make([]byte, 5))
				e.SendAsync(1, 8, make([]byte, 6))
			}
		}},
		{"PE 0: Receive: there is no PE 2: the job has PEs 0 to 1", func(e *PE) { e.Receive(2*(1-e.Rank()), nil) }},
		{"PE 1: Send: a PE does not meet itself", func(e *PE) { e.Send(1, nil) }},
		{"PE 1: SendAsync: tag -1: tags are from 0 to", func(e *PE) {
			if e.Rank() == 1 {
				e.SendAsync(0, -1, nil)
			} else {
				e.Receive(1, nil)
			}
		}},
		{"PE 0: Broadcast: ", func(e *PE) { e.Broadcast(make([]byte, 4+e.Rank())) }},
		{"PE 0: Reduce: elements of type *int have pointers", func(e *PE) {
			if e.Rank() == 0 {
				Reduce(e, make([]*int, 3), nil)
			} else {
				e.Receive(0, nil)
			}
		}},
		{"deadlock: 2 of 2 ranks wait and nothing is under way: rank 0 1; PE 0 waits in Receive with PE 1; PE 1 waits in ReceiveAsync with PE 0", func(e *PE) {
			if e.Rank() == 0 {
				e.Receive(1, nil)
			} else {
				e.ReceiveAsync(0, AnyTag, nil)
			}
		}},
	} {
		for _, w := range worlds {
			if w.Name != "loop" && w.Name != "t3d" && w.Name != "t3d by messages" {
				continue
			}
			err := runIn(w.Open(t, library(), 2), Options{}, func(e *PE) error { c.program(e); return nil })
			if err == nil || !strings.Contains(strings.Replace(err.Error(), "PE 1: Broadcast", "PE 0: Broadcast", 1), c.want) {
				t.Errorf("%s: Run returned %v, want %q", w.Name, err, c.want)
			}
			var d *device.Deadlock
			var x *Error
			if errors.As(err, &d) == strings.HasPrefix(c.want, "PE") || errors.As(err, &x) == strings.HasPrefix(c.want, "deadlock") {
				t.Errorf("%s: Run returned a %T", w.Name, err)
			}
		}
	}
}

// Broadcasts and combinations by a control network, on the CM-5 and in loop. Where there is none,
// that is an error.
func TestControl(t *testing.T) {
	for _, name := range []string{"cm5", "loop", "t3d"} {
		w := device.World(loop.New(7))
		if name != "loop" {
			var err error
			if w, err = hw.New(hw.Config{Machine: enginetest.LoadPlatform(name).Machine, Library: library(), Ranks: 7}); err != nil {
				t.Fatal(err)
			}
		}
		err := runIn(w, Options{}, func(e *PE) error {
			for i, size := range []int{0, 1, 3, 4, 59, 60, 61, 1000} {
				b := make([]byte, size)
				if e.Rank() == 0 {
					copy(b, program.Payload(size, i))
				}
				e.ControlBroadcast(b)
				if err := equal(e, "broadcast", b, size, i); err != nil {
					return err
				}
				if got := e.ControlCombine(device.CombineAdd, uint32(e.Rank()+i)); got != uint32(21+7*i) {
					return fmt.Errorf("PE %d: the sum is %d, want %d", e.Rank(), got, 21+7*i)
				}
			}
			return nil
		})
		if none := name == "t3d"; none != (err != nil) || none && !strings.Contains(err.Error(), "no control network") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
