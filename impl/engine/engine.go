// Package engine is the interface between package mpi and the engines that carry its messages.
//
// An Engine moves the point-to-point messages of one rank over a device.Port: it matches, buffers,
// chooses protocols, and charges what its software costs. A Rank is the half of a rank's message
// passing that is the same for all engines: the call that the program is in, errors, operations and
// their memory, data with gaps, persistent requests, the buffer of buffered sends, checks of
// programs, and the end. Package mpi calls the Rank and cannot tell which engine is below.
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

// Any in place of a source or a tag stands for each source or tag.
const Any = -1

// NewJobEngines prepares a library of the engine's kind for a job. The protocol, if it is not "",
// carries all messages of the program, whatever the library's rules say. A library that the engine
// cannot serve, and a protocol that it does not have, are errors.
type NewJobEngines func(l *model.Library, protocol string) (JobEngines, error)

// JobEngines makes the engines of the ranks of one job.
type JobEngines interface {
	// Engines returns how to get the engines of n ranks, the i-th by the index i. They lie in one
	// piece of memory, as a job may have a million ranks.
	Engines(n int) func(i int) Engine
}

// Engine carries the messages of one rank. It is called by its Rank only, in the rank's goroutine.
//
//   - Matching. Messages of a pair of ranks and a context do not overtake each other: of two that
//     match one receive, the first that was sent is taken; of two receives that match one message,
//     the first that was posted takes it (MPI-1.2, section 3.5).
//   - Progress is made inside calls only. A call that blocks makes progress for all operations of
//     the rank, and an operation whose counterpart has been started ends if both ranks keep making
//     calls.
//   - A send to a rank that takes in nothing never blocks for want of buffer space at the receiver,
//     unless its mode says so.
//   - A synchronous send ends when its receive has been found. A ready send whose receive was not
//     posted is an error (ErrOther) of the receiver, if it takes the message in before.
//   - A message that is longer than its receive is an error (ErrTruncate), and one with another
//     signature too (ErrType): Rank.Check finds both.
//   - An engine fails by Rank.Fail, which does not return. It does not fail for what is not its
//     rank's mistake.
//   - Nothing is allocated for a message once the memory for as many operations is there.
type Engine interface {
	// Setup prepares the engine for a rank. It is called once, before all else.
	Setup(r *Rank)

	// NewOp returns memory for one more operation: the Op inside the engine's own, with Self set.
	NewOp() *Op

	// Send sends buf and returns when the rank may use it again. A buffered message is copied into
	// memory of Rank.Reserve and sent from there.
	Send(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int)

	// Isend starts the send that o describes (Buf, Signature, Mode, Peer, Context, Tag). A buffered
	// one is complete when it returns.
	Isend(o *Op)

	// Irecv starts the receive that o describes (Buf, Signature, Peer, Context, Tag; Peer and Tag
	// may be Any). When it is complete, Peer, Tag and Size are those of the message.
	Irecv(o *Op)

	// Recv is Irecv, and waits until o is complete.
	Recv(o *Op)

	// Progress takes in one packet, or another thing that has happened, and does what it asks for.
	// It reports whether there was one; with block it waits until there is.
	Progress(block bool) bool

	// ChargeCompletionCheck charges the end of a wait or a test: an operation was found complete,
	// or none was.
	ChargeCompletionCheck(found bool)

	// Probe looks, after what has arrived was taken in, for a message that a receive would take.
	// With block it waits for one.
	Probe(src int, context uint32, tag int, block bool) (Status, bool)

	// Cancel asks for an operation to end without a message, and returns at once. Either that
	// happens, by Rank.Cancelled, or the operation completes as ever. A send to a rank that has
	// ended, or that does nothing but make calls, is decided.
	Cancel(o *Op)

	// ExplainWait says what an operation that is under way waits for.
	ExplainWait(o *Op) Wait

	// UnexpectedMessages returns how many messages have arrived that no receive has taken, and the
	// first of them in a context, or of all if the context is AnyContext; nil if there is none.
	UnexpectedMessages(context uint32) (n int, first *UnexpectedMessage)

	// UndecidedMessage returns a message that has arrived, has no receive, and may be cancelled by
	// its sender, or nil.
	UndecidedMessage() *UnexpectedMessage

	// Direct returns the engine's single packets and remote memory access, or nil if it has none.
	Direct() Direct
}

// Counter is an Engine that counts what it does, since its rank began.
type Counter interface {
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

// AnyContext in place of a context stands for all.
const AnyContext = 1<<32 - 1

// Direct is what protocols are made of: single packets without matching, and access to the memory
// of other ranks. It is for measuring, and may not be mixed with messages that are under way.
type Direct interface {
	// SendPacket sends one packet, and RecvPacket takes the next one from any rank and returns
	// its length.
	SendPacket(dst int, b []byte)
	RecvPacket(b []byte) int

	// Remote reports whether the machine has remote memory access. Where it has not, the calls
	// below go by packets, which the other rank takes in when it makes progress.
	Remote() bool

	// Expose lets other ranks access b under the key that it returns, until Withdraw.
	Expose(b []byte) device.Key
	Withdraw(k device.Key)

	// Get reads memory that rank dst has exposed, and Put writes it. Both return when the access is
	// known to have ended.
	Get(dst int, k device.Key, b []byte)
	Put(dst int, k device.Key, b []byte)
}

// Signature stands for the types of the elements of some data, in their order (MPI-1.2, section
// 3.12). A message and its receive have the same. Zero goes with all.
type Signature uint32

// Layout is where data lies that has gaps, or elements of several types.
type Layout interface {
	Len() int                  // bytes that travel
	Flat() ([]byte, bool)      // where they lie, if they lie as they travel
	Gather(to []byte)          // copies them from where they lie
	Scatter(from []byte)       // puts the first ones to where they lie
	Runs(yield func([]byte))   // calls yield for each run of bytes where they lie, in the order in which they travel
	Signature(n int) Signature // of the first n bytes
}

// Status is what is known of a message that was received.
type Status struct {
	Source, Tag int // Source in ranks of the job
	Bytes       int
}
