package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// NUMA is the cores of a node that share memory: sockets, in each of them NUMA domains with memory
// of their own, in each of those clusters of cores that share a last-level cache. Each end is a
// core. Cores move all bytes themselves: a packet is written into the queue of its receiver, which
// copies it from there (copy-in copy-out), and a remote access is one copy by the core that asks
// for it (single copy, as by CMA and XPMEM).
//
// Senders take the places of a queue in turn, by an atomic operation on a line of it that is in the
// cache of the last of them. The lines of a place are in the cache of the receiver, which has read
// them before. So a line goes to its writer first and then to its reader: half of what a distance
// costs is the sender's. A store does not stop the sender, but its next atomic operation waits for
// the stores before it (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3,
// section 9.2). Costs of lines: Ramos and Hoefler 2013, Modeling Communication in Cache-Coherent
// SMP Systems.
//
// Data that fits a cache stays there. All other data passes the memory of the domains where it is
// and where it goes, and data of another socket passes the link between the two. The system pins
// pages for a single copy under a lock of the process whose memory it is: Chakraborty, Subramoni
// and Panda 2017, Contention-Aware Kernel-Assisted MPI Collectives for Multi-/Many-Core Systems.
// Transfers that use one of these at a time get their max-min fair shares.
type NUMA struct {
	Sockets, Domains, Clusters, Cores int // domains of a socket, clusters of a domain, cores of a cluster
	Order                             CoreOrder
	Distances                         [NumDistances]CoreAccess
	Caches                            []CacheCopy // in ascending order; none: all data passes the memory
	Memory                            unit.Rate   // of a domain, reading and writing together
	Link                              unit.Rate   // from a socket to another
	Header                            int         // bytes of a packet beside its payload
	Send                              Channel     // a packet written into the queue of its receiver
	Receive                           unit.Time   // taking one packet off the queue
	Put, Get                          Channel     // single copies into and out of the memory of another rank
	Page                              PageCost
	Counter                           unit.Time // a fetch-and-add at the register, without the round trip
}

// CoreOrder says on which cores the ends of a job are.
type CoreOrder uint8

const (
	// BlockOrder fills one cluster, domain and socket after the other.
	BlockOrder CoreOrder = iota

	// RoundRobinOrder takes the sockets in turn, and fills each as BlockOrder does. It is what Open
	// MPI 4.1 does by default for more than two ranks (--map-by socket).
	RoundRobinOrder

	// DomainRoundRobinOrder takes the domains in turn (--map-by numa).
	DomainRoundRobinOrder
)

// CoreOrderNames are the words for the orders in platform files.
var CoreOrderNames = []string{"block", "round-robin", "round-robin-domains"}

// Distance says what two cores have in common.
type Distance uint8

const (
	SameCluster  Distance = iota // a last-level cache
	SameDomain                   // memory
	SameSocket                   // a socket, with memories of two domains
	OtherSocket                  // only the link between their sockets
	NumDistances = 4
)

// String returns the key of the distance in platform files.
func (d Distance) String() string { return [...]string{"cluster", "domain", "socket", "remote"}[d] }

// CoreAccess is the access of a core to what another one at some distance has written.
type CoreAccess struct {
	Latency   unit.Time    // of a cache line, from a write until the other core can see it: to its writer and back
	Fetch     unit.PerByte // of a packet's lines, to its writer and back, added to the cost of a copy from a core's own cache
	Bandwidth unit.Rate    // of a core at most; 0: of its channels
}

// LineTime returns how long a cache line takes from one core to another.
func (a *CoreAccess) LineTime() unit.Time { return a.Latency / 2 }

// WriteTime returns how long a core waits for the lines into which it writes a packet's data.
func (a *CoreAccess) WriteTime(bytes int) unit.Time { return a.Fetch.Time(bytes) / 2 }

// ReadTime returns how long a core waits for the lines in which it finds a packet's data.
func (a *CoreAccess) ReadTime(bytes int) unit.Time { return a.Fetch.Time(bytes) - a.WriteTime(bytes) }

// CacheCopy is the bandwidth of copies that fit a cache.
type CacheCopy struct {
	UpTo      int // bytes of the longest copy
	Bandwidth unit.Rate
}

// PageCost is what a single copy takes besides for each page of memory, which the system pins.
type PageCost struct {
	Size int // bytes; 0: pages take no time
	Time unit.Time
}

// PerByte returns what a byte takes of a page's time.
func (p PageCost) PerByte() unit.PerByte {
	if p.Size == 0 {
		return 0
	}
	return unit.PerByte(float64(p.Time) / float64(p.Size))
}

// Kind implements Network.
func (*NUMA) Kind() string { return "numa" }

func (n *NUMA) String() string {
	return fmt.Sprintf("%d sockets of %d cores, %d NUMA domains with memory of %v", n.Sockets, n.coresOfSocket(), n.Sockets*n.Domains, n.Memory)
}

// Node returns 0: all ends are in one node.
func (*NUMA) Node(int) int { return 0 }

// Capacity returns how many cores there are.
func (n *NUMA) Capacity() int { return n.Sockets * n.coresOfSocket() }

func (n *NUMA) coresOfSocket() int { return n.Domains * n.Clusters * n.Cores }

// CoreOf returns the core of an end, counted from the first of the first socket.
func (n *NUMA) CoreOf(end int) int {
	groups := 1
	switch n.Order {
	case RoundRobinOrder:
		groups = n.Sockets
	case DomainRoundRobinOrder:
		groups = n.Sockets * n.Domains
	}
	return end%groups*(n.Capacity()/groups) + end/groups
}

// ClusterOf returns the cluster of an end, counted from the first of the first socket.
func (n *NUMA) ClusterOf(end int) int { return n.CoreOf(end) / n.Cores }

// DomainOf returns the NUMA domain of an end, counted from the first of the first socket.
func (n *NUMA) DomainOf(end int) int { return n.CoreOf(end) / (n.Clusters * n.Cores) }

// SocketOf returns the socket of an end.
func (n *NUMA) SocketOf(end int) int { return n.CoreOf(end) / n.coresOfSocket() }

// LinkBetween returns the number of the link from a socket to another one.
func (n *NUMA) LinkBetween(from, to int) int { return from*n.Sockets + to }

// DistanceBetween returns the distance of two ends.
func (n *NUMA) DistanceBetween(a, b int) Distance {
	switch {
	case n.SocketOf(a) != n.SocketOf(b):
		return OtherSocket
	case n.DomainOf(a) != n.DomainOf(b):
		return SameSocket
	case n.ClusterOf(a) != n.ClusterOf(b):
		return SameDomain
	}
	return SameCluster
}

// route is not used: there is one node.
func (*NUMA) route(_, _, _ int) Path { return Path{} }

// routeInside has the distance of two ends as its hops.
func (n *NUMA) routeInside(from, to int) Path { return Path{Hops: int(n.DistanceBetween(from, to))} }

// FitsCache reports whether a transfer of so many bytes stays in caches.
func (n *NUMA) FitsCache(bytes int) bool {
	return len(n.Caches) > 0 && bytes <= n.Caches[len(n.Caches)-1].UpTo
}

// CopyChannel returns the cost of a local copy of so many bytes. c is that of one which fits no
// cache: it reads memory and writes it.
func (n *NUMA) CopyChannel(c Channel, bytes int) Channel {
	for _, x := range n.Caches {
		if bytes <= x.UpTo {
			return Channel{c.Start, x.Bandwidth}
		}
	}
	return Channel{c.Start, min(c.Bandwidth, n.Memory/2)}
}

// CopiesPassNetwork reports that copies share memories with messages (Machine.CopiesPassNetwork).
func (n *NUMA) CopiesPassNetwork() bool { return true }

// copySteps returns the sizes from which on copies have other costs.
func (n *NUMA) copySteps() (steps []int) {
	for _, x := range n.Caches {
		steps = append(steps, x.UpTo+1)
	}
	return steps
}

// CoreTransfer is a way in which a core moves bytes.
type CoreTransfer uint8

const (
	PacketTransfer CoreTransfer = iota // into the queue of a packet's receiver
	PutTransfer
	GetTransfer
	NumCoreTransfers = 3
)

// String returns the key of the transfer in platform files.
func (t CoreTransfer) String() string { return [...]string{"send", "put", "get"}[t] }

// Channel returns the costs of a way to move bytes.
func (n *NUMA) Channel(t CoreTransfer) Channel {
	return [...]Channel{n.Send, n.Put, n.Get}[t]
}

// PinTime returns what the pages of so many bytes take.
func (n *NUMA) PinTime(t CoreTransfer, bytes int) unit.Time {
	if t == PacketTransfer {
		return 0
	}
	return n.Page.PerByte().Time(bytes)
}

// TransferRate returns the rate at which a core alone moves bytes that fit a cache or do not, and
// the key of what limits it beside pages, with the rate of that:
//
//	1 / (1/slowest + page.time/page.size)
func (n *NUMA) TransferRate(t CoreTransfer, d Distance, cached bool) (key string, slowest, whole unit.Rate) {
	key, slowest = "numa."+t.String()+".bandwidth", n.Channel(t).Bandwidth
	slower := func(k string, r unit.Rate) {
		if r < slowest {
			key, slowest = k, r
		}
	}
	if x := n.Distances[d].Bandwidth; x > 0 {
		slower(n.DistanceKey(d, "bandwidth"), x)
	}
	switch {
	case cached:
	case d <= SameDomain: // it reads the memory and writes it
		slower("numa.memory", n.Memory/2)
	default:
		slower("numa.memory", n.Memory)
	}
	if d == OtherSocket {
		slower("numa.link", n.Link)
	}
	if page := n.Page.PerByte(); t != PacketTransfer && page > 0 {
		return key, slowest, unit.Rate(float64(unit.Second) / float64(perByte(slowest)+page))
	}
	return key, slowest, slowest
}

// DistanceKey returns the path in platform files of a cost of a distance.
func (*NUMA) DistanceKey(d Distance, key string) string { return "numa." + d.String() + "." + key }

// copiesBetweenProcesses says that the system does, see HasRemoteMemoryAt.
func (*NUMA) copiesBetweenProcesses() {}

// numaTransfer is a transfer between cores.
type numaTransfer struct {
	*NUMA
	Path
}

func (n *NUMA) newCarrier(p Path) carrier { return numaTransfer{n, p} }

func (n numaTransfer) distance() Distance { return Distance(n.Hops) }

// access returns what the distance costs.
func (n numaTransfer) access() *CoreAccess { return &n.Distances[n.distance()] }

// move keeps a side's core busy with moving bytes.
func (n numaTransfer) move(w *protocolRun, side CostSide, t CoreTransfer, bytes int) {
	key, slowest, whole := n.TransferRate(t, n.distance(), n.FitsCache(bytes))
	pages := n.PinTime(t, bytes)
	w.occupyProcessor(side, Term{Name: "numa.page.time", Count: 1, Bytes: bytes, Time: pages}, n.Page.PerByte())
	w.occupyProcessor(side, Term{Name: key, Count: 1, Bytes: bytes, Time: whole.Time(bytes) - pages}, slowest)
}

// latency returns the term of a cache line.
func (n numaTransfer) latency() Term {
	return Term{Name: n.DistanceKey(n.distance(), "latency"), Count: 1, Time: n.access().Latency}
}

func (n numaTransfer) send(w *protocolRun, from CostSide, bytes int) packet {
	w.occupyProcessor(from, Term{Name: "numa.send.start", Count: 1, Time: n.Send.Start}, n.Send.Start)
	n.waitForLines(w, from, bytes, n.access().WriteTime(bytes))
	depart := w.lanes[from].clock
	n.move(w, from, PacketTransfer, n.Header+bytes)
	m := w.newPacket(from)
	m.delay(w.fillTerm(n.latency(), NetworkSide, n.access().Latency))
	w.recordFlight(from, depart, m.at, bytes, false)
	return m
}

func (n numaTransfer) receive(w *protocolRun, side CostSide, bytes int) {
	w.occupyProcessor(side, Term{Name: "numa.receive", Count: 1, Time: n.Receive}, n.Receive)
	n.waitForLines(w, side, bytes, n.access().ReadTime(bytes))
}

// waitForLines occupies the processor of a side with the lines of a packet's data.
func (n numaTransfer) waitForLines(w *protocolRun, side CostSide, bytes int, t unit.Time) {
	w.occupyProcessor(side, Term{Name: n.DistanceKey(n.distance(), "fetch"), Count: 1, Bytes: bytes, Time: t}, n.access().Fetch/2)
}

func (n numaTransfer) get(w *protocolRun, side CostSide, bytes int) {
	n.copyOnce(w, side, otherSide(side), GetTransfer, bytes)
}

func (n numaTransfer) put(w *protocolRun, side CostSide, bytes int) {
	n.copyOnce(w, side, side, PutTransfer, bytes)
}

// copyOnce keeps a side's core busy with a single copy of the memory of one side, until the bytes
// can be seen.
func (n numaTransfer) copyOnce(w *protocolRun, side, source CostSide, t CoreTransfer, bytes int) {
	start := n.Channel(t).Start
	w.occupyProcessor(side, Term{Name: "numa." + t.String() + ".start", Count: 1, Time: start}, start)
	depart := w.lanes[side].clock
	n.move(w, side, t, bytes)
	w.occupyProcessor(side, n.latency(), n.access().Latency)
	w.recordFlight(source, depart, w.lanes[side].clock, bytes, true)
}

// fillParameters fills in curves with a step where data no longer fits the caches.
func (n *NUMA) fillParameters(x *Parameters, control unit.Time, path Path) {
	d := Distance(path.Hops)
	a := &n.Distances[d]
	gap := func(t CoreTransfer, cached bool) unit.PerByte {
		_, _, rate := n.TransferRate(t, d, cached)
		return perByte(rate)
	}
	x.L = a.Latency
	x.SendOverhead = nil
	from := []int{0}
	if len(n.Caches) > 0 {
		from = append(from, max(1, n.Caches[len(n.Caches)-1].UpTo+1-n.Header))
	}
	for _, k := range from {
		g := gap(PacketTransfer, n.FitsCache(n.Header+k))
		x.SendOverhead = append(x.SendOverhead, Piece{k, control + n.Send.Start + a.WriteTime(k) + g.Time(n.Header+k), g + a.Fetch/2})
	}
	x.RecvOverhead = x.RecvOverhead.shiftedBy(n.Receive)
	for i := range x.RecvOverhead[1:] {
		p := &x.RecvOverhead[1+i]
		p.ValueAtFrom += a.ReadTime(p.From)
		p.PerByte += a.Fetch / 2
	}
	x.Gap = gap(PacketTransfer, n.FitsCache(n.Header)).Time(n.Header)
	x.GapPerByte, x.GapPerPulledByte, x.GapPerPushedByte = gap(PacketTransfer, false), gap(GetTransfer, false), gap(PutTransfer, false)
	x.SenderStoresBytes = true
}

// appendSharedUse appends the link between two sockets, the lock for the pages of a single copy
// and, of data that fits no cache, the memory of the domains where it is and where it goes. What
// the receiver copies passes its memory twice more.
func (n *NUMA) appendSharedUse(into []Occupation, from, to, bytes int, how dataMovement) []Occupation {
	moved := bytes
	if !how.byAccess {
		moved += n.Header
	}
	source, target := n.DomainOf(from), n.DomainOf(to)
	if !n.FitsCache(moved) {
		into = append(into, newOccupation("memory", source, n.Memory.Time(moved)), newOccupationAtReceiver("memory", target, n.Memory.Time(moved)))
	}
	if a, b := n.SocketOf(from), n.SocketOf(to); a != b {
		into = append(into, newOccupation("link", n.LinkBetween(a, b), n.Link.Time(moved)))
	}
	if t := n.PinTime(GetTransfer, bytes); how.byAccess && t > 0 {
		if how.byPut {
			into = append(into, newOccupation("pages", to, t))
		} else {
			into = append(into, newOccupation("pages", from, t))
		}
	}
	if how.copied && !n.FitsCache(bytes) {
		into = append(into, newOccupationAtReceiver("memory", target, 2*n.Memory.Time(bytes)))
	}
	return into
}
