package microbench

import (
	"encoding/binary"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// pairBenchmark is one rank's side of measuring a cell.
type pairBenchmark struct {
	*Plan
	cell        Cell
	mode        *sendMode
	pairComm    *mpi.Comm // both ranks, P1 first
	barrierComm *mpi.Comm // both ranks, the root of the barrier first
	rootIndex   int       // whose that is, in c
	peerRank    int       // the other rank, in c
	isP1        bool

	sendBuffer, receiveBuffer []byte
	warmupRound               unit.Time // the longest of the warm-up, or the shortest
	timers                    []*timerSamples

	// Of a real clock, else nothing:
	clockReadTime  unit.Time // what it costs to read it
	dither         *dither   // after each wait; nil: none
	batchSize      int       // operations to a sample
	discardSamples bool      // samples are thrown away
}

// messageTag is that of all messages that are measured.
const messageTag = 1

// bsendBufferSize returns how much memory the library needs for buffered sends: a message may not
// have left it when the next one comes.
func (b *pairBenchmark) bsendBufferSize() int {
	if !b.mode.Buffered {
		return 0
	}
	return 4 * (b.cell.Bytes + mpi.BsendOverhead)
}

// attachBsendBuffer lends it to the library, and detach takes it back.
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

// elapsedSince returns the time from a reading of the clock until now, without what this reading
// costs.
func (b *pairBenchmark) elapsedSince(begin unit.Time) unit.Time {
	return b.now() - begin - b.clockReadTime
}

// barrier meets the other rank; the root leaves first.
func (b *pairBenchmark) barrier() { b.barrierComm.Barrier() }

// waitForArrival lets P1 wait until whatever is under way has surely arrived.
func (b *pairBenchmark) waitForArrival() {
	b.waitFor(b.delta())
	if b.dither != nil {
		b.dither.spin()
	}
}

// maxComputeSlice is how long P1 waits at a time where clocks are real: a processor that waits for
// longer might be left to others.
const maxComputeSlice = 100 * unit.Microsecond

// waitFor waits.
func (b *pairBenchmark) waitFor(d unit.Time) { b.Plan.waitFor(b.pairComm, d) }

func (p *Plan) waitFor(c *mpi.Comm, d unit.Time) {
	for ; p.SharedMachine && d > maxComputeSlice; d -= maxComputeSlice {
		c.Compute(maxComputeSlice)
	}
	c.Compute(d)
}

func (b *pairBenchmark) delta() unit.Time {
	if b.Delta != 0 {
		return b.Delta
	}
	return 2 * b.warmupRound
}

// noteWarmupRound notes how long a round of the warm-up took beside delta.
func (b *pairBenchmark) noteWarmupRound(took unit.Time) {
	if b.SharedMachine && b.warmupRound > 0 {
		b.warmupRound = min(b.warmupRound, max(took, 1))
	} else {
		b.warmupRound = max(b.warmupRound, took)
	}
}

// startSend sends a message the way the mode does. finish completes a send that does not block.
func (b *pairBenchmark) startSend() mpi.Request {
	if b.mode.Blocking {
		b.mode.send(b.pairComm, b.sendBuffer, b.peerRank, messageTag)
		return mpi.Request{}
	}
	return b.mode.start(b.pairComm, b.sendBuffer, b.peerRank, messageTag)
}

// startReceive receives a message with the receive that goes with the mode.
func (b *pairBenchmark) startReceive() mpi.Request {
	switch {
	case b.mode.Name == Message:
		b.pairComm.Messages().Recv(b.receiveBuffer)
	case b.mode.Blocking:
		mpi.Recv(b.pairComm, b.receiveBuffer, b.peerRank, messageTag)
	default:
		return mpi.Irecv(b.pairComm, b.receiveBuffer, b.peerRank, messageTag)
	}
	return mpi.Request{}
}

// encodeTime and decodeTime carry a time, or a key, in a message.
func encodeTime(b []byte, t unit.Time) { binary.LittleEndian.PutUint64(b, uint64(t)) }
func decodeTime(b []byte) unit.Time    { return unit.Time(binary.LittleEndian.Uint64(b)) }

// timerSamples is the samples of one timer, on the rank that takes them.
type timerSamples struct {
	name    string
	isLocal bool
	byRoot  [2][]unit.Time // with each root of the barrier

	batchSum  unit.Time // of the operations of the next sample
	batchLeft int       // that it still needs
}

// timerNamed returns the timer of the name, which P1 or P2 takes.
func (b *pairBenchmark) timerNamed(name string, atP1 bool) *timerSamples {
	for _, t := range b.timers {
		if t.name == name {
			return t
		}
	}
	t := &timerSamples{name: name, isLocal: atP1 == b.isP1}
	b.timers = append(b.timers, t)
	return t
}

// recordOperation adds what an operation took to a timer. A sample is the mean of a batch.
func (b *pairBenchmark) recordOperation(t *timerSamples, d unit.Time) {
	if !t.isLocal || b.discardSamples {
		return
	}
	if b.batchSize <= 1 {
		b.recordSample(t, d)
		return
	}
	if t.batchLeft == 0 {
		t.batchSum, t.batchLeft = 0, b.batchSize
	}
	t.batchSum += d
	if t.batchLeft--; t.batchLeft == 0 {
		b.recordSample(t, meanOperationTime(t.batchSum, b.batchSize))
	}
}

// recordSample adds a sample. An operation that took less time than it takes to read the clock
// twice took none that can be told.
func (b *pairBenchmark) recordSample(t *timerSamples, d unit.Time) {
	if !b.discardSamples && t.isLocal {
		t.byRoot[b.rootIndex] = append(t.byRoot[b.rootIndex], max(d, 0))
	}
}

// meanOperationTime returns what one of n operations took.
func meanOperationTime(all unit.Time, n int) unit.Time { return (all + unit.Time(n)/2) / unit.Time(n) }

// collectSamples brings the samples that P2 has to P1.
func (b *pairBenchmark) collectSamples() {
	for _, t := range b.timers {
		switch {
		case t.isLocal && !b.isP1:
			b.sendSamples(t)
		case !t.isLocal && b.isP1:
			b.receiveSamples(t)
		}
	}
}

// sendSamples sends samples: as many with one root as with the other.
func (b *pairBenchmark) sendSamples(t *timerSamples) {
	raw := make([]byte, 0, 8*(len(t.byRoot[0])+len(t.byRoot[1])))
	for i := range t.byRoot {
		for _, d := range t.byRoot[i] {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(d))
		}
		t.byRoot[i] = t.byRoot[i][:0]
	}
	mpi.Ssend(b.pairComm, raw, b.peerRank, messageTag)
}

func (b *pairBenchmark) receiveSamples(t *timerSamples) {
	raw := make([]byte, b.pairComm.Probe(b.peerRank, messageTag).Bytes)
	mpi.Recv(b.pairComm, raw, b.peerRank, messageTag)
	n := len(raw) / 8
	for i := range n {
		t.byRoot[2*i/n] = append(t.byRoot[2*i/n], unit.Time(binary.LittleEndian.Uint64(raw[8*i:])))
	}
}

// series returns what was gathered.
func (b *pairBenchmark) series() []sample.Series {
	var all []sample.Series
	for _, t := range b.timers {
		all = append(all, sample.Series{
			Key:   sample.Key{Mode: b.cell.Mode, Bytes: b.cell.Bytes, Timer: t.name},
			Times: append(t.byRoot[0][:len(t.byRoot[0]):len(t.byRoot[0])], t.byRoot[1]...),
		})
	}
	return all
}
