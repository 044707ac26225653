package microbench

import (
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
)

// timeWindowPut times a put to the window of P2 together with its flush, and the flush alone.
// Meanwhile P2 waits in a barrier, where it serves the access if accesses are messages. No lock is
// taken. Accesses of 0 bytes are not measured.
func timeWindowPut(b *pairBenchmark, rounds int) {
	b.timeRMAAccesses(sample.TimerPut, (*mpi.Window).Put, rounds)
}

// timeWindowGet times a get in the same way.
func timeWindowGet(b *pairBenchmark, rounds int) {
	b.timeRMAAccesses(sample.TimerGet, (*mpi.Window).Get, rounds)
}

func (b *pairBenchmark) timeRMAAccesses(timer string, start func(w *mpi.Window, data mpi.Buffer, target, offset, count int, t *mpi.Datatype), rounds int) {
	n := b.cell.Bytes
	if n == 0 {
		return
	}
	access, flush := b.findOrAddTimer(timer, true), b.findOrAddTimer(sample.TimerFlush, true)
	w := b.pairComm.CreateWindow(b.receiveBuffer, 1)
	data := mpi.Buffer{Bytes: b.sendBuffer, Count: n, Type: mpi.Byte}
	b.barrier()
	if b.isP1 {
		w.Lock(mpi.LockShared, b.peerRank, mpi.NoCheck)
		for range rounds {
			begin := b.now()
			start(w, data, b.peerRank, 0, n, mpi.Byte)
			called := b.now()
			w.Flush(b.peerRank)
			b.recordOperation(flush, b.elapsedSince(called))
			b.recordOperation(access, b.elapsedSince(begin)-b.clockReadTime)
		}
		w.Unlock(b.peerRank)
	}
	w.Free()
}
