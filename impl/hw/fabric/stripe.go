package fabric

import (
	"slices"

	"github.com/loggp/loggp/impl/hw/core"
)

// A striped remote access uses all rails of its node and ends when all stripes have arrived. Reads
// are not ordered. Messages from one rank to another must take effect in order. The first stripe of
// a write uses the same rail as all messages of its rank, so it follows them. Later messages may
// overtake the other stripes, and are held until these have arrived.

// writeOrder has a rank's striped writes that have not arrived completely, and later messages that
// have arrived before them.
type writeOrder struct {
	issuedTransfers int // number of transfers of the rank; Transit has the number of each
	openWrites      []*core.RemoteAccess
	heldArrivals    []arrival
}

// arrival is a packet or a write that has arrived completely.
type arrival struct {
	packet *core.Packet
	write  *core.RemoteAccess
}

// nextSerial returns the number of the next transfer.
func (o *writeOrder) nextSerial() int {
	o.issuedTransfers++
	return o.issuedTransfers
}

// writeOrderOf returns the write order of a rank of the job.
func (n *network) writeOrderOf(rank int32) *writeOrder {
	return &n.writeOrders[int(rank)-n.FirstRank]
}

// firstRailSender returns the number of senders that are not for stripes. After them each rank has
// one sender per rail.
func (n *network) firstRailSender() int { return n.RankCount + n.InterfaceCount }

// beginDividedWrite sends the stripes of a write, with y as the first.
func (n *network) beginDividedWrite(x *core.RemoteAccess, y transfer) {
	o, rank, lag := n.writeOrderOf(x.Src), int(x.Src)-n.FirstRank, y.firstByteReady-n.job.Kernel.Now()
	parts, part := n.Stripes(len(x.Data))
	x.Transit.Position, x.Transit.Size = parts, o.nextSerial()
	if parts > 1 {
		o.openWrites = append(o.openWrites, x)
	}
	from := int(y.from)
	for i := range parts {
		by := int32(rank)
		y.size = min(part, len(x.Data)-i*part)
		if i > 0 {
			y.from = int32(n.StripeEnd(from, i))
			by = int32(n.firstRailSender() + rank*n.Graph.Rails() + int(y.from)%n.Graph.Rails())
			y.firstByteReady = n.reserveSendEngine(y.from, x, n.NIC.Message) + lag
		}
		n.enqueueTransfer(by, y)
	}
}

// receivePart handles an arrived stripe. After the last one, the access ends when earlier messages
// have been received, and a write also waits for earlier striped writes.
func (n *network) receivePart(x *core.RemoteAccess) {
	if x.Transit.Position--; x.Transit.Position > 0 {
		return
	}
	if !x.IsGet && n.writeOrders != nil && n.writeOrderOf(x.Src).holdIfEarly(arrival{write: x}) {
		return
	}
	n.receiveAccess(x)
}

// receiveAccess ends an access after earlier messages that the interface has received.
func (n *network) receiveAccess(x *core.RemoteAccess) {
	receiver := x.Dst
	if x.IsGet {
		receiver = x.Src
	}
	if t := n.reserveReceiveEngine(n.hostOf(receiver), x); t > n.job.Kernel.Now() {
		x.Transit.Step = dataReceived
		n.job.Kernel.Schedule(t, (*accessStepEvent)(x), 0)
	} else {
		n.moveData(x)
	}
	if !x.IsGet && n.writeOrders != nil {
		n.releaseHeld(x)
	}
}

// releaseHeld lets the messages that a striped write has held take effect.
func (n *network) releaseHeld(x *core.RemoteAccess) {
	o := n.writeOrderOf(x.Src)
	i := slices.Index(o.openWrites, x)
	if i < 0 {
		return
	}
	o.openWrites = slices.Delete(o.openWrites, i, i+1)
	for i := 0; i < len(o.heldArrivals); {
		if a := o.heldArrivals[i]; !o.mustWait(a) {
			o.heldArrivals = slices.Delete(o.heldArrivals, i, i+1)
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

// holdIfEarly keeps an arrival that must wait, and reports whether it does.
func (o *writeOrder) holdIfEarly(a arrival) bool {
	if !o.mustWait(a) {
		return false
	}
	o.heldArrivals = append(o.heldArrivals, a)
	return true
}

// mustWait reports whether an earlier striped write to the same rank has not arrived.
func (o *writeOrder) mustWait(a arrival) bool {
	if len(o.openWrites) == 0 {
		return false
	}
	dst, serial := int32(0), 0
	if a.packet != nil {
		dst, serial = a.packet.Dst, a.packet.Transit.Position
	} else {
		dst, serial = a.write.Dst, a.write.Transit.Size
	}
	return slices.ContainsFunc(o.openWrites, func(w *core.RemoteAccess) bool { return w.Dst == dst && w.Transit.Size < serial })
}
