package model

import "github.com/loggp/loggp/model/unit"

// Low-level messages are what protocols are made of: packets that nobody matches, and remote accesses. Equations (1) to (7)
// mean their o_s, L, o_r and G, not those of whole messages.

// MessageView returns what LogGP sees of the low-level messages of a machine with a library on it. On a torus it is
//
//	o_s(k) = control + send.start + (header + k) / send.bandwidth
//	o_r(k) = receive + handle + copy(k)
//	L      = hops·hop + turns·turn + deliver
//	g      = header / link
//	G      = 1/send.bandwidth for packets, 1/get.bandwidth pulled, 1/put.bandwidth pushed
//
// where the processor itself sends the bytes of a packet: o_s(k) has what is G per byte (Stored), and k bytes take
// o_s(k) + L + o_r(k). On the LogGP machine the interface sends them,
//
//	o_s    = control + o_s
//	o_r(k) = o_r + handle + copy(k)
//
// and k bytes take o_s + L + (k−1)·G + o_r(k). Processors in hypernodes send the bytes themselves, too. With the costs of the tier, and the
// bandwidth of port or ring where that is less than the processor's, it is
//
//	o_s(k) = control + send.start + (header + k) / send.bandwidth + settle
//	o_r(k) = receive + k·fetch + handle + copy(k)
//	L      = latency + hops·hop
//	g      = header / the slower of port and ring
//
// where the packet is on its way while its sender settles, of which LogGP knows nothing: k bytes take o_s(k) − settle + L + o_r(k).
// On an Ethernet, with n segments of at most m bytes,
//
//	o_s(k) = control + write.start + (record + k) / write.bandwidth + n·output
//	o_r(k) = n·input + poll + read.start + (record + k) / read.bandwidth + handle + copy(k)
//	L      = (preamble + header + tcp.header + record + fcs) / rate + propagation
//	g      = L − propagation + gap / rate
//	G      = (preamble + header + tcp.header + m + fcs + gap) / rate / m
//
// where processors work on one segment while another is on the medium, so that of the bytes of a long message only G shows.
//
// What remote accesses cost beside their bytes, the start, the way back and handling the end, no parameter of LogGP holds.
func MessageView(m *Machine, lib *Library, path Path) Parameters {
	if lib == nil {
		lib = &Library{}
	}
	x := Parameters{RecvO: m.Processor.copying(lib.Software[ProtoHandle])}
	m.Between(path.Tier).view(&x, lib.Software[ProtoControl], path)
	return x
}

// copying returns the time of something and a copy after it. To copy nothing costs nothing.
func (p Processor) copying(before unit.Time) Curve {
	return Curve{{0, before, 0}, {1, before + p.Copy.Time(1), perByte(p.Copy.Bandwidth)}}
}

// perByte returns the time of a byte at a rate.
func perByte(r unit.Rate) unit.PerByte { return unit.PerByte(float64(unit.Second) / float64(r)) }
