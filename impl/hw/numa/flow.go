package numa

import (
	"math"
	"slices"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Memories and links are shared by flows: each active flow has a rate, which changes when another
// one begins or ends, so that all rates are the max-min fair shares at any time (progressive
// filling: Bertsekas and Gallager, Data Networks, section 6.5.2).
//
// Note: chunks that queue for servers, as in switches, need a window of several chunks of each core
// for that, as one that waits before two servers in turn gets the smallest of its shares. A flow
// takes two events at any length.

// leastShare is the least part of a resource that is left for flows without a share: sums of shares
// are rounded.
const leastShare = 1e-12

// resource is what flows share: the memory of a domain, a link between sockets, or the lock under
// which pages of a process are pinned.
type resource struct {
	sim.Server         // its name; it is never reserved
	capacity   float64 // bytes a second
	users      int     // uses by active flows
	left       float64 // while shares are computed: of the capacity, for flows without a share
	open       int     // while shares are computed: uses by these
	reported   float64 // picoseconds until which what has been taken of it is reported
}

// maxUses is how many resources a flow uses at most: two memories, a link and a lock.
const maxUses = 4

// flow is bytes that a core moves. A flow that reads a memory and writes it uses it twice.
type flow struct {
	port     *core.Port
	of       any       // what is moved, for the probe
	limit    unit.Rate // of the core
	uses     [maxUses]*resource
	useCount int

	rate      unit.Rate // its share
	share     unit.Rate // while shares are computed: the next one; 0: it has none yet
	since     unit.Time // when it got its rate
	remaining float64   // bytes at that time
	end       unit.Time // when the last byte passes if the rate stays
	size      int       // of all of it
	reported  float64   // bytes whose use of resources is reported
}

// beginFlow returns the flow of a rank's core, which does not use anything yet. Its rate alone is
// known.
func (n *network) beginFlow(p *core.Port, of any, rate unit.Rate, bytes int) *flow {
	f := &n.stateOf(p.ID).flow
	*f = flow{port: p, of: of, limit: p.RateWithNoise(rate), size: bytes, remaining: float64(bytes)}
	f.rate = f.limit
	return f
}

// use adds a resource to those that a flow uses.
func (f *flow) use(r *resource) {
	f.uses[f.useCount] = r
	f.useCount++
}

// awaitFlow lets the rank wait until its core has moved the bytes of the flow, which begins now.
func (n *network) awaitFlow(p *core.Port, f *flow) {
	now := p.Kernel.Now()
	n.takeShares(now)
	n.active = append(n.active, f)
	f.since = now
	f.end = now + f.rate.Time(f.size)
	for _, r := range f.uses[:f.useCount] {
		if r.users++; r.users == 1 {
			n.resources = append(n.resources, r)
		}
	}
	n.shareResources(now)
	if len(n.active) == 1 && p.Kernel.IsIdleUntil(f.end) {
		p.Sleep(f.end - now) // nothing else can begin meanwhile
		n.endFlows(f.end)
	} else {
		n.scheduleNextEnd()
		p.AwaitTransfer()
	}
	p.Clock += p.Kernel.Now() - now // after what has interrupted the processor meanwhile
}

// scheduleNextEnd schedules the event of the next end of a flow, unless an earlier event will.
func (n *network) scheduleNextEnd() {
	next := unit.Time(math.MaxInt64)
	for _, f := range n.active {
		next = min(next, f.end)
	}
	if len(n.active) > 0 && (n.scheduledEnd == 0 || next < n.scheduledEnd) {
		n.scheduledEnd = next
		n.job.Kernel.Schedule(next, (*flowEndEvent)(n), uint64(next))
	}
}

// flowEndEvent is the event of a time at which a flow may have ended.
type flowEndEvent network

// HandleEvent ends the flows that have ended, and lets their ranks continue.
func (e *flowEndEvent) HandleEvent(at uint64) {
	n := (*network)(e)
	if unit.Time(at) == n.scheduledEnd {
		n.scheduledEnd = 0
	}
	now := n.job.Kernel.Now()
	if slices.ContainsFunc(n.active, func(f *flow) bool { return f.end <= now }) {
		n.endFlows(now)
	}
	n.scheduleNextEnd()
}

// endFlows takes the flows that have ended from the active ones.
func (n *network) endFlows(now unit.Time) {
	n.takeShares(now)
	rest := n.active[:0]
	for _, f := range n.active {
		if f.end > now {
			rest = append(rest, f)
			continue
		}
		for _, r := range f.uses[:f.useCount] {
			r.users--
		}
		f.port.EndTransfer()
	}
	n.active = rest
	n.resources = slices.DeleteFunc(n.resources, func(r *resource) bool { return r.users == 0 })
	n.shareResources(now)
}

// shareResources gives each active flow its max-min fair share from now on.
func (n *network) shareResources(now unit.Time) {
	for _, r := range n.resources {
		r.left, r.open = r.capacity, r.users
	}
	for _, f := range n.active {
		f.share = 0
	}
	for open := len(n.active); open > 0; {
		level, bottleneck := math.Inf(1), (*resource)(nil)
		for _, r := range n.resources {
			if r.open > 0 {
				if x := max(r.left, r.capacity*leastShare) / float64(r.open); x < level {
					level, bottleneck = x, r
				}
			}
		}
		before := open
		for _, f := range n.active { // those whose cores are slower than all shares
			if f.share == 0 && float64(f.limit) <= level {
				f.fix(f.limit)
				open--
			}
		}
		if open < before {
			continue
		}
		for _, f := range n.active {
			if f.share == 0 && slices.Contains(f.uses[:f.useCount], bottleneck) {
				f.fix(unit.Rate(level))
				open--
			}
		}
	}
	for _, f := range n.active {
		f.changeRate(now)
	}
}

// fix gives a flow its share of what it uses.
func (f *flow) fix(share unit.Rate) {
	f.share = share
	for _, r := range f.uses[:f.useCount] {
		r.left -= float64(share)
		r.open--
	}
}

// changeRate lets the flow continue at its share.
func (f *flow) changeRate(now unit.Time) {
	if f.share == f.rate {
		return
	}
	f.remaining = f.remainingAt(now)
	f.rate, f.since = f.share, now
	f.end = now + unit.Time(math.RoundToEven(f.remaining*float64(unit.Second)/float64(f.rate)))
}

// remainingAt returns how many bytes have not passed.
func (f *flow) remainingAt(now unit.Time) float64 {
	return max(f.remaining-float64(now-f.since)*float64(f.rate)/float64(unit.Second), 0)
}

// takeShares reports what flows have taken since the last change, if the run is observed.
func (n *network) takeShares(now unit.Time) {
	if len(n.active) > 0 && now > n.lastChange {
		n.job.Probe.ReportIfObserved(n, shareReport)
	}
	n.lastChange = now
}

// reportShares reports what active flows have taken of resources since the last change: one after
// the other, as if each had had all of a resource for its part of the time.
func (n *network) reportShares() {
	now := n.job.Kernel.Now()
	for _, r := range n.resources {
		r.reported = float64(n.lastChange)
	}
	for _, f := range n.active {
		left := 0.0
		if now < f.end {
			left = f.remainingAt(now)
		}
		passed := float64(f.size) - left
		bytes := int(passed) - int(f.reported)
		for _, r := range f.uses[:f.useCount] {
			from := r.reported
			r.reported = min(from+(passed-f.reported)*float64(unit.Second)/r.capacity, float64(now))
			n.job.Probe.ServerOccupied(&r.Server, f.of, model.CarryActivity, unit.Time(from), unit.Time(r.reported)-unit.Time(from), bytes)
		}
		f.reported = passed
	}
}
