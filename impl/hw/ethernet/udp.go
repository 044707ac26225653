package ethernet

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// udp is the socket for datagrams of a host.
type udp struct {
	waiting []*datagram // that have come
	bytes   int         // of them
	groups  []uint32    // that its station listens to for it
	held    *datagram   // lent to the rank
	packet  device.Packet
}

// datagram is a datagram in flight, or in the sockets that have received it.
type datagram struct {
	net    *network
	from   int    // the host that sent it
	to     int    // a host, or everyone
	group  uint32 // of everyone
	data   []byte
	copies int // frames and sockets that have it
}

// everyone is the destination of a multicast. Switches have no table of groups (IGMP snooping):
// they send it to all stations, and a station takes in what is for a group of its hosts.
const everyone = -1

// socketUDP is a host as its rank's device.Datagram.
type socketUDP struct{ *host }

// Datagram implements core.DatagramNetwork.
func (n *network) Datagram(p *core.Port) device.Datagram {
	if n.UDP == nil {
		return nil
	}
	return socketUDP{n.host(p)}
}

func (d socketUDP) Limit() int  { return d.net.MTU - d.net.UDP.Header }
func (d socketUDP) Groups() int { return d.net.UDP.Groups }

func (d socketUDP) Join(group uint32) bool {
	d.membership()
	u := &d.udp
	switch {
	case slices.Contains(u.groups, group):
		return true
	case len(u.groups) == d.Groups():
		return false
	}
	u.groups = append(u.groups, group)
	return true
}

// membership charges the system call that joins or leaves a group.
func (d socketUDP) membership() {
	d.ElapseCharges()
	d.system(d.net.UDP.Join, "ethernet.udp.join", model.Sending)
}

func (d socketUDP) Leave(group uint32) {
	d.membership()
	d.udp.groups = slices.DeleteFunc(d.udp.groups, func(g uint32) bool { return g == group })
}

func (d socketUDP) Send(dst int, b []byte) {
	to := dst - d.net.FirstRank
	if to < 0 || to >= len(d.net.hosts) {
		panic(fmt.Sprintf("hw: no rank %d among %d", dst, len(d.net.hosts)))
	}
	d.transmit(to, 0, b)
}

func (d socketUDP) Multicast(group uint32, b []byte) { d.transmit(everyone, group, b) }

// transmit sends a datagram by a system call. Hosts of the sender's own station have it from its
// system.
func (d socketUDP) transmit(to int, group uint32, b []byte) {
	if len(b) > d.Limit() {
		panic(fmt.Sprintf("hw: a datagram of %d bytes, of %d at most", len(b), d.Limit()))
	}
	n := d.net
	d.ElapseCharges()
	d.system(n.UDP.Send.Time(len(b)), "ethernet.udp.send", model.Sending)
	x := n.newDatagram()
	x.from, x.to, x.group, x.data = int(d.ID)-n.FirstRank, to, group, append(x.data[:0], b...)
	x.copies = 1
	for _, i := range n.at[d.station] {
		if n.hosts[i].hears(x) {
			n.bring(&n.hosts[i], x)
		}
	}
	if to != everyone && n.hosts[to].station == d.station {
		n.drop(x)
		return
	}
	f := n.newFrame()
	f.src, f.dst, f.payload, f.datagram = d.station, everyone, n.UDP.Header+len(b), x
	if to != everyone {
		f.dst = n.hosts[to].station
	}
	n.send(f)
}

// hears reports whether a datagram that is at the host's station is for the host.
func (h *host) hears(x *datagram) bool {
	i := int(h.ID) - h.net.FirstRank
	return x.to == i || x.to == everyone && x.from != i && slices.Contains(h.udp.groups, x.group)
}

// heard lets a datagram interrupt the hosts that it is for.
func (n *network) heard(f *frame) {
	for station, hosts := range n.at {
		if f.dst != station && f.dst != everyone || f.src == station {
			continue
		}
		for _, i := range hosts {
			if n.hosts[i].hears(f.datagram) {
				n.bring(&n.hosts[i], f.datagram)
			}
		}
	}
	n.dropped(f)
}

// bring brings a datagram to a host, which has it when the interrupt is over.
func (n *network) bring(h *host, x *datagram) {
	x.copies++
	f := n.newFrame()
	f.dst, f.datagram = int(h.ID)-n.FirstRank, x
	n.j.Kernel.Schedule(h.interrupt(n.UDP.Input, "ethernet.udp.input"), (*brought)(f), 0)
}

// brought is the event of a datagram that a host has taken in.
type brought frame

// Act gives it to the socket, if there is room.
func (b *brought) Act(uint64) {
	f := (*frame)(b)
	x := f.datagram
	n := x.net
	h := &n.hosts[f.dst]
	f.datagram = nil
	n.release(f)
	u := &h.udp
	n.count.Datagrams++
	if h.ProgramEnded() || u.bytes+len(x.data) > n.UDP.Buffer {
		n.count.Unheard++
		n.drop(x)
		return
	}
	u.waiting = append(u.waiting, x)
	u.bytes += len(x.data)
	h.NotifyEvent()
}

// Recv takes the first datagram by a system call. It waits in a call of select.
func (d socketUDP) Recv(deadline unit.Time) *device.Packet {
	u, n := &d.udp, d.net
	if u.held != nil {
		n.drop(u.held)
		u.held = nil
	}
	for {
		seen := d.Events()
		if len(u.waiting) > 0 {
			break
		}
		slept := deadline > d.Kernel.Now()
		if !d.Wait(seen, deadline) {
			return nil
		}
		if slept {
			d.system(n.TCP.Poll, "ethernet.tcp.poll", model.Receiving)
		}
	}
	x := u.waiting[0]
	u.waiting = u.waiting[:copy(u.waiting, u.waiting[1:])]
	u.bytes -= len(x.data)
	d.system(n.UDP.Receive.Time(len(x.data)), "ethernet.udp.receive", model.Receiving)
	u.held, u.packet = x, device.Packet{Src: n.FirstRank + x.from, Data: x.data}
	return &u.packet
}

// close drops the datagrams that have arrived for a rank whose program has ended.
func (u *udp) close(n *network) {
	for _, x := range u.waiting {
		n.drop(x)
	}
	u.waiting, u.bytes = u.waiting[:0], 0
}

func (n *network) newDatagram() *datagram {
	last := len(n.datagrams) - 1
	if last < 0 {
		return &datagram{net: n}
	}
	x := n.datagrams[last]
	n.datagrams = n.datagrams[:last]
	return x
}

// drop takes one copy of a datagram away.
func (n *network) drop(x *datagram) {
	if x.copies--; x.copies == 0 {
		n.datagrams = append(n.datagrams, x)
	}
}
