package hwtest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// Each node keeps four puts of 16 KiB in progress.
const (
	putBytes  = 16 << 10
	putWindow = 4
)

// TorusResources returns the names of the resources that a flow between two nodes of a torus uses:
// both interfaces, and links in dimension order, the shorter way around each ring. Over half a ring
// it goes up.
func TorusResources(shape [3]int, from, to int) []string {
	names := []string{fmt.Sprintf("node %d inject", from)}
	at := [3]int{from % shape[0], from / shape[0] % shape[1], from / (shape[0] * shape[1])}
	end := [3]int{to % shape[0], to / shape[0] % shape[1], to / (shape[0] * shape[1])}
	for d, size := range shape {
		for at[d] != end[d] {
			sign, step := "+", 1
			if up := (end[d] + size - at[d]) % size; 2*up > size {
				sign, step = "-", size-1
			}
			names = append(names, fmt.Sprintf("node %d link %s%c", at[0]+shape[0]*(at[1]+shape[1]*at[2]), sign, "xyz"[d]))
			at[d] = (at[d] + step) % size
		}
	}
	return append(names, fmt.Sprintf("node %d eject", to))
}

// treeResources returns the names of the resources that a flow uses. It numbers switches
// differently from the emulation: by the digits of the destination that selected the up links.
func treeResources(f *model.FatTree, from, to int) []string {
	names := []string{fmt.Sprintf("interface %d inject", from)}
	top, below := 1, f.Arity
	for ; from/below != to/below; top++ {
		below *= f.Arity
	}
	chosen := "" // the up links selected so far
	var down []string
	below, rest := 1, to
	for l := range top {
		if l > 0 {
			names = append(names, fmt.Sprintf("up from level %d subtree %d %s by %d", l, from/below, chosen, rest%f.UpLinks[l-1]))
			chosen += fmt.Sprint(" ", rest%f.UpLinks[l-1])
			rest /= f.UpLinks[l-1]
		}
		down = append(down, fmt.Sprintf("down from level %d to %d %s", l+1, to/below, chosen))
		below *= f.Arity
	}
	return append(names, down...)
}

// fabricResources returns the names of the links that a flow uses.
func fabricResources(g *topology.Graph, from, to int) (names []string) {
	r := g.RouteBetween(from, to)
	for at := int32(from); at != r.Destination; {
		link := g.NextLink(&r)
		names = append(names, strconv.Itoa(int(link)))
		at = g.To(link)
	}
	return names
}

// fabricRate returns the rate of a link named by fabricResources.
func fabricRate(f *model.Fabric, name string) unit.Rate {
	link, err := strconv.Atoi(name)
	if err != nil {
		panic(err)
	}
	return f.Links[f.Graph.Class(int32(link))].Rate()
}

// FairShares returns two rates for each flow: its rate if all flows that share its busiest link
// share it equally, and its max-min fair share (progressive filling: Bertsekas and Gallager, Data
// Networks, section 6.5.2). capacity returns the rate of a resource in bytes per second.
func FairShares(flows [][]string, source float64, capacity func(name string) float64) (least, fair []float64) {
	users := map[string][]int{}
	for i, f := range flows {
		for _, r := range f {
			users[r] = append(users[r], i)
		}
	}
	least, fair = make([]float64, len(flows)), make([]float64, len(flows))
	for i, f := range flows {
		least[i] = source
		for _, r := range f {
			least[i] = min(least[i], capacity(r)/float64(len(users[r])))
		}
	}
	fixed := make([]bool, len(flows))
	for level := 0.0; level < source; {
		next := source
		for r, of := range users {
			left, open := capacity(r), 0
			for _, i := range of {
				if left -= fair[i]; !fixed[i] {
					left += fair[i]
					open++
				}
			}
			if open > 0 {
				next = min(next, left/float64(open))
			}
		}
		level = next
		for i := range fair {
			if !fixed[i] {
				fair[i] = level
			}
		}
		for r, of := range users {
			sum := 0.0
			for _, i := range of {
				sum += fair[i]
			}
			if sum > capacity(r)*(1-1e-9) {
				for _, i := range of {
					fixed[i] = true
				}
			}
		}
	}
	return least, fair
}

// switchedNetworkModel has the properties of a switched network that these tests use.
type switchedNetworkModel struct {
	putChannel       model.Channel
	capacity         func(resource string) float64
	firstByteLatency func(model.Path) unit.Time // latency of a first byte
	resources        func(nodes, from, to int) []string
}

// switchedNetworkModelOf returns the properties of a machine's network.
func switchedNetworkModelOf(m *model.Machine) switchedNetworkModel {
	uniform := func(rate unit.Rate) func(string) float64 { return func(string) float64 { return float64(rate) } }
	if f, ok := m.Network.(*model.Fabric); ok {
		return switchedNetworkModel{model.Channel{Start: f.Put, Bandwidth: f.Links[topology.HostClass].Rate()}, func(name string) float64 { return float64(fabricRate(f, name)) },
			func(p model.Path) unit.Time { return f.Deliver + p.FirstByte }, func(_, from, to int) []string { return fabricResources(f.Graph, from, to) }}
	}
	if f, ok := m.Network.(*model.FatTree); ok {
		return switchedNetworkModel{f.Put, uniform(f.Link), func(p model.Path) unit.Time { return f.Deliver + f.HopLatency*unit.Time(p.Hops) }, func(_, from, to int) []string { return treeResources(f, from, to) }}
	}
	n := m.Network.(*model.Torus)
	return switchedNetworkModel{n.Put, uniform(n.Link), func(p model.Path) unit.Time {
		return n.Deliver + n.HopLatency*unit.Time(p.Hops) + n.TurnLatency*unit.Time(p.Turns)
	},
		func(nodes, from, to int) []string { return TorusResources(n.Shape(nodes), from, to) }}
}

// MeasurePutRates returns the rate in bytes per second at which each node puts to its target. It
// ignores the first quarter of the duration. It fails if a put is faster than its engine and the
// round trip allow.
func MeasurePutRates(t *testing.T, m *model.Machine, target []int, lasts unit.Time) []float64 {
	t.Helper()
	n := switchedNetworkModelOf(m)
	rates := make([]float64, len(target))
	begin := lasts / 4
	Run(t, m, len(target), func(p device.Port) {
		key := p.Memory().Expose(make([]byte, putBytes))
		data := make([]byte, putBytes)
		path := m.PathBetweenRanks(len(target), p.Rank(), target[p.Rank()])
		wire := n.putChannel.Time(putBytes) + 2*n.firstByteLatency(path)
		p.Delay(us) // until memory is exposed
		var started []unit.Time
		open, done := 0, 0
		for {
			for ; open < putWindow && p.Now() < lasts; open++ {
				started = append(started, p.Now())
				p.Memory().Put(target[p.Rank()], key, 0, data, device.Head{})
			}
			if open == 0 {
				break
			}
			p.Recv(true)
			open--
			if took := p.Now() - started[0]; took < wire {
				t.Errorf("a put from %d to %d took %v, its wire needs %v", p.Rank(), target[p.Rank()], took, wire)
			}
			started = started[1:]
			if at := p.Now(); at >= begin && at < lasts {
				done += putBytes
			}
		}
		rates[p.Rank()] = float64(done) * float64(unit.Second) / float64(lasts-begin)
		p.Delay(unit.Second - p.Now()%unit.Second) // keeps memory exposed
	})
	return rates
}

// CheckFairShares compares the rates of a pattern of flows with the fair shares, and appends the
// ratios to those of other patterns. It fails if a flow gets less than 90 % of its share of the
// busiest link on its route.
func CheckFairShares(t *testing.T, what string, m *model.Machine, target []int, lasts unit.Time, all *[]float64) {
	t.Helper()
	n := switchedNetworkModelOf(m)
	flows := make([][]string, len(target))
	for i, to := range target {
		flows[i] = n.resources(len(target), i, to)
	}
	least, fair := FairShares(flows, float64(n.putChannel.Bandwidth), n.capacity)
	for i, got := range MeasurePutRates(t, m, target, lasts) {
		if got < 0.9*least[i] {
			t.Errorf("%v, %s: node %d puts %.1f MB/s to node %d, its share is %.1f", m.Network, what, i, got/1e6, target[i], least[i]/1e6)
		}
		*all = append(*all, got/fair[i])
	}
}

// ShiftedTargets returns the pattern in which each node puts to the node a number of places after
// it.
func ShiftedTargets(nodes, by int) (target []int) {
	for i := range nodes {
		target = append(target, (i+by)%nodes)
	}
	return target
}
