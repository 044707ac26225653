package microbench

import (
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Carriages is the number of messages of a round-trip train.
const Carriages = 10

// roundTrain times PRTT(10, 0, s) of Hoefler et al. (2007): sends as fast as they can be, and the receive of an answer to the last.
func roundTrain(b *bench, rounds int) {
	b.trains(b.timer(sample.PRTT(Carriages), true), rounds, 0)
}

// slowTrain times PRTT(10, d, s), of which the waits are taken out by what they really took. A wait is longer than a round trip, so that no send is
// hindered by the one before.
func slowTrain(b *bench, rounds int) {
	b.trains(b.timer(sample.PRTTWaiting(Carriages), true), rounds, b.pause())
}

// pause returns how long P1 waits between two messages of which the second shall find nothing of the first.
func (b *bench) pause() unit.Time {
	if b.round > 0 && !b.Shared {
		return b.round
	}
	return b.delta()
}

// trains times trains. Of sends that do not block, the last reading of the clock is before they are completed: the answer
// says that they are.
func (b *bench) trains(t *timer, rounds int, pause unit.Time) {
	var sent [Carriages]mpi.Request
	for range rounds {
		b.barrier()
		if !b.p1 {
			for range Carriages - 1 {
				b.complete()
			}
			b.answer()
			continue
		}
		b.wait()
		begin := b.now()
		sent[0] = b.send()
		for i := 1; i < Carriages; i++ {
			begin += b.paused(pause)
			sent[i] = b.send()
		}
		b.complete()
		b.add(t, b.since(begin))
		mpi.WaitAll(sent[:], nil)
	}
}

// paused waits, and returns how much later everything is for it: what passes between two readings of the clock, and one reading that this takes beside.
func (b *bench) paused(d unit.Time) unit.Time {
	if d == 0 {
		return 0
	}
	begin := b.now()
	b.compute(d)
	return b.now() - begin + b.reading
}
