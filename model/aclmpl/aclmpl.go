// Package aclmpl has closed forms of the library ACLMPL (impl/aclmpl) on machines with a torus: what
// its synchronous messages and its reductions take where nothing contends. They are sums of the
// steps that the library makes, so they equal the emulation where the partners of each step are at
// the same distance and no two transfers share a link or an interface.
package aclmpl

import (
	"fmt"
	"math/bits"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Bytes of the request and of the completion block. Painter et al. 1995, section 4.1.
const (
	request    = 16
	completion = 8
)

// Costs are what the steps of the library take on a machine.
type Costs struct {
	start, latency               unit.Time
	buffered                     func(bytes int) unit.Time
	rate                         unit.Rate
	send, receive, read, combine unit.Time
}

// New returns the costs of a library of the engine Aclmpl between ranks on a path. It is an error if
// the machine has no torus, or one whose links are slower than puts.
func New(m *model.Machine, l *model.Library, p model.Path) (Costs, error) {
	t, ok := m.Network.(*model.Torus)
	switch {
	case !ok || m.Nodes != nil:
		return Costs{}, fmt.Errorf("machine %s: closed forms of ACLMPL are known for a torus alone", m.Name)
	case t.Link < t.Put.Bandwidth:
		return Costs{}, fmt.Errorf("machine %s: closed forms of ACLMPL need links that are as fast as puts: %v is less than %v", m.Name, t.Link, t.Put.Bandwidth)
	case l.CarriedBy() != model.Aclmpl:
		return Costs{}, fmt.Errorf("library %s: its engine is %s, not %s", l.Name, l.CarriedBy().Name, model.Aclmpl.Name)
	}
	return Costs{
		start: t.Put.Start, rate: t.Put.Bandwidth, buffered: t.Buffered, latency: t.Hop*unit.Time(p.Hops) + t.Turn*unit.Time(p.Turns) + t.Deliver,
		send: l.Software[model.AclmplSend], receive: l.Software[model.AclmplReceive], read: l.Software[model.AclmplRead], combine: l.Software[model.AclmplCombine],
	}, nil
}

// Message returns the time of a synchronous message of n bytes, from when sender and receiver make
// their calls at once until the receiver has it:
//
//	receive + start + 16/B + L + read + start + n/B + max{0, start - b(n)} + 8/B + L + read
//
// start and B are those of a put, L is the latency of the path, and b(n) how long before the end of a
// put its processor is free: the second put starts while the write buffer of the first drains. An empty
// message has no data to put.
func (c Costs) Message(n int) unit.Time {
	asked := max(c.send, c.receive+c.start+c.rate.Time(request)+c.latency) + c.read
	return asked + c.puts(n) + c.rate.Time(completion) + c.latency + c.read
}

// puts returns the time from the start of the data's put until the completion block begins to go.
func (c Costs) puts(n int) unit.Time {
	if n == 0 {
		return c.start
	}
	return c.start + c.rate.Time(n) + max(0, c.start-c.buffered(n))
}

// Exchange returns the time in which two ranks send n bytes to each other at once. Each waits until
// its own data has been confirmed, a latency each way, and then for the other's completion block.
func (c Costs) Exchange(n int) unit.Time {
	put := c.rate.Time(request)
	asked := c.receive + c.start + max(put-c.buffered(request)+c.send, put+c.latency) + c.read
	there := c.puts(n) + c.rate.Time(completion) + c.latency
	if n > 0 {
		there = max(there, c.start+c.rate.Time(n)+2*c.latency)
	}
	return asked + there + c.read
}

// Tree returns the time of a reduction of elements of some bytes by a tree among ranks, a power of
// two: in each of log2(ranks) steps all of them are sent and combined.
func (c Costs) Tree(ranks, elements, bytes int) unit.Time {
	steps := unit.Time(bits.Len(uint(ranks)) - 1)
	return steps * (c.Message(elements*bytes) + unit.Time(elements)*c.combine)
}

// Swap returns the time of a reduction by binary swap, and of gathering its parts. The number of
// elements is a multiple of the number of ranks. Step i exchanges and combines elements/2^i of them,
// and a step of the gathering sends as many.
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
