package microbench

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

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

// put adds a sample. An operation that took less time than it takes to read the clock twice took none that can be told.
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
