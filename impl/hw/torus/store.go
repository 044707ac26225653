package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// processorPut is a put carried out by the processor of a rank. The processor stores the data into
// the network after its earlier stores and after what the engine carries for the rank. It cannot
// read its memory while transfers of others use it. It is free when the last bytes are in its write
// buffer.
//
// The steps are events, because resuming the rank for each takes longer
// (core.Port.MarkStoreStarted). BenchmarkExchangeAll of cmd/loggp took 8.4 s with resumption and
// 6.6 s with events.
type processorPut struct {
	network           *network
	port              *core.Port
	put               *core.RemoteAccess
	step              uint8
	isSuspended       bool      // it waits for resumePut
	lastChunkLeft     bool      // the last chunk has left
	startTime         unit.Time // when the processor started to store
	busyUntil         unit.Time // known end of the processor's work
	includedDelay     unit.Time // part of Port.TotalNetworkDelay that busyUntil includes
	includedMemoryUse unit.Time // part of memoryUsedByOthers that busyUntil includes
	lastTarget        int32     // rank of the last put
	chunksInFlight    int32     // chunks of puts whose first byte has not arrived
}

// Steps of a store.
const (
	awaitingEnginePuts    = iota // waits for puts that the engine carries
	chunkReady                   // has a chunk to store
	awaitingPreviousChunk        // waits until the previous chunk has left
	awaitingMemory               // has stored the chunk, and waits for its memory
)

// beginPut starts a put at the processor's own time.
func (r *rankState) beginPut(x *core.RemoteAccess) {
	r.put, r.step, r.lastChunkLeft = x, awaitingEnginePuts, false
	r.startTime, r.busyUntil, r.includedDelay = r.port.Clock, r.port.Clock, r.port.TotalNetworkDelay
	r.port.MarkStoreStarted()
	if r.awaitKernelTime(true) {
		r.advancePut(true)
	}
}

// HandleEvent carries out the next step.
func (r *rankState) HandleEvent(uint64) {
	if r.awaitKernelTime(false) {
		r.advancePut(false)
	}
}

// resumePut resumes a store whose condition may hold now.
func (r *rankState) resumePut() {
	if r.isSuspended {
		r.isSuspended = false
		k := &r.port.Kernel
		k.Schedule(max(r.busyUntil, k.Now()), r, 0)
	}
}

// awaitKernelTime reports whether the kernel's clock has reached the time at. If not, it schedules
// the next step. If the rank itself runs, and no other event is due before, it advances the clock
// instead.
func (r *rankState) awaitKernelTime(runs bool) bool {
	p := r.port
	k := &p.Kernel
	for {
		if d := p.TotalNetworkDelay - r.includedDelay; d > 0 { // the network was late to accept a packet
			r.includedDelay, r.startTime, r.busyUntil = p.TotalNetworkDelay, r.startTime+d, r.busyUntil+d
		}
		switch {
		case r.busyUntil <= k.Now():
			return true
		case !runs || !k.IsIdleUntil(r.busyUntil):
			k.Schedule(r.busyUntil, r, 0)
			return false
		}
		p.Sleep(r.busyUntil - k.Now())
	}
}

// occupyProcessorUntil keeps the processor busy until a time.
func (r *rankState) occupyProcessorUntil(until unit.Time, name string, a model.Activity, bytes int) {
	if until > r.busyUntil {
		r.port.Probe.StoreActivity(r.port, r.busyUntil, until-r.busyUntil, name, a, bytes)
		r.busyUntil = until
	}
}

// advancePut carries out steps until one must wait.
func (r *rankState) advancePut(runs bool) {
	n, p := r.network, r.port
	leaving := n.SenderOfRank(p.ID)
	for {
		switch r.step {
		case awaitingEnginePuts:
			if r.enginePuts > 0 {
				r.isSuspended = true
				return
			}
			r.occupyProcessorUntil(max(leaving.LastDeparture, p.Kernel.Now()), "network", model.BlockedActivity, 0)
			r.put.Transit.NextTime = r.busyUntil
			r.step = chunkReady
		case chunkReady:
			r.step = awaitingPreviousChunk
			if n.MemoryRate > 0 && r.chunksInFlight > 0 {
				r.isSuspended = true
				return
			}
		case awaitingPreviousChunk:
			r.occupyProcessorUntil(p.Kernel.Now(), "network", model.BlockedActivity, 0)
			if t := n.previousPutsDeparture(r); t > r.busyUntil {
				r.occupyProcessorUntil(t, "memory", model.BlockedActivity, 0)
				break
			}
			r.storeChunk(leaving)
			r.step = awaitingMemory
		case awaitingMemory:
			switch {
			case r.includedMemoryUse < r.memoryUsedByOthers:
				d := r.memoryUsedByOthers - r.includedMemoryUse
				r.includedMemoryUse = r.memoryUsedByOthers
				r.occupyProcessorUntil(r.busyUntil+d, "memory", model.BlockedActivity, 0)
			case r.lastChunkLeft:
				p.MarkStoreEnded(r.busyUntil - r.startTime)
				return
			default:
				r.put.Transit.NextTime = max(r.put.Transit.NextTime, r.busyUntil)
				r.step = chunkReady
			}
		}
		if !r.awaitKernelTime(runs) {
			return
		}
	}
}

// storeChunk stores the next chunk.
func (r *rankState) storeChunk(leaving *core.Sender[route]) {
	n, x := r.network, r.put
	w, size := &x.Transit, len(x.Data)
	w.NextTime = max(w.NextTime, r.busyUntil)
	before := w.Position
	r.includedMemoryUse = r.memoryUsedByOthers
	if r.lastTarget = x.Dst; n.MemoryRate > 0 {
		r.chunksInFlight++
	}
	_, r.lastChunkLeft = n.SendChunk(x, w, &n.putFlow, r.port.ID, x.Dst, w.NextTime)
	leaving.LastDeparture = w.NextTime
	free := w.NextTime
	if r.lastChunkLeft {
		free -= n.BufferDrainTime(size)
	}
	r.occupyProcessorUntil(free, "torus.put.bandwidth", model.SendActivity, min(size, before+n.Chunk)-before)
	r.busyUntil = free // earlier if the last chunk is shorter than the buffer
}

// previousPutsDeparture returns the known time at which the processor's earlier puts have left the
// network. They leave as fast as the target's memory accepts them. The network's buffers are small,
// so a rank with overloaded memory stops the processors that put to it.
func (n *network) previousPutsDeparture(r *rankState) unit.Time {
	if n.MemoryRate == 0 {
		return r.busyUntil
	}
	return n.rankState(r.lastTarget).memory.endOfTransfer(nil, r.port.ID, r.busyUntil) - n.LatencyBetween(r.port.ID, r.lastTarget)
}
