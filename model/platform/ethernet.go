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

	maxFaultShare = 0.9 // of frames: what is sent again and again has to arrive some time

	minMBCFPacket = 256 // bytes: a packet of MBCF has room for what libraries say in one
)

// ethernet reads workstations on a shared Ethernet.
func (r *fileReader) ethernet() (model.Network, nodeReader) {
	to := &model.Ethernet{}
	fields := r.mapping(
		required("rate", r.rate(&to.Rate)),
		required("preamble", r.size(&to.Preamble, 0, maxFrame)),
		required("header", r.size(&to.Header, 0, maxFrame)),
		required("fcs", r.size(&to.FCS, 0, maxFrame)),
		required("gap", r.size(&to.InterframeGapBytes, 0, maxFrame)),
		required("min_payload", r.size(&to.MinPayload, 0, maxFrame)),
		required("mtu", r.size(&to.MTU, 1, maxFrame)),
		required("slot", r.time(&to.BackoffSlot)),
		required("jam", r.size(&to.JamBytes, 0, maxFrame)),
		required("backoff", r.count(&to.MaxBackoffDoublings, 1, maxBackoff)),
		required("attempts", r.count(&to.MaxCollisionsOfFrame, 2, maxCount)), // of one, all would start again together
		required("propagation", r.time(&to.Propagation)),
		optional("switches", r.switches(&to.Switches)),
		required("tcp", r.tcp(&to.TCP)),
		optional("udp", r.udp(&to.UDP)),
		optional("mbcf", r.mbcf(&to.MBCF)),
	)
	return to, r.withCheck(fields, func(path string, n *yaml.Node) { r.checkEthernet(path, n, to) })
}

// checkEthernet checks that stations detect every collision while they still send, and that
// segments have room for data.
func (r *fileReader) checkEthernet(path string, n *yaml.Node, e *model.Ethernet) {
	// A fragment has a preamble and the jam, the shortest frame no padding beyond min_payload. A
	// station detects a collision after up to two propagation times.
	fragment, frame := e.Rate.Time(e.Preamble+e.JamBytes), e.Rate.Time(e.Preamble+e.Header+e.MinPayload+e.FCS)
	if most := min(fragment, frame/2); e.Propagation > most {
		r.reportProblem(mappingValue(n, "propagation"), path+".propagation", "%s is more than %s: a station could have sent its frame before it hears of a collision; write less",
			e.Propagation, most)
	}
	if s := e.Switches; s != nil {
		frame := e.Preamble + e.Header + max(e.MTU, e.MinPayload) + e.FCS
		for _, x := range []struct {
			key  string
			room int
		}{{"buffer", s.LinkBufferBytes}, {"memory", s.SharedBufferBytes}} {
			if x.room < frame && (x.room > 0 || x.key == "buffer") {
				r.reportProblem(mappingValue(n, "switches"), path+".switches."+x.key, "%s has no room for the longest frame: write at least %s", unit.Bytes(x.room), unit.Bytes(frame))
			}
		}
	}
	if m := e.MBCF; m != nil && m.Header+m.MaxDataBytes > e.MTU {
		r.reportProblem(mappingValue(n, "mbcf"), path+".mbcf.limit", "%s and a header of %s are more than the mtu of %s: write less", unit.Bytes(m.MaxDataBytes), unit.Bytes(m.Header), unit.Bytes(e.MTU))
	}
	if u := e.UDP; u != nil && u.Header >= e.MTU {
		r.reportProblem(mappingValue(n, "udp"), path+".udp.header", "%s leaves no room for data in an mtu of %s: write less", unit.Bytes(u.Header), unit.Bytes(e.MTU))
	}
	if e.TCP.Header >= e.MTU {
		r.reportProblem(mappingValue(n, "tcp"), path+".tcp.header", "%s leaves no room for data in an mtu of %s: write less", unit.Bytes(e.TCP.Header), unit.Bytes(e.MTU))
	}
}

// switches reads what joins stations in place of one medium.
func (r *fileReader) switches(to **model.Switches) nodeReader {
	x := &model.Switches{}
	duplex := "full"
	fields := r.mapping(
		required("duplex", oneOfWords(r, &duplex, []string{"full", "half"})),
		required("ports", r.count(&x.StationsPerSwitch, 1, maxCount)),
		required("latency", r.time(&x.Latency)),
		required("buffer", r.size(&x.LinkBufferBytes, 1, math.MaxInt32)),
		optional("memory", r.size(&x.SharedBufferBytes, 1, math.MaxInt32)),
		required("uplink", r.rate(&x.Uplink)),
		optional("loss", r.percent(&x.LossProbability, maxFaultShare)),
		optional("reorder", r.percent(&x.ReorderProbability, maxFaultShare)),
	)
	return r.withCheck(fields, func(string, *yaml.Node) { x.IsFullDuplex, *to = duplex == "full", x })
}

// tcp reads the transport of workstations.
func (r *fileReader) tcp(to *model.TCP) nodeReader {
	return r.mapping(
		required("header", r.size(&to.Header, 0, maxFrame)),
		required("record", r.size(&to.Record, 1, maxFrame)),
		required("send_buffer", r.size(&to.SendBuffer, 1, math.MaxInt32)),
		required("receive_buffer", r.size(&to.ReceiveBuffer, 1, math.MaxInt32)),
		required("write", r.channel(&to.Write)),
		required("read", r.channel(&to.Read)),
		required("poll", r.time(&to.Poll)),
		required("output", r.time(&to.Output)),
		required("input", r.time(&to.Input)),
		required("ack_every", r.count(&to.AckEvery, 1, maxCount)),
		required("ack_delay", r.time(&to.AckDelay)),
		required("retransmit", r.positiveTime(&to.Retransmit)),
		optional("congestion", r.congestion(&to.Congestion)),
	)
}

// socketsOf reads how a library uses TCP.
func (r *fileReader) socketsOf(to **model.Sockets) nodeReader {
	x := &model.Sockets{}
	write, read := "in-turn", "parts"
	fields := r.mapping(
		optional("buffer", r.size(&x.BufferBytes, 1, math.MaxInt32)),
		optional("write", oneOfWords(r, &write, []string{"in-turn", "together"})),
		optional("read", oneOfWords(r, &read, []string{"parts", "whole"})),
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		x.BuffersUnsentData, x.ReadsWholePackets, *to = write == "together", read == "whole", x
		r.socketPositions = append(r.socketPositions, nodePosition{path, n})
	})
}

// checkSockets checks that the machine has what libraries say of sockets.
func (r *fileReader) checkSockets(m *model.Machine) {
	if _, ok := m.Network.(*model.Ethernet); ok {
		return
	}
	for _, x := range r.socketPositions {
		r.reportProblem(x.node, x.path, "the machine has no TCP: leave it out")
	}
}

// congestion reads how TCP shares a network.
func (r *fileReader) congestion(to **model.Congestion) nodeReader {
	x := &model.Congestion{}
	fields := r.mapping(
		required("initial", r.count(&x.InitialWindowSegments, 1, maxCount)),
		required("duplicates", r.count(&x.ReorderToleranceSegments, 1, maxCount)),
		optional("quick", r.count(&x.QuickAckSegments, 0, maxCount)),
	)
	return r.withCheck(fields, func(string, *yaml.Node) { *to = x })
}

// udp reads the datagrams of workstations.
func (r *fileReader) udp(to **model.UDP) nodeReader {
	x := &model.UDP{}
	fields := r.mapping(
		required("header", r.size(&x.Header, 1, maxFrame)),
		required("send", r.channel(&x.Send)),
		required("receive", r.channel(&x.Receive)),
		required("input", r.time(&x.Input)),
		required("buffer", r.size(&x.Buffer, 1, math.MaxInt32)),
		optional("join", r.time(&x.Join)),
		required("groups", r.count(&x.MaxGroups, 0, maxCount)),
	)
	return r.withCheck(fields, func(string, *yaml.Node) { *to = x })
}

// mbcf reads access to memory by operating systems.
func (r *fileReader) mbcf(to **model.MBCF) nodeReader {
	x := &model.MBCF{}
	fields := r.mapping(
		required("header", r.size(&x.Header, 1, maxFrame)),
		required("limit", r.size(&x.MaxDataBytes, minMBCFPacket, maxFrame)),
		required("call", r.channel(&x.Call)),
		required("input", r.channel(&x.Input)),
		required("ack", r.time(&x.Ack)),
		required("trap", r.time(&x.InterruptEntryAndExit)),
		required("output", r.channel(&x.Output)),
		required("dequeue", r.time(&x.Dequeue)),
		required("upcall", r.time(&x.Upcall)),
		required("window", r.count(&x.Window, 1, maxCount)),
		required("ack_every", r.count(&x.AckEvery, 1, maxCount)),
		required("ack_delay", r.time(&x.AckDelay)),
		required("retransmit", r.positiveTime(&x.Retransmit)),
	)
	return r.withCheck(fields, func(string, *yaml.Node) { *to = x })
}

// checkMulticasts checks that the machine has the multicast that libraries use.
func (r *fileReader) checkMulticasts(m *model.Machine) {
	if e, ok := m.Network.(*model.Ethernet); ok && e.UDP != nil && e.UDP.MaxGroups > 0 {
		return
	}
	for _, x := range r.multicastPositions {
		r.reportProblem(x.node, x.path, "the machine has no multicast (udp with groups on an ethernet): leave it out")
	}
}
