// Package pvm is message passing in the manner of PVM 3: pvm_psend, which returns when the message
// may be changed, and pvm_precv, which waits for one. It is for comparison with other libraries,
// and a library of its own: programs call it in place of MPI.
//
// A message of up to Options.DataMax bytes goes with its header, from where it is. A longer one is
// copied into a buffer of its sender, from which its receiver gets it by remote memory; where there
// is none, it goes with its header, too. Send does not wait for the receiver.
//
// The sources do not say how PVM's messages travel on the Cray T3D. This package follows its
// documentation: psend, precv, and PVM_DATA_MAX, the environment variable with the longest
// message that goes with its header. A short and a long message cost a different time a byte. Those
// of Broadcast and Reduce are neither queued nor unpacked: on the T3D a step of a broadcast takes
// less than a message.
package pvm

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Options change the library. The zero value is as described.
type Options struct {
	MaxBytesWithHeader int // bytes of the longest message that goes with its header; 0: 4096
}

// DefaultMaxBytesWithHeader is the default of Options.DataMax.
const DefaultMaxBytesWithHeader = 4096

// AnyTask and AnyTag stand for every source and every tag where a receive asks for a message.
const (
	AnyTask = -1
	AnyTag  = -1
)

// Status says what was received.
type Status struct {
	Source, Tag, Bytes int
}

// Error is a call that could not be carried out.
type Error struct {
	Task int
	Text string
}

// Error names the task and the mistake.
func (e *Error) Error() string { return fmt.Sprintf("task %d: %s", e.Task, e.Text) }

// Task is one rank of a job, as its program sees it. Only the program's own goroutine may use it.
type Task struct {
	port            device.Port
	memory          device.Memory // nil: none
	rank, taskCount int
	dataMax         int

	first, last        *pendingMessage // that have come and were not received, in their order
	freeMessages       *pendingMessage
	sentNotFetched     map[device.Key][]byte // long messages that were sent and not fetched
	freeLongBuffers    [][]byte              // their memory, to use again
	packet             device.Packet
	getHasEnded        bool // a get has ended
	barrierCount       uint64
	barrierSignalsSeen [32]uint64 // barriers of which others have told, by round
}

// pendingMessage is one that was not received when it came.
type pendingMessage struct {
	Status
	data   []byte     // that came with it
	key    device.Key // of the memory where it is, if it is long
	isLong bool
	next   *pendingMessage
}

// kinds of packets
const (
	kindMessage          = iota + 1 // a message: tag
	kindLongMessageOffer            // a long one: tag, length, key
	kindFetched                     // it has been fetched: key
	kindGetEnded                    // the end of a get
	kindBarrier                     // at a barrier: round, epoch
)

// Run runs a program on all ranks of a world. A message that was sent and not received is an error.
func Run(w device.World, o Options, program func(*Task) error) error {
	return w.Run(func(p device.Port) (err error) {
		defer func() {
			v := recover()
			if x, ok := v.(*Error); ok {
				err = x
			} else if v != nil {
				panic(v)
			}
		}()
		t := NewTask(p, o)
		if err := program(t); err != nil {
			return err
		}
		return t.End()
	})
}

// NewTask begins message passing on a port. All ranks of a job call it.
func NewTask(p device.Port, o Options) *Task {
	if o.MaxBytesWithHeader < 0 {
		panic("pvm: negative number in Options")
	}
	return &Task{port: p, memory: p.Memory(), rank: p.Rank(), taskCount: p.Size(), dataMax: cmp.Or(o.MaxBytesWithHeader, DefaultMaxBytesWithHeader), sentNotFetched: map[device.Key][]byte{}}
}

// End waits until all tasks have come to the end of their programs. It is an error if there are
// messages that were not received.
func (t *Task) End() error {
	if m := t.first; m == nil {
		for len(t.sentNotFetched) > 0 {
			t.handlePacket(t.port.Recv(true))
		}
	}
	t.Barrier()
	if m := t.first; m != nil {
		return &Error{t.rank, fmt.Sprintf("a message of task %d with tag %d, of %d bytes, was not received", m.Source, m.Tag, m.Bytes)}
	}
	return nil
}

// Rank returns the number of the task, from 0.
func (t *Task) Rank() int { return t.rank }

// Size returns how many tasks there are.
func (t *Task) Size() int { return t.taskCount }

// Now returns the task's clock.
func (t *Task) Now() unit.Time { return t.port.Now() }

// Compute keeps the processor busy for d.
func (t *Task) Compute(d unit.Time) { t.port.Delay(d) }

// Send sends a message, to the task itself, too, and returns when b may be used again (pvm_psend).
// Messages of one task are received in the order in which they were sent, among those that match.
func (t *Task) Send(dst, tag int, b []byte) {
	if dst < 0 || dst >= t.taskCount {
		panic(&Error{t.rank, fmt.Sprintf("there is no task %d: the job has tasks 0 to %d", dst, t.taskCount-1)})
	}
	t.port.Spend(model.PvmSendCost, 1)
	if len(b) <= t.dataMax || t.memory == nil {
		t.sendPacket(dst, device.Head{kindMessage, uint64(tag)}, b)
		return
	}
	c := t.longBuffer(len(b))
	t.port.Copy(c, b)
	k := t.memory.Expose(c)
	t.sentNotFetched[k] = c
	t.sendPacket(dst, device.Head{kindLongMessageOffer, uint64(tag), uint64(len(b)), uint64(k)}, nil)
}

// longBuffer returns memory for a long message.
func (t *Task) longBuffer(n int) []byte {
	if last := len(t.freeLongBuffers) - 1; last >= 0 {
		c := t.freeLongBuffers[last]
		t.freeLongBuffers = t.freeLongBuffers[:last]
		if cap(c) >= n {
			return c[:n]
		}
	}
	return make([]byte, n)
}

// sendPacket sends a packet.
func (t *Task) sendPacket(dst int, h device.Head, b []byte) {
	t.packet.Head, t.packet.Data = h, b
	t.port.Send(dst, &t.packet)
}

// Receive receives the first message of a source (or AnyTask) with a tag (or AnyTag), and waits
// until there is one (pvm_precv).
func (t *Task) Receive(src, tag int, b []byte) Status {
	s, _ := t.ReceiveWhere(matchesSourceAndTag(src, tag), b, true)
	return s
}

// TryReceive is Receive if there is such a message (pvm_nrecv).
func (t *Task) TryReceive(src, tag int, b []byte) (Status, bool) {
	return t.ReceiveWhere(matchesSourceAndTag(src, tag), b, false)
}

func matchesSourceAndTag(src, tag int) func(Status) bool {
	return func(s Status) bool { return (src == AnyTask || s.Source == src) && (tag == AnyTag || s.Tag == tag) }
}

// maxPolledPackets is how many packets a receive that does not wait takes in at most: others may
// send faster than they can be taken in.
const maxPolledPackets = 256

// ReceiveWhere receives the first message that matches, as after pvm_recvf. If there is none, it
// waits or returns false.
func (t *Task) ReceiveWhere(matches func(Status) bool, b []byte, wait bool) (Status, bool) {
	t.port.Spend(model.PvmReceiveCost, 1)
	var before *pendingMessage
	looked := false
	for polled := 0; ; polled++ {
		m := t.first
		if looked { // all before have been looked at
			m = before.nextAfter(t.first)
		}
		for ; m != nil; before, m = m, m.next {
			if matches(m.Status) {
				return t.takeMessage(before, m, b), true
			}
		}
		looked = true
		if !wait && polled == maxPolledPackets {
			return Status{}, false
		}
		q := t.port.Recv(wait)
		if q == nil {
			return Status{}, false
		}
		t.handlePacket(q)
	}
}

// nextAfter returns what is behind a message, or the first if it is none.
func (m *pendingMessage) nextAfter(first *pendingMessage) *pendingMessage {
	if m == nil {
		return first
	}
	return m.next
}

// takeMessage takes out the message behind another one, and copies its data to b.
func (t *Task) takeMessage(before, m *pendingMessage, b []byte) Status {
	if m.Bytes > len(b) {
		panic(&Error{t.rank, fmt.Sprintf("a message of %d bytes from task %d with tag %d does not fit a buffer of %d", m.Bytes, m.Source, m.Tag, len(b))})
	}
	if before == nil {
		t.first = m.next
	} else {
		before.next = m.next
	}
	if t.last == m {
		t.last = before
	}
	if m.isLong {
		t.memory.Get(m.Source, m.key, 0, b[:m.Bytes], device.Head{kindGetEnded})
		for t.getHasEnded = false; !t.getHasEnded; {
			t.handlePacket(t.port.Recv(true))
		}
		t.sendPacket(m.Source, device.Head{kindFetched, uint64(m.key)}, nil)
		t.port.Spend(model.PvmUnpackCost, m.Bytes)
	} else {
		t.port.Copy(b, m.data)
		if m.Tag != collectiveTag {
			t.port.Spend(model.PvmUnpackShortCost, m.Bytes)
		}
	}
	m.next, t.freeMessages = t.freeMessages, m
	return m.Status
}

// handlePacket does what a packet says.
func (t *Task) handlePacket(q *device.Packet) {
	switch q.Head[0] {
	case kindMessage, kindLongMessageOffer:
		if int(q.Head[1]) != collectiveTag {
			t.port.Spend(model.PvmHandleCost, 1)
		}
		m := t.freeMessages
		if m == nil {
			m = new(pendingMessage)
		} else {
			t.freeMessages = m.next
		}
		m.Status, m.next = Status{q.Src, int(q.Head[1]), len(q.Data)}, nil
		m.data = append(m.data[:0], q.Data...)
		if m.isLong = q.Head[0] == kindLongMessageOffer; m.isLong {
			m.Bytes, m.key = int(q.Head[2]), device.Key(q.Head[3])
		}
		if t.last == nil {
			t.first = m
		} else {
			t.last.next = m
		}
		t.last = m
	case kindFetched:
		k := device.Key(q.Head[1])
		t.memory.Withdraw(k)
		t.freeLongBuffers = append(t.freeLongBuffers, t.sentNotFetched[k])
		delete(t.sentNotFetched, k)
	case kindGetEnded:
		if q.Refused {
			panic("pvm: get of a message that is not there")
		}
		t.getHasEnded = true
	case kindBarrier:
		t.barrierSignalsSeen[q.Head[1]] = max(t.barrierSignalsSeen[q.Head[1]], q.Head[2])
	}
}

// ForEachPending calls yield for each message that has come and was not received.
func (t *Task) ForEachPending(yield func(Status) bool) {
	for m := t.first; m != nil && yield(m.Status); m = m.next {
	}
}

// Barrier returns when all tasks have called it (pvm_barrier; Hensgen, Finkel and Manber 1988:
// dissemination).
func (t *Task) Barrier() {
	t.barrierCount++
	for r := range bits.Len(uint(t.taskCount - 1)) {
		t.sendPacket((t.rank+1<<r)%t.taskCount, device.Head{kindBarrier, uint64(r), t.barrierCount}, nil)
		for t.barrierSignalsSeen[r] < t.barrierCount {
			t.handlePacket(t.port.Recv(true))
		}
	}
}

// collectiveTag is the tag of messages of collective calls.
const collectiveTag = -2

// Broadcast sends the b of task 0 to the b of all others, by a binomial tree.
func (t *Task) Broadcast(b []byte) {
	for d := 1 << bits.Len(uint(t.taskCount-1)) / 2; d > 0; d /= 2 {
		switch {
		case t.rank%(2*d) == 0 && t.rank+d < t.taskCount:
			t.Send(t.rank+d, collectiveTag, b)
		case t.rank%(2*d) == d:
			t.Receive(t.rank-d, collectiveTag, b)
		}
	}
}

// Reduce combines the arrays of all tasks at task 0 by a binomial tree, in the order of tasks, and
// leaves the result in b (pvm_reduce). An element has size bytes, and combine leaves the result in
// lower.
func (t *Task) Reduce(b []byte, size int, combine func(lower, higher []byte)) {
	var in []byte
	for d := 1; d < t.taskCount; d *= 2 {
		if t.rank&d != 0 {
			t.Send(t.rank-d, collectiveTag, b)
			return
		}
		if t.rank+d < t.taskCount {
			if in == nil {
				in = make([]byte, len(b))
			}
			t.Receive(t.rank+d, collectiveTag, in)
			combine(b, in)
			t.port.ChargeOperations(len(b) / size)
		}
	}
}
