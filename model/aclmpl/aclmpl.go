// Package aclmpl has closed forms of the library ACLMPL (impl/library/aclmpl) on machines with a
// torus: what its synchronous messages and its reductions take where nothing contends. They are
// sums of the steps that the library makes, so they equal the emulation where the partners of each
// step are at the same distance and no two transfers share a link or an interface.
package aclmpl

import (
	"fmt"
	"math/bits"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Bytes of the request and of the completion block. Painter et al. 1995, section 4.1.
const (
	requestBlockBytes    = 16
	completionBlockBytes = 8
)

// Costs are what the steps of the library take on a machine.
type Costs struct {
	start, latency, acknowledge  unit.Time
	bufferDrainTime              func(bytes int) unit.Time
	rate                         unit.Rate
	send, receive, read, combine unit.Time
}

// New returns the costs of a library of the engine Aclmpl between ranks on a path. It is an error
// if the machine has no torus, or one whose links are slower than puts.
func New(m *model.Machine, l *model.Library, p model.Path) (Costs, error) {
	t, ok := m.Network.(*model.Torus)
	switch {
	case !ok || m.Nodes != nil:
		return Costs{}, fmt.Errorf("machine %s: closed forms of ACLMPL are known for a torus alone", m.Name)
	case t.Link < t.Put.Bandwidth:
		return Costs{}, fmt.Errorf("machine %s: closed forms of ACLMPL need links that are as fast as puts: %v is less than %v", m.Name, t.Link, t.Put.Bandwidth)
	case l.CarriedBy() != model.AclmplEngine:
		return Costs{}, fmt.Errorf("library %s: its engine is %s, not %s", l.Name, l.CarriedBy().Name, model.AclmplEngine.Name)
	}
	return Costs{
		start: t.Put.Start, acknowledge: t.Acknowledge, rate: t.Put.Bandwidth, bufferDrainTime: t.BufferDrainTime, latency: t.HopLatency*unit.Time(p.Hops) + t.TurnLatency*unit.Time(p.Turns) + t.Deliver,
		send: l.Software[model.AclmplSendCost], receive: l.Software[model.AclmplReceiveCost], read: l.Software[model.AclmplReadCost], combine: l.Software[model.AclmplCombineCost],
	}, nil
}

// Message returns the time of a synchronous message of n bytes, from when sender and receiver make
// their calls at once until the receiver has it:
//
//	receive + start + 16/B + L + read + start + n/B + 2L + a + start + 8/B + L + read
//
// start and B are those of a put, L is the latency of the path, and 2L + a the time from the last
// byte of the data until its acknowledgement is back, for which the sender waits. An empty message
// has no data to put.
func (c Costs) Message(n int) unit.Time {
	asked := max(c.send, c.receive+c.start+c.rate.Time(requestBlockBytes)+c.latency) + c.read
	return asked + c.answerTime(n)
}

// answerTime returns the time from when a sender has a request until the receiver has the message.
func (c Costs) answerTime(n int) unit.Time {
	return c.dataTime(n) + c.start + c.rate.Time(completionBlockBytes) + c.latency + c.read
}

// dataTime returns the time of the data's put until it is acknowledged.
func (c Costs) dataTime(n int) unit.Time {
	if n == 0 {
		return 0
	}
	return c.start + c.rate.Time(n) + 2*c.latency + c.acknowledge
}

// Exchange returns the time in which two ranks send n bytes to each other at once.
func (c Costs) Exchange(n int) unit.Time {
	put := c.rate.Time(requestBlockBytes)
	asked := c.receive + c.start + max(put-c.bufferDrainTime(requestBlockBytes)+c.send, put+c.latency) + c.read
	return asked + c.answerTime(n)
}

// Tree returns the time of a reduction of elements of some bytes by a tree among ranks, a power of
// two: in each of log2(ranks) steps all of them are sent and combined.
func (c Costs) Tree(ranks, elements, bytes int) unit.Time {
	steps := unit.Time(bits.Len(uint(ranks)) - 1)
	return steps * (c.Message(elements*bytes) + unit.Time(elements)*c.combine)
}

// Swap returns the time of a reduction by binary swap, and of gathering its parts. The number of
// elements is a multiple of the number of ranks. Step i exchanges and combines elements/2^i of
// them, and a step of the gathering sends as many.
func (c Costs) Swap(ranks, elements, bytes int) (d unit.Time) {
	for r := ranks; r > 1; r /= 2 {
		elements /= 2
		d += c.Exchange(elements*bytes) + unit.Time(elements)*c.combine + c.Message(elements*bytes)
	}
	return d
}

// Crossover returns the least multiple of the number of ranks, a power of two, from which on binary
// swap takes less time than the tree. It is false if there is none below limit elements.
func (c Costs) Crossover(ranks, bytes, limit int) (elements int, ok bool) {
	for n := limit / ranks * ranks; n > 0; n -= ranks {
		if c.Swap(ranks, n, bytes) >= c.Tree(ranks, n, bytes) {
			return elements, ok
		}
		elements, ok = n, true
	}
	return elements, ok
}
