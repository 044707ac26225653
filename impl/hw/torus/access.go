package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// accessStepEvent is an access as the event handler of its next step.
type accessStepEvent core.RemoteAccess

// HandleEvent carries out the step.
func (s *accessStepEvent) HandleEvent(uint64) {
	s.Network.(*network).advanceAccess((*core.RemoteAccess)(s))
}

// Steps of a remote access.
const (
	sendingChunks = iota // chunks leave
	chunkRead            // the next chunk has been read from memory
	dataArrived          // the last byte has arrived
	acknowledged         // the acknowledgement has arrived at the origin
)

// StartAccess starts an access. The node's transfer engine carries it out unless the processor is
// faster.
func (n *network) StartAccess(p *core.Port, x *core.RemoteAccess) {
	ch, name := n.Put, "torus.put.start"
	if x.IsGet {
		ch, name = n.Get, "torus.get.start"
	}
	engine := n.IsCarriedByEngine(ch, len(x.Data))
	if engine {
		ch, name = n.TransferEngine, "torus.engine.start"
	}
	p.Charge(ch.Start)
	p.Probe.AccessStarted(p, x)
	p.Probe.ProcessorActivityUntil(p, p.Clock, name, model.SendActivity, 0)
	x.Transit = core.Transit{Step: sendingChunks, Size: len(x.Data), Duration: ch.Bandwidth.Time(len(x.Data)), IsCarriedByNetworkInterface: engine}
	w := &x.Transit
	r, leaving := n.rankState(p.ID), n.SenderOfRank(p.ID)
	if !x.IsGet && !engine {
		r.beginPut(x)
		return
	}
	p.ElapseCharges()
	w.NextTime = p.Kernel.Now()
	if engine {
		e := &n.engines[n.SwitchedNetwork.NodeOf(p.ID)]
		w.NextTime = e.Reserve(max(w.NextTime, leaving.LastDeparture), w.Duration)
		p.Probe.ServerOccupied(e, x, model.CarryActivity, w.NextTime, w.Duration, len(x.Data))
	}
	switch {
	case x.IsGet:
		n.Job.Probe.AccessRequestOrConfirmationSent(x, "get", x.Src, x.Dst, w.NextTime, w.NextTime+n.LatencyBetween(x.Src, x.Dst))
		w.NextTime += n.LatencyBetween(x.Src, x.Dst)
		p.Kernel.Schedule(w.NextTime, (*accessStepEvent)(x), 0)
		if engine {
			return
		}
		for r.currentGet = x; r.currentGet != nil; {
			p.Park()
			p.Probe.ProcessorActivityUntil(p, p.Clock, "", model.WaitActivity, 0)
		}
	default:
		r.enginePuts++
		p.Kernel.Schedule(w.NextTime, (*accessStepEvent)(x), 0)
	}
}

func (n *network) advanceAccess(x *core.RemoteAccess) {
	w := &x.Transit
	k := &n.Job.Kernel
	switch w.Step {
	case sendingChunks:
		if x.IsGet {
			if n.MemoryRate > 0 {
				bytes := min(n.Chunk, len(x.Data)-w.Position)
				if t := n.occupyMemory(x, x.Dst, x.Dst, k.Now(), bytes) - n.MemoryRate.Time(bytes); t > k.Now() {
					w.Step, w.NextTime = chunkRead, t
					k.Schedule(t, (*accessStepEvent)(x), 0)
					return
				}
			}
		}
		fallthrough
	case chunkRead:
		w.Step = sendingChunks
		from, to, f := x.Src, x.Dst, &n.engineFlow
		if x.IsGet {
			from, to = x.Dst, x.Src
			if !w.IsCarriedByNetworkInterface {
				f = &n.getFlow
			}
		}
		_, last := n.SendChunk(x, w, f, from, to, core.EndOfVirtualTime)
		switch {
		case !last:
			k.Schedule(w.NextTime, (*accessStepEvent)(x), 0)
		case !x.IsGet: // carried out by the engine
			r, leaving := n.rankState(x.Src), n.SenderOfRank(x.Src)
			leaving.LastDeparture = max(leaving.LastDeparture, w.NextTime)
			if r.enginePuts--; r.enginePuts == 0 {
				r.resumePut()
			}
		}
	case dataArrived:
		if from, to := ranksOf(x); n.MemoryRate > 0 {
			if t := n.rankState(to).memory.endOfTransfer(x, from, k.Now()); t > k.Now() { // other transfers have delayed it
				n.holdLinks(from, to, t)
				k.Schedule(t, (*accessStepEvent)(x), 0)
				return
			}
		}
		x.CopyData()
		if r := n.rankState(x.Src); r.currentGet == x {
			r.currentGet = nil
		}
		if x.IsGet || x.EndsWithoutCompletion() {
			x.Complete()
			return
		}
		w.Step = acknowledged
		confirmed := k.Now() + n.LatencyBetween(x.Dst, x.Src) + n.Acknowledge
		n.Job.Probe.AccessRequestOrConfirmationSent(x, "done", x.Dst, x.Src, k.Now(), confirmed)
		k.Schedule(confirmed, (*accessStepEvent)(x), 0)
	case acknowledged:
		x.Complete()
	}
}

// occupyMemory occupies the memory of a rank from time t on, for reading or writing bytes of a
// transfer. It returns the end, which other transfers may delay further.
func (n *network) occupyMemory(of any, from, rank int32, t unit.Time, bytes int) unit.Time {
	r, hold, lines := n.rankState(rank), n.MemoryRate.Time(bytes), (bytes+n.lineBytes-1)/n.lineBytes
	r.memoryUsedByOthers += hold + n.PageReopen*unit.Time(lines)
	return r.memory.addStream(of, from, t, hold)
}

// ranksOf returns the ranks whose memory is the source and the destination of a transfer.
func ranksOf(of any) (from, to int32) {
	switch of := of.(type) {
	case *core.Packet:
		return int32(of.Src), of.Dst
	case *core.RemoteAccess:
		if of.IsGet {
			return of.Dst, of.Src
		}
		return of.Src, of.Dst
	}
	panic("torus: a transfer of neither a packet nor an access")
}

// ScheduleAccessArrival implements core.Router.
func (n *network) ScheduleAccessArrival(x *core.RemoteAccess, t unit.Time) {
	x.Transit.Step = dataArrived
	n.Job.Kernel.Schedule(t, (*accessStepEvent)(x), 0)
}
