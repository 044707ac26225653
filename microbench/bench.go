package microbench

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// bench is one rank's side of measuring a cell.
type bench struct {
	*Plan
	cell Cell
	mode *mode
	c    *mpi.Comm // both ranks, P1 first
	comm *mpi.Comm // both ranks, the root of the barrier first
	root int       // whose that is, in c
	peer int       // the other rank, in c
	p1   bool

	out, in []byte
	round   unit.Time // the longest of the warm-up, or the shortest
	timers  []*timer

	// Of a real clock, else nothing:
	reading unit.Time // what it costs to read it
	dither  *dither   // after each wait; nil: none
	batch   int       // operations to a sample
	idle    bool      // samples are thrown away
}

// tag is that of all messages that are measured.
const tag = 1

// lent returns how much memory the library needs for buffered sends: a message may not have left it when the next one comes.
func (b *bench) lent() int {
	if !b.mode.buffered {
		return 0
	}
	return 4 * (b.cell.Bytes + mpi.BsendOverhead)
}

// attach lends it to the library, and detach takes it back.
func (b *bench) attach(room []byte) {
	if b.mode.buffered {
		b.c.AttachBuffer(room)
	}
}

func (b *bench) detach() {
	if b.mode.buffered {
		b.c.DetachBuffer()
	}
}

func (b *bench) now() unit.Time { return b.c.Wtime() }

// since returns the time from a reading of the clock until now, without what this reading costs.
func (b *bench) since(begin unit.Time) unit.Time { return b.now() - begin - b.reading }

// barrier meets the other rank; the root leaves first.
func (b *bench) barrier() { b.comm.Barrier() }

// wait lets P1 wait until whatever is under way has surely arrived.
func (b *bench) wait() {
	b.compute(b.delta())
	if b.dither != nil {
		b.dither.wait()
	}
}

// awake is how long P1 waits at a time where clocks are real: a processor that waits for longer might be left to others.
const awake = 100 * unit.Microsecond

// compute waits.
func (b *bench) compute(d unit.Time) { b.Plan.compute(b.c, d) }

func (p *Plan) compute(c *mpi.Comm, d unit.Time) {
	for ; p.Shared && d > awake; d -= awake {
		c.Compute(awake)
	}
	c.Compute(d)
}

func (b *bench) delta() unit.Time {
	if b.Delta != 0 {
		return b.Delta
	}
	return 2 * b.round
}

// warm notes how long a round of the warm-up took beside delta.
func (b *bench) warm(took unit.Time) {
	if b.Shared && b.round > 0 {
		b.round = min(b.round, max(took, 1))
	} else {
		b.round = max(b.round, took)
	}
}

// send sends a message the way the mode does. finish completes a send that does not block.
func (b *bench) send() mpi.Request {
	if b.mode.blocking {
		b.mode.send(b.c, b.out, b.peer, tag)
		return mpi.Request{}
	}
	return b.mode.start(b.c, b.out, b.peer, tag)
}

// receive receives a message with the receive that goes with the mode.
func (b *bench) receive() mpi.Request {
	switch {
	case b.mode == &message:
		b.c.Messages().Recv(b.in)
	case b.mode.blocking:
		mpi.Recv(b.c, b.in, b.peer, tag)
	default:
		return mpi.Irecv(b.c, b.in, b.peer, tag)
	}
	return mpi.Request{}
}

// putTime and getTime carry a time, or a key, in a message.
func putTime(b []byte, t unit.Time) { binary.LittleEndian.PutUint64(b, uint64(t)) }
func getTime(b []byte) unit.Time    { return unit.Time(binary.LittleEndian.Uint64(b)) }
