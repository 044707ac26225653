package microbench

import (
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// fewer is by how much less often than the paper's timers the others are repeated.
const fewer = 4

// idleSend times the send call once more, after a wait: what went before, the barrier's last message above all, can hinder it no
// longer. P2 is in its receive.
func idleSend(b *bench) {
	t := b.timer(sample.Idle, true)
	for range max(1, b.Reps/fewer) {
		if !b.p1 {
			b.timedReceive(nil)
			continue
		}
		b.barrier()
		b.wait()
		begin := b.now()
		r := b.send()
		t.add(b.now() - begin)
		r.Wait()
	}
}

// roundTrip times a blocking send and the receive of an answer as long, at P1. P2 is in its receive when the message
// comes.
func roundTrip(b *bench) {
	if !b.mode.blocking || b.mode.ready {
		return
	}
	t := b.timer(sample.RTT, true)
	for range max(1, b.Reps/fewer) {
		b.barrier()
		if !b.p1 {
			b.receive()
			b.send()
			continue
		}
		b.wait()
		begin := b.now()
		b.send()
		b.receive()
		t.add(b.now() - begin)
	}
}

// train times a burst of standard sends, or of low-level messages, that P2 receives as fast as it can: the mean
// interval between the ends of consecutive sends, which is the gap if nothing else limits.
func train(b *bench) {
	if b.mode != &message && b.cell.Mode != "send" && b.cell.Mode != "isend" {
		return
	}
	t := b.timer(sample.Train, true)
	var sent [Burst]mpi.Request
	for range max(min(b.Reps, 10), b.Reps/fewer/4) {
		b.barrier()
		if !b.p1 {
			for range Burst {
				r := b.receive()
				r.Wait()
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
		t.add((b.now() - first + (Burst-1)/2) / (Burst - 1))
		mpi.WaitAll(sent[:], nil)
	}
}

// oneTime times what equations (1) to (7) speak of: how long P1's send takes when P2 has posted its receive (T_s), and, where
// both read the same clock, how long until P2 has the message (T_s-r).
func oneTime(b *bench) {
	if b.Protocol == "" {
		return
	}
	sender := b.timer(sample.Sender, true)
	var oneWay *timer
	if b.Common {
		oneWay = b.timer(sample.OneWay, true)
	}
	var begin, end [8]byte
	for range b.Reps {
		if !b.p1 {
			r := b.c.Irecv(b.in, b.peer, tag)
			b.barrier()
			r.Wait()
			putTime(end[:], b.now())
			b.c.Ssend(end[:], b.peer, tag)
			continue
		}
		b.barrier()
		b.wait()
		putTime(begin[:], b.now())
		r := b.send()
		r.Wait()
		sender.add(b.now() - getTime(begin[:]))
		b.c.Recv(end[:], b.peer, tag)
		if oneWay != nil {
			oneWay.add(getTime(end[:]) - getTime(begin[:]))
		}
	}
}

// remote times a remote read and a remote write of the length, from the call until they are found done.
func remote(b *bench) {
	m := b.c.Messages()
	if b.mode != &message || !m.Remote() {
		return
	}
	get, put := b.timer(sample.Get, true), b.timer(sample.Put, true)
	var key [8]byte
	if !b.p1 {
		k := m.Expose(b.in)
		putTime(key[:], unit.Time(k))
		b.c.Send(key[:], b.peer, tag)
		b.barrier()
		m.Withdraw(k)
		return
	}
	b.c.Recv(key[:], b.peer, tag)
	k := mpi.Key(getTime(key[:]))
	for range max(1, b.Reps/fewer) {
		t := b.now()
		m.Get(b.out, b.peer, k)
		get.add(b.now() - t)
		t = b.now()
		m.Put(b.out, b.peer, k)
		put.add(b.now() - t)
	}
	b.barrier()
}
