package platform

import (
	"math"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// Limits that keep sums of sizes from overflowing, and random draws within 64 bits.
const (
	maxFrame   = 1 << 20
	maxBackoff = 32

	mostFaults = 0.9 // of frames: what is sent again and again has to arrive some time

	leastPacket = 256 // bytes: a packet of MBCF has room for what libraries say in one
)

// ethernet reads workstations on a shared Ethernet.
func (r *reader) ethernet() (model.Network, reading) {
	to := &model.Ethernet{}
	fields := r.mapping(
		must("rate", r.rate(&to.Rate)),
		must("preamble", r.size(&to.Preamble, 0, maxFrame)),
		must("header", r.size(&to.Header, 0, maxFrame)),
		must("fcs", r.size(&to.FCS, 0, maxFrame)),
		must("gap", r.size(&to.Gap, 0, maxFrame)),
		must("min_payload", r.size(&to.MinPayload, 0, maxFrame)),
		must("mtu", r.size(&to.MTU, 1, maxFrame)),
		must("slot", r.time(&to.Slot)),
		must("jam", r.size(&to.Jam, 0, maxFrame)),
		must("backoff", r.count(&to.Backoff, 1, maxBackoff)),
		must("attempts", r.count(&to.Attempts, 2, maxCount)), // of one, all would start again together
		must("propagation", r.time(&to.Propagation)),
		may("switches", r.switches(&to.Switches)),
		must("tcp", r.tcp(&to.TCP)),
		may("udp", r.udp(&to.UDP)),
		may("mbcf", r.mbcf(&to.MBCF)),
	)
	return to, r.checked(fields, func(path string, n *yaml.Node) { r.checkEthernet(path, n, to) })
}

// checkEthernet checks that stations detect every collision while they still send, and that
// segments have room for data.
func (r *reader) checkEthernet(path string, n *yaml.Node, e *model.Ethernet) {
	// A fragment has a preamble and the jam, the shortest frame no padding beyond min_payload. A
	// station detects a collision after up to two propagation times.
	fragment, frame := e.Rate.Time(e.Preamble+e.Jam), e.Rate.Time(e.Preamble+e.Header+e.MinPayload+e.FCS)
	if most := min(fragment, frame/2); e.Propagation > most {
		r.wrong(lookup(n, "propagation"), path+".propagation", "%s is more than %s: a station could have sent its frame before it hears of a collision; write less",
			e.Propagation, most)
	}
	if s := e.Switches; s != nil {
		frame := e.Preamble + e.Header + max(e.MTU, e.MinPayload) + e.FCS
		for _, x := range []struct {
			key  string
			room int
		}{{"buffer", s.Buffer}, {"memory", s.Memory}} {
			if x.room < frame && (x.room > 0 || x.key == "buffer") {
				r.wrong(lookup(n, "switches"), path+".switches."+x.key, "%s has no room for the longest frame: write at least %s", unit.Bytes(x.room), unit.Bytes(frame))
			}
		}
	}
	if m := e.MBCF; m != nil && m.Header+m.Limit > e.MTU {
		r.wrong(lookup(n, "mbcf"), path+".mbcf.limit", "%s and a header of %s are more than the mtu of %s: write less", unit.Bytes(m.Limit), unit.Bytes(m.Header), unit.Bytes(e.MTU))
	}
	if u := e.UDP; u != nil && u.Header >= e.MTU {
		r.wrong(lookup(n, "udp"), path+".udp.header", "%s leaves no room for data in an mtu of %s: write less", unit.Bytes(u.Header), unit.Bytes(e.MTU))
	}
	if e.TCP.Header >= e.MTU {
		r.wrong(lookup(n, "tcp"), path+".tcp.header", "%s leaves no room for data in an mtu of %s: write less", unit.Bytes(e.TCP.Header), unit.Bytes(e.MTU))
	}
}

// switches reads what joins stations in place of one medium.
func (r *reader) switches(to **model.Switches) reading {
	x := &model.Switches{}
	duplex := "full"
	fields := r.mapping(
		must("duplex", choice(r, &duplex, []string{"full", "half"})),
		must("ports", r.count(&x.Ports, 1, maxCount)),
		must("latency", r.time(&x.Latency)),
		must("buffer", r.size(&x.Buffer, 1, math.MaxInt32)),
		may("memory", r.size(&x.Memory, 1, math.MaxInt32)),
		must("uplink", r.rate(&x.Uplink)),
		may("loss", r.percent(&x.Loss, mostFaults)),
		may("reorder", r.percent(&x.Reorder, mostFaults)),
	)
	return r.checked(fields, func(string, *yaml.Node) { x.Full, *to = duplex == "full", x })
}

// tcp reads the transport of workstations.
func (r *reader) tcp(to *model.TCP) reading {
	return r.mapping(
		must("header", r.size(&to.Header, 0, maxFrame)),
		must("record", r.size(&to.Record, 1, maxFrame)),
		must("send_buffer", r.size(&to.SendBuffer, 1, math.MaxInt32)),
		must("receive_buffer", r.size(&to.ReceiveBuffer, 1, math.MaxInt32)),
		must("write", r.channel(&to.Write)),
		must("read", r.channel(&to.Read)),
		must("poll", r.time(&to.Poll)),
		must("output", r.time(&to.Output)),
		must("input", r.time(&to.Input)),
		must("ack_every", r.count(&to.AckEvery, 1, maxCount)),
		must("ack_delay", r.time(&to.AckDelay)),
		must("retransmit", r.positive(&to.Retransmit)),
		may("congestion", r.congestion(&to.Congestion)),
	)
}

// socketsOf reads how a library uses TCP.
func (r *reader) socketsOf(to **model.Sockets) reading {
	x := &model.Sockets{}
	write, read := "in-turn", "parts"
	fields := r.mapping(
		may("buffer", r.size(&x.Buffer, 1, math.MaxInt32)),
		may("write", choice(r, &write, []string{"in-turn", "together"})),
		may("read", choice(r, &read, []string{"parts", "whole"})),
	)
	return r.checked(fields, func(path string, n *yaml.Node) {
		x.Together, x.Whole, *to = write == "together", read == "whole", x
		r.sockets = append(r.sockets, at{path, n})
	})
}

// checkSockets checks that the machine has what libraries say of sockets.
func (r *reader) checkSockets(m *model.Machine) {
	if _, ok := m.Network.(*model.Ethernet); ok {
		return
	}
	for _, x := range r.sockets {
		r.wrong(x.node, x.path, "the machine has no TCP: leave it out")
	}
}

// congestion reads how TCP shares a network.
func (r *reader) congestion(to **model.Congestion) reading {
	x := &model.Congestion{}
	fields := r.mapping(
		must("initial", r.count(&x.Initial, 1, maxCount)),
		must("duplicates", r.count(&x.Duplicates, 1, maxCount)),
		may("quick", r.count(&x.Quick, 0, maxCount)),
	)
	return r.checked(fields, func(string, *yaml.Node) { *to = x })
}

// udp reads the datagrams of workstations.
func (r *reader) udp(to **model.UDP) reading {
	x := &model.UDP{}
	fields := r.mapping(
		must("header", r.size(&x.Header, 1, maxFrame)),
		must("send", r.channel(&x.Send)),
		must("receive", r.channel(&x.Receive)),
		must("input", r.time(&x.Input)),
		must("buffer", r.size(&x.Buffer, 1, math.MaxInt32)),
		may("join", r.time(&x.Join)),
		must("groups", r.count(&x.MaxGroups, 0, maxCount)),
	)
	return r.checked(fields, func(string, *yaml.Node) { *to = x })
}

// mbcf reads access to memory by operating systems.
func (r *reader) mbcf(to **model.MBCF) reading {
	x := &model.MBCF{}
	fields := r.mapping(
		must("header", r.size(&x.Header, 1, maxFrame)),
		must("limit", r.size(&x.Limit, leastPacket, maxFrame)),
		must("call", r.channel(&x.Call)),
		must("input", r.channel(&x.Input)),
		must("ack", r.time(&x.Ack)),
		must("trap", r.time(&x.Trap)),
		must("output", r.channel(&x.Output)),
		must("dequeue", r.time(&x.Dequeue)),
		must("upcall", r.time(&x.Upcall)),
		must("window", r.count(&x.Window, 1, maxCount)),
		must("ack_every", r.count(&x.AckEvery, 1, maxCount)),
		must("ack_delay", r.time(&x.AckDelay)),
		must("retransmit", r.positive(&x.Retransmit)),
	)
	return r.checked(fields, func(string, *yaml.Node) { *to = x })
}

// checkMulticasts checks that the machine has the multicast that libraries use.
func (r *reader) checkMulticasts(m *model.Machine) {
	if e, ok := m.Network.(*model.Ethernet); ok && e.UDP != nil && e.UDP.MaxGroups > 0 {
		return
	}
	for _, x := range r.multicasts {
		r.wrong(x.node, x.path, "the machine has no multicast (udp with groups on an ethernet): leave it out")
	}
}
