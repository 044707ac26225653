package core

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
)

// exitNoticeRequest is a subscriber's request for a packet with this head when the program of
// another rank ends.
type exitNoticeRequest struct {
	subscriber int32
	head       device.Head
}

// subscriberBeingNotified replaces the subscriber of a request while its notice is being sent.
const subscriberBeingNotified = -1

// NotifyExit implements device.Port. If the program of rank has already ended, a separate process
// sends the notice.
func (p *Port) NotifyExit(rank int, head device.Head) {
	p.checkRank(rank)
	p.ElapseCharges()
	q := &p.Ports[rank]
	asked := p.exitNoticeRequests[q.ID]
	if q == p || slices.ContainsFunc(asked, func(x exitNoticeRequest) bool { return x.subscriber == p.ID }) {
		return
	}
	if p.exitNoticeRequests == nil {
		p.exitNoticeRequests = make(map[int32][]exitNoticeRequest)
	}
	p.exitNoticeRequests[q.ID] = append(asked, exitNoticeRequest{p.ID, head})
	if q.hasProgramEnded && len(asked) == 0 {
		q.currentProc = p.Kernel.Go(func(*sim.Proc) {
			q.AdvanceToKernel()
			q.Probe.ProcessorActivityUntil(q, q.Kernel.Now(), "", model.WaitActivity, 0)
			q.sendExitNotices()
		})
	}
}

// sendExitNotices sends the notices that other ranks have requested.
func (p *Port) sendExitNotices() {
	for asked := p.exitNoticeRequests[p.ID]; len(asked) > 0; asked = p.exitNoticeRequests[p.ID] {
		x := asked[0]
		asked[0].subscriber = subscriberBeingNotified // a rank that gets the notice may request another at once
		p.Probe.WrapPort(p).Send(int(x.subscriber), &device.Packet{Head: x.head})
		p.ElapseCharges()
		p.exitNoticeRequests[p.ID] = p.exitNoticeRequests[p.ID][1:] // others may have been added meanwhile
	}
	p.hasProgramEnded = true
}

// finishProgram completes the charges, sends and notices of a rank whose program has returned.
func (p *Port) finishProgram() {
	p.ElapseCharges()
	for !p.Flush() {
		p.Recv(false) // the packet is dropped
	}
	p.sendExitNotices()
	p.dropChannelMessages()
	for _, n := range []Network{p.nearNetwork, p.farNetwork} {
		if c, ok := n.(ExitObserver); ok {
			c.NoteRankEnded(p)
		}
	}
}
