package aclmpl

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/shmem"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Options change the library. The zero value is as described.
type Options struct {
	PoolSlots int // in the pool of each PE; 0: 32
	SlotBytes int // bytes of message data in a slot; 0: 4096

	Port       PortKind // to what kind of machine; 0: PutPort
	ArenaBytes int      // bytes of the part of the arena of each PE that has synchronous messages; 0: 65536

	// MinBinarySwapElements is the least number of elements that Reduce reduces by binary swap; 0:
	// 1024.
	MinBinarySwapElements int
}

// The defaults of Options.
const (
	DefaultSlots                 = 32
	DefaultSlotBytes             = 4096
	DefaultMinBinarySwapElements = 1024
	DefaultArenaBytes            = 1 << 16
)

// PortKind is how the library uses a machine.
type PortKind uint8

// The ports.
const (
	PutPort   PortKind = iota // put and fetch-and-increment, as on the Cray T3D
	ArenaPort                 // memory that all share, as on the SGI Power Challenge
	PVMPort                   // messages of PVM
	numPortKinds
)

// transport carries messages: a port.
type transport interface {
	send(dst int, b []byte)
	receive(src int, b []byte) int
	exchange(dst int, out []byte, src int, in []byte) int
	sendAsync(dst, tag int, b []byte)
	receiveAsync(src, tag int, b []byte, wait bool) (Status, bool)
	barrier()
	countUnreceived() (n int, first Status) // asynchronous messages, when no more come
}

// Error is a call that could not be carried out.
type Error struct {
	PE   int
	Call string
	Text string
}

// Error names the PE, its call and the mistake.
func (e *Error) Error() string { return fmt.Sprintf("PE %d: %s: %s", e.PE, e.Call, e.Text) }

// PE is a processing element, one rank of a job, as its program sees it. Only the program's own
// goroutine may use it.
type PE struct {
	port            device.Port
	transport       transport
	elementCost     model.CostKey                                               // the cost of combining two elements
	memory          *shmem.PE                                                   // of the ports PutPort and ArenaPort
	segmentTaker    func(w segmentPattern, b []byte, wait bool) (segment, bool) // how these receive a segment
	rank            int
	peCount         int
	options         Options
	call            string // the call that the program is in, for errors
	awaitedPE       int    // the PE that it waits for, or none
	pool            asyncMessagePool
	stats           Statistics
	reductionBuffer []byte // of reductions
}

// noAwaitedPE is the peer of a call that does not wait for a particular PE.
const noAwaitedPE = -1

// Statistics count what the asynchronous calls of a PE did, in segments of at most a slot.
type Statistics struct {
	ReceivedFromPool   int // received from the pool: copied once
	ReceivedFromList   int // received from the list: copied twice
	PoolDrains         int // how often the pool was drained
	FullPoolEncounters int // how often a sender found a pool full
}

// Run runs a program on all ranks of a world. A message that was sent and not received is an error.
func Run(w device.World, o Options, program func(*PE) error) error {
	if o.PoolSlots < 0 || o.SlotBytes < 0 || o.MinBinarySwapElements < 0 {
		panic("aclmpl: negative number in Options")
	}
	o.PoolSlots = cmp.Or(o.PoolSlots, DefaultSlots)
	o.SlotBytes = (cmp.Or(o.SlotBytes, DefaultSlotBytes) + 7) &^ 7 // whole words
	o.MinBinarySwapElements = cmp.Or(o.MinBinarySwapElements, DefaultMinBinarySwapElements)
	o.ArenaBytes = (cmp.Or(o.ArenaBytes, DefaultArenaBytes) + 7) &^ 7
	if o.Port >= numPortKinds {
		panic("aclmpl: no such port")
	}
	var left stoppedCalls
	err := w.Run(func(p device.Port) error { return runPE(p, o, &left, program) })
	return left.explain(err)
}

// runPE runs the program of a PE on its port.
func runPE(p device.Port, o Options, left *stoppedCalls, program func(*PE) error) (err error) {
	e := &PE{port: p, rank: p.Rank(), peCount: p.Size(), options: o, awaitedPE: noAwaitedPE, elementCost: model.AclmplCombineCost}
	ended := false
	defer func() {
		v := recover()
		if x, ok := v.(*Error); ok {
			err = x
			return
		}
		if !ended {
			left.recordCall(p, e)
		}
		if v != nil {
			panic(v)
		}
	}()
	e.call = "Run"
	switch o.Port {
	case ArenaPort:
		e.transport = newArenaTransport(e)
	case PVMPort:
		e.transport, e.elementCost = newPVMTransport(e), model.AclmplPVMCombineCost
	default:
		e.memory = shmem.NewPE(p, e.slotOffset(o.PoolSlots))
		e.memory.Barrier(nil)
		e.transport, e.segmentTaker = putTransport{e}, putTransport{e}.takeSegment
	}
	if err = program(e); err == nil {
		e.awaitProgramEnds()
	}
	ended = true
	return err
}

// Rank returns the number of the PE, from 0.
func (e *PE) Rank() int { return e.rank }

// Size returns how many PEs there are.
func (e *PE) Size() int { return e.peCount }

// Now returns the PE's clock.
func (e *PE) Now() unit.Time { return e.port.Now() }

// Tick returns the resolution of the clock.
func (e *PE) Tick() unit.Time { return e.port.Tick() }

// Compute keeps the processor busy for d.
func (e *PE) Compute(d unit.Time) { e.port.Delay(d) }

// Statistics returns what the PE has counted so far.
func (e *PE) Statistics() Statistics { return e.stats }

// Barrier returns when all PEs have called it. The paper has no barrier; programs that measure need
// one.
func (e *PE) Barrier() {
	e.enterCall("Barrier", noAwaitedPE)
	e.transport.barrier()
	e.leaveCall()
}

// awaitProgramEnds returns when all PEs have come to the end of their programs.
func (e *PE) awaitProgramEnds() {
	e.enterCall("end of the program", noAwaitedPE)
	e.transport.barrier()
	if n, s := e.transport.countUnreceived(); n > 0 {
		e.failCall("%d asynchronous %s not received; the first is from PE %d with tag %d, of %d bytes", n, plural(n, "message was", "messages were"), s.Source, s.Tag, s.Bytes)
	}
}

// enterCall notes that the program has called the library. A call that waits says for which PE.
func (e *PE) enterCall(call string, peer int) { e.call, e.awaitedPE = call, peer }

func (e *PE) leaveCall() { e.enterCall("", noAwaitedPE) }

// checkRank fails unless there is a PE of that number.
func (e *PE) checkRank(rank int) {
	if rank < 0 || rank >= e.peCount {
		e.failCall("there is no PE %d: the job has PEs 0 to %d", rank, e.peCount-1)
	}
}

// failCall ends the program of the PE.
func (e *PE) failCall(format string, args ...any) {
	panic(&Error{PE: e.rank, Call: e.call, Text: fmt.Sprintf(format, args...)})
}

func (e *PE) spend(k model.CostKey, n int) { e.port.Spend(k, n) }

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// stoppedCalls records the calls that PEs were in when a job was stopped.
type stoppedCalls struct {
	mutex sync.Mutex
	calls map[int]string
}

// recordCall records the call that a PE is in. If PEs are processes, the job's error carries it.
func (s *stoppedCalls) recordCall(p device.Port, e *PE) {
	if e.call == "" {
		return
	}
	text := e.call
	if e.awaitedPE != noAwaitedPE {
		text = fmt.Sprintf("%s with PE %d", e.call, e.awaitedPE)
	}
	if x, ok := p.(device.ErrorDetailer); ok {
		x.SetErrorDetail([]byte(text))
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.calls == nil {
		s.calls = map[int]string{}
	}
	s.calls[e.rank] = text
}

// explain adds to a deadlock the calls in which its PEs wait.
func (s *stoppedCalls) explain(err error) error {
	var d *device.Deadlock
	if !errors.As(err, &d) {
		return err
	}
	const show = 8
	var b strings.Builder
	for i, r := range d.Ranks {
		call, ok := s.calls[r]
		if detail := d.RankDetails[r]; !ok && len(detail) > 0 {
			call, ok = string(detail), true
		}
		if !ok {
			continue
		}
		if i == show {
			b.WriteString("; and others")
			break
		}
		fmt.Fprintf(&b, "; PE %d waits in %s", r, call)
	}
	return fmt.Errorf("%w%s", err, b.String())
}
