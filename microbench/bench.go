package microbench

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// bench is one rank's side of measuring a cell.
type bench struct {
	*Plan
	cell Cell
	mode *mode
	c    *mpi.Comm // both ranks, P1 first
	comm *mpi.Comm // both ranks, the root of the barrier first
	peer int       // the other rank, in c
	p1   bool

	out, in []byte
	round   unit.Time // the longest of the warm-up, or the shortest
	timers  []*timer
}

// timer is the samples of one timer, on the rank that takes them.
type timer struct {
	name  string
	mine  bool
	times []unit.Time
}

// tag is that of all messages that are measured.
const tag = 1

// attach lends the library a buffer for buffered sends: a message may not have left it when the next one comes.
func (b *bench) attach(c *mpi.Comm) {
	if b.mode.buffered {
		c.AttachBuffer(make([]byte, 4*(b.cell.Bytes+mpi.BsendOverhead)))
	}
}

func (b *bench) detach() {
	if b.mode.buffered {
		b.c.DetachBuffer()
	}
}

// timer returns the timer of the name, which P1 or P2 takes.
func (b *bench) timer(name string, atP1 bool) *timer {
	for _, t := range b.timers {
		if t.name == name {
			return t
		}
	}
	t := &timer{name: name, mine: atP1 == b.p1}
	b.timers = append(b.timers, t)
	return t
}

func (t *timer) add(d unit.Time) {
	if t.mine {
		t.times = append(t.times, d)
	}
}

func (b *bench) now() unit.Time { return b.c.Wtime() }

// barrier meets the other rank; the root leaves first.
func (b *bench) barrier() { b.comm.Barrier() }

// wait lets P1 wait until whatever is under way has surely arrived.
func (b *bench) wait() {
	b.c.Compute(b.delta())
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
		b.c.Recv(b.in, b.peer, tag)
	default:
		return b.c.Irecv(b.in, b.peer, tag)
	}
	return mpi.Request{}
}

// collect brings P2's samples to P1, and returns all.
func (b *bench) collect() []sample.Series {
	var all []sample.Series
	for _, t := range b.timers {
		if !t.mine {
			t.times = b.fetch()
		} else if !b.p1 {
			b.bring(t.times)
		}
		all = append(all, sample.Series{Key: sample.Key{Mode: b.cell.Mode, Bytes: b.cell.Bytes, Timer: t.name}, Times: t.times})
	}
	return all
}

func (b *bench) bring(times []unit.Time) {
	raw := make([]byte, 0, 8*len(times))
	for _, t := range times {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(t))
	}
	b.c.Ssend(raw, b.peer, tag)
}

func (b *bench) fetch() []unit.Time {
	if !b.p1 {
		return nil
	}
	raw := make([]byte, b.c.Probe(b.peer, tag).Bytes)
	b.c.Recv(raw, b.peer, tag)
	times := make([]unit.Time, len(raw)/8)
	for i := range times {
		times[i] = unit.Time(binary.LittleEndian.Uint64(raw[8*i:]))
	}
	return times
}

// putTime and getTime carry a time, or a key, in a message.
func putTime(b []byte, t unit.Time) { binary.LittleEndian.PutUint64(b, uint64(t)) }
func getTime(b []byte) unit.Time    { return unit.Time(binary.LittleEndian.Uint64(b)) }
