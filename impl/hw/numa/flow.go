package numa

import (
	"math"
	"slices"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Flows share memories and links. The rate of each active flow changes when another one starts or
// ends, so that all rates are max-min fair shares at any time (progressive filling: Bertsekas and
// Gallager, Data Networks, section 6.5.2).
//
// Note: with chunks that queue for servers, as in switches, fair shares would need a window of
// several chunks per core, because a chunk that waits for two servers in turn gets the smallest of
// its shares. A flow needs two events for any length.

// leastShare is the smallest part of a resource left for flows without a share, because sums of
// shares are rounded.
const leastShare = 1e-12

// resource is shared by flows: the memory of a domain, a link between sockets, or the lock under
// which a process's pages are pinned.
type resource struct {
	sim.Server                 // identifies it to the probe; it is never reserved
	capacity           float64 // bytes per second
	users              int     // number of uses by active flows
	unassignedCapacity float64 // during the computation of shares: capacity left for flows without a share
	unassignedUses     int     // during the computation of shares: uses by these flows
	reportedUntil      float64 // time in picoseconds until which its use has been reported
}

// maxUses is the largest number of resources of a flow: two memories, a link and a lock.
const maxUses = 4

// flow is a transfer by a core. A flow that reads and writes the same memory uses it twice.
type flow struct {
	port     *core.Port
	transfer any       // the transfer, for the probe
	coreRate unit.Rate // largest rate of the core
	uses     [maxUses]*resource
	useCount int

	rate           unit.Rate // current rate
	nextRate       unit.Rate // during the computation of shares: the next rate; 0: not yet known
	rateSince      unit.Time // since when the rate applies
	remainingBytes float64   // bytes left at that time
	end            unit.Time // when the last byte passes if the rate stays
	size           int       // total bytes
	reportedBytes  float64   // bytes whose use of resources has been reported
}

// beginFlow returns a flow of a rank's core, which uses no resource yet. rate is the core's own
// limit.
func (n *network) beginFlow(p *core.Port, of any, rate unit.Rate, bytes int) *flow {
	f := &n.stateOf(p.ID).flow
	*f = flow{port: p, transfer: of, coreRate: p.RateWithNoise(rate), size: bytes, remainingBytes: float64(bytes)}
	f.rate = f.coreRate
	return f
}

// addResource adds a resource to a flow.
func (f *flow) addResource(r *resource) {
	f.uses[f.useCount] = r
	f.useCount++
}

// awaitFlow starts a flow and waits until its bytes have moved.
func (n *network) awaitFlow(p *core.Port, f *flow) {
	now := p.Kernel.Now()
	n.takeShares(now)
	n.activeFlows = append(n.activeFlows, f)
	f.rateSince = now
	f.end = now + f.rate.Time(f.size)
	for _, r := range f.uses[:f.useCount] {
		if r.users++; r.users == 1 {
			n.resources = append(n.resources, r)
		}
	}
	n.shareResources(now)
	if len(n.activeFlows) == 1 && p.Kernel.IsIdleUntil(f.end) {
		p.Sleep(f.end - now) // nothing else can start meanwhile
		n.endFlows(f.end)
	} else {
		n.scheduleNextEnd()
		p.AwaitTransfer()
	}
	p.Clock += p.Kernel.Now() - now // add interrupts of the processor meanwhile
}

// scheduleNextEnd schedules an event at the next end of a flow, unless an earlier event is
// scheduled.
func (n *network) scheduleNextEnd() {
	next := unit.Time(math.MaxInt64)
	for _, f := range n.activeFlows {
		next = min(next, f.end)
	}
	if len(n.activeFlows) > 0 && (n.scheduledEnd == 0 || next < n.scheduledEnd) {
		n.scheduledEnd = next
		n.job.Kernel.Schedule(next, (*flowEndEvent)(n), uint64(next))
	}
}

// flowEndEvent is the event at which a flow may have ended.
type flowEndEvent network

// HandleEvent ends the finished flows and resumes their ranks.
func (e *flowEndEvent) HandleEvent(at uint64) {
	n := (*network)(e)
	if unit.Time(at) == n.scheduledEnd {
		n.scheduledEnd = 0
	}
	now := n.job.Kernel.Now()
	if slices.ContainsFunc(n.activeFlows, func(f *flow) bool { return f.end <= now }) {
		n.endFlows(now)
	}
	n.scheduleNextEnd()
}

// endFlows removes the finished flows from the active ones.
func (n *network) endFlows(now unit.Time) {
	n.takeShares(now)
	rest := n.activeFlows[:0]
	for _, f := range n.activeFlows {
		if f.end > now {
			rest = append(rest, f)
			continue
		}
		for _, r := range f.uses[:f.useCount] {
			r.users--
		}
		f.port.EndTransfer()
	}
	n.activeFlows = rest
	n.resources = slices.DeleteFunc(n.resources, func(r *resource) bool { return r.users == 0 })
	n.shareResources(now)
}

// shareResources assigns each active flow its max-min fair share.
func (n *network) shareResources(now unit.Time) {
	for _, r := range n.resources {
		r.unassignedCapacity, r.unassignedUses = r.capacity, r.users
	}
	for _, f := range n.activeFlows {
		f.nextRate = 0
	}
	for open := len(n.activeFlows); open > 0; {
		level, bottleneck := math.Inf(1), (*resource)(nil)
		for _, r := range n.resources {
			if r.unassignedUses > 0 {
				if x := max(r.unassignedCapacity, r.capacity*leastShare) / float64(r.unassignedUses); x < level {
					level, bottleneck = x, r
				}
			}
		}
		before := open
		for _, f := range n.activeFlows { // flows whose cores are slower than all shares
			if f.nextRate == 0 && float64(f.coreRate) <= level {
				f.assignShare(f.coreRate)
				open--
			}
		}
		if open < before {
			continue
		}
		for _, f := range n.activeFlows {
			if f.nextRate == 0 && slices.Contains(f.uses[:f.useCount], bottleneck) {
				f.assignShare(unit.Rate(level))
				open--
			}
		}
	}
	for _, f := range n.activeFlows {
		f.changeRate(now)
	}
}

// assignShare assigns a flow its share of the resources that it uses.
func (f *flow) assignShare(share unit.Rate) {
	f.nextRate = share
	for _, r := range f.uses[:f.useCount] {
		r.unassignedCapacity -= float64(share)
		r.unassignedUses--
	}
}

// changeRate changes the rate of the flow to its new share.
func (f *flow) changeRate(now unit.Time) {
	if f.nextRate == f.rate {
		return
	}
	f.remainingBytes = f.remainingAt(now)
	f.rate, f.rateSince = f.nextRate, now
	f.end = now + unit.Time(math.RoundToEven(f.remainingBytes*float64(unit.Second)/float64(f.rate)))
}

// remainingAt returns the number of bytes that have not passed.
func (f *flow) remainingAt(now unit.Time) float64 {
	return max(f.remainingBytes-float64(now-f.rateSince)*float64(f.rate)/float64(unit.Second), 0)
}

// takeShares reports the use of resources since the last change, if the run is observed.
func (n *network) takeShares(now unit.Time) {
	if len(n.activeFlows) > 0 && now > n.lastChange {
		n.job.Probe.ReportIfObserved(n, shareReport)
	}
	n.lastChange = now
}

// reportShares reports which resources active flows have used since the last change. It shows flows
// one after another, as if each had used the whole resource for its share of the time.
func (n *network) reportShares() {
	now := n.job.Kernel.Now()
	for _, r := range n.resources {
		r.reportedUntil = float64(n.lastChange)
	}
	for _, f := range n.activeFlows {
		left := 0.0
		if now < f.end {
			left = f.remainingAt(now)
		}
		passed := float64(f.size) - left
		bytes := int(passed) - int(f.reportedBytes)
		for _, r := range f.uses[:f.useCount] {
			from := r.reportedUntil
			r.reportedUntil = min(from+(passed-f.reportedBytes)*float64(unit.Second)/r.capacity, float64(now))
			n.job.Probe.ServerOccupied(&r.Server, f.transfer, model.CarryActivity, unit.Time(from), unit.Time(r.reportedUntil)-unit.Time(from), bytes)
		}
		f.reportedBytes = passed
	}
}
