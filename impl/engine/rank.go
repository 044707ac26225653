package engine

import (
	"fmt"
	"runtime"

	"github.com/loggp/loggp/impl/device"
)

// Config is what the ranks of a job share. It does not change.
type Config struct {
	OnCall func(rank int, call string) // is told of every call that the program makes, and of "" when it has ended; nil: nothing is

	// OnFunction is told of the same by the names that the program uses: each function once, also
	// if several calls carry it out. nil: nothing is.
	OnFunction func(rank int, name string)

	// TypeNames names the types that a signature stands for; nil: its number.
	TypeNames func(Signature) string

	// ExplainMismatch says how the collective call to which a message belongs, by its tag (theirs),
	// differs from the one of a rank that expects messages with the tag ours. It returns no class
	// if they do not differ; nil: it is not known.
	ExplainMismatch func(rank int, context uint32, src, theirs, ours int) (ErrorClass, string)

	// PeerName says what a rank of the job is called by one that communicates with it in a context,
	// as errors name it; nil: that rank of the job.
	PeerName func(rank int, context uint32, other int) string

	Check     CheckMode     // of the program
	OnWarning func(Warning) // is told of each kind once by each rank; nil: nothing is

	// StackSite returns the line of the program on a stack of program counters; nil: it is not
	// known.
	StackSite func(stack []uintptr) CallSite
}

// stackSite returns the line of the program on a stack; the zero value: it is not known.
func (c *Config) stackSite(stack []uintptr) CallSite {
	if c.StackSite == nil {
		return CallSite{}
	}
	return c.StackSite(stack)
}

// callSite returns the line of the program whose call is under way.
func (c *Config) callSite() CallSite {
	stack := make([]uintptr, 128)
	return c.stackSite(stack[:runtime.Callers(2, stack)])
}

// CallLocator locates the calls of a program that is not written in Go, on whose stacks goroutines
// say nothing.
type CallLocator interface {
	Here() (call string, at uintptr) // the call that the program is in, and where it makes it
	Site(at uintptr) CallSite
}

// Rank is the message passing of one rank. It may not be copied.
//
// A program's call enters here (Enter), becomes operations, and goes on in the rank's engine.
type Rank struct {
	engine          Engine
	port            device.Port
	bufferedSender  device.BufferedSender // the port, if sends may leave something with it; nil: they do not
	cfg             *Config
	call            string          // the call that the program is in
	context         uint32          // of the communicator on which it makes it
	collectiveTag   int             // the tag of a collective call's messages
	waitTarget      waitTarget      // what the rank waits for; nil: nothing
	isPolling       bool            // it looks for that, and does not wait
	freeOps         *Op             // operations to use again
	overlapChecker  *overlapChecker // nil: the program is not checked
	callLocator     CallLocator     // nil: the program is written in Go
	isRealTime      bool            // work takes its own time
	hasCallObserver bool            // calls are told to somebody
	function        CalledFunction
	traffic         MessageTraffic // so far
	hasFailedCall   bool           // a call has failed: what it had begun may be left

	// Fields that few messages need come last.
	ops                   []*Op // all
	firstOps              [4]*Op
	scratch               [][]byte // memory to copy messages through, to be used again
	buffer                attachedBuffer
	bufferScopes          map[uint32]*bufferScope // by context; nil: there are none
	receivesPosted        uint64                  // by calls that do not block
	freedOps              int                     // operations under way that the program has given up
	abandonedReceives     int                     // of those, receives in place of requests that were left open
	awaitedRequests       awaitedRequestList      // of operations; the rank waits for the first
	probedMessage         probedMessage
	reportedKinds         []WarningKind // what the rank has reported
	handlesErrors         bool          // the program has a handler of errors, and goes on after them
	receiveErrorsInStatus bool          // of messages that were received, for the statuses
	service               *service      // nil: there is none
	hasThreads            bool          // several threads of the program call
}

// Setup makes the zero value the rank of a port, whose messages an engine carries.
func (r *Rank) Setup(port device.Port, e Engine, cfg *Config) {
	r.port, r.engine, r.cfg = port, e, cfg
	_, r.isRealTime = port.(device.RealTime)
	if h, ok := port.(device.BufferedSender); ok && h.BuffersSends() {
		r.bufferedSender = h
	}
	r.hasCallObserver = cfg.Check != CheckOff || cfg.OnCall != nil || cfg.OnFunction != nil
	if cfg.Check != CheckOff {
		r.overlapChecker = &overlapChecker{owner: goroutineID(), calls: map[*Op]*call{}, messagesByPeer: map[int][2]int{}}
	}
	e.Setup(r)
}

// Port returns the rank's port.
func (r *Rank) Port() device.Port { return r.port }

// SetCallLocator says who locates the program's calls. CallLocator returns it; nil: the stacks of
// goroutines do.
func (r *Rank) SetCallLocator(c CallLocator) { r.callLocator = c }
func (r *Rank) CallLocator() CallLocator     { return r.callLocator }

// IsRealTime reports whether work takes its own time, so that an engine need not charge any.
func (r *Rank) IsRealTime() bool { return r.isRealTime }

// Copy copies, and charges that.
func (r *Rank) Copy(dst, src []byte) int {
	if r.isRealTime {
		return copy(dst, src)
	}
	return r.port.Copy(dst, src)
}

// Enter notes the call that the program makes next, on no communicator.
func (r *Rank) Enter(call string) { r.EnterOn(call, 0) }

// EnterOn notes the call, and the context of the communicator that it is made on.
func (r *Rank) EnterOn(call string, context uint32) {
	if r.hasCallObserver {
		r.observeCall(call)
	}
	r.call, r.context = call, context
}

// SetContext notes the communicator of the call that the program is in, if it is of several.
func (r *Rank) SetContext(context uint32) { r.context = context }

// Call returns the call that the program is in.
func (r *Rank) Call() string { return r.call }

// ExpectCollectiveTag says which tag messages have that belong to the collective call that the
// program is in.
func (r *Rank) ExpectCollectiveTag(tag int) { r.collectiveTag = tag }

// observeCall tells the observer of a call. It is apart so that Enter is inlined.
func (r *Rank) observeCall(call string) {
	r.CheckGoroutine(call)
	if r.cfg.OnCall != nil {
		r.cfg.OnCall(r.port.Rank(), call)
	}
	switch {
	case r.cfg.OnFunction == nil:
	case r.function.Name == "" || call == "":
		r.cfg.OnFunction(r.port.Rank(), call)
	case !r.function.isTold:
		r.function.isTold = true
		r.cfg.OnFunction(r.port.Rank(), r.function.Name)
	}
}

// CalledFunction is a function that a program has called and that calls of the library carry out,
// in a program that is not written in Go.
type CalledFunction struct {
	Name   string // "": the program makes the calls by itself
	isTold bool   // Config.OnFunction has been told of it
}

// SwitchFunction says which function the next calls carry out, and returns the last one.
func (r *Rank) SwitchFunction(f CalledFunction) CalledFunction {
	last := r.function
	r.function = f
	return last
}

// CheckGoroutine fails if another goroutine than the rank's makes a call, in a program that is
// checked.
func (r *Rank) CheckGoroutine(call string) {
	if r.overlapChecker != nil && r.overlapChecker.owner != goroutineID() {
		r.failOtherGoroutine(call)
	}
}

// failOtherGoroutine fails in the goroutine that makes a call, and changes nothing. A rank that has
// ended has no goroutine: what fails then says so itself.
func (r *Rank) failOtherGoroutine(call string) {
	if _, ended := r.port.(endedPort); ended {
		return
	}
	panic(&Error{Class: ErrOther, Rank: r.port.Rank(), Call: call, CallSite: r.cfg.callSite(),
		Text: "another goroutine than the rank's makes this call: what belongs to a rank is for its own goroutine alone"})
}

// PeerName returns what another rank of the job is called by the program, which communicates with
// it in a context.
func (r *Rank) PeerName(other int32, context uint32) string {
	if r.cfg.PeerName == nil {
		return fmt.Sprintf("rank %d", other)
	}
	return r.cfg.PeerName(r.port.Rank(), context&^1, int(other))
}

func (r *Rank) typeNames(s Signature) string {
	if r.cfg.TypeNames == nil {
		return fmt.Sprintf("elements with signature %d", s)
	}
	return r.cfg.TypeNames(s)
}

// checkSameCollective fails with a message of another collective call than the one that receives
// it.
func (r *Rank) checkSameCollective(context uint32, src, tag int32) {
	if r.cfg.ExplainMismatch == nil {
		return
	}
	if c, text := r.cfg.ExplainMismatch(r.port.Rank(), context&^1, int(src), int(tag), r.collectiveTag); c != "" {
		r.FailWithOtherCall(int(src), c, "%s", text)
	}
}
