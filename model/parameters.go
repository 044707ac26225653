package model

import (
	"slices"
	"sort"

	"github.com/loggp/loggp/model/unit"
)

// Parameters are those of LogGP, with separate o_s and o_r that may depend on the size of the
// message. They are fitted to measurements, and equations (1) to (9) are computed from them. Times
// are picoseconds, finer than any measurement, so that sums are exact.
//
// They may describe low-level messages, as equations (1) to (7) need, or whole calls of MPI, as (8)
// and (9) need. The caller knows which.
type Parameters struct {
	L                unit.Time    // latency. A fit may find a negative one
	SendOverhead     Curve        // o_s: the processor is busy sending
	RecvOverhead     Curve        // o_r: the processor is busy receiving
	Gap              unit.Time    // g: least time between the starts of messages
	GapPerByte       unit.PerByte // G: per byte of a long message after the first
	GapPerPulledByte unit.PerByte // G of pulled data; 0: BigGap. The paper takes both as equal
	GapPerPushedByte unit.PerByte // G of pushed data; 0: BigGap
	Processors       int          // processors; 0: unknown

	// OneWayCurve is the one-way time of whole calls, with both overheads. If it is empty, it is
	// o_s + L + (k−1) G + o_r. It may be less than that: o_s may contain work that follows the
	// transfer, and of a rendezvous both overheads contain the transfer.
	OneWayCurve Curve

	// Start is o_s of a send that does not block, and Posted o_r of a receive that is posted before
	// the message is sent, with both of its calls. If they are empty they are o_s and o_r. Messages
	// longer than Eager bytes are sent by rendezvous; 0: none are.
	Start, Posted Curve
	EagerLimit    int

	// SenderStoresBytes says that the processor itself sends the bytes, as if it stores them in
	// remote memory, so that o_s(k) includes G per byte.
	SenderStoresBytes bool
}

// TimeOfBytes returns the time of the bytes of a message beside the overheads: (k−1) G, or 0 if
// o_s(k) includes it.
func (x Parameters) TimeOfBytes(k int) unit.Time {
	if x.SenderStoresBytes {
		return 0
	}
	return longMessageTime(x.GapPerByte, k)
}

// Parameters returns the parameters of the machine.
func (g LogGP) Parameters() Parameters {
	return Parameters{L: g.L, SendOverhead: ConstantCurve(g.SendOverhead), RecvOverhead: ConstantCurve(g.RecvOverhead), Gap: g.Gap, GapPerByte: g.GapPerByte}
}

// OneWayTime returns the time of a long message, protocol messages ignored: LogGP itself, and
// between hypernodes
//
//	(9) T_s-r = o_s + o_r + (k−1) G + L
//
// Al-Tawil and Moritz, equation (9); Alexandrov et al. 1995. With k = 1 it is equation (2).
func (x Parameters) OneWayTime(k int) unit.Time {
	return x.SendOverhead.Time(k) + x.RecvOverhead.Time(k) + x.TimeOfBytes(k) + x.L
}

// longMessageTime returns (k−1)·G.
func longMessageTime(g unit.PerByte, k int) unit.Time { return g.Time(max(k-1, 0)) }

// Low-level messages are the parts of protocols: packets without matching, and remote accesses.
// Equations (1) to (7) use their o_s, L, o_r and G, not those of whole messages.

// LowLevelParameters returns the LogGP parameters of the low-level messages of a machine with a
// library. On a torus they are
//
//	o_s(k) = control + send.start + (header + k) / send.bandwidth
//	o_r(k) = receive + handle + copy(k)
//	L      = hops·hop + turns·turn + deliver
//	g      = header / link
//	G      = 1/send.bandwidth for packets, 1/get.bandwidth pulled, 1/put.bandwidth pushed
//
// where the processor itself sends the bytes of a packet: o_s(k) includes G per byte (Stored), and
// k bytes take o_s(k) + L + o_r(k). On the LogGP machine the interface sends them,
//
//	o_s    = control + o_s
//	o_r(k) = o_r + handle + copy(k)
//
// and k bytes take o_s + L + (k−1)·G + o_r(k). Processors in hypernodes send the bytes themselves,
// too. With the costs of the tier, and the bandwidth of port or ring if it is less than the
// processor's, the parameters are
//
//	o_s(k) = control + send.start + (header + k) / send.bandwidth + settle
//	o_r(k) = receive + k·fetch + handle + copy(k)
//	L      = latency + hops·hop
//	g      = header / the slower of port and ring
//
// The packet is on its way while its sender settles, which LogGP cannot express: k bytes take
// o_s(k) − settle + L + o_r(k). On an Ethernet, with n segments of at most m bytes,
//
//	o_s(k) = control + write.start + (record + k) / write.bandwidth + n·output
//	o_r(k) = n·input + poll + read.start + (record + k) / read.bandwidth + handle + copy(k)
//	L      = (preamble + header + tcp.header + record + fcs) / rate + propagation
//	g      = L − propagation + gap / rate
//	G      = (preamble + header + tcp.header + m + fcs + gap) / rate / m
//
// Processors work on one segment while another is on the medium, so the time per byte of a long
// message is G.
//
// No parameter of LogGP covers the other costs of a remote access: its start, the latency of the
// confirmation, and handling the completion.
func LowLevelParameters(m *Machine, lib *Library, path Path) Parameters {
	if lib == nil {
		lib = &Library{}
	}
	handle := lib.Software[ProtoHandleCost]
	x := Parameters{RecvOverhead: Curve{{0, handle, 0}}}
	for _, k := range append([]int{1}, m.CopySteps()...) {
		c := m.CopyChannel(k)
		x.RecvOverhead = append(x.RecvOverhead, Piece{k, handle + c.Time(k), perByte(c.Bandwidth)})
	}
	network := m.NetworkOfTier(path.Tier)
	network.fillParameters(&x, lib.Software[ProtoControlCost], path)
	if f, isFabric := network.(*Fabric); isFabric && f.NIC != nil && f.NIC.Staging != nil {
		c := m.Processor.Copy
		x.SendOverhead = x.SendOverhead.plusCurve(Curve{{0, 0, 0}, {1, c.Time(1), perByte(c.Bandwidth)}})
	}
	return x
}

// perByte returns the time of a byte at a rate.
func perByte(r unit.Rate) unit.PerByte { return unit.PerByte(float64(unit.Second) / float64(r)) }

// Curve is a time as a function of the size: piecewise linear, with steps between pieces, which are
// in ascending order. The empty curve is zero everywhere.
type Curve []Piece

// Piece is a line from a size to the next piece.
type Piece struct {
	From        int       // bytes
	ValueAtFrom unit.Time // the time there
	PerByte     unit.PerByte
}

// ConstantCurve returns a curve that does not depend on the size.
func ConstantCurve(t unit.Time) Curve { return Curve{{ValueAtFrom: t}} }

// Time returns the time at k bytes, to the nearest picosecond. Below the first piece it is
// constant.
func (c Curve) Time(k int) unit.Time {
	if len(c) == 0 {
		return 0
	}
	return c.piece(k).time(k)
}

func (c Curve) piece(k int) Piece {
	i := sort.Search(len(c), func(i int) bool { return c[i].From > k })
	if i == 0 {
		return Piece{From: k, ValueAtFrom: c[0].ValueAtFrom}
	}
	return c[i-1]
}

func (p Piece) time(k int) unit.Time { return p.ValueAtFrom + p.PerByte.Time(k-p.From) }

// shiftedBy returns the curve moved up by t.
func (c Curve) shiftedBy(t unit.Time) Curve {
	if len(c) == 0 {
		return ConstantCurve(t)
	}
	c = slices.Clone(c)
	for i := range c {
		c[i].ValueAtFrom += t
	}
	return c
}

// plusCurve returns the sum of two curves.
func (c Curve) plusCurve(d Curve) Curve {
	var s Curve
	for _, k := range pieceStarts(c, d) {
		p, q := pieceStartingAt(c, k), pieceStartingAt(d, k)
		s = append(s, Piece{k, p.ValueAtFrom + q.ValueAtFrom, p.PerByte + q.PerByte})
	}
	return s
}

// pieceStarts returns the sizes at which the pieces of two curves begin, and 0, in order.
func pieceStarts(a, b Curve) []int {
	from := []int{0}
	for _, p := range slices.Concat(a, b) {
		from = append(from, p.From)
	}
	slices.Sort(from)
	return slices.Compact(from)
}

// largerCurve returns the larger of two curves at every size.
func largerCurve(a, b Curve) Curve {
	from := pieceStarts(a, b)
	var c Curve
	for i, k := range from {
		p, q := pieceStartingAt(a, k), pieceStartingAt(b, k)
		if q.ValueAtFrom > p.ValueAtFrom {
			p, q = q, p
		}
		c = append(c, p)
		if q.PerByte > p.PerByte { // q may overtake p in this piece
			x := k + 1 + int(float64(p.ValueAtFrom-q.ValueAtFrom)/float64(q.PerByte-p.PerByte))
			if i+1 == len(from) || x < from[i+1] {
				c = append(c, Piece{x, q.time(x), q.PerByte})
			}
		}
	}
	return c
}

// pieceStartingAt returns the piece of a curve that begins at k.
func pieceStartingAt(c Curve, k int) Piece {
	if len(c) == 0 {
		return Piece{From: k}
	}
	p := c.piece(k)
	return Piece{k, p.time(k), p.PerByte}
}
