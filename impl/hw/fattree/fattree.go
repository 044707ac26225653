// Package fattree emulates a fat tree of switches. Processors use its interfaces by programmed I/O.
package fattree

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is a fat tree. Its switches are those of core.Switched, and a packet of the interface is
// a chunk. The sender's processor stores one packet after the other. The receiver's takes them in
// when the last one of the message has arrived.
type network struct {
	core.Switched[route]
	*model.FatTree
	levels   []level
	put, get core.Flow    // of remote accesses
	engines  []sim.Server // that carry accesses, one for each end
	accept   []sim.Server // that receive the puts of others, one for each end
	locks    []sim.Server // of interfaces that ranks share, one for each end; nil: none is shared
}

// New returns a fat tree that joins ranks of a job.
func New(j *core.Job, t *model.FatTree, e core.Ends) core.Network {
	n := newNetwork(t, e.N)
	n.engines, n.accept = make([]sim.Server, e.N), make([]sim.Server, e.N)
	if e.Ranks > e.N {
		n.locks = make([]sim.Server, e.N)
	}
	top := n.levels[len(n.levels)-1]
	n.Outputs = make([]core.Output[route], int(top.first)+top.switches*(t.Arity+top.up))
	n.Stored = core.Flow{Chunk: t.Packet.Payload, Overhead: t.Packet.Header, Time: n.stored}
	n.put = core.Flow{Chunk: t.Chunk, Time: t.Put.Bandwidth.Time}
	n.get = core.Flow{Chunk: t.Chunk, Time: t.Get.Bandwidth.Time}
	n.Init(j, e, n, e.N, t.Link, t.Deliver, t.Node)
	j.Probe.Ask(n, 0)
	return n
}

// newNetwork returns a fat tree with a number of ends that joins no ranks yet.
func newNetwork(t *model.FatTree, ends int) *network {
	return &network{FatTree: t, levels: levels(t, ends)}
}

// stored returns how long a processor takes to store the first n bytes of a message.
func (n *network) stored(bytes int) unit.Time { return n.Moved(n.FatTree.Send, bytes) }

func (n *network) Send(p *core.Port, pk *core.Packet) {
	bytes := n.Header + len(pk.Data)
	long := n.stored(bytes)
	n.lock(p, long)
	p.Probe.Sends(p, pk, "fattree.send")
	n.Store(p, pk, bytes, long)
}

func (n *network) Receive(p *core.Port, pk *core.Packet) {
	long := n.Moved(n.FatTree.Receive, n.Header+len(pk.Data))
	p.Probe.Until(p, p.Clock, "", model.Receiving, 0) // ends a wait
	n.lock(p, long)
	p.Charge(long)
	p.Probe.Until(p, p.Clock, "fattree.receive", model.Receiving, 0)
}

// Limit implements core.Prioritized, as the methods below do: a message of the channel is one
// packet.
func (n *network) Limit() int { return n.Packet.Payload }

func (n *network) Room() int { return n.Queue }

// Held returns until when a message of high priority waits for transfers of both interfaces, whose
// packets use the queues of high priority.
func (n *network) Held(p *core.Port, dst int, high bool) unit.Time {
	if !high {
		return 0
	}
	var until unit.Time
	for _, end := range []int{n.Switched.Node(p.ID), n.Switched.Node(int32(dst))} {
		until = max(until, n.engines[end].Free(), n.accept[end].Free())
	}
	if until <= p.Kernel.Now() {
		return 0
	}
	return until
}

// Issue stores a message of the channel, which has no header of a library.
func (n *network) Issue(p *core.Port, pk *core.Packet) {
	p.Probe.Sends(p, pk, "fattree.send")
	n.Store(p, pk, len(pk.Data), n.stored(len(pk.Data)))
}

func (n *network) Take(p *core.Port, pk *core.Packet) {
	p.Charge(n.Moved(n.FatTree.Receive, len(pk.Data)))
	p.Probe.Until(p, p.Clock, "fattree.receive", model.Receiving, 0)
}

// lock acquires the lock of the processor's interface, which it holds while it moves a message for
// long. Other processors of the node wait for the lock.
func (n *network) lock(p *core.Port, long unit.Time) {
	if n.locks != nil {
		p.Pay()
		l := &n.locks[n.Switched.Node(p.ID)]
		t := l.Reserve(p.Clock, n.Lock+long)
		p.Probe.Takes(l, "lock", model.Carrying, t, n.Lock+long, 0)
		p.Probe.Until(p, t, "fattree.lock", model.Blocked, 0)
		p.Clock = t
	}
	if n.Lock > 0 {
		p.Charge(n.Lock)
		p.Probe.Until(p, p.Clock, "fattree.lock", model.Sending, 0)
	}
}

func (n *network) Count(*core.Port, int, int, core.Change) int64 {
	panic("hw: interfaces of a fat tree have no counters")
}

// Report names the servers that packets wait for.
func (n *network) Report(uint64) {
	for i := range n.Inject {
		n.J.Probe.Names(&n.engines[i], "%sinterface %d engine", n.Prefix, i)
		n.J.Probe.Names(&n.accept[i], "%sinterface %d accept", n.Prefix, i)
		if n.locks != nil {
			n.J.Probe.Names(&n.locks[i], "%sinterface %d lock", n.Prefix, i)
		}
		n.J.Probe.Names(&n.Inject[i], "%sinterface %d inject", n.Prefix, i)
	}
	for l, v := range n.levels {
		for s := range v.switches {
			of := n.Outputs[int(v.first)+s*(n.Arity+v.up):]
			for i := range n.Arity {
				n.J.Probe.Names(&of[i].Server, "%slevel %d switch %d down %d", n.Prefix, l+1, s, i)
			}
			for i := range v.up {
				n.J.Probe.Names(&of[n.Arity+i].Server, "%slevel %d switch %d up %d", n.Prefix, l+1, s, i)
			}
		}
	}
}
