// Package engine is the interface between package mpi and the engines that carry its messages.
//
// An Engine carries the point-to-point messages of one rank over a device.Port. It matches and
// buffers messages, chooses protocols, and charges its software costs. A Rank is the part common to
// all engines: current call, errors, operations (Op), noncontiguous data (Layout), persistent
// requests, attached buffers, checks of programs, and finalization.
//
//	mpi  →  engine.Rank  →  engine.Engine (proto, queue, ...)  →  device.Port
//
// For a send, package mpi calls Rank.Isend, which passes an Op to Engine.Isend. The engine sends
// packets, and Progress handles those that arrive until Rank.Complete finishes the Op. Collective
// operations are schedules of such messages and belong to package mpi. The suite in enginetest
// tests the laws below.
package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// AnySourceOrTag matches every source or every tag.
const AnySourceOrTag = -1

// NewJobEnginesFunc prepares the engines of a job with library l. A protocol other than "" carries
// all messages of the program, instead of the library's rules. The function fails if the engine
// does not support the library or the protocol.
type NewJobEnginesFunc func(l *model.Library, protocol string) (JobEngines, error)

// JobEngines creates the engines of a job's ranks.
type JobEngines interface {
	// Engines allocates the engines of n ranks in one piece, because a job may have a million
	// ranks. It returns a function that returns the engine with an index.
	Engines(n int) func(i int) Engine
}

// Engine carries the messages of one rank. Only its Rank calls it, in the rank's goroutine.
//
//   - Matching. Messages of one pair of ranks and one context do not overtake each other: if two
//     messages match one receive, it takes the one sent first; if two receives match one message,
//     the one posted first takes it (MPI-1.2, section 3.5).
//   - Progress is made inside calls only. A blocking call makes progress for all operations of the
//     rank. Once both sides of a message have been started, they complete if both ranks keep making
//     calls.
//   - A send does not block because the receiver's buffers are full, even if the receiver makes no
//     calls, unless its mode requires it.
//   - A synchronous send completes when its message has been matched. If the message of a ready
//     send arrives before the receive is posted, the receiver raises an error (ErrOther).
//   - A message that is longer than its receive is an error (ErrTruncate), as is one with another
//     signature (ErrType). Rank.CheckMessage checks both.
//   - An engine fails by Rank.Fail, which does not return. It fails only for mistakes of its own
//     rank.
//   - A message causes no allocation once there is memory for the number of concurrent operations.
type Engine interface {
	// Setup prepares the engine for a rank. It is called once, before all other methods.
	Setup(r *Rank)

	// NewOp allocates an operation of the engine and returns the Op in it, with EngineOp set.
	NewOp() *Op

	// Send sends buf and returns when the rank may reuse it. The data of a buffered message is
	// copied to memory of Rank.ReserveBuffered and sent from there.
	Send(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int)

	// Isend starts the send described by o (Buf, Signature, Mode, Peer, Context, Tag). A buffered
	// send is complete when it returns.
	Isend(o *Op)

	// Irecv starts the receive described by o (Buf, Signature, Peer, Context, Tag; Peer and Tag may
	// be AnySourceOrTag). When it is complete, Peer, Tag and Size are those of the message.
	Irecv(o *Op)

	// Recv starts a receive like Irecv and waits until it is complete.
	Recv(o *Op)

	// Progress handles one event, such as an arrived packet, and reports whether there was one. If
	// block is true it waits for an event.
	Progress(block bool) bool

	// ChargeCompletionCheck charges the end of a wait or a test. found says whether it found a
	// completed operation.
	ChargeCompletionCheck(found bool)

	// Probe handles arrived packets, then looks for a message that a receive with these arguments
	// would take. If block is true it waits for one.
	Probe(src int, context uint32, tag int, block bool) (Status, bool)

	// Cancel requests the cancellation of an operation and returns at once. Either the operation is
	// cancelled (Rank.FinishCancelled) or it completes normally. The outcome for a send is known at
	// the latest when the other rank makes calls or has ended.
	Cancel(o *Op)

	// ExplainWait describes what an unfinished operation waits for.
	ExplainWait(o *Op) WaitDescription

	// UnexpectedMessages returns the number of messages that have arrived without a matching
	// receive, and the first one with a context, or nil. AnyContext stands for all contexts.
	UnexpectedMessages(context uint32) (n int, first *UnexpectedMessage)

	// CancellableMessage returns an unexpected message that its sender may still cancel, or nil.
	CancellableMessage() *UnexpectedMessage

	// LowLevelPort returns access to single packets and remote memory, or nil if the engine has
	// none.
	LowLevelPort() LowLevelPort
}

// CountingEngine is an Engine that counts its actions since the start of the rank.
type CountingEngine interface {
	Engine
	Counts(yield func(name string, n int64) bool)
}

// Steps are steps of a rank between which it waits for operations, as those of a collective
// operation.
type Steps interface {
	// Advance carries out steps until an operation must be finished first, and returns that. It
	// returns nil after the last step. It may be called in another goroutine while the rank waits.
	Advance() *Op
}

// StepEngine is an Engine that carries out the steps of a rank without switching to the rank's
// goroutine in between, if the port can. Its blocking calls have two parts, between which the
// operation must be finished.
type StepEngine interface {
	Engine
	RunSteps(s Steps) // carries out all steps

	// BeginSend and EndSend are the parts of Send. An Op that is nil is finished and has no end.
	BeginSend(m model.Mode, buf []byte, s Signature, dst int, context uint32, tag int) *Op
	EndSend(o *Op)

	// BeginRecv and EndRecv are the parts of Recv.
	BeginRecv(o *Op)
	EndRecv()
}

// BarrierEngine is an Engine with a barrier that needs no messages.
type BarrierEngine interface {
	Engine

	// Barrier returns true when all n ranks have called it. me is the caller's number among them,
	// and rank maps numbers to ranks of the job. It returns false at once if the machine has no
	// such barrier.
	Barrier(n, me int, rank func(i int) int) bool
}

// AnyContext stands for all contexts.
const AnyContext = 1<<32 - 1

// LowLevelPort has the elements of protocols: single packets without matching, and access to memory
// of other ranks. It is for measurements. Do not use it while messages are under way.
type LowLevelPort interface {
	// SendPacket sends one packet. RecvPacket receives the next packet from any rank and returns
	// its length in bytes.
	SendPacket(dst int, b []byte)
	RecvPacket(b []byte) int

	// HasRemoteMemory reports whether the machine has remote memory access. Otherwise the methods
	// below send packets, which the other rank handles when it makes progress.
	HasRemoteMemory() bool

	// Expose allows other ranks to access b, under the returned key, until Withdraw.
	Expose(b []byte) device.Key
	Withdraw(k device.Key)

	// Get reads memory that rank dst has exposed, and Put writes it. Both return when the access is
	// known to have ended.
	Get(dst int, k device.Key, b []byte)
	Put(dst int, k device.Key, b []byte)
}

// Signature represents the sequence of the types of the elements of some data (MPI-1.2, section
// 3.12). A message and its receive must have the same signature. Zero matches every signature.
type Signature uint32

// Layout describes data that is not contiguous or has elements of several types.
type Layout interface {
	Len() int                        // number of bytes that travel
	ContiguousBytes() ([]byte, bool) // the data, if it is contiguous and in travel order
	IsSizeOnly() bool                // the data is size-only: device.SizeOnly
	Gather(to []byte)                // copies the data into to
	Scatter(from []byte)             // copies the first len(from) bytes of the data from from
	Runs(yield func([]byte))         // yields the contiguous runs of the data in travel order
	Signature(n int) Signature       // signature of the first n bytes
}

// Status describes a received message.
type Status struct {
	Source, Tag int // Source is a rank of the job
	Bytes       int
	Err         *Error // error of the message, after Rank.SetReceiveErrorsInStatus
}
