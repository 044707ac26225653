package engine

import (
	"fmt"
	"unsafe"

	"github.com/loggp/loggp/model"
)

// overlapChecker records the memory of active operations in checked programs. Memory that a receive
// may write must not be read or written by anything else until the program has completed the
// receive (MPI-1.2, section 3.7.2).
type overlapChecker struct {
	owner           uintptr    // the rank's goroutine
	stack           *CallStack // of the current call, or of the last one whose stack was recorded
	hasStack        bool       // stack is that of the current call
	receives, sends intervals
	freeCalls       *call
	messagesByPeer  map[int][2]int // messages sent to each rank, and received from it
}

// call is a call of the program.
type call struct {
	name  string
	runs  []interval // its memory
	stack *CallStack
	place uintptr // instead of stack: where CallLocator says that it was made
	next  *call
}

// interval is a range of addresses.
type interval struct {
	from, to   uintptr
	call       *call
	dataOffset int    // position of its first byte in the data of the operation
	serial     uint64 // distinguishes intervals with the same start
}

// memoryInterval returns the interval of a part of an operation's data. before is the number of
// data bytes that precede it.
func memoryInterval(b []byte, before int, of *call) interval {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return interval{from: at, to: at + uintptr(len(b)), call: of, dataOffset: before}
}

// appendLayoutIntervals appends the intervals of data with a layout.
func appendLayoutIntervals(all []interval, x Layout, of *call) []interval {
	before := 0
	x.Runs(func(b []byte) {
		all = append(all, memoryInterval(b, before, of))
		before += len(b)
	})
	return all
}

// trackReceiveMemory starts to track a receive, which must not overlap any active operation.
func (r *Rank) trackReceiveMemory(o *Op) {
	c := r.currentCall()
	if o.isBufOfRank {
		c.runs = appendLayoutIntervals(c.runs, o.layout, c)
	} else {
		c.runs = append(c.runs, memoryInterval(o.Buf, 0, c))
	}
	w := r.overlapChecker
	for i := range c.runs {
		x := &c.runs[i]
		if y := w.receives.firstOverlapping(x); y != nil {
			r.reportOverlap(OverlappingReceives, x, y, "both would be written there")
		}
		if y := w.sends.firstOverlapping(x); y != nil {
			r.reportOverlap(ReceiveIntoSendMemory, x, y, "what is sent may be written over before it has left")
		}
	}
	w.receives.add(c.runs)
	o.trackedCall = c
}

// trackSendMemory starts to track a send, which must not overlap an active receive. The data of a
// buffered send is copied before the call returns.
func (r *Rank) trackSendMemory(o *Op) {
	r.checkNotBeingReceived(memoryInterval(o.Buf, 0, nil))
	if o.Mode == model.BufferedMode {
		return
	}
	c := r.currentCall()
	c.runs = append(c.runs, memoryInterval(o.Buf, 0, c))
	r.overlapChecker.sends.add(c.runs)
	o.trackedCall = c
}

// checkNotBeingReceived reports memory that is read now and overlaps an active receive.
func (r *Rank) checkNotBeingReceived(all ...interval) {
	for i := range all {
		x := &all[i]
		if y := r.overlapChecker.receives.firstOverlapping(x); y != nil {
			r.reportOverlap(SendOfReceiveMemory, x, y, "what is sent may have been written over already")
		}
	}
}

// currentCall returns the current call, with its stack: looking up the line takes several times as
// long.
func (r *Rank) currentCall() *call {
	c := r.overlapChecker.freeCalls
	if c == nil {
		c = new(call)
	} else {
		r.overlapChecker.freeCalls = c.next
	}
	c.name, c.runs = r.call, c.runs[:0]
	if r.callLocator != nil {
		c.name, c.place = r.callLocator.CurrentCall()
	} else {
		c.stack = r.CallStack()
	}
	return c
}

// CallStack returns the stack of the current call in a checked program. It is recorded once a call,
// because that takes longer than a step of a collective operation.
func (r *Rank) CallStack() *CallStack {
	w := r.overlapChecker
	if !w.hasStack {
		w.stack, w.hasStack = r.cfg.callStacks.record(w.stack, r.isSerialized), true
	}
	return w.stack
}

// reportOverlap reports that memory of two calls overlaps; y belongs to the earlier one.
func (r *Rank) reportOverlap(kind WarningKind, x, y *interval, why string) {
	r.reportViolation(kind, ErrBuffer, func() string {
		from, to := max(x.from, y.from), min(x.to, y.to)
		return fmt.Sprintf("%s of this call and %s of %s%s, which is not complete, are the same memory: %s",
			x.describeBytes(from, to), y.describeBytes(from, to), y.call.name, r.siteOfCall(y.call).Parenthesized(), why)
	})
}

// siteOfCall returns the line of a call.
func (r *Rank) siteOfCall(c *call) CallSite {
	if r.callLocator != nil {
		return r.callLocator.Site(c.place)
	}
	return r.cfg.stackSite(c.stack.Frames())
}

// describeBytes says which bytes of an interval's data lie between two addresses.
func (x *interval) describeBytes(from, to uintptr) string {
	first := x.dataOffset + int(from-x.from)
	return fmt.Sprintf("bytes %d to %d", first, first+int(to-from)-1)
}

// stopTrackingMemory stops tracking an operation that has failed, because a program that handles
// errors may reuse its memory.
func (r *Rank) stopTrackingMemory(o *Op) {
	if r.overlapChecker != nil {
		r.overlapChecker.stopTracking(o)
	}
}

// stopTracking stops tracking an operation.
func (w *overlapChecker) stopTracking(o *Op) {
	c := o.trackedCall
	if c == nil {
		return
	}
	o.trackedCall = nil
	if o.Receive {
		w.receives.remove(c.runs)
	} else {
		w.sends.remove(c.runs)
	}
	c.next, w.freeCalls = w.freeCalls, c
}
