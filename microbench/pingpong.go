package microbench

import (
	"github.com/loggp/loggp/impl/mpi"
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
// A receive for a ready send is posted before the barrier, which the figure does not show; it is timed in its two parts, and the
// second belongs to a blocking receive only.
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
	if b.mode.ready {
		begin := b.now()
		posted = mpi.Irecv(b.c, b.in, b.peer, tag)
		t = b.since(begin)
	}
	b.barrier()
	if wait != nil {
		wait()
	}
	switch begin := b.now(); {
	case !b.mode.ready:
		posted = b.receive()
		t = b.since(begin)
	case b.mode.blocking:
		posted.Wait()
		t += b.since(begin)
	}
	posted.Wait()
	return t
}
