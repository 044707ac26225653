package fabric

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Staged buffers are in memory of a GPU that its interface cannot access. A remote access passes
// host memory on both sides: a copy engine moves it there a fragment at a time, the interface sends
// the chunks of fragments that are there, and the copy engine of the other side moves a fragment
// when all of it has arrived. Host memory is registered before.

// copyToHost reserves the copy engine for the data of an access that an interface is asked for at
// time t, unless the processor has written it with the doorbell.
func (n *network) copyToHost(x *transfer, t unit.Time) {
	s := n.NIC.Staging
	if s == nil || x.isInline || x.size == 0 {
		return
	}
	hold, engine := s.CopyTime(s.Out, x.size), &n.nics[x.from].copyOut
	x.isStaged, x.copyBegin = true, engine.Reserve(t, hold)
	n.job.Probe.ServerOccupied(engine, x.packetOrAccess(), model.CarryActivity, x.copyBegin, hold, x.size)
}

// stagedReadyTime returns the earliest time at which an interface can send the bytes of a transfer
// up to a position: those of the last fragment are in host memory.
func (n *network) stagedReadyTime(x *transfer, position int) unit.Time {
	s := n.NIC.Staging
	fragments := (position + s.Fragment - 1) / s.Fragment
	return x.copyBegin + s.CopyTime(s.Out, min(x.size, fragments*s.Fragment)) + s.Complete + n.readLatency(false)
}

// copyFromHost counts bytes that are in host memory at time t, and copies fragments that are
// complete. It returns when the last of these is in the memory of the GPU.
func (n *network) copyFromHost(x *transfer, bytes int, t unit.Time) unit.Time {
	s, engine := n.NIC.Staging, &n.nics[x.to].copyIn
	x.arrivedBytes += bytes
	for part := min(s.Fragment, x.size-x.copiedBytes); part > 0 && x.arrivedBytes >= x.copiedBytes+part; part = min(s.Fragment, x.size-x.copiedBytes) {
		hold := s.FragmentTime(s.In, part)
		begin := engine.Reserve(t, hold)
		n.job.Probe.ServerOccupied(engine, x.packetOrAccess(), model.CarryActivity, begin, hold, part)
		x.copiedBytes, x.copyEnd = x.copiedBytes+part, begin+hold+s.Complete
	}
	return max(t, x.copyEnd)
}

// orderStagedWrite returns the time at which a transfer takes effect that has arrived at time t:
// after earlier writes between its hosts, which may still be in host memory.
func (n *network) orderStagedWrite(x *transfer, t unit.Time) unit.Time {
	if x.access != nil && x.access.IsGet {
		return t
	}
	key := pairKey{x.from, x.to}
	if t = max(t, n.stagedWrites[key]); x.isStaged {
		n.stagedWrites[key] = t
	}
	return t
}
