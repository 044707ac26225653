package fabric

import (
	"slices"

	"github.com/loggp/loggp/impl/hw/core"
)

// A remote access that is divided leaves by all rails of its node, and is over when all parts have
// arrived. Reads have no order. Messages of a rank to another must take effect in their order: the
// first part of a divided write goes by the rail of all that its rank sends, behind what was sent
// before, but what is sent afterwards may arrive before the other parts. It is held until then.

// writeOrder has the divided writes of a rank that have not arrived, and what has arrived before
// them and was sent afterwards.
type writeOrder struct {
	issued int // transfers of the rank; each has its number in Transit
	open   []*core.RemoteAccess
	held   []arrival
}

// arrival is a packet or a write all of which has arrived.
type arrival struct {
	packet *core.Packet
	write  *core.RemoteAccess
}

// nextSerial returns the number of another transfer.
func (o *writeOrder) nextSerial() int {
	o.issued++
	return o.issued
}

// writeOrderOf returns that of a rank of the job.
func (n *network) writeOrderOf(rank int32) *writeOrder {
	return &n.writeOrders[int(rank)-n.FirstRank]
}

// firstRailSender returns the number of senders without those of parts, which each rank has for
// each rail.
func (n *network) firstRailSender() int { return n.RankCount + n.InterfaceCount }

// beginDividedWrite sends the parts of a write, the first as y.
func (n *network) beginDividedWrite(x *core.RemoteAccess, y transfer) {
	o, rank, lag := n.writeOrderOf(x.Src), int(x.Src)-n.FirstRank, y.ready-n.job.Kernel.Now()
	parts, part := n.Stripes(len(x.Data))
	x.Transit.Position, x.Transit.Size = parts, o.nextSerial()
	if parts > 1 {
		o.open = append(o.open, x)
	}
	from := int(y.from)
	for i := range parts {
		by := int32(rank)
		y.size = min(part, len(x.Data)-i*part)
		if i > 0 {
			y.from = int32(n.StripeEnd(from, i))
			by = int32(n.firstRailSender() + rank*n.Graph.Rails() + int(y.from)%n.Graph.Rails())
			y.ready = n.reserveSendEngine(y.from, x, n.NIC.Message) + lag
		}
		n.enqueueTransfer(by, y)
	}
}

// receivePart takes in a part of an access. When it is the last, the access is over after what the
// interface has received before, and a write also after divided writes before it.
func (n *network) receivePart(x *core.RemoteAccess) {
	if x.Transit.Position--; x.Transit.Position > 0 {
		return
	}
	if !x.IsGet && n.writeOrders != nil && n.writeOrderOf(x.Src).hold(arrival{write: x}) {
		return
	}
	n.receiveAccess(x)
}

// receiveAccess ends an access after what the interface has received before.
func (n *network) receiveAccess(x *core.RemoteAccess) {
	receiver := x.Dst
	if x.IsGet {
		receiver = x.Src
	}
	if t := n.reserveReceiveEngine(n.hostOf(receiver), x); t > n.job.Kernel.Now() {
		x.Transit.Step = dataReceived
		n.job.Kernel.Schedule(t, (*accessStep)(x), 0)
	} else {
		n.moveData(x)
	}
	if !x.IsGet && n.writeOrders != nil {
		n.releaseHeld(x)
	}
}

// releaseHeld lets what a divided write has held take effect, behind it.
func (n *network) releaseHeld(x *core.RemoteAccess) {
	o := n.writeOrderOf(x.Src)
	i := slices.Index(o.open, x)
	if i < 0 {
		return
	}
	o.open = slices.Delete(o.open, i, i+1)
	for i := 0; i < len(o.held); {
		if a := o.held[i]; !o.mustWait(a) {
			o.held = slices.Delete(o.held, i, i+1)
			if a.packet != nil {
				n.receivePacket(a.packet)
			} else {
				n.receiveAccess(a.write)
			}
			i = 0
			continue
		}
		i++
	}
}

// hold keeps what has arrived, if it must wait, and reports whether it does.
func (o *writeOrder) hold(a arrival) bool {
	if !o.mustWait(a) {
		return false
	}
	o.held = append(o.held, a)
	return true
}

// mustWait reports whether a divided write that was issued before to the same rank has not arrived.
func (o *writeOrder) mustWait(a arrival) bool {
	if len(o.open) == 0 {
		return false
	}
	dst, serial := int32(0), 0
	if a.packet != nil {
		dst, serial = a.packet.Dst, a.packet.Transit.Position
	} else {
		dst, serial = a.write.Dst, a.write.Transit.Size
	}
	return slices.ContainsFunc(o.open, func(w *core.RemoteAccess) bool { return w.Dst == dst && w.Transit.Size < serial })
}
