package microbench

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/library/mpi"
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

// lent returns how much memory the library needs for buffered sends: a message may not have left it
// when the next one comes.
func (b *bench) lent() int {
	if !b.mode.Buffered {
		return 0
	}
	return 4 * (b.cell.Bytes + mpi.BsendOverhead)
}

// attach lends it to the library, and detach takes it back.
func (b *bench) attach(room []byte) {
	if b.mode.Buffered {
		b.c.AttachBuffer(room)
	}
}

func (b *bench) detach() {
	if b.mode.Buffered {
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

// awake is how long P1 waits at a time where clocks are real: a processor that waits for longer
// might be left to others.
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
	if b.mode.Blocking {
		b.mode.send(b.c, b.out, b.peer, tag)
		return mpi.Request{}
	}
	return b.mode.start(b.c, b.out, b.peer, tag)
}

// receive receives a message with the receive that goes with the mode.
func (b *bench) receive() mpi.Request {
	switch {
	case b.mode.Name == Message:
		b.c.Messages().Recv(b.in)
	case b.mode.Blocking:
		mpi.Recv(b.c, b.in, b.peer, tag)
	default:
		return mpi.Irecv(b.c, b.in, b.peer, tag)
	}
	return mpi.Request{}
}

// putTime and getTime carry a time, or a key, in a message.
func putTime(b []byte, t unit.Time) { binary.LittleEndian.PutUint64(b, uint64(t)) }
func getTime(b []byte) unit.Time    { return unit.Time(binary.LittleEndian.Uint64(b)) }

// timer is the samples of one timer, on the rank that takes them.
type timer struct {
	name  string
	mine  bool
	times [2][]unit.Time // with each root of the barrier

	sum  unit.Time // of the operations of the next sample
	left int       // that it still needs
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

// add adds what an operation took to a timer. A sample is the mean of a batch.
func (b *bench) add(t *timer, d unit.Time) {
	if !t.mine || b.idle {
		return
	}
	if b.batch <= 1 {
		b.put(t, d)
		return
	}
	if t.left == 0 {
		t.sum, t.left = 0, b.batch
	}
	t.sum += d
	if t.left--; t.left == 0 {
		b.put(t, each(t.sum, b.batch))
	}
}

// put adds a sample. An operation that took less time than it takes to read the clock twice took
// none that can be told.
func (b *bench) put(t *timer, d unit.Time) {
	if !b.idle && t.mine {
		t.times[b.root] = append(t.times[b.root], max(d, 0))
	}
}

// each returns what one of n operations took.
func each(all unit.Time, n int) unit.Time { return (all + unit.Time(n)/2) / unit.Time(n) }

// gather brings the samples that P2 has to P1.
func (b *bench) gather() {
	for _, t := range b.timers {
		switch {
		case t.mine && !b.p1:
			b.bring(t)
		case !t.mine && b.p1:
			b.fetch(t)
		}
	}
}

// bring sends samples: as many with one root as with the other.
func (b *bench) bring(t *timer) {
	raw := make([]byte, 0, 8*(len(t.times[0])+len(t.times[1])))
	for i := range t.times {
		for _, d := range t.times[i] {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(d))
		}
		t.times[i] = t.times[i][:0]
	}
	mpi.Ssend(b.c, raw, b.peer, tag)
}

func (b *bench) fetch(t *timer) {
	raw := make([]byte, b.c.Probe(b.peer, tag).Bytes)
	mpi.Recv(b.c, raw, b.peer, tag)
	n := len(raw) / 8
	for i := range n {
		t.times[2*i/n] = append(t.times[2*i/n], unit.Time(binary.LittleEndian.Uint64(raw[8*i:])))
	}
}

// series returns what was gathered.
func (b *bench) series() []sample.Series {
	var all []sample.Series
	for _, t := range b.timers {
		all = append(all, sample.Series{
			Key:   sample.Key{Mode: b.cell.Mode, Bytes: b.cell.Bytes, Timer: t.name},
			Times: append(t.times[0][:len(t.times[0]):len(t.times[0])], t.times[1]...),
		})
	}
	return all
}
