package core

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
)

// exitNotice is a packet that a rank is to send when its program has ended.
type exitNotice struct {
	to   int32
	head device.Head
}

// sending stands in the place of the rank to which a notice is being sent. As long as a list is not
// empty its rank has a process.
const sending = -1

// NotifyExit implements device.Port. For a rank whose program has ended a process of its own sends
// the notice.
func (p *Port) NotifyExit(rank int, head device.Head) {
	p.check(rank)
	p.Pay()
	q := &p.Ports[rank]
	asked := p.exits[q.ID]
	if q == p || slices.ContainsFunc(asked, func(x exitNotice) bool { return x.to == p.ID }) {
		return
	}
	if p.exits == nil {
		p.exits = make(map[int32][]exitNotice)
	}
	p.exits[q.ID] = append(asked, exitNotice{p.ID, head})
	if q.ended && len(asked) == 0 {
		q.proc = p.Kernel.Go(func(*sim.Proc) {
			q.CatchUp()
			q.Probe.Until(q, q.Kernel.Now(), "", model.Waiting, 0)
			q.notifyExit()
		})
	}
}

// notifyExit sends the notices that other ranks have asked for.
func (p *Port) notifyExit() {
	for asked := p.exits[p.ID]; len(asked) > 0; asked = p.exits[p.ID] {
		x := asked[0]
		asked[0].to = sending // a rank that gets it may ask again at once
		p.Probe.View(p).Send(int(x.to), &device.Packet{Head: x.head})
		p.Pay()
		p.exits[p.ID] = p.exits[p.ID][1:] // there may be more by now
	}
	p.ended = true
}

// end lets the rank do to its end what it has been charged, when its program has ended.
func (p *Port) end() {
	p.Pay()
	for !p.Flush() {
		p.Recv(false) // nobody wants it
	}
	p.notifyExit()
	p.closeLanes()
	for _, n := range []Network{p.near, p.far} {
		if c, ok := n.(Closer); ok {
			c.Close(p)
		}
	}
}
