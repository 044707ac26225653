package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// runOwnMethod lets the library carry out the operation in a way of its own, and reports whether it
// has one. Somebody who asks for an algorithm gets that.
func (r *round) runOwnMethod(by func(o Collectives, k *Call) bool) bool {
	o := r.state.own
	if o == nil || r.tuningTable().Asked(r.operation) {
		return false
	}
	r.busy = true
	done := by(o, &Call{r: r})
	r.busy = false
	r.raiseError()
	return done
}

// Carry makes a collective call that is not MPI's but of a library beside it. f carries it out, and
// gets the data of buffers as it travels. The messages of an operation have the tag of one that MPI
// has.
func (c *Comm) Carry(call string, o collective.Operation, root int, in, out []Buffer, f func(own Collectives, k *Call, in, out [][]byte)) {
	c.enterCall(call)
	c.checkIntra()
	c.checkRank(root)
	for _, b := range slices.Concat(in, out) {
		c.checkBuffer(b)
	}
	c.checkShared(in, out)
	r := c.newRound(o, root, Packed)
	from, to := c.flatParts(in, true), c.flatParts(out, false)
	r.busy = true
	f(c.state.own, &Call{r: r}, from, to)
	r.busy = false
	r.raiseError()
	c.unflattenParts(out, to)
}

// Call is a collective operation that is carried out by Collectives.
type Call struct {
	r      *round
	within [2]*round // the barriers in it, and the broadcasts
}

// Comm is the communicator of the call, and Root its root.
func (k *Call) Comm() *Comm { return k.r.Comm }

func (k *Call) Root() int { return k.r.root }

// JobRank returns the rank in the job of a rank of the communicator.
func (k *Call) JobRank(rank int) int { return k.r.jobRank(rank) }

// Port is the rank's port.
func (k *Call) Port() device.Port { return k.r.e.Port() }

// Transfer sends to one rank and receives from another at the same time; either may be
// collective.None. The received message is as long as in.
func (k *Call) Transfer(to int, out []byte, from int, in []byte) {
	k.r.sendAndReceive(to, out, from, in)
}

// Send starts to send to a rank, and Receive to receive from one; Wait ends all that has been
// started.
func (k *Call) Send(to int, b []byte) { k.r.startSend(to, b) }

// Receive starts to receive from a rank.
func (k *Call) Receive(from int, b []byte) { k.r.startRecv(from, b) }

// Wait waits for all sends and receives that have been started.
func (k *Call) Wait() { k.r.waitPosted() }

// Barrier is a barrier of the communicator within the call.
func (k *Call) Barrier() {
	r := k.r
	if !r.tuningTable().Asked(collective.Barrier) && r.e.Barrier(r.size, r.rank, r.jobRank) {
		return
	}
	j := collective.Job{Ranks: r.size}
	in := k.round(0, collective.Barrier)
	in.runAlgorithm(in.chooseAlgorithm(&j), j, nil, nil)
	in.raiseError()
}

// Bcast is a broadcast of the communicator within the call, by an algorithm.
func (k *Call) Bcast(by *collective.Algorithm, root int, b []byte) {
	in := k.round(1, collective.Bcast)
	in.runAlgorithm(by, collective.Job{Ranks: k.r.size, Root: root, Bytes: len(b)}, nil, b)
	in.raiseError()
}

func (k *Call) round(i int, o collective.Operation) *round {
	if k.within[i] == nil {
		k.within[i] = &round{Comm: k.r.Comm, operation: o, sign: k.r.sign, tag: k.r.tag}
	}
	return k.within[i]
}

// Highest returns the largest of the numbers that the ranks of the communicator give.
func (k *Call) Highest(v uint32) uint32 {
	v = k.r.allreduceMax(v)
	k.r.e.ExpectCollectiveTag(k.r.tag)
	return v
}

// NewContext returns a number that no two groups of ranks with a rank in common have, which all
// ranks of the communicator agree upon. It is that of a communicator which is not made.
func (k *Call) NewContext() uint32 {
	context := k.r.newContext()
	k.r.e.ExpectCollectiveTag(k.r.tag)
	return context
}

// Context returns the number of the communicator, as NewContext does.
func (k *Call) Context() uint32 { return k.r.context }

// Progress lets messages go on, and reports whether there was something to do.
func (k *Call) Progress() bool { return k.r.e.Progress() }

// Fail ends the rank: the call cannot be carried out.
func (k *Call) Fail(class engine.ErrorClass, format string, args ...any) {
	k.r.e.Fail(class, format, args...)
}
