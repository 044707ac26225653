package ethernet

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// udpSocket is the datagram socket of a host.
type udpSocket struct {
	received         []*datagram // that have arrived
	receivedBytes    int         // their total size
	groups           []uint32    // groups that the host has joined
	lentDatagram     *datagram   // the datagram that Recv returned last
	receivedDatagram device.Packet
}

// datagram is a datagram under way, or in the sockets that have received it.
type datagram struct {
	network    *network
	sender     int    // sending host
	receiver   int    // a host, or multicastDestination
	group      uint32 // of a multicast
	data       []byte
	references int // number of frames and sockets that refer to it
}

// multicastDestination is the destination of a multicast. Switches have no group tables (no IGMP
// snooping): they send it to all stations. A station accepts it for the members of its group.
const multicastDestination = -1

// datagramPort implements device.Datagram for a host.
type datagramPort struct{ *host }

// Datagram implements core.DatagramNetwork.
func (n *network) Datagram(p *core.Port) device.Datagram {
	if n.UDP == nil {
		return nil
	}
	return datagramPort{n.hostOf(p)}
}

func (d datagramPort) MaxDatagramBytes() int { return d.network.MTU - d.network.UDP.Header }
func (d datagramPort) MaxGroups() int        { return d.network.UDP.MaxGroups }

func (d datagramPort) Join(group uint32) bool {
	d.chargeMembershipCall()
	u := &d.udp
	switch {
	case slices.Contains(u.groups, group):
		return true
	case len(u.groups) == d.MaxGroups():
		return false
	}
	u.groups = append(u.groups, group)
	return true
}

// chargeMembershipCall charges the system call for joining or leaving a group.
func (d datagramPort) chargeMembershipCall() {
	d.ElapseCharges()
	d.spendInSystem(d.network.UDP.Join, "ethernet.udp.join", model.SendActivity)
}

func (d datagramPort) Leave(group uint32) {
	d.chargeMembershipCall()
	d.udp.groups = slices.DeleteFunc(d.udp.groups, func(g uint32) bool { return g == group })
}

func (d datagramPort) Send(dst int, b []byte) {
	to := dst - d.network.FirstRank
	if to < 0 || to >= len(d.network.hosts) {
		panic(fmt.Sprintf("hw: no rank %d among %d", dst, len(d.network.hosts)))
	}
	d.transmit(to, 0, b)
}

func (d datagramPort) Multicast(group uint32, b []byte) { d.transmit(multicastDestination, group, b) }

// transmit sends a datagram by a system call. Hosts on the sender's own station receive it from its
// system.
func (d datagramPort) transmit(to int, group uint32, b []byte) {
	if len(b) > d.MaxDatagramBytes() {
		panic(fmt.Sprintf("hw: a datagram of %d bytes, of %d at most", len(b), d.MaxDatagramBytes()))
	}
	n := d.network
	d.ElapseCharges()
	d.spendInSystem(n.UDP.Send.Time(len(b)), "ethernet.udp.send", model.SendActivity)
	x := n.newDatagram()
	x.sender, x.receiver, x.group, x.data = int(d.ID)-n.FirstRank, to, group, append(x.data[:0], b...)
	x.references = 1
	for _, i := range n.hostsOfStation[d.stationIndex] {
		if n.hosts[i].isAddressed(x) {
			n.interruptForDatagram(&n.hosts[i], x)
		}
	}
	if to != multicastDestination && n.hosts[to].stationIndex == d.stationIndex {
		n.releaseDatagram(x)
		return
	}
	f := n.newFrame()
	f.src, f.dst, f.payload, f.datagram = d.stationIndex, multicastDestination, n.UDP.Header+len(b), x
	if to != multicastDestination {
		f.dst = n.hosts[to].stationIndex
	}
	n.send(f)
}

// isAddressed reports whether a datagram at the host's station is for this host.
func (h *host) isAddressed(x *datagram) bool {
	i := int(h.ID) - h.network.FirstRank
	return x.receiver == i || x.receiver == multicastDestination && x.sender != i && slices.Contains(h.udp.groups, x.group)
}

// deliverDatagram interrupts the hosts to which a datagram is addressed.
func (n *network) deliverDatagram(f *frame) {
	for station, hosts := range n.hostsOfStation {
		if f.dst != station && f.dst != multicastDestination || f.src == station {
			continue
		}
		for _, i := range hosts {
			if n.hosts[i].isAddressed(f.datagram) {
				n.interruptForDatagram(&n.hosts[i], f.datagram)
			}
		}
	}
	n.frameDropped(f)
}

// interruptForDatagram delivers a datagram to a host at the end of an interrupt.
func (n *network) interruptForDatagram(h *host, x *datagram) {
	x.references++
	f := n.newFrame()
	f.dst, f.datagram = int(h.ID)-n.FirstRank, x
	n.job.Kernel.Schedule(h.interrupt(n.UDP.Input, "ethernet.udp.input"), (*datagramInputEvent)(f), 0)
}

// datagramInputEvent is the event that a host has taken in a datagram.
type datagramInputEvent frame

// HandleEvent passes the datagram to the socket if its buffer has space.
func (b *datagramInputEvent) HandleEvent(uint64) {
	f := (*frame)(b)
	x := f.datagram
	n := x.network
	h := &n.hosts[f.dst]
	f.datagram = nil
	n.releaseFrame(f)
	u := &h.udp
	n.statistics.UDPDatagramsReceived++
	if h.HasProgramEnded() || u.receivedBytes+len(x.data) > n.UDP.Buffer {
		n.statistics.UDPDatagramsDropped++
		n.releaseDatagram(x)
		return
	}
	u.received = append(u.received, x)
	u.receivedBytes += len(x.data)
	h.NotifyEvent()
}

// Recv takes the first datagram by a system call. It waits in a call of select.
func (d datagramPort) Recv(deadline unit.Time) *device.Packet {
	u, n := &d.udp, d.network
	if u.lentDatagram != nil {
		n.releaseDatagram(u.lentDatagram)
		u.lentDatagram = nil
	}
	for {
		seen := d.EventCount()
		if len(u.received) > 0 {
			break
		}
		slept := deadline > d.Kernel.Now()
		if !d.WaitForEvent(seen, deadline) {
			return nil
		}
		if slept {
			d.spendInSystem(n.TCP.Poll, "ethernet.tcp.poll", model.ReceiveActivity)
		}
	}
	x := u.received[0]
	u.received = u.received[:copy(u.received, u.received[1:])]
	u.receivedBytes -= len(x.data)
	d.spendInSystem(n.UDP.Receive.Time(len(x.data)), "ethernet.udp.receive", model.ReceiveActivity)
	u.lentDatagram, u.receivedDatagram = x, device.Packet{Src: n.FirstRank + x.sender, Data: x.data}
	return &u.receivedDatagram
}

// dropDatagrams drops the datagrams that arrived for a rank whose program has ended.
func (u *udpSocket) dropDatagrams(n *network) {
	for _, x := range u.received {
		n.releaseDatagram(x)
	}
	u.received, u.receivedBytes = u.received[:0], 0
}

func (n *network) newDatagram() *datagram {
	last := len(n.freeDatagrams) - 1
	if last < 0 {
		return &datagram{network: n}
	}
	x := n.freeDatagrams[last]
	n.freeDatagrams = n.freeDatagrams[:last]
	return x
}

// releaseDatagram removes one reference to a datagram.
func (n *network) releaseDatagram(x *datagram) {
	if x.references--; x.references == 0 {
		n.freeDatagrams = append(n.freeDatagrams, x)
	}
}
