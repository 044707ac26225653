package microbench

import (
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// idleSend times the send call once more, after a wait: what went before, the barrier's last message above all, can hinder it no
// longer. P2 is in its receive.
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

// roundTrip times a send and the receive of an answer as long, at P1. P2 is in its receive when the message comes. A batch is
// as many round trips, one after the other. Of calls that do not block, the receive is completed, and then the send.
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

// train times a burst of standard sends, or of low-level messages, that P2 receives as fast as it can: the mean
// interval between the ends of consecutive sends, which is the gap if nothing else limits.
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

// oneTime times what equations (1) to (7) speak of: how long P1's send takes when P2 has posted its receive (T_s), and, where
// both read the same clock, how long until P2 has the message (T_s-r).
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

// remote times a remote read and a remote write of the length, from the call until they are found done.
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
