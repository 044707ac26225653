package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// runLibraryMethod carries out the operation by a method of the library, and reports whether it
// did. An algorithm that the user has selected takes precedence.
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

// RunLibraryCollective makes a collective call that MPI does not have, for a library next to MPI.
// It calls f with the data of the buffers in the order in which it travels. Messages have the tag
// of the MPI operation o.
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

// CollectiveCall is a collective operation that Collectives carries out.
type CollectiveCall struct {
	operation *collectiveOperation
	nested    [2]*collectiveOperation // the barriers and the broadcasts within it
}

// Comm returns the communicator of the call.
func (k *CollectiveCall) Comm() *Comm { return k.operation.Comm }

func (k *CollectiveCall) Root() int { return k.operation.root }

// JobRank returns the rank in the job of a rank of the communicator.
func (k *CollectiveCall) JobRank(rank int) int { return k.operation.jobRank(rank) }

// Port returns the port of the rank.
func (k *CollectiveCall) Port() device.Port { return k.operation.engine.Port() }

// Sendrecv sends to one rank and receives from another at the same time. Either may be
// collective.NoRank. The received message has the length of in.
func (k *CollectiveCall) Sendrecv(to int, out []byte, from int, in []byte) {
	k.operation.sendAndReceive(to, out, from, in)
}

// StartSend starts to send b to a rank. WaitAll completes it.
func (k *CollectiveCall) StartSend(to int, b []byte) { k.operation.startSend(to, b) }

// StartReceive starts to receive b from a rank. WaitAll completes it.
func (k *CollectiveCall) StartReceive(from int, b []byte) { k.operation.startRecv(from, b) }

// WaitAll waits for all sends and receives that StartSend and StartReceive have started.
func (k *CollectiveCall) WaitAll() { k.operation.waitPosted() }

// Barrier carries out a barrier of the communicator within the call.
func (k *CollectiveCall) Barrier() {
	r := k.operation
	if !r.tuningTable().HasOwnRule(collective.Barrier) && r.engine.Barrier(r.size, r.rank, r.jobRank) {
		return
	}
	j := collective.Job{Ranks: r.size}
	in := k.nestedOperation(0, collective.Barrier)
	in.runAlgorithm(in.chooseAlgorithm(&j), &j, nil, nil)
	in.raiseError()
}

// Bcast broadcasts b within the call, by the given algorithm.
func (k *CollectiveCall) Bcast(by *collective.Algorithm, root int, b []byte) {
	in := k.nestedOperation(1, collective.Bcast)
	in.runAlgorithm(by, &collective.Job{Ranks: k.operation.size, Root: root, Bytes: len(b)}, nil, b)
	in.raiseError()
}

func (k *CollectiveCall) nestedOperation(i int, o collective.Operation) *collectiveOperation {
	if k.nested[i] == nil {
		k.nested[i] = &collectiveOperation{Comm: k.operation.Comm, operation: o, signature: k.operation.signature, tag: k.operation.tag}
	}
	return k.nested[i]
}

// AllreduceMax returns the maximum of v over all ranks of the communicator.
func (k *CollectiveCall) AllreduceMax(v uint32) uint32 {
	v = k.operation.allreduceMax(v)
	k.operation.engine.ExpectCollectiveTag(k.operation.tag)
	return v
}

// NewCommNumber returns a number on which all ranks of the communicator agree. Two groups with a
// rank in common never get the same number. It is the context of a communicator that is not
// created.
func (k *CollectiveCall) NewCommNumber() uint32 {
	context := k.operation.newContext()
	k.operation.engine.ExpectCollectiveTag(k.operation.tag)
	return context
}

// CommNumber returns the number of the communicator itself. It differs from all numbers of
// NewCommNumber.
func (k *CollectiveCall) CommNumber() uint32 { return k.operation.context }

// Progress makes progress on messages, and reports whether it did something.
func (k *CollectiveCall) Progress() bool { return k.operation.engine.Progress() }

// Fail ends the rank with an error.
func (k *CollectiveCall) Fail(class engine.ErrorClass, format string, args ...any) {
	k.operation.engine.Fail(class, format, args...)
}
