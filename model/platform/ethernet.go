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

// ethernetReader reads workstations on a shared Ethernet.
func (r *fileReader) ethernetReader() (model.Network, nodeReader) {
	to := &model.Ethernet{}
	fields := r.readMapping(
		requiredField("rate", r.readRate(&to.Rate)),
		requiredField("preamble", r.readSize(&to.Preamble, 0, maxFrame)),
		requiredField("header", r.readSize(&to.Header, 0, maxFrame)),
		requiredField("fcs", r.readSize(&to.FCS, 0, maxFrame)),
		requiredField("gap", r.readSize(&to.InterframeGapBytes, 0, maxFrame)),
		requiredField("min_payload", r.readSize(&to.MinPayload, 0, maxFrame)),
		requiredField("mtu", r.readSize(&to.MTU, 1, maxFrame)),
		requiredField("slot", r.readTime(&to.BackoffSlot)),
		requiredField("jam", r.readSize(&to.JamBytes, 0, maxFrame)),
		requiredField("backoff", r.readCount(&to.MaxBackoffDoublings, 1, maxBackoff)),
		requiredField("attempts", r.readCount(&to.MaxCollisionsOfFrame, 2, maxCount)), // of one, all would start again together
		requiredField("propagation", r.readTime(&to.Propagation)),
		optionalField("switches", r.readSwitches(&to.Switches)),
		requiredField("tcp", r.readTCP(&to.TCP)),
		optionalField("udp", r.readUDP(&to.UDP)),
		optionalField("mbcf", r.readMBCF(&to.MBCF)),
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

// readSwitches reads what joins stations in place of one medium.
func (r *fileReader) readSwitches(to **model.Switches) nodeReader {
	x := &model.Switches{}
	duplex := "full"
	fields := r.readMapping(
		requiredField("duplex", oneOfWords(r, &duplex, []string{"full", "half"})),
		requiredField("ports", r.readCount(&x.StationsPerSwitch, 1, maxCount)),
		requiredField("latency", r.readTime(&x.Latency)),
		requiredField("buffer", r.readSize(&x.LinkBufferBytes, 1, math.MaxInt32)),
		optionalField("memory", r.readSize(&x.SharedBufferBytes, 1, math.MaxInt32)),
		requiredField("uplink", r.readRate(&x.Uplink)),
		optionalField("loss", r.readPercent(&x.LossProbability, maxFaultShare)),
		optionalField("reorder", r.readPercent(&x.ReorderProbability, maxFaultShare)),
	)
	return r.withCheck(fields, func(string, *yaml.Node) { x.IsFullDuplex, *to = duplex == "full", x })
}

// readTCP reads the transport of workstations.
func (r *fileReader) readTCP(to *model.TCP) nodeReader {
	return r.readMapping(
		requiredField("header", r.readSize(&to.Header, 0, maxFrame)),
		requiredField("record", r.readSize(&to.Record, 1, maxFrame)),
		requiredField("send_buffer", r.readSize(&to.SendBuffer, 1, math.MaxInt32)),
		requiredField("receive_buffer", r.readSize(&to.ReceiveBuffer, 1, math.MaxInt32)),
		requiredField("write", r.readChannel(&to.Write)),
		requiredField("read", r.readChannel(&to.Read)),
		requiredField("poll", r.readTime(&to.Poll)),
		requiredField("output", r.readTime(&to.Output)),
		requiredField("input", r.readTime(&to.Input)),
		requiredField("ack_every", r.readCount(&to.AckEvery, 1, maxCount)),
		requiredField("ack_delay", r.readTime(&to.AckDelay)),
		requiredField("retransmit", r.positiveTime(&to.Retransmit)),
		optionalField("congestion", r.readCongestion(&to.Congestion)),
	)
}

// socketsOf reads how a library uses TCP.
func (r *fileReader) socketsOf(to **model.Sockets) nodeReader {
	x := &model.Sockets{}
	write, read := "in-turn", "parts"
	fields := r.readMapping(
		optionalField("buffer", r.readSize(&x.BufferBytes, 1, math.MaxInt32)),
		optionalField("write", oneOfWords(r, &write, []string{"in-turn", "together"})),
		optionalField("read", oneOfWords(r, &read, []string{"parts", "whole"})),
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

// readCongestion reads how TCP shares a network.
func (r *fileReader) readCongestion(to **model.Congestion) nodeReader {
	x := &model.Congestion{}
	fields := r.readMapping(
		requiredField("initial", r.readCount(&x.InitialWindowSegments, 1, maxCount)),
		requiredField("duplicates", r.readCount(&x.ReorderToleranceSegments, 1, maxCount)),
		optionalField("quick", r.readCount(&x.QuickAckSegments, 0, maxCount)),
	)
	return r.withCheck(fields, func(string, *yaml.Node) { *to = x })
}

// readUDP reads the datagrams of workstations.
func (r *fileReader) readUDP(to **model.UDP) nodeReader {
	x := &model.UDP{}
	fields := r.readMapping(
		requiredField("header", r.readSize(&x.Header, 1, maxFrame)),
		requiredField("send", r.readChannel(&x.Send)),
		requiredField("receive", r.readChannel(&x.Receive)),
		requiredField("input", r.readTime(&x.Input)),
		requiredField("buffer", r.readSize(&x.Buffer, 1, math.MaxInt32)),
		optionalField("join", r.readTime(&x.Join)),
		requiredField("groups", r.readCount(&x.MaxGroups, 0, maxCount)),
	)
	return r.withCheck(fields, func(string, *yaml.Node) { *to = x })
}

// readMBCF reads access to memory by operating systems.
func (r *fileReader) readMBCF(to **model.MBCF) nodeReader {
	x := &model.MBCF{}
	fields := r.readMapping(
		requiredField("header", r.readSize(&x.Header, 1, maxFrame)),
		requiredField("limit", r.readSize(&x.MaxDataBytes, minMBCFPacket, maxFrame)),
		requiredField("call", r.readChannel(&x.Call)),
		requiredField("input", r.readChannel(&x.Input)),
		requiredField("ack", r.readTime(&x.Ack)),
		requiredField("trap", r.readTime(&x.InterruptEntryAndExit)),
		requiredField("output", r.readChannel(&x.Output)),
		requiredField("dequeue", r.readTime(&x.Dequeue)),
		requiredField("upcall", r.readTime(&x.Upcall)),
		requiredField("window", r.readCount(&x.Window, 1, maxCount)),
		requiredField("ack_every", r.readCount(&x.AckEvery, 1, maxCount)),
		requiredField("ack_delay", r.readTime(&x.AckDelay)),
		requiredField("retransmit", r.positiveTime(&x.Retransmit)),
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
