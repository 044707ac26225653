// Package numa emulates the cores of a node that share memory. New returns a core.Network.
package numa

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network has the cores of a node. A core moves all bytes itself, so transfers take time of its
// rank. A transfer that uses no shared resource is a charge. All others are flows, which share
// memories, links between sockets, and the locks of processes for their pages (flow.go).
type network struct {
	*model.NUMA
	core.AttachedRanks
	job       *core.Job
	moveCosts [model.NumCoreTransfers][model.NumDistances][2]moveCost // for cached data, and for other data
	ranks     []rankState                                             // by rank
	memories  []resource                                              // by domain
	links     []resource                                              // by LinkBetween

	copiedBytes int       // size of the last copy that fitted a cache
	copyTime    unit.Time // time of that copy

	activeFlows  []*flow
	resources    []*resource // used by active flows, in order of first use
	lastChange   unit.Time   // time of the last change of active
	scheduledEnd unit.Time   // of the latest scheduled event; 0: none
}

// moveCost describes how a core moves bytes without contention: its rate, and for the probe what
// limits it.
type moveCost struct {
	key  string
	rate core.CachedRate
}

// rankState is where a rank is, and the flow of its core.
type rankState struct {
	cluster, domain, socket int
	pageLock                resource // the lock under which the system pins its pages
	packetQueue             packetQueue
	storesEnd               unit.Time // when the cache line of the last packet reaches this core
	flow                    flow
	registers               core.RegisterServer
}

// New returns cores that connect ranks of a job.
func New(j *core.Job, m *model.NUMA, e core.AttachedRanks) core.Network {
	if m.Memory <= 0 || m.Sockets > 1 && m.Link <= 0 {
		panic("numa: memory or link without bandwidth")
	}
	n := &network{NUMA: m, AttachedRanks: e, job: j, ranks: make([]rankState, e.RankCount),
		memories: make([]resource, m.Sockets*m.Domains), links: make([]resource, m.Sockets*m.Sockets),
		activeFlows: make([]*flow, 0, e.RankCount)}
	for i := range n.ranks {
		end := e.InterfaceOf(e.FirstRank + i)
		n.ranks[i] = rankState{cluster: m.ClusterOf(end), domain: m.DomainOf(end), socket: m.SocketOf(end), packetQueue: packetQueue{lastSender: noIndex}}
		if m.Page.Time > 0 {
			n.ranks[i].pageLock.capacity = float64(unit.Second) / float64(m.Page.PerByte())
		}
	}
	for t := range model.CoreTransfer(model.NumCoreTransfers) {
		for d := range model.Distance(model.NumDistances) {
			for i, cached := range []bool{true, false} {
				key, _, rate := m.TransferRate(t, d, cached)
				n.moveCosts[t][d][i] = moveCost{key, core.CachedRate{Rate: rate}}
			}
		}
	}
	for i := range n.memories {
		n.memories[i].capacity = float64(m.Memory)
	}
	for i := range n.links {
		n.links[i].capacity = float64(m.Link)
	}
	n.resources = make([]*resource, 0, len(n.memories)+len(n.links)+len(n.ranks))
	j.Probe.ReportIfObserved(n, nameReport)
	return n
}

// Kinds of reports.
const (
	nameReport  = iota // the names of shared resources
	shareReport        // their use by active flows since the last change
)

// Report implements core.ProbeReporter.
func (n *network) Report(what uint64) {
	if what == shareReport {
		n.reportShares()
		return
	}
	for i := range n.memories {
		n.job.Probe.SetServerName(&n.memories[i].Server, "%sdomain %d memory", n.NamePrefix, i)
	}
	for from := range n.Sockets {
		for to := range n.Sockets {
			if from != to {
				n.job.Probe.SetServerName(&n.links[n.LinkBetween(from, to)].Server, "%slink %d to %d", n.NamePrefix, from, to)
			}
		}
	}
	for i := range n.ranks {
		n.job.Probe.SetServerName(&n.ranks[i].registers.Server, "%srank %d counters", n.NamePrefix, n.FirstRank+i)
		n.job.Probe.SetServerName(&n.ranks[i].pageLock.Server, "%srank %d pages", n.NamePrefix, n.FirstRank+i)
	}
}

// stateOf returns the state of a rank of the job.
func (n *network) stateOf(rank int32) *rankState { return &n.ranks[int(rank)-n.FirstRank] }

// distance returns the distance of two ranks of the job.
func (n *network) distance(a, b int32) model.Distance {
	x, y := n.stateOf(a), n.stateOf(b)
	switch {
	case x.cluster == y.cluster:
		return model.SameCluster
	case x.domain == y.domain:
		return model.SameDomain
	case x.socket == y.socket:
		return model.SameSocket
	}
	return model.OtherSocket
}

// costKeys are the keys of costs in platform files, by which the probe names costs.
var costKeys = func() (all struct {
	start          [model.NumCoreTransfers]string
	latency, fetch [model.NumDistances]string
}) {
	for t := range model.CoreTransfer(model.NumCoreTransfers) {
		all.start[t] = "numa." + t.String() + ".start"
	}
	for d := range model.Distance(model.NumDistances) {
		all.latency[d], all.fetch[d] = (*model.NUMA)(nil).DistanceKey(d, "latency"), (*model.NUMA)(nil).DistanceKey(d, "fetch")
	}
	return all
}()

// chargeStart charges the start of a transfer.
func (n *network) chargeStart(p *core.Port, t model.CoreTransfer) {
	p.Charge(n.Channel(t).Start)
	p.Probe.ProcessorActivityUntil(p, p.Clock, costKeys.start[t], model.SendActivity, 0)
}

// moveBytes moves bytes of x by the core of p from the memory of one rank to that of another; p is
// one of them. The core's clock is then the time at which the last byte has passed.
func (n *network) moveBytes(p *core.Port, x any, t model.CoreTransfer, from, to int32, bytes int) {
	p.Probe.FirstByteDeparted(x, p.Clock)
	d, cached := n.distance(from, to), n.FitsCache(bytes)
	alone := &n.moveCosts[t][d][1]
	if cached {
		alone = &n.moveCosts[t][d][0]
	}
	pins := t != model.PacketTransfer && n.Page.Time > 0
	if bytes == 0 || cached && d != model.OtherSocket && !pins {
		p.Charge(alone.rate.Time(bytes))
		p.Probe.ProcessorActivityUntil(p, p.Clock, alone.key, model.SendActivity, bytes)
		return
	}
	p.ElapseCharges()
	f := n.beginFlow(p, x, alone.rate.Rate, bytes)
	source, target := n.stateOf(from), n.stateOf(to)
	if !cached {
		f.addResource(&n.memories[source.domain])
		f.addResource(&n.memories[target.domain])
	}
	if d == model.OtherSocket {
		f.addResource(&n.links[n.LinkBetween(source.socket, target.socket)])
	}
	if pins {
		other := source
		if from == p.ID {
			other = target
		}
		f.addResource(&other.pageLock)
	}
	begin, undisturbed := p.Clock, p.Clock+f.rate.Time(bytes)
	n.awaitFlow(p, f)
	if pins {
		p.Probe.ProcessorActivityUntil(p, begin+n.PinTime(t, bytes), "numa.page.time", model.SendActivity, bytes)
	}
	p.Probe.ProcessorActivityUntil(p, undisturbed, alone.key, model.SendActivity, bytes)
	p.Probe.ProcessorActivityUntil(p, p.Clock, "network", model.BlockedActivity, 0)
}

// CarriesCopies and ChargeCopy implement core.CopyBus.
func (n *network) CarriesCopies() bool { return true }

// ChargeCopy charges reading and writing memory, or the cached rate if the bytes fit a cache.
func (n *network) ChargeCopy(p *core.Port, bytes int) {
	if n.FitsCache(bytes) {
		if bytes != n.copiedBytes { // consecutive copies often have the same length
			n.copiedBytes, n.copyTime = bytes, n.CopyChannel(p.Machine.Processor.Copy, bytes).Time(bytes)
		}
		p.Charge(n.copyTime)
		return
	}
	ch := n.CopyChannel(p.Machine.Processor.Copy, bytes)
	p.Charge(ch.Start)
	p.ElapseCharges()
	f := n.beginFlow(p, "copy", ch.Bandwidth, bytes)
	memory := &n.memories[n.stateOf(p.ID).domain]
	f.addResource(memory)
	f.addResource(memory)
	n.awaitFlow(p, f)
}

// SendsAtKernelTime implements core.KernelTimeSender.
func (n *network) SendsAtKernelTime() bool { return true }

// Send writes the packet into the queue of its receiver.
func (n *network) Send(p *core.Port, pk *core.Packet) {
	d := n.distance(p.ID, pk.Dst)
	access := &n.Distances[d]
	n.takePlace(p, pk.Dst)
	p.Probe.PacketSent(p, pk, costKeys.start[model.PacketTransfer])
	n.chargeStart(p, model.PacketTransfer)
	if lines := access.WriteTime(len(pk.Data)); lines > 0 {
		p.Charge(lines)
		p.Probe.ProcessorActivityUntil(p, p.Clock, costKeys.fetch[d], model.SendActivity, len(pk.Data))
	}
	n.moveBytes(p, pk, model.PacketTransfer, p.ID, pk.Dst, n.Header+len(pk.Data))
	n.stateOf(p.ID).storesEnd = p.Clock + access.LineTime()
	there := p.Clock + access.Latency
	p.Probe.LastByteArrived(pk, there)
	n.job.Kernel.Schedule(there, (*core.ArrivalEvent)(pk), 0)
}

// Receive charges taking a packet from the queue. The rank copies the data.
func (n *network) Receive(p *core.Port, pk *core.Packet) {
	d := n.distance(int32(pk.Src), p.ID)
	fetch := n.Distances[d].ReadTime(len(pk.Data))
	p.Charge(n.NUMA.Receive + fetch)
	p.Probe.ProcessorActivityUntil(p, p.Clock-fetch, "numa.receive", model.ReceiveActivity, 0)
	p.Probe.ProcessorActivityUntil(p, p.Clock, costKeys.fetch[d], model.ReceiveActivity, len(pk.Data))
}

// StartAccess carries out a remote access as a single copy by the origin.
func (n *network) StartAccess(p *core.Port, x *core.RemoteAccess) {
	t, from, to := model.PutTransfer, x.Src, x.Dst
	if x.IsGet {
		t, from, to = model.GetTransfer, x.Dst, x.Src
	}
	p.Probe.AccessStarted(p, x)
	n.chargeStart(p, t)
	n.moveBytes(p, x, t, from, to, len(x.Data))
	d := n.distance(from, to)
	p.Charge(n.Distances[d].Latency)
	p.Probe.ProcessorActivityUntil(p, p.Clock, costKeys.latency[d], model.SendActivity, 0)
	p.Probe.LastByteArrived(x, p.Clock)
	p.ElapseCharges()
	x.CopyData()
	x.Complete()
}

// UpdateRegister moves the register's cache line to this core and back.
func (n *network) UpdateRegister(p *core.Port, dst, r int, c core.RegisterUpdate) int64 {
	latency := n.Distances[n.distance(p.ID, int32(dst))].Latency
	return n.stateOf(int32(dst)).registers.Update(p, latency, n.Counter, latency, dst, r, c)
}
