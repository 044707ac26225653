package model

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
)

// common returns the names of the components that two messages share.
func common(m *Machine, lib *Library, bytes int, a, b [2]int) []string {
	var names []string
	second := m.AppendOccupations(nil, lib, b[0], b[1], bytes)
	for _, o := range m.AppendOccupations(nil, lib, a[0], a[1], bytes) {
		if slices.ContainsFunc(second, func(x Occupation) bool { return x.Component == o.Component }) {
			names = append(names, o.Name)
		}
	}
	return names
}

// Messages share what is on the way of both, and nothing else.
func TestShared(t *testing.T) {
	long := &Library{Engine: StartEngine, Start: StartSettings{ShortBytes: [NumTiers]int{1 << 10, 8 << 10}}}
	tree := &FatTree{Arity: 4, UpLinks: []int{4, 4}, Link: 1e9, Packet: PacketSize{Header: 8, Payload: 88}, Send: PIO{Word: AccessWidth{8, unit.Nanosecond}}, Receive: PIO{Word: AccessWidth{8, unit.Nanosecond}}}
	tapered := *tree
	tapered.UpLinks = []int{1, 1}
	interfaces := *tree
	interfaces.Put, interfaces.Get, interfaces.HalfDuplex, interfaces.InterfaceLock = Channel{Bandwidth: 6e7}, Channel{Bandwidth: 6e7}, true, unit.Microsecond
	bus := &Hypernodes{Sizes: []int{8}, ProcessorsPerBlock: 8, Port: 1e9, CopiesPassPort: true}
	nodes := &Machine{Name: "nodes", Network: &interfaces, Nodes: &Nodes{Ranks: 8, Interfaces: 1, Inside: bus}}
	cable := &Ethernet{Rate: 1e6, MTU: 1500, BackoffSlot: 51200 * unit.Nanosecond, TCP: TCP{Header: 40, AckEvery: 2}}
	switched := *cable
	switched.Switches = &Switches{IsFullDuplex: true, StationsPerSwitch: 4, Uplink: 1e6}
	half := switched
	half.Switches = &Switches{StationsPerSwitch: 4, Uplink: 1e6}
	star, err := topology.NewStar(4)
	if err != nil {
		t.Fatal(err)
	}
	rdma := &Machine{Name: "rdma", Network: &Fabric{Graph: star, Packet: PacketSize{Payload: 4096}, Chunk: 4096, NIC: &NIC{Inline: InlineData{Size: 128}, Bus: Bus{Bandwidth: 1e9}, Message: 20 * unit.Nanosecond, OneSided: true}},
		Nodes: &Nodes{Ranks: 2, Interfaces: 1, Inside: &LogGP{}}}
	rdma.Network.(*Fabric).Links[topology.HostClass] = FabricLink{Bandwidth: 2e9, Width: 1}
	numa := &NUMA{Sockets: 2, Domains: 2, Clusters: 1, Cores: 2, Caches: []CacheCopy{{1000, 1e9}}, Memory: 1e9, Link: 1e9, Put: Channel{Bandwidth: 1e9}, Get: Channel{Bandwidth: 1e9}, Page: PageCost{4000, 2 * unit.Microsecond}}
	eager := &Library{Engine: ProtoEngine, Proto: ProtoSettings{Rules: []ProtocolRule{{MaxBytes: 1 << 20, Protocol: "T"}, {MaxBytes: -1, Protocol: "RTA"}}}}
	on := func(n Network) *Machine { return &Machine{Name: "machine", Network: n} }
	for name, c := range map[string]struct {
		machine *Machine
		bytes   int
		a, b    [2]int
		want    []string
	}{
		"ranks of an RDMA interface":              {rdma, 100_000, [2]int{0, 2}, [2]int{1, 4}, []string{"interface out", "bus out", "link"}},
		"ranks of an RDMA interface, inline":      {rdma, 100, [2]int{0, 2}, [2]int{1, 4}, []string{"interface out", "link"}},
		"to an RDMA interface":                    {rdma, 100_000, [2]int{0, 2}, [2]int{4, 3}, []string{"link", "bus in", "interface in"}},
		"out of an RDMA interface and into it":    {rdma, 100_000, [2]int{0, 2}, [2]int{4, 1}, nil},
		"LogGP":                                   {on(&LogGP{}), 100, [2]int{0, 1}, [2]int{0, 1}, nil},
		"one cable":                               {on(cable), 100, [2]int{0, 1}, [2]int{2, 3}, []string{"medium"}},
		"links of full duplex, both ways":         {on(&switched), 100, [2]int{0, 1}, [2]int{1, 0}, nil},
		"links of half duplex, both ways":         {on(&half), 100, [2]int{0, 1}, [2]int{1, 0}, []string{"link", "link"}},
		"an uplink":                               {on(&switched), 100, [2]int{0, 5}, [2]int{1, 6}, []string{"down"}},
		"a switch's own stations":                 {on(&switched), 100, [2]int{0, 1}, [2]int{2, 3}, nil},
		"ranks of a node, long":                   {nodes, 100_000, [2]int{0, 8}, [2]int{1, 16}, []string{"access"}},
		"out of a node and into it, half duplex":  {nodes, 100_000, [2]int{0, 8}, [2]int{16, 1}, []string{"access"}},
		"ranks of a node, short":                  {nodes, 100, [2]int{0, 8}, [2]int{1, 16}, []string{"lock"}},
		"within a node and out of it":             {nodes, 100_000, [2]int{0, 1}, [2]int{2, 8}, nil},
		"within two nodes":                        {nodes, 100_000, [2]int{0, 1}, [2]int{8, 9}, nil},
		"a torus's nodes of two":                  {on(&Torus{ProcessorsPerNode: 2, Link: 3e8}), 100, [2]int{0, 4}, [2]int{1, 5}, []string{"out", "in"}},
		"to one end of a fat tree":                {on(tree), 100, [2]int{0, 63}, [2]int{16, 63}, []string{"down", "down", "in"}},
		"a full fat tree, ends of a switch":       {on(tree), 100, [2]int{0, 16}, [2]int{1, 17}, nil},
		"a fat tree with one link up, likewise":   {on(&tapered), 100, [2]int{0, 16}, [2]int{1, 17}, []string{"up", "down", "up", "down"}},
		"a fat tree with one link up, one switch": {on(&tapered), 100, [2]int{0, 1}, [2]int{2, 3}, nil},
	} {
		if got := common(c.machine, long, c.bytes, c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%s: messages %v and %v share %v, not %v", name, c.a, c.b, got, c.want)
		}
	}
	for _, o := range rdma.AppendOccupations(nil, long, 0, 2, 100_000) {
		want := map[string]unit.Time{"interface out": 20 * unit.Nanosecond, "bus out": 100 * unit.Microsecond, "link": 50 * unit.Microsecond, "bus in": 100 * unit.Microsecond, "interface in": 20 * unit.Nanosecond}[o.Name]
		if o.Time != want || o.AtReceiver != (o.Name == "bus in" || o.Name == "interface in" || o.Name == "link" && o.Index%2 == 1) {
			t.Errorf("%s %d is occupied for %v, at the receiver: %v; want %v", o.Name, o.Index, o.Time, o.AtReceiver, want)
		}
	}
	for _, c := range []struct {
		what  string
		bytes int
		a, b  [2]int
		want  []string
	}{
		{"short, of a socket", 1000, [2]int{0, 2}, [2]int{1, 3}, nil},
		{"short, to another socket", 1000, [2]int{0, 4}, [2]int{2, 6}, []string{"link"}},
		{"both ways between sockets", 1000, [2]int{0, 4}, [2]int{5, 1}, nil},
		{"out of a domain", 2000, [2]int{0, 2}, [2]int{1, 4}, []string{"memory"}},
		{"into a domain, and copied there", 2000, [2]int{2, 0}, [2]int{4, 1}, []string{"memory", "memory"}},
		{"other domains", 2000, [2]int{0, 1}, [2]int{2, 3}, nil},
		{"read from one process", 2 << 20, [2]int{0, 2}, [2]int{0, 4}, []string{"memory", "pages"}},
		{"read from two processes", 2 << 20, [2]int{0, 2}, [2]int{1, 3}, []string{"memory", "memory"}},
	} {
		if got := common(on(numa), eager, c.bytes, c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("NUMA, %s: messages %v and %v share %v, not %v", c.what, c.a, c.b, got, c.want)
		}
	}
	for name, want := range map[string]unit.Time{"memory": 4000 * unit.Microsecond, "link": 4000 * unit.Microsecond, "pages": 2000 * unit.Microsecond} {
		for _, o := range on(numa).AppendOccupations(nil, eager, 0, 4, 4_000_000) {
			if o.Name == name && o.Time != want {
				t.Errorf("NUMA: %s is occupied for %v, want %v", o.Name, o.Time, want)
			}
		}
	}
	// Two segments of 1,460 bytes with headers of 40, and an acknowledgement of 40, at 1 B/us.
	medium := on(cable).AppendOccupations(nil, long, 0, 1, 2920)[0]
	if want := (2*1500 + 40) * unit.Microsecond; medium.Time != want || medium.Contention.Micros() < 2*87 || medium.Contention.Micros() > 2*89 {
		t.Errorf("the medium is occupied for %v, not %v, and with contention for %v more", medium.Time, want, medium.Contention)
	}
}
