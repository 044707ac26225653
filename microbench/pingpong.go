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
func pingPong(b *bench) {
	t11, t12 := b.timer(sample.Timer11, true), b.timer(sample.Timer12, true)
	t21, t22 := b.timer(sample.Timer21, false), b.timer(sample.Timer22, false)
	warmup := b.Warmup
	if b.Delta == 0 {
		warmup = max(warmup, 1) // delta comes from a round
	}
	for rep := range warmup + b.Reps {
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
		t11.add(first)
		t12.add(second)
		t21.add(first)
		t22.add(second)
	}
}

// timedSend meets the other rank and times the send call.
func (b *bench) timedSend() unit.Time {
	b.barrier()
	t := b.now()
	r := b.send()
	t = b.now() - t
	r.Wait()
	return t
}

// timedReceive meets the other rank, waits if asked to, and times the receive call.
func (b *bench) timedReceive(wait func()) unit.Time {
	var posted mpi.Request
	var t unit.Time
	if b.mode.ready {
		t = b.now()
		posted = b.c.Irecv(b.in, b.peer, tag)
		t = b.now() - t
	}
	b.barrier()
	if wait != nil {
		wait()
	}
	switch begin := b.now(); {
	case !b.mode.ready:
		posted = b.receive()
		t = b.now() - begin
	case b.mode.blocking:
		posted.Wait()
		t += b.now() - begin
	}
	posted.Wait()
	return t
}
