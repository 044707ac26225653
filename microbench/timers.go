package microbench

import (
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// pingPong is the micro-benchmark of Al-Tawil and Moritz, figure 2:
//
//	P1                                   P2
//	repeat 10: the same without timers   repeat 10: the same without timers
//	repeat n:                            repeat n:
//	  Barrier                              Barrier
//	  start timer11                        start timer21
//	  Send[type] to P2                     Receive[type] from P1
//	  stop timer11                         stop timer21
//	  if non-blocking: test completion     if non-blocking: test completion
//	  Barrier                              Barrier
//	  wait delta                           start timer22
//	  start timer12                        Send[type] to P1
//	  Receive[type] from P2                stop timer22
//	  stop timer12                         if non-blocking: test completion
//	  if non-blocking: test completion
//
// A receive for a ready send is posted before the barrier, which the figure does not show; it is
// timed in its two parts, and the second belongs to a blocking receive only.
func pingPong(b *bench, rounds int) {
	t11, t12 := b.timer(sample.Timer11, true), b.timer(sample.Timer12, true)
	t21, t22 := b.timer(sample.Timer21, false), b.timer(sample.Timer22, false)
	warmup := b.Warmup
	if b.Delta == 0 {
		warmup = max(warmup, 1) // delta comes from a round
	}
	for rep := range warmup + rounds {
		begin := b.now()
		var first, second unit.Time
		if b.p1 {
			first = b.timedSend()
			second = b.timedReceive(b.wait)
		} else {
			first = b.timedReceive(nil)
			second = b.timedSend()
		}
		if rep < warmup {
			b.warm(b.now() - begin - b.delta())
			continue
		}
		b.add(t11, first)
		b.add(t12, second)
		b.add(t21, first)
		b.add(t22, second)
	}
}

// timedSend meets the other rank and times the send call.
func (b *bench) timedSend() unit.Time {
	b.barrier()
	begin := b.now()
	r := b.send()
	t := b.since(begin)
	r.Wait()
	return t
}

// timedReceive meets the other rank, waits if asked to, and times the receive call.
func (b *bench) timedReceive(wait func()) unit.Time {
	var posted mpi.Request
	var t unit.Time
	if b.mode.Ready {
		begin := b.now()
		posted = mpi.Irecv(b.c, b.in, b.peer, tag)
		t = b.since(begin)
	}
	b.barrier()
	if wait != nil {
		wait()
	}
	switch begin := b.now(); {
	case !b.mode.Ready:
		posted = b.receive()
		t = b.since(begin)
	case b.mode.Blocking:
		posted.Wait()
		t += b.since(begin)
	}
	posted.Wait()
	return t
}

// idleSend times the send call once more, after a wait: what went before, the barrier's last
// message above all, can hinder it no longer. P2 is in its receive.
func idleSend(b *bench, rounds int) {
	t := b.timer(sample.Idle, true)
	for range rounds {
		if !b.p1 {
			b.timedReceive(nil)
			continue
		}
		b.barrier()
		b.wait()
		begin := b.now()
		r := b.send()
		b.add(t, b.since(begin))
		r.Wait()
	}
}

// roundTrip times a send and the receive of an answer as long, at P1. P2 is in its receive when the
// message comes. A batch is as many round trips, one after the other. Of calls that do not block,
// the receive is completed, and then the send.
func roundTrip(b *bench, rounds int) {
	t := b.timer(sample.RTT, true)
	trips := max(b.batch, 1)
	for range rounds {
		b.barrier()
		if !b.p1 {
			for range trips {
				b.answer()
			}
			continue
		}
		b.wait()
		begin := b.now()
		var sent mpi.Request
		for range trips {
			sent.Wait()
			sent = b.send()
			b.complete()
		}
		b.put(t, each(b.since(begin), trips))
		sent.Wait()
	}
}

// complete receives a message.
func (b *bench) complete() {
	r := b.receive()
	r.Wait()
}

// answer receives a message and sends one.
func (b *bench) answer() {
	b.complete()
	r := b.send()
	r.Wait()
}

// train times a burst of standard sends, or of low-level messages, that P2 receives as fast as it
// can: the mean interval between the ends of consecutive sends, which is the gap if nothing else
// limits.
func train(b *bench, rounds int) {
	t := b.timer(sample.Train, true)
	var sent [Burst]mpi.Request
	for range rounds {
		b.barrier()
		if !b.p1 {
			for range Burst {
				b.complete()
			}
			continue
		}
		b.wait()
		var first unit.Time
		for i := range sent {
			sent[i] = b.send()
			if i == 0 {
				first = b.now()
			}
		}
		b.add(t, each(b.since(first), Burst-1))
		mpi.WaitAll(sent[:], nil)
	}
}

// oneTime times what equations (1) to (7) speak of: how long P1's send takes when P2 has posted its
// receive (T_s), and, where both read the same clock, how long until P2 has the message (T_s-r).
func oneTime(b *bench, rounds int) {
	sender := b.timer(sample.Sender, true)
	var oneWay *timer
	if b.Common {
		oneWay = b.timer(sample.OneWay, true)
	}
	var begin, end [8]byte
	for range rounds {
		if !b.p1 {
			r := mpi.Irecv(b.c, b.in, b.peer, tag)
			b.barrier()
			r.Wait()
			putTime(end[:], b.now())
			mpi.Ssend(b.c, end[:], b.peer, tag)
			continue
		}
		b.barrier()
		b.wait()
		putTime(begin[:], b.now())
		r := b.send()
		r.Wait()
		b.add(sender, b.since(getTime(begin[:])))
		mpi.Recv(b.c, end[:], b.peer, tag)
		if oneWay != nil {
			b.add(oneWay, getTime(end[:])-getTime(begin[:])-b.reading)
		}
	}
}

// remote times a remote read and a remote write of the length, from the call until they are found
// done.
func remote(b *bench, rounds int) {
	m := b.c.Messages()
	if !m.Remote() {
		return
	}
	get, put := b.timer(sample.Get, true), b.timer(sample.Put, true)
	var key [8]byte
	if !b.p1 {
		k := m.Expose(b.in)
		putTime(key[:], unit.Time(k))
		mpi.Send(b.c, key[:], b.peer, tag)
		b.barrier()
		m.Withdraw(k)
		return
	}
	mpi.Recv(b.c, key[:], b.peer, tag)
	k := mpi.Key(getTime(key[:]))
	for range rounds {
		begin := b.now()
		m.Get(b.out, b.peer, k)
		b.add(get, b.since(begin))
		begin = b.now()
		m.Put(b.out, b.peer, k)
		b.add(put, b.since(begin))
	}
	b.barrier()
}

// Carriages is the number of messages of a round-trip train.
const Carriages = 10

// roundTrain times PRTT(10, 0, s) of Hoefler et al. (2007): sends as fast as they can be, and the
// receive of an answer to the last.
func roundTrain(b *bench, rounds int) {
	b.trains(b.timer(sample.PRTT(Carriages), true), rounds, 0)
}

// slowTrain times PRTT(10, d, s), of which the waits are taken out by what they really took. A wait
// is longer than a round trip, so that no send is hindered by the one before.
func slowTrain(b *bench, rounds int) {
	b.trains(b.timer(sample.PRTTWaiting(Carriages), true), rounds, b.pause())
}

// pause returns how long P1 waits between two messages of which the second shall find nothing of
// the first.
func (b *bench) pause() unit.Time {
	if b.round > 0 && !b.Shared {
		return b.round
	}
	return b.delta()
}

// trains times trains. Of sends that do not block, the last reading of the clock is before they are
// completed: the answer says that they are.
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

// paused waits, and returns how much later everything is for it: what passes between two readings
// of the clock, and one reading that this takes beside.
func (b *bench) paused(d unit.Time) unit.Time {
	if d == 0 {
		return 0
	}
	begin := b.now()
	b.compute(d)
	return b.now() - begin + b.reading
}
