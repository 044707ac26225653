package hw

import (
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
)

// farewell is a packet that a rank is to send when its program has ended.
type farewell struct {
	to   int32
	head device.Head
}

// nobody stands in the place of who is being told. As long as a list is not empty its rank has a process.
const nobody = -1

// NotifyExit implements device.Port. For a rank whose program has ended a process of its own says farewell.
func (p *port) NotifyExit(rank int, head device.Head) {
	p.check(rank)
	p.pay()
	q := &p.ports[rank]
	asked := p.parting[q.rank]
	if q == p || slices.ContainsFunc(asked, func(f farewell) bool { return f.to == p.rank }) {
		return
	}
	if p.parting == nil {
		p.parting = make(map[int32][]farewell)
	}
	p.parting[q.rank] = append(asked, farewell{p.rank, head})
	if q.ended && len(asked) == 0 {
		q.proc = p.kernel.Go(func(*sim.Proc) { q.partAgain() })
	}
}

// partAgain says farewell for a rank that has ended before.
func (p *port) partAgain() {
	p.catchUp()
	p.probe.until(p, p.kernel.Now(), "", model.Waiting, 0)
	p.part()
}

// part says farewell to those who asked for it.
func (p *port) part() {
	for asked := p.parting[p.rank]; len(asked) > 0; asked = p.parting[p.rank] {
		f := asked[0]
		asked[0].to = nobody // who hears may ask again at once
		p.probe.view(p).Send(int(f.to), &device.Packet{Head: f.head})
		p.pay()
		p.parting[p.rank] = p.parting[p.rank][1:] // there may be more by now
	}
	p.ended = true
}
