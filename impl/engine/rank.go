package engine

import (
	"fmt"
	"runtime"

	"github.com/loggp/loggp/impl/device"
)

// Config is the configuration that the ranks of a job share. It must not be copied once used.
type Config struct {
	OnCall func(rank int, call string) // called at the start of each call of the program, and with "" when the program has ended; nil: no function

	// OnFunction is called like OnCall, with the names of functions that the program itself uses:
	// once for each function, even if several calls carry it out; nil: no function.
	OnFunction func(rank int, name string)

	// TypeNames returns the names of the types that a signature represents; nil: errors show its
	// number.
	TypeNames func(Signature) string

	// ExplainMismatch says how the collective call of another rank, whose messages have the tag
	// theirs, differs from this rank's, which expects the tag ours. It returns no class if they do
	// not differ; nil: not available.
	ExplainMismatch func(rank int, context uint32, src, theirs, ours int) (ErrorClass, string)

	// PeerName returns the name of rank other of the job in errors of a rank that communicates with
	// it in a context; nil: its number in the job.
	PeerName func(rank int, context uint32, other int) string

	Check     CheckMode     // of the program
	OnWarning func(Warning) // called once for each kind by each rank; nil: no function

	// StackSite returns the source line of the program for a stack of program counters; nil: not
	// available.
	StackSite func(stack []uintptr) CallSite

	callStacks stackTable // of checked calls
}

// stackSite returns the source line of the program for a stack, or the zero value if it is unknown.
func (c *Config) stackSite(stack []uintptr) CallSite {
	if c.StackSite == nil {
		return CallSite{}
	}
	return c.StackSite(stack)
}

// callSite returns the source line of the current call.
func (c *Config) callSite() CallSite {
	stack := make([]uintptr, 128)
	return c.stackSite(stack[:runtime.Callers(2, stack)])
}

// CallLocator locates the calls of a program that is not written in Go, and so does not appear on
// goroutine stacks.
type CallLocator interface {
	CurrentCall() (call string, at uintptr) // the current call, and the place from which it was made
	Site(at uintptr) CallSite
}

// Rank is the message passing of one rank, independent of the engine. It must not be copied.
//
// A call of the program starts with Enter, creates operations, and passes them to the rank's
// engine.
type Rank struct {
	engine          Engine
	port            device.Port
	bufferedSender  device.BufferedSender // the port, if it buffers sends; nil: it does not
	cfg             *Config
	call            string          // the current call
	context         uint32          // of the communicator of the call
	collectiveTag   int             // tag of the messages of a collective call
	waitTarget      waitTarget      // what the rank waits for; nil: nothing
	isPolling       bool            // it polls for that, and does not wait
	freeOps         *Op             // unused operations
	overlapChecker  *overlapChecker // nil: the program is not checked
	callLocator     CallLocator     // nil: the program is written in Go
	isRealTime      bool            // software costs are not charged
	isSerialized    bool            // ranks run one at a time, and share memory
	hasCallObserver bool            // calls are reported to Config.OnCall and OnFunction
	function        CalledFunction
	traffic         MessageTraffic // messages so far
	hasFailedCall   bool           // a call has failed: its operations may remain

	// Rarely used fields come last.
	ops                   []*Op // all operations
	firstOps              [4]*Op
	scratch               [][]byte // unused temporary memory for messages
	buffer                attachedBuffer
	bufferScopes          map[uint32]*bufferScope // by context; nil: none
	receivesPosted        uint64                  // number of receives posted by nonblocking calls
	freedOps              int                     // freed operations under way
	abandonedReceives     int                     // among these, receives in place of requests that were left open
	awaitedRequests       awaitedRequestList      // the list of operations for which the rank waits
	probedMessage         probedMessage
	reportedKinds         []WarningKind   // kinds of warnings that the rank has reported
	handlesErrors         bool            // the program has an error handler, and continues after errors
	receiveErrorsInStatus bool            // errors of received messages are stored in statuses
	service               *service        // nil: none
	threads               ThreadScheduler // of the program; nil: a single one makes calls
}

// Setup initializes a rank with its port and its engine.
func (r *Rank) Setup(port device.Port, e Engine, cfg *Config) {
	r.port, r.engine, r.cfg = port, e, cfg
	_, r.isRealTime = port.(device.RealTime)
	r.isSerialized = device.RanksAreSerialized(port)
	if h, ok := port.(device.BufferedSender); ok && h.BuffersSends() {
		r.bufferedSender = h
	}
	r.hasCallObserver = cfg.Check != CheckOff || cfg.OnCall != nil || cfg.OnFunction != nil
	if cfg.Check != CheckOff {
		r.overlapChecker = &overlapChecker{owner: goroutineID(), messagesByPeer: map[int][2]int{}}
	}
	e.Setup(r)
}

// Port returns the rank's port.
func (r *Rank) Port() device.Port { return r.port }

// SetCallLocator sets what locates the program's calls; nil: goroutine stacks do. CallLocator
// returns it.
func (r *Rank) SetCallLocator(c CallLocator) { r.callLocator = c }
func (r *Rank) CallLocator() CallLocator     { return r.callLocator }

// IsRealTime reports whether work takes real time, so that the engine need not charge it.
func (r *Rank) IsRealTime() bool { return r.isRealTime }

// Copy copies data and charges the copy.
func (r *Rank) Copy(dst, src []byte) int {
	if r.isRealTime {
		return copy(dst, src)
	}
	return r.port.Copy(dst, src)
}

// Enter records the call that the program makes, without a communicator.
func (r *Rank) Enter(call string) { r.EnterOn(call, 0) }

// EnterOn records the call and the context of its communicator.
func (r *Rank) EnterOn(call string, context uint32) {
	if r.hasCallObserver {
		r.observeCall(call)
	}
	r.call, r.context = call, context
}

// SetContext changes the context of the current call, if it uses several communicators.
func (r *Rank) SetContext(context uint32) { r.context = context }

// Call returns the current call.
func (r *Rank) Call() string { return r.call }

// ExpectCollectiveTag sets the tag of the messages of the current collective call.
func (r *Rank) ExpectCollectiveTag(tag int) { r.collectiveTag = tag }

// observeCall reports a call to Config.OnCall. It is a separate function so that Enter is inlined.
func (r *Rank) observeCall(call string) {
	r.CheckGoroutine(call)
	if r.overlapChecker != nil {
		r.overlapChecker.hasStack = false
	}
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

// CalledFunction is a function called by a program that is not written in Go. Calls of the library
// carry it out.
type CalledFunction struct {
	Name   string // "": the program makes the calls by itself
	isTold bool   // Config.OnFunction has been told of it
}

// SwitchFunction sets the function that the next calls carry out, and returns the previous one.
func (r *Rank) SwitchFunction(f CalledFunction) CalledFunction {
	last := r.function
	r.function = f
	return last
}

// CheckGoroutine fails in a checked program if the call is made by another goroutine than the
// rank's.
func (r *Rank) CheckGoroutine(call string) {
	if r.overlapChecker != nil && r.overlapChecker.owner != goroutineID() {
		r.failOtherGoroutine(call)
	}
}

// failOtherGoroutine fails in the calling goroutine, and changes nothing. It does nothing for a
// rank that has ended, whose calls fail by themselves.
func (r *Rank) failOtherGoroutine(call string) {
	if _, ended := r.port.(endedPort); ended {
		return
	}
	panic(&Error{Class: ErrOther, Rank: r.port.Rank(), Call: call, CallSite: r.cfg.callSite(),
		Text: "another goroutine than the rank's makes this call: what belongs to a rank is for its own goroutine alone"})
}

// PeerName returns the name of another rank of the job, as the program knows it in a context.
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

// checkSameCollective fails if a message belongs to a different collective call.
func (r *Rank) checkSameCollective(context uint32, src, tag int32) {
	if r.cfg.ExplainMismatch == nil {
		return
	}
	if c, text := r.cfg.ExplainMismatch(r.port.Rank(), context&^1, int(src), int(tag), r.collectiveTag); c != "" {
		r.FailWithOtherCall(int(src), c, "%s", text)
	}
}
