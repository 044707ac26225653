package microbench

import (
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// timeAlTawilMoritzTimers is the micro-benchmark of Al-Tawil and Moritz, figure 2:
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
func timeAlTawilMoritzTimers(b *pairBenchmark, rounds int) {
	t11, t12 := b.findOrAddTimer(sample.Timer11, true), b.findOrAddTimer(sample.Timer12, true)
	t21, t22 := b.findOrAddTimer(sample.Timer21, false), b.findOrAddTimer(sample.Timer22, false)
	warmup := b.WarmupRounds
	if b.Delta == 0 {
		warmup = max(warmup, 1) // delta comes from a round
	}
	for rep := range warmup + rounds {
		begin := b.now()
		var first, second unit.Time
		if b.isP1 {
			first = b.timeSend()
			second = b.timeReceive(b.waitForArrivals)
		} else {
			first = b.timeReceive(nil)
			second = b.timeSend()
		}
		if rep < warmup {
			b.recordWarmupRound(b.now() - begin - b.deltaOrDefault())
			continue
		}
		b.recordOperation(t11, first)
		b.recordOperation(t12, second)
		b.recordOperation(t21, first)
		b.recordOperation(t22, second)
	}
}

// timeSend synchronizes with the other rank and times the send call.
func (b *pairBenchmark) timeSend() unit.Time {
	b.barrier()
	begin := b.now()
	r := b.postSend()
	t := b.elapsedSince(begin)
	r.Wait()
	return t
}

// timeReceive synchronizes with the other rank, calls wait unless it is nil, and times the receive
// call.
func (b *pairBenchmark) timeReceive(wait func()) unit.Time {
	var posted mpi.Request
	var t unit.Time
	if b.mode.Ready {
		begin := b.now()
		posted = mpi.Irecv(b.pairComm, b.receiveBuffer, b.peerRank, measuredMessageTag)
		t = b.elapsedSince(begin)
	}
	b.barrier()
	if wait != nil {
		wait()
	}
	switch begin := b.now(); {
	case !b.mode.Ready:
		posted = b.postReceive()
		t = b.elapsedSince(begin)
	case b.mode.Blocking:
		posted.Wait()
		t += b.elapsedSince(begin)
	}
	posted.Wait()
	return t
}

// timeIdleSend times the send call after a wait, when no earlier message can delay it, such as the
// last one of the barrier. P2 is already in its receive.
func timeIdleSend(b *pairBenchmark, rounds int) {
	t := b.findOrAddTimer(sample.TimerIdle, true)
	for range rounds {
		if !b.isP1 {
			b.timeReceive(nil)
			continue
		}
		b.barrier()
		b.waitForArrivals()
		begin := b.now()
		r := b.postSend()
		b.recordOperation(t, b.elapsedSince(begin))
		r.Wait()
	}
}

// timeRoundTrip times, at P1, a send and the receive of an answer of the same length. P2 is in its
// receive when the message arrives. A batch is a number of round trips, one after the other. With
// non-blocking calls the receive completes before the send.
func timeRoundTrip(b *pairBenchmark, rounds int) {
	t := b.findOrAddTimer(sample.TimerRTT, true)
	trips := max(b.operationsPerSample, 1)
	for range rounds {
		b.barrier()
		if !b.isP1 {
			for range trips {
				b.receiveAndReply()
			}
			continue
		}
		b.waitForArrivals()
		begin := b.now()
		var sent mpi.Request
		for range trips {
			sent.Wait()
			sent = b.postSend()
			b.receiveMessage()
		}
		b.appendSample(t, timePerOperation(b.elapsedSince(begin), trips))
		sent.Wait()
	}
}

// receiveMessage receives a message completely.
func (b *pairBenchmark) receiveMessage() {
	r := b.postReceive()
	r.Wait()
}

// receiveAndReply receives a message and sends one.
func (b *pairBenchmark) receiveAndReply() {
	b.receiveMessage()
	r := b.postSend()
	r.Wait()
}

// timeBurst times a burst of standard sends, or of low-level messages, that P2 receives as fast as
// it can. The sample is the mean interval between the ends of consecutive sends, which is the gap
// unless something else is the limit.
func timeBurst(b *pairBenchmark, rounds int) {
	t := b.findOrAddTimer(sample.TimerTrain, true)
	var sent [MessagesPerBurst]mpi.Request
	for range rounds {
		b.barrier()
		if !b.isP1 {
			for range MessagesPerBurst {
				b.receiveMessage()
			}
			continue
		}
		b.waitForArrivals()
		var first unit.Time
		for i := range sent {
			sent[i] = b.postSend()
			if i == 0 {
				first = b.now()
			}
		}
		b.recordOperation(t, timePerOperation(b.elapsedSince(first), MessagesPerBurst-1))
		mpi.WaitAll(sent[:], nil)
	}
}

// MessagesPerStreamWindow is the number of messages of a window, as in the OSU benchmarks.
const MessagesPerStreamWindow = 64

// streamWindowAckBytes is the length of the message that ends a window, as in the OSU
// benchmarks.
const streamWindowAckBytes = 4

// timeStream times a window of non-blocking sends, for which P2 has posted receives when its turn
// comes, with P2's short answer: osu_bw. The sample is the mean time per message. The first window
// is a warm-up.
func timeStream(b *pairBenchmark, rounds int) {
	t := b.findOrAddTimer(sample.TimerStream, true)
	var window [MessagesPerStreamWindow]mpi.Request
	var answer [streamWindowAckBytes]byte
	for round := range 1 + rounds {
		b.barrier()
		if !b.isP1 {
			b.postStreamReceives(window[:])
			mpi.WaitAll(window[:], nil)
			mpi.Send(b.pairComm, answer[:], b.peerRank, measuredMessageTag)
			continue
		}
		b.waitForArrivals()
		begin := b.now()
		b.postStreamSends(window[:])
		mpi.WaitAll(window[:], nil)
		mpi.Recv(b.pairComm, answer[:], b.peerRank, measuredMessageTag)
		if took := b.elapsedSince(begin); round > 0 {
			b.recordOperation(t, timePerOperation(took, MessagesPerStreamWindow))
		}
	}
}

// timeBidirectionalStream times a window in each direction at a time: osu_bibw. The sample is the
// mean time per message of one direction.
func timeBidirectionalStream(b *pairBenchmark, rounds int) {
	t := b.findOrAddTimer(sample.TimerStreamBoth, true)
	var received, sent [MessagesPerStreamWindow]mpi.Request
	for round := range 1 + rounds {
		b.barrier()
		begin := b.now()
		b.postStreamReceives(received[:])
		b.postStreamSends(sent[:])
		mpi.WaitAll(sent[:], nil)
		mpi.WaitAll(received[:], nil)
		if took := b.elapsedSince(begin); round > 0 {
			b.recordOperation(t, timePerOperation(took, MessagesPerStreamWindow))
		}
	}
}

// postStreamReceives posts a receive for each message of a window. All have the same buffer, as in
// the OSU benchmarks.
func (b *pairBenchmark) postStreamReceives(window []mpi.Request) {
	for i := range window {
		window[i] = b.postReceive()
	}
}

// postStreamSends starts the sends of a window, as osu_bw does.
func (b *pairBenchmark) postStreamSends(window []mpi.Request) {
	for i := range window {
		window[i] = b.postSend()
	}
}

// timeDelivery times what equations (1) to (7) of the paper describe: P1's send with the receive
// posted before (T_s) and, if both ranks read the same clock, the time until P2 has the message
// (T_s-r).
func timeDelivery(b *pairBenchmark, rounds int) {
	sender := b.findOrAddTimer(sample.TimerSender, true)
	var oneWay *timerSamples
	if b.HasCommonClock {
		oneWay = b.findOrAddTimer(sample.TimerOneWay, true)
	}
	var begin, end [8]byte
	for range rounds {
		if !b.isP1 {
			r := mpi.Irecv(b.pairComm, b.receiveBuffer, b.peerRank, measuredMessageTag)
			b.barrier()
			r.Wait()
			encodeTime(end[:], b.now())
			mpi.Ssend(b.pairComm, end[:], b.peerRank, measuredMessageTag)
			continue
		}
		b.barrier()
		b.waitForArrivals()
		encodeTime(begin[:], b.now())
		r := b.postSend()
		r.Wait()
		b.recordOperation(sender, b.elapsedSince(decodeTime(begin[:])))
		mpi.Recv(b.pairComm, end[:], b.peerRank, measuredMessageTag)
		if oneWay != nil {
			b.recordOperation(oneWay, decodeTime(end[:])-decodeTime(begin[:])-b.clockReadTime)
		}
	}
}

// timeRemoteReadAndWrite times a remote read and a remote write, from the call until the
// completion is seen.
func timeRemoteReadAndWrite(b *pairBenchmark, rounds int) {
	m := b.pairComm.LowLevelMessages()
	if !m.HasRemoteMemory() {
		return
	}
	get, put := b.findOrAddTimer(sample.TimerGet, true), b.findOrAddTimer(sample.TimerPut, true)
	var key [8]byte
	if !b.isP1 {
		k := m.Expose(b.receiveBuffer)
		encodeTime(key[:], unit.Time(k))
		mpi.Send(b.pairComm, key[:], b.peerRank, measuredMessageTag)
		b.barrier()
		m.Withdraw(k)
		return
	}
	mpi.Recv(b.pairComm, key[:], b.peerRank, measuredMessageTag)
	k := mpi.MemoryKey(decodeTime(key[:]))
	for range rounds {
		begin := b.now()
		m.Get(b.sendBuffer, b.peerRank, k)
		b.recordOperation(get, b.elapsedSince(begin))
		begin = b.now()
		m.Put(b.sendBuffer, b.peerRank, k)
		b.recordOperation(put, b.elapsedSince(begin))
	}
	b.barrier()
}

// MessagesPerRoundTripTrain is the number of messages of a round-trip train.
const MessagesPerRoundTripTrain = 10

// timeRoundTripTrain times PRTT(10, 0, s) of Hoefler et al. (2007): sends as fast as possible, and
// the receive of an answer to the last one.
func timeRoundTripTrain(b *pairBenchmark, rounds int) {
	b.timeTrains(b.findOrAddTimer(sample.TrainTimer(MessagesPerRoundTripTrain), true), rounds, 0)
}

// timeSpacedTrain times PRTT(10, d, s) and subtracts the measured waits. A wait is longer than a
// round trip, so that no send is delayed by the one before.
func timeSpacedTrain(b *pairBenchmark, rounds int) {
	b.timeTrains(b.findOrAddTimer(sample.SpacedTrainTimer(MessagesPerRoundTripTrain), true), rounds, b.spacedTrainDelay())
}

// spacedTrainDelay returns a wait between two messages after which the second is not delayed
// by the first.
func (b *pairBenchmark) spacedTrainDelay() unit.Time {
	if b.warmupRoundTime > 0 && !b.IsRealMachine {
		return b.warmupRoundTime
	}
	return b.deltaOrDefault()
}

// timeTrains times trains. With non-blocking sends P1 reads the clock for the last time before it
// completes them: the answer implies that they are complete.
func (b *pairBenchmark) timeTrains(t *timerSamples, rounds int, pause unit.Time) {
	var sent [MessagesPerRoundTripTrain]mpi.Request
	for range rounds {
		b.barrier()
		if !b.isP1 {
			for range MessagesPerRoundTripTrain - 1 {
				b.receiveMessage()
			}
			b.receiveAndReply()
			continue
		}
		b.waitForArrivals()
		begin := b.now()
		sent[0] = b.postSend()
		for i := 1; i < MessagesPerRoundTripTrain; i++ {
			begin += b.waitAndMeasureDelay(pause)
			sent[i] = b.postSend()
		}
		b.receiveMessage()
		b.recordOperation(t, b.elapsedSince(begin))
		mpi.WaitAll(sent[:], nil)
	}
}

// waitAndMeasureDelay waits, and returns the delay that this adds to everything that follows: the
// time between two readings of the clock, and the cost of one reading.
func (b *pairBenchmark) waitAndMeasureDelay(d unit.Time) unit.Time {
	if d == 0 {
		return 0
	}
	begin := b.now()
	b.computeInSlices(d)
	return b.now() - begin + b.clockReadTime
}
