package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// store is a put that the processor of a rank carries out: it stores the data into the network,
// after what it has stored before and what the engine carries for the rank. It cannot read its
// memory while transfers of others use that. It is free when the last bytes are in its write
// buffer.
//
// The steps are events: to resume the rank for each takes longer (core.Port.BeginStore).
// BenchmarkExchangeAll of cmd/loggp took 8.4 s when it did, and 6.6 s with events.
type store struct {
	net     *network
	port    *core.Port
	put     *core.RemoteAccess
	step    uint8
	stopped bool      // it waits for wake
	last    bool      // the last chunk has left
	since   unit.Time // when the processor began
	at      unit.Time // until when it is busy, as far as is known
	late    unit.Time // the port's Late that at includes
	seen    unit.Time // the part of taken that at includes
	into    int32     // the rank to which it put last
	flying  int32     // chunks of puts whose first byte is not there yet
}

// Steps of a store.
const (
	queued   = iota // waits for puts that the engine carries
	begun           // has a chunk to store
	clearing        // waits until the chunk before has left the network
	left            // has stored the chunk, and waits for its memory
)

// begin begins a put at the processor's own time.
func (me *rank) begin(x *core.RemoteAccess) {
	me.put, me.step, me.last = x, queued, false
	me.since, me.at, me.late = me.port.Clock, me.port.Clock, me.port.NetworkDelay
	me.port.BeginStore()
	if me.reached(true) {
		me.advance(true)
	}
}

// Act takes the next step.
func (me *rank) Act(uint64) {
	if me.reached(false) {
		me.advance(false)
	}
}

// wake resumes a store whose condition may be met.
func (me *rank) wake() {
	if me.stopped {
		me.stopped = false
		k := &me.port.Kernel
		k.Schedule(max(me.at, k.Now()), me, 0)
	}
}

// reached reports whether the kernel's clock has reached at. If not, it schedules the next step. A
// rank that runs itself moves the clock there instead, if no other event is due before.
func (me *rank) reached(runs bool) bool {
	p := me.port
	k := &p.Kernel
	for {
		if d := p.NetworkDelay - me.late; d > 0 { // the network was late to take a packet
			me.late, me.since, me.at = p.NetworkDelay, me.since+d, me.at+d
		}
		switch {
		case me.at <= k.Now():
			return true
		case !runs || !k.IsIdleUntil(me.at):
			k.Schedule(me.at, me, 0)
			return false
		}
		p.Sleep(me.at - k.Now())
	}
}

// busy keeps the processor busy until a time.
func (me *rank) busy(until unit.Time, name string, a model.Activity, bytes int) {
	if until > me.at {
		me.port.Probe.StoreContinues(me.port, me.at, until-me.at, name, a, bytes)
		me.at = until
	}
}

// advance takes steps as far as it can.
func (me *rank) advance(runs bool) {
	n, p := me.net, me.port
	leaving := n.SenderOf(p.ID)
	for {
		switch me.step {
		case queued:
			if me.pushing > 0 {
				me.stopped = true
				return
			}
			me.busy(max(leaving.LastDeparture, p.Kernel.Now()), "network", model.Blocked, 0)
			me.put.Transit.NextTime = me.at
			me.step = begun
		case begun:
			me.step = clearing
			if n.Memory > 0 && me.flying > 0 {
				me.stopped = true
				return
			}
		case clearing:
			me.busy(p.Kernel.Now(), "network", model.Blocked, 0)
			if t := n.clear(me); t > me.at {
				me.busy(t, "memory", model.Blocked, 0)
				break
			}
			me.flow(leaving)
			me.step = left
		case left:
			switch {
			case me.seen < me.taken:
				d := me.taken - me.seen
				me.seen = me.taken
				me.busy(me.at+d, "memory", model.Blocked, 0)
			case me.last:
				p.EndStore(me.at - me.since)
				return
			default:
				me.put.Transit.NextTime = max(me.put.Transit.NextTime, me.at)
				me.step = begun
			}
		}
		if !me.reached(runs) {
			return
		}
	}
}

// flow stores the next chunk.
func (me *rank) flow(leaving *core.Sender[route]) {
	n, x := me.net, me.put
	w, size := &x.Transit, len(x.Data)
	w.NextTime = max(w.NextTime, me.at)
	before := w.Position
	me.seen = me.taken
	if me.into = x.Dst; n.Memory > 0 {
		me.flying++
	}
	_, me.last = n.SendChunk(x, w, &n.put, me.port.ID, x.Dst, w.NextTime)
	leaving.LastDeparture = w.NextTime
	free := w.NextTime
	if me.last {
		free -= n.Buffered(size)
	}
	me.busy(free, "torus.put.bandwidth", model.Sending, min(size, before+n.Chunk)-before)
	me.at = free // which may be earlier, if the last chunk is shorter than the buffer
}

// clear returns when the data that a processor has put before has left the network, as far as is
// known: it leaves as fast as memory takes it. The network has small buffers, so a rank whose
// memory is overloaded stops the processors that put to it.
func (n *network) clear(me *rank) unit.Time {
	if n.Memory == 0 {
		return me.at
	}
	return n.rank(me.into).memory.ends(nil, me.port.ID, me.at) - n.LatencyBetween(me.port.ID, me.into)
}
