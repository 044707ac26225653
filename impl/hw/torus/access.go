package torus

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// stage is an access as the event of its next step.
type stage core.Access

// Act takes the step.
func (s *stage) Act(uint64) { s.Net.(*network).moveAccess((*core.Access)(s)) }

// Steps of a remote access.
const (
	flowing   = iota // chunks leave
	found            // the next chunk has been read from memory
	arrived          // the last byte has arrived
	confirmed        // the acknowledgement has arrived at the writer
)

// Start begins an access. The transfer engine of the node carries it unless the processor is
// faster.
func (n *network) Start(p *core.Port, x *core.Access) {
	ch, name := n.Put, "torus.put.start"
	if x.Get {
		ch, name = n.Get, "torus.get.start"
	}
	engine := n.ByEngine(ch, len(x.Bytes))
	if engine {
		ch, name = n.Engine, "torus.engine.start"
	}
	p.Charge(ch.Start)
	p.Probe.Starts(p, x)
	p.Probe.Until(p, p.Clock, name, model.Sending, 0)
	x.Wire = core.Wire{Step: flowing, Size: len(x.Bytes), Long: ch.Bandwidth.Time(len(x.Bytes)), Engine: engine}
	w := &x.Wire
	me, leaving := n.rank(p.ID), n.Sender(p.ID)
	if !x.Get && !engine {
		me.begin(x)
		return
	}
	p.Pay()
	w.At = p.Kernel.Now()
	if engine {
		e := &n.engines[n.Switched.Node(p.ID)]
		w.At = e.Reserve(max(w.At, leaving.Left), w.Long)
		p.Probe.Takes(e, x, model.Carrying, w.At, w.Long, len(x.Bytes))
	}
	switch {
	case x.Get:
		n.J.Probe.Signals(x, "get", x.Src, x.Dst, w.At, w.At+n.Latency(x.Src, x.Dst))
		w.At += n.Latency(x.Src, x.Dst)
		p.Kernel.At(w.At, (*stage)(x), 0)
		if engine {
			return
		}
		for me.reading = x; me.reading != nil; {
			p.Park()
			p.Probe.Until(p, p.Clock, "", model.Waiting, 0)
		}
	default:
		me.pushing++
		p.Kernel.At(w.At, (*stage)(x), 0)
	}
}

func (n *network) moveAccess(x *core.Access) {
	w := &x.Wire
	k := &n.J.Kernel
	switch w.Step {
	case flowing:
		if x.Get {
			if n.Memory > 0 {
				bytes := min(n.Chunk, len(x.Bytes)-w.Pos)
				if t := n.use(x, x.Dst, x.Dst, k.Now(), bytes) - n.Memory.Time(bytes); t > k.Now() {
					w.Step, w.At = found, t
					k.At(t, (*stage)(x), 0)
					return
				}
			}
		}
		fallthrough
	case found:
		w.Step = flowing
		from, to, f := x.Src, x.Dst, &n.engine
		if x.Get {
			from, to = x.Dst, x.Src
			if !w.Engine {
				f = &n.get
			}
		}
		_, last := n.Flow(x, w, f, from, to, core.Forever)
		switch {
		case !last:
			k.At(w.At, (*stage)(x), 0)
		case !x.Get: // by the engine
			me, leaving := n.rank(x.Src), n.Sender(x.Src)
			leaving.Left = max(leaving.Left, w.At)
			if me.pushing--; me.pushing == 0 {
				me.wake()
			}
		}
	case arrived:
		if from, to := ends(x); n.Memory > 0 {
			if t := n.rank(to).memory.ends(x, from, k.Now()); t > k.Now() { // other transfers have come
				n.hold(from, to, t)
				k.At(t, (*stage)(x), 0)
				return
			}
		}
		x.Move()
		if me := n.rank(x.Src); me.reading == x {
			me.reading = nil
		}
		if x.Get || x.Unawaited() {
			x.Finish()
			return
		}
		w.Step = confirmed
		confirmed := k.Now() + n.Latency(x.Dst, x.Src) + n.Acknowledge
		n.J.Probe.Signals(x, "done", x.Dst, x.Src, k.Now(), confirmed)
		k.At(confirmed, (*stage)(x), 0)
	case confirmed:
		x.Finish()
	}
}

// use occupies the memory of a rank from time t on, to write bytes of a transfer or to read them.
// It returns when that ends, unless other transfers come.
func (n *network) use(of any, from, rank int32, t unit.Time, bytes int) unit.Time {
	r, hold, lines := n.rank(rank), n.Memory.Time(bytes), (bytes+n.line-1)/n.line
	r.taken += hold + n.Reopen*unit.Time(lines)
	return r.memory.add(of, from, t, hold)
}

// ends returns the ranks whose memory the bytes of a transfer come from and go to.
func ends(of any) (from, to int32) {
	switch of := of.(type) {
	case *core.Packet:
		return int32(of.Src), of.Dst
	case *core.Access:
		if of.Get {
			return of.Dst, of.Src
		}
		return of.Src, of.Dst
	}
	panic("torus: a transfer of neither a packet nor an access")
}

// Landed implements core.Router.
func (n *network) Landed(x *core.Access, t unit.Time) {
	x.Wire.Step = arrived
	n.J.Kernel.At(t, (*stage)(x), 0)
}
