package fabric

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// nic is the RDMA interface of a host. A message occupies the send engine when the interface has
// its work request, and the receive engine when its last byte is in memory, each for the time
// between two messages. This delays following messages and not the message itself.
//
// The buses are links before and after the route. Inline data has crossed the first bus with the
// doorbell, so it passes that bus in no time. The messages of a rank thus leave in order.
type nic struct {
	sendEngine, receiveEngine sim.Server
	atomics                   core.RegisterServer
	copyOut, copyIn           sim.Server // copy engines, where buffers are staged
}

// addNICs adds the interfaces with their buses.
func (n *network) addNICs() {
	n.nics = make([]nic, n.Graph.Hosts)
	if n.NIC.Staging != nil {
		n.stagedWrites = map[pairKey]unit.Time{}
	}
	if n.NIC.Registration != nil {
		n.registrationCaches = make([]registrationCache, n.RankCount)
	}
	if n.NIC.StripeFrom > 0 && n.Graph.Rails() > 1 {
		n.writeOrders = make([]writeOrder, n.RankCount)
		n.senders = make([]sender, n.firstRailSender()+n.RankCount*n.Graph.Rails())
	}
}

// selfLink returns the link of a host to itself.
func (n *network) selfLink(host int32) int32 { return int32(n.Graph.Links()) + host }

// busOut and busIn return the bus from the memory of a host to its interface, and the bus back.
func (n *network) busOut(host int32) int32 { return int32(n.Graph.Links()+n.Graph.Hosts) + host }
func (n *network) busIn(host int32) int32  { return int32(n.Graph.Links()+2*n.Graph.Hosts) + host }

// nextLink returns the next link of a chunk: from the first bus into the graph, through the graph,
// and over the second bus into memory.
func (n *network) nextLink(c *chunk) int32 {
	links := int32(n.Graph.Links())
	switch host := c.route.Destination; {
	case c.link >= n.busOut(0) && n.transfers[c.transfer].from == n.transfers[c.transfer].to:
		return n.selfLink(host)
	case c.link >= links && c.link < n.busOut(0), c.link < links && n.Graph.To(c.link) == host:
		return n.busIn(host)
	}
	return n.Graph.NextLink(&c.route)
}

// nameNICs names the engines and buses for the probe.
func (n *network) nameNICs() {
	for h := range n.nics {
		c, probe := &n.nics[h], n.job.Probe
		probe.SetServerName(&n.link(n.busOut(int32(h))).Server, "%shost %d bus out", n.NamePrefix, h)
		probe.SetServerName(&n.link(n.busIn(int32(h))).Server, "%shost %d bus in", n.NamePrefix, h)
		probe.SetServerName(&c.sendEngine, "%shost %d send engine", n.NamePrefix, h)
		probe.SetServerName(&c.receiveEngine, "%shost %d receive engine", n.NamePrefix, h)
		probe.SetServerName(&c.atomics.Server, "%shost %d atomics", n.NamePrefix, h)
		probe.SetServerName(&c.copyOut, "%shost %d copy engine out", n.NamePrefix, h)
		probe.SetServerName(&c.copyIn, "%shost %d copy engine in", n.NamePrefix, h)
	}
}

// ringDoorbell charges the work request of a message, with its data if it is inline.
func (n *network) ringDoorbell(p *core.Port, bytes int, isInline bool) {
	p.Charge(n.NIC.Doorbell)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.rdma.doorbell", model.SendActivity, 0)
	if isInline && bytes > 0 {
		p.Charge(n.NIC.Inline.Bandwidth.Time(bytes))
		p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.rdma.inline.bandwidth", model.SendActivity, bytes)
	}
}

// sendByNIC charges the work request of a packet, and the preparation of its datagrams if the
// processor does that.
func (n *network) sendByNIC(p *core.Port, pk *core.Packet) {
	size := n.Header + len(pk.Data)
	isInline := n.NIC.IsInline(size)
	if n.NIC.Staging != nil && len(pk.Data) > 0 {
		p.Charge(p.Machine.Processor.Copy.Time(len(pk.Data)))
		p.Probe.ProcessorActivityUntil(p, p.Clock, "processor.copy", model.SendActivity, len(pk.Data))
	}
	p.Probe.PacketSent(p, pk, "")
	n.ringDoorbell(p, size, isInline)
	begin, first := p.Clock, p.Clock
	if d := n.NIC.Datagrams; d != nil {
		p.Charge(n.DatagramTime(d.Send, size))
		p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.rdma.datagrams.send", model.SendActivity, size)
		first = min(p.Clock, begin+n.DatagramTime(d.Send, min(size, n.Chunk)))
	}
	pk.Transit = core.Transit{NextTime: begin, Duration: p.Clock - begin}
	p.PendingSends++
	p.Kernel.Schedule(first+n.NIC.Bus.Latency, (*doorbellEvent)(pk), 0)
}

// doorbellEvent is the event that an interface has the work request of a packet.
type doorbellEvent core.Packet

// HandleEvent queues the packet behind earlier messages.
func (e *doorbellEvent) HandleEvent(isServed uint64) {
	pk := (*core.Packet)(e)
	n := pk.Network.(*network)
	k, size, from := &n.job.Kernel, n.Header+len(pk.Data), n.hostOf(int32(pk.Src))
	if isServed == 0 {
		pk.Job.Ports[pk.Src].PendingSends--
		if t := n.reserveSendEngine(from, pk, n.MessageTime(size)); t > k.Now() {
			k.Schedule(t, e, 1)
			return
		}
	}
	x := transfer{packet: pk, from: from, to: n.hostOf(pk.Dst), size: size, isInline: n.NIC.IsInline(size), firstByteReady: k.Now()}
	x.firstByteReady += n.readLatency(x.isInline)
	x.prepareBegin, x.prepareEnd = pk.Transit.NextTime, pk.Transit.NextTime+pk.Transit.Duration
	if n.writeOrders != nil {
		pk.Transit.Position = n.writeOrderOf(int32(pk.Src)).nextSerial()
	}
	n.enqueueTransfer(int32(pk.Src-n.FirstRank), x)
}

// readyTime returns the earliest time at which an interface can send the bytes of a transfer up to
// a position. Each datagram is delayed from its preparation like the first one.
func (n *network) readyTime(x *transfer, position int) unit.Time {
	ready := n.dataReadyTime(x, position)
	if n.Congestion != nil {
		ready = max(ready, n.pair(x.sender).nextDeparture)
	}
	return ready
}

// dataReadyTime is readyTime without the interface's delay.
func (n *network) dataReadyTime(x *transfer, position int) unit.Time {
	switch {
	case x.isStaged:
		return max(x.firstByteReady, n.stagedReadyTime(x, position))
	case x.prepareEnd == x.prepareBegin:
		return x.firstByteReady
	}
	send := n.NIC.Datagrams.Send
	first := min(x.prepareEnd, x.prepareBegin+n.DatagramTime(send, min(x.size, n.Chunk)))
	made := x.prepareEnd
	if position < x.size {
		made = min(made, x.prepareBegin+n.DatagramTime(send, position))
	}
	return x.firstByteReady + made - first
}

// reserveSendEngine returns when an interface starts to send a message. The message delays the next
// one by hold.
func (n *network) reserveSendEngine(host int32, of any, hold unit.Time) unit.Time {
	return n.reserveEngine(&n.nics[host].sendEngine, of, hold)
}

// reserveReceiveEngine returns when an interface reports a message whose last byte has arrived.
func (n *network) reserveReceiveEngine(host int32, of any) unit.Time {
	return n.reserveEngine(&n.nics[host].receiveEngine, of, n.NIC.Message)
}

func (n *network) reserveEngine(s *sim.Server, of any, hold unit.Time) unit.Time {
	t := s.Reserve(n.job.Kernel.Now(), hold)
	if hold > 0 {
		n.job.Probe.ServerOccupied(s, of, model.CarryActivity, t, hold, 0)
	}
	return t
}

// packetReceivedEvent is the event that the last byte of a packet is in memory.
type packetReceivedEvent core.Packet

// HandleEvent lets the packet arrive after earlier striped writes.
func (e *packetReceivedEvent) HandleEvent(uint64) {
	pk := (*core.Packet)(e)
	n := pk.Network.(*network)
	if n.writeOrders == nil || !n.writeOrderOf(int32(pk.Src)).holdIfEarly(arrival{packet: pk}) {
		n.receivePacket(pk)
	}
}

// receivePacket lets a packet arrive after earlier messages that the interface has received.
func (n *network) receivePacket(pk *core.Packet) {
	if pk.Completion != nil {
		n.job.Kernel.Schedule(n.job.Kernel.Now()+n.firstByteTime(pk.Dst, int32(pk.Src)), (*core.ArrivalEvent)(pk.Completion), 0)
		n.job.Probe.CompletionReported(nil, pk.Completion)
		pk.Completion = nil
	}
	if t := n.reserveReceiveEngine(n.hostOf(pk.Dst), pk); t > n.job.Kernel.Now() {
		n.job.Kernel.Schedule(t, (*core.ArrivalEvent)(pk), 0)
		return
	}
	pk.Arrive()
}

// receiveByNIC charges the completion of a packet, and the reassembly of its datagrams.
func (n *network) receiveByNIC(p *core.Port, pk *core.Packet) {
	n.ChargeCompletionPoll(p)
	if d := n.NIC.Datagrams; d != nil {
		p.Charge(n.DatagramTime(d.Receive, n.Header+len(pk.Data)))
		p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.rdma.datagrams.receive", model.ReceiveActivity, n.Header+len(pk.Data))
	}
}

// ChargeCompletionPoll implements core.CompletionPoller.
func (n *network) ChargeCompletionPoll(p *core.Port) {
	p.Charge(n.NIC.Complete)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "fabric.rdma.complete", model.ReceiveActivity, 0)
}

// CompletesSends implements core.SendCompletingNetwork.
func (n *network) CompletesSends(bytes int) bool {
	return n.NIC != nil && n.NIC.CompletesSends(n.Header+bytes)
}

// startAccessByNIC charges the work request of an access.
func (n *network) startAccessByNIC(p *core.Port, x *core.RemoteAccess) {
	isInline := !x.IsGet && n.NIC.IsInline(len(x.Data))
	if !isInline && !x.NeedsNoCompletion {
		n.RegisterMemory(p, x.Data)
	}
	bytes := len(x.Data)
	parts, _ := n.Stripes(bytes)
	if x.IsGet {
		bytes = 0
	}
	p.Probe.AccessStarted(p, x)
	for range parts - 1 {
		n.ringDoorbell(p, 0, false)
	}
	n.ringDoorbell(p, bytes, isInline)
	p.ElapseCharges()
	x.PolledBy = n
	x.Transit = core.Transit{Step: doorbellRung}
	p.Kernel.Schedule(p.Kernel.Now()+n.NIC.Bus.Latency, (*accessStepEvent)(x), 0)
}

// beginAccessByNIC sends the data of a write, or the request of a read.
func (n *network) beginAccessByNIC(x *core.RemoteAccess) {
	k := &n.job.Kernel
	if x.IsGet {
		there := k.Now() + n.latencyBetween(x.Src, x.Dst)
		n.job.Probe.AccessRequestOrConfirmationSent(x, "get", x.Src, x.Dst, k.Now(), there)
		x.Transit.Step = getRequested
		k.Schedule(there, (*accessStepEvent)(x), 0)
		return
	}
	y := transfer{access: x, from: n.hostOf(x.Src), to: n.hostOf(x.Dst), size: len(x.Data), isInline: n.NIC.IsInline(len(x.Data)), firstByteReady: k.Now()}
	y.firstByteReady += n.readLatency(y.isInline)
	n.copyToHost(&y, k.Now())
	x.Transit.Position = 1
	if n.writeOrders != nil {
		n.beginDividedWrite(x, y)
		return
	}
	n.enqueueTransfer(x.Src-int32(n.FirstRank), y)
}

// answerGetByNIC reads the data that another interface has requested, and sends it.
func (n *network) answerGetByNIC(x *core.RemoteAccess, from int32) {
	parts, part := n.Stripes(len(x.Data))
	x.Transit.Position = parts
	for i := range parts {
		by := int32(n.StripeEnd(int(from), i))
		t := n.reserveSendEngine(by, x, n.NIC.Message)
		y := transfer{access: x, from: by, to: n.hostOf(x.Src), size: min(part, len(x.Data)-i*part), firstByteReady: t + n.readLatency(false)}
		n.copyToHost(&y, t)
		n.enqueueTransfer(int32(n.RankCount)+by, y)
	}
}

// readLatency returns the time from the start of a DMA read to its first byte: request and answer
// cross the bus.
func (n *network) readLatency(isInline bool) unit.Time {
	if isInline {
		return 0
	}
	return 2 * n.NIC.Bus.Latency
}

// UpdateRegister makes the interface of another rank carry out an atomic operation.
func (n *network) UpdateRegister(p *core.Port, dst, r int, c core.RegisterUpdate) int64 {
	from, to := n.hostOf(p.ID), n.hostOf(int32(dst))
	n.ringDoorbell(p, 0, false)
	p.ElapseCharges()
	p.Sleep(n.NIC.Bus.Latency)
	wait := n.reserveSendEngine(from, "atomic", n.NIC.Message) - p.Kernel.Now()
	there, back := n.latencyBetween(p.ID, int32(dst)), n.latencyBetween(int32(dst), p.ID)
	old := n.nics[to].atomics.Update(p, wait+there, n.NIC.Atomic, back+n.NIC.Bus.Latency, dst, r, c)
	n.ChargeCompletionPoll(p)
	return old
}
