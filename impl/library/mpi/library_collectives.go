package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// runLibraryMethod lets the library carry out the operation in a way of its own, and reports
// whether it has one. Somebody who asks for an algorithm gets that.
func (r *collectiveOperation) runLibraryMethod(by func(o Collectives, k *CollectiveCall) bool) bool {
	o := r.state.collectives
	if o == nil || r.tuningTable().HasOwnRule(r.operation) {
		return false
	}
	r.inUse = true
	done := by(o, &CollectiveCall{operation: r})
	r.inUse = false
	r.raiseError()
	return done
}

// RunLibraryCollective makes a collective call that is not MPI's but of a library beside it. f
// carries it out, and gets the data of buffers as it travels. The messages of an operation have the
// tag of one that MPI has.
func (c *Comm) RunLibraryCollective(call string, o collective.Operation, root int, in, out []Buffer, f func(own Collectives, k *CollectiveCall, in, out [][]byte)) {
	c.enterCall(call)
	c.checkIntra()
	c.checkRank(root)
	for _, b := range slices.Concat(in, out) {
		c.checkBuffer(b)
	}
	c.checkBuffersDisjoint(in, out)
	r := c.newCollectiveOperation(o, root, Packed)
	from, to := c.flatParts(in, true), c.flatParts(out, false)
	r.inUse = true
	f(c.state.collectives, &CollectiveCall{operation: r}, from, to)
	r.inUse = false
	r.raiseError()
	c.unflattenParts(out, to)
}

// CollectiveCall is a collective operation that is carried out by Collectives.
type CollectiveCall struct {
	operation *collectiveOperation
	nested    [2]*collectiveOperation // the barriers in it, and the broadcasts
}

// Comm is the communicator of the call, and Root its root.
func (k *CollectiveCall) Comm() *Comm { return k.operation.Comm }

func (k *CollectiveCall) Root() int { return k.operation.root }

// JobRank returns the rank in the job of a rank of the communicator.
func (k *CollectiveCall) JobRank(rank int) int { return k.operation.jobRank(rank) }

// Port is the rank's port.
func (k *CollectiveCall) Port() device.Port { return k.operation.engine.Port() }

// Sendrecv sends to one rank and receives from another at the same time; either may be
// collective.None. The received message is as long as in.
func (k *CollectiveCall) Sendrecv(to int, out []byte, from int, in []byte) {
	k.operation.sendAndReceive(to, out, from, in)
}

// StartSend starts to send to a rank, StartReceive starts to receive from one; WaitAll ends all
// that has been started.
func (k *CollectiveCall) StartSend(to int, b []byte) { k.operation.startSend(to, b) }

// StartReceive starts to receive from a rank.
func (k *CollectiveCall) StartReceive(from int, b []byte) { k.operation.startRecv(from, b) }

// WaitAll waits for all sends and receives that have been started.
func (k *CollectiveCall) WaitAll() { k.operation.waitPosted() }

// Barrier is a barrier of the communicator within the call.
func (k *CollectiveCall) Barrier() {
	r := k.operation
	if !r.tuningTable().HasOwnRule(collective.Barrier) && r.engine.Barrier(r.size, r.rank, r.jobRank) {
		return
	}
	j := collective.Job{Ranks: r.size}
	in := k.nestedOperation(0, collective.Barrier)
	in.runAlgorithm(in.chooseAlgorithm(&j), j, nil, nil)
	in.raiseError()
}

// Bcast is a broadcast of the communicator within the call, by an algorithm.
func (k *CollectiveCall) Bcast(by *collective.Algorithm, root int, b []byte) {
	in := k.nestedOperation(1, collective.Bcast)
	in.runAlgorithm(by, collective.Job{Ranks: k.operation.size, Root: root, Bytes: len(b)}, nil, b)
	in.raiseError()
}

func (k *CollectiveCall) nestedOperation(i int, o collective.Operation) *collectiveOperation {
	if k.nested[i] == nil {
		k.nested[i] = &collectiveOperation{Comm: k.operation.Comm, operation: o, signature: k.operation.signature, tag: k.operation.tag}
	}
	return k.nested[i]
}

// AllreduceMax returns the largest of the numbers that the ranks of the communicator give.
func (k *CollectiveCall) AllreduceMax(v uint32) uint32 {
	v = k.operation.allreduceMax(v)
	k.operation.engine.ExpectCollectiveTag(k.operation.tag)
	return v
}

// NewCommNumber returns a number that no two groups of ranks with a rank in common have, which all
// ranks of the communicator agree upon. It is that of a communicator which is not made.
func (k *CollectiveCall) NewCommNumber() uint32 {
	context := k.operation.newContext()
	k.operation.engine.ExpectCollectiveTag(k.operation.tag)
	return context
}

// CommNumber returns the number of the communicator, as NewContext does.
func (k *CollectiveCall) CommNumber() uint32 { return k.operation.context }

// Progress lets messages go on, and reports whether there was something to do.
func (k *CollectiveCall) Progress() bool { return k.operation.engine.Progress() }

// Fail ends the rank: the call cannot be carried out.
func (k *CollectiveCall) Fail(class engine.ErrorClass, format string, args ...any) {
	k.operation.engine.Fail(class, format, args...)
}
