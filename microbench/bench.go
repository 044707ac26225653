package microbench

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// pairBenchmark is the benchmark of a cell between two ranks, as seen by one of them.
type pairBenchmark struct {
	*Plan
	cell             Cell
	mode             *sendMode
	pairComm         *mpi.Comm // both ranks, P1 first
	barrierComm      *mpi.Comm // both ranks, the root of the barrier first
	barrierRootIndex int       // index of the barrier's root in pairComm
	peerRank         int       // of the other rank in pairComm
	isP1             bool

	sendBuffer, receiveBuffer []byte
	warmupRoundTime           unit.Time // the longest round of the warm-up, or the shortest on a shared machine
	timers                    []*timerSamples

	// For real clocks only:
	clockReadTime       unit.Time    // cost of reading the clock
	dither              *clockDither // applied after each wait; may be nil
	operationsPerSample int          // operations in a sample
	discardsSamples     bool         // set during warm-up rounds
}

// measuredMessageTag is the tag of all measured messages.
const measuredMessageTag = 1

// bsendBufferSize returns the bytes that the library needs for buffered sends. They suffice for
// several messages, because one may still be in the buffer when the next is sent.
func (b *pairBenchmark) bsendBufferSize() int {
	if !b.mode.Buffered {
		return 0
	}
	return 4 * (b.cell.Bytes + mpi.BsendOverhead)
}

// attachBsendBuffer attaches memory for buffered sends, if the mode needs it.
func (b *pairBenchmark) attachBsendBuffer(room []byte) {
	if b.mode.Buffered {
		b.pairComm.AttachBuffer(room)
	}
}

func (b *pairBenchmark) detachBsendBuffer() {
	if b.mode.Buffered {
		b.pairComm.DetachBuffer()
	}
}

func (b *pairBenchmark) now() unit.Time { return b.pairComm.Wtime() }

// elapsedSince returns the time since a reading of the clock, without the cost of the new reading.
func (b *pairBenchmark) elapsedSince(begin unit.Time) unit.Time {
	return b.now() - begin - b.clockReadTime
}

// barrier synchronizes with the other rank. The root leaves first.
func (b *pairBenchmark) barrier() { b.barrierComm.Barrier() }

// waitForArrivals makes P1 wait until all messages under way have certainly arrived.
func (b *pairBenchmark) waitForArrivals() {
	b.computeInSlices(b.deltaOrDefault())
	if b.dither != nil {
		b.dither.waitTickFraction()
	}
}

// maxComputeSlice is the longest uninterrupted wait on a real machine. During a longer one the
// system might give the processor to another process.
const maxComputeSlice = 100 * unit.Microsecond

func (b *pairBenchmark) computeInSlices(d unit.Time) { b.Plan.computeInSlices(b.pairComm, d) }

// computeInSlices computes for a duration, on a real machine in slices of maxComputeSlice.
func (p *Plan) computeInSlices(c *mpi.Comm, d unit.Time) {
	for ; p.IsRealMachine && d > maxComputeSlice; d -= maxComputeSlice {
		c.Compute(maxComputeSlice)
	}
	c.Compute(d)
}

// deltaOrDefault returns the wait of P1 before timer12.
func (b *pairBenchmark) deltaOrDefault() unit.Time {
	if b.Delta != 0 {
		return b.Delta
	}
	return 2 * b.warmupRoundTime
}

// recordWarmupRound records the time of a warm-up round, without delta.
func (b *pairBenchmark) recordWarmupRound(took unit.Time) {
	if b.IsRealMachine && b.warmupRoundTime > 0 {
		b.warmupRoundTime = min(b.warmupRoundTime, max(took, 1))
	} else {
		b.warmupRoundTime = max(b.warmupRoundTime, took)
	}
}

// postSend starts to send a message in the mode of the cell. It returns the request of a
// nonblocking send, and a completed request after a blocking one.
func (b *pairBenchmark) postSend() mpi.Request {
	if b.mode.Blocking {
		b.mode.blockingSend(b.pairComm, b.sendBuffer, b.peerRank, measuredMessageTag)
		return mpi.Request{}
	}
	return b.mode.nonblockingSend(b.pairComm, b.sendBuffer, b.peerRank, measuredMessageTag)
}

// postReceive receives a message by the call that matches the mode.
func (b *pairBenchmark) postReceive() mpi.Request {
	switch {
	case b.mode.Name == LowLevelMode:
		b.pairComm.LowLevelMessages().Recv(b.receiveBuffer)
	case b.mode.Blocking:
		mpi.Recv(b.pairComm, b.receiveBuffer, b.peerRank, measuredMessageTag)
	default:
		return mpi.Irecv(b.pairComm, b.receiveBuffer, b.peerRank, measuredMessageTag)
	}
	return mpi.Request{}
}

// encodeTime and decodeTime convert a time, or a key, to and from message data.
func encodeTime(b []byte, t unit.Time) { binary.LittleEndian.PutUint64(b, uint64(t)) }
func decodeTime(b []byte) unit.Time    { return unit.Time(binary.LittleEndian.Uint64(b)) }

// timerSamples has the samples of one timer, on the rank that takes them.
type timerSamples struct {
	name                 string
	isMeasuredOnThisRank bool           // this rank takes them
	samplesByBarrierRoot [2][]unit.Time // by root of the barrier

	batchSum            unit.Time // sum of the operations for the next sample
	batchOperationsLeft int       // operations that the next sample still needs
}

// findOrAddTimer returns the timer with a name, and adds it if necessary. atP1 says which rank
// takes its samples.
func (b *pairBenchmark) findOrAddTimer(name string, atP1 bool) *timerSamples {
	for _, t := range b.timers {
		if t.name == name {
			return t
		}
	}
	t := &timerSamples{name: name, isMeasuredOnThisRank: atP1 == b.isP1}
	b.timers = append(b.timers, t)
	return t
}

// recordOperation adds the time of one operation to a timer. A sample is the mean of a batch of
// operations.
func (b *pairBenchmark) recordOperation(t *timerSamples, d unit.Time) {
	if !t.isMeasuredOnThisRank || b.discardsSamples {
		return
	}
	if b.operationsPerSample <= 1 {
		b.appendSample(t, d)
		return
	}
	if t.batchOperationsLeft == 0 {
		t.batchSum, t.batchOperationsLeft = 0, b.operationsPerSample
	}
	t.batchSum += d
	if t.batchOperationsLeft--; t.batchOperationsLeft == 0 {
		b.appendSample(t, timePerOperation(t.batchSum, b.operationsPerSample))
	}
}

// appendSample adds a sample. An operation shorter than the cost of reading the clock counts as
// zero.
func (b *pairBenchmark) appendSample(t *timerSamples, d unit.Time) {
	if !b.discardsSamples && t.isMeasuredOnThisRank {
		t.samplesByBarrierRoot[b.barrierRootIndex] = append(t.samplesByBarrierRoot[b.barrierRootIndex], max(d, 0))
	}
}

// timePerOperation returns the mean time of n operations, rounded.
func timePerOperation(all unit.Time, n int) unit.Time { return (all + unit.Time(n)/2) / unit.Time(n) }

// collectSamples sends the samples of P2 to P1.
func (b *pairBenchmark) collectSamples() {
	for _, t := range b.timers {
		switch {
		case t.isMeasuredOnThisRank && !b.isP1:
			b.sendSamples(t)
		case !t.isMeasuredOnThisRank && b.isP1:
			b.receiveSamples(t)
		}
	}
}

// sendSamples sends the samples of a timer, which has the same number for both roots.
func (b *pairBenchmark) sendSamples(t *timerSamples) {
	raw := make([]byte, 0, 8*(len(t.samplesByBarrierRoot[0])+len(t.samplesByBarrierRoot[1])))
	for i := range t.samplesByBarrierRoot {
		for _, d := range t.samplesByBarrierRoot[i] {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(d))
		}
		t.samplesByBarrierRoot[i] = t.samplesByBarrierRoot[i][:0]
	}
	mpi.Ssend(b.pairComm, raw, b.peerRank, measuredMessageTag)
}

func (b *pairBenchmark) receiveSamples(t *timerSamples) {
	raw := make([]byte, b.pairComm.Probe(b.peerRank, measuredMessageTag).Bytes)
	mpi.Recv(b.pairComm, raw, b.peerRank, measuredMessageTag)
	n := len(raw) / 8
	for i := range n {
		t.samplesByBarrierRoot[2*i/n] = append(t.samplesByBarrierRoot[2*i/n], unit.Time(binary.LittleEndian.Uint64(raw[8*i:])))
	}
}

// seriesOfAllTimers returns the samples of all timers, after collectSamples.
func (b *pairBenchmark) seriesOfAllTimers() []sample.Series {
	var all []sample.Series
	for _, t := range b.timers {
		all = append(all, sample.Series{
			Key:   sample.Key{Mode: b.cell.Mode, Bytes: b.cell.Bytes, Timer: t.name},
			Times: append(t.samplesByBarrierRoot[0][:len(t.samplesByBarrierRoot[0]):len(t.samplesByBarrierRoot[0])], t.samplesByBarrierRoot[1]...),
		})
	}
	return all
}
