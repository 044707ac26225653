// Package engine is the interface between package mpi and the engines that carry its messages.
//
// An Engine carries the point-to-point messages of one rank over a device.Port. It matches and
// buffers messages, chooses protocols, and charges the cost of its software to the processor. A
// Rank has the part that is the same for all engines: the current call, errors, operations and
// their memory, data with gaps, persistent requests, the buffer of buffered sends, checks of
// programs, and finalization. Package mpi calls the Rank and cannot tell which engine it has.
//
//	mpi  →  engine.Rank  →  engine.Engine (proto, queue, ...)  →  device.Port
//
// Collective operations are schedules of point-to-point messages and belong to package mpi. The
// laws below are executed by the suite in enginetest.
package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// AnySourceOrTag as a source or a tag matches every source or tag.
const AnySourceOrTag = -1

// NewJobEnginesFunc prepares the engines of a job that uses library l. A protocol other than ""
// carries all messages of the program in place of the library's rules. It is an error if the engine
// cannot serve the library or does not have the protocol.
type NewJobEnginesFunc func(l *model.Library, protocol string) (JobEngines, error)

// JobEngines makes the engines of the ranks of one job.
type JobEngines interface {
	// Engines allocates the engines of n ranks in one piece of memory, as a job may have a million
	// ranks, and returns a function that returns the engine with an index.
	Engines(n int) func(i int) Engine
}

// Engine carries the messages of one rank. It is called by its Rank only, in the rank's goroutine.
//
//   - Matching. Messages of a pair of ranks and a context do not overtake each other: of two that
//     match one receive, the first that was sent is taken; of two receives that match one message,
//     the first that was posted takes it (MPI-1.2, section 3.5).
//   - Progress is made inside calls only. A call that blocks makes progress for all operations of
//     the rank. Once both sides of a message have been started, they complete if both ranks keep
//     making calls.
//   - A send does not block because the receiver's buffers are full, even if the receiver makes no
//     calls, unless its mode says so.
//   - A synchronous send ends when its receive has been found. A ready send whose receive was not
//     posted is an error (ErrOther) of the receiver if the message arrives first.
//   - A message that is longer than its receive is an error (ErrTruncate), and one with another
//     signature too (ErrType): Rank.CheckMessage finds both.
//   - An engine fails by Rank.Fail, which does not return. It does not fail for what is not its
//     rank's mistake.
//   - Nothing is allocated for a message once the memory for as many operations is there.
type Engine interface {
	// Setup prepares the engine for a rank. It is called once, before any other method.
	Setup(r *Rank)

	// NewOp allocates an operation of the engine and returns the Op in it, with EngineOp set.
	NewOp() *Op

	// Send sends buf and returns when the rank may use it again. A buffered message is copied into
	// memory of Rank.Reserve and sent from there.
	Send(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int)

	// Isend starts the send that o describes (Buf, Signature, Mode, Peer, Context, Tag). A buffered
	// one is complete when it returns.
	Isend(o *Op)

	// Irecv starts the receive that o describes (Buf, Signature, Peer, Context, Tag; Peer and Tag
	// may be AnySourceOrTag). When it is complete, Peer, Tag and Size are those of the message.
	Irecv(o *Op)

	// Recv starts a receive as Irecv does and waits until it is complete.
	Recv(o *Op)

	// Progress handles one event, such as an arrived packet, and reports whether there was one. If
	// block is true it waits for an event.
	Progress(block bool) bool

	// ChargeCompletionCheck charges the end of a wait or a test, which found an operation complete
	// or did not.
	ChargeCompletionCheck(found bool)

	// Probe handles arrived packets, then looks for a message that such a receive would take. If
	// block is true it waits for one.
	Probe(src int, context uint32, tag int, block bool) (Status, bool)

	// Cancel requests that an operation end without a message, and returns at once. Either it does,
	// by Rank.Cancelled, or the operation completes as usual. The outcome of a send is known at the
	// latest when the other rank makes calls or has ended.
	Cancel(o *Op)

	// ExplainWait describes what an unfinished operation waits for.
	ExplainWait(o *Op) WaitDescription

	// CountUnexpected returns how many messages have arrived that no receive has taken, and the
	// first of them in a context, or of all if the context is AnyContext; nil if there is none.
	UnexpectedMessages(context uint32) (n int, first *UnexpectedMessage)

	// FindCancellable returns a message that has arrived, has no receive, and may be cancelled by
	// its sender, or nil.
	CancellableMessage() *UnexpectedMessage

	// LowLevelPort returns the engine's single packets and remote memory access, or nil if it has
	// none.
	LowLevelPort() LowLevelPort
}

// CountingEngine is an Engine with counters of its actions since the rank began.
type CountingEngine interface {
	Engine
	Counts(yield func(name string, n int64) bool)
}

// BarrierEngine is an Engine with a barrier that takes no messages.
type BarrierEngine interface {
	Engine

	// Barrier returns true when all n ranks have called it, of which this one is number me and rank
	// returns the others; or false at once if the machine has no such barrier.
	Barrier(n, me int, rank func(i int) int) bool
}

// AnyContext as a context stands for all contexts.
const AnyContext = 1<<32 - 1

// LowLevelPort is what protocols are made of: single packets without matching, and access to the
// memory of other ranks. It is for measuring, and may not be mixed with messages that are under
// way.
type LowLevelPort interface {
	// SendPacket sends one packet, and RecvPacket takes the next one from any rank and returns
	// its length.
	SendPacket(dst int, b []byte)
	RecvPacket(b []byte) int

	// HasRemoteMemory reports whether the machine has remote memory access. If not, the calls below
	// send packets, which the other rank handles when it makes progress.
	HasRemoteMemory() bool

	// Expose lets other ranks access b under the key that it returns, until Withdraw.
	Expose(b []byte) device.Key
	Withdraw(k device.Key)

	// Get reads memory that rank dst has exposed, and Put writes it. Both return when the access is
	// known to have ended.
	Get(dst int, k device.Key, b []byte)
	Put(dst int, k device.Key, b []byte)
}

// Signature stands for the types of the elements of some data, in their order (MPI-1.2, section
// 3.12). A message and its receive must have the same signature. Zero matches every signature.
type Signature uint32

// Layout is where data lies that has gaps, or elements of several types.
type Layout interface {
	Len() int                        // bytes that travel
	ContiguousBytes() ([]byte, bool) // where they lie, if they lie as they travel
	Gather(to []byte)                // copies the data into one piece
	Scatter(from []byte)             // copies the first bytes of the data from one piece to their places
	Runs(yield func([]byte))         // calls yield for each run of bytes where they lie, in the order in which they travel
	Signature(n int) Signature       // of the first n bytes
}

// Status describes a received message.
type Status struct {
	Source, Tag int // Source in ranks of the job
	Bytes       int
	Err         *Error // of Recv after Rank.KeepReceiveErrors: the message is not what it wants
}
