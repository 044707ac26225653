package mpi_test

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/model"
)

// nodesOf returns nodes of ranks with a network inside and one between them. Its name says which,
// for errors.
func nodesOf(m *model.Machine, ranks, interfaces int, inside model.Network) *model.Machine {
	x := *m
	x.Nodes = &model.Nodes{Ranks: ranks, Interfaces: interfaces, Inside: inside}
	x.Name = fmt.Sprintf("%s of nodes of %d ranks on %s with %d interfaces", m.Name, ranks, inside.Kind(), interfaces)
	x.Ranks = model.Ranks{Min: 1, Max: 64}
	x.Processor.Copy.Start = 30011
	return &x
}

// TestExactComposed compares every protocol in every mode within a node and between two, for
// networks of every kind inside and between. Pairs are not of the first node, nor of the first
// ranks of theirs, and the last node is not full.
func TestExactComposed(t *testing.T) {
	synthetic := copyingLogGP(model.LogGP{L: 5 * us, SendO: 2 * us, RecvO: 3 * us, Gap: 4 * us, BigGap: 9876.5})
	one := machine()
	one.Network.(*model.Torus).PerNode = 1
	inside := []model.Network{shared(4).Network, machine().Network, synthetic.Network, shared(2, 2).Network}
	sizes := []int{0, 1, 1024, 5000}
	for i, net := range inside {
		for _, m := range []*model.Machine{one, machine(), synthetic, shared(3, 3), workstations()} {
			m := nodesOf(m, 4, 1+i%2, net)
			_, streams := m.Network.(*model.Ethernet)
			l := odd(i%2 == 0, 1024*(i/2))
			for _, p := range []pair{{11, 6, 5}, {11, 5, 10}, {11, 9, 2}} {
				for _, k := range sizes {
					if k > 1420 && streams && m.Tier(p.from, p.to) == model.Inter {
						continue // packets of several segments are told by a recurrence
					}
					eachWay(t, m, l, k, p, func(t *testing.T, x model.Transfer, p pair) {
						if !streams || x.Path.Tier == model.Intra || oneAfterTheOther(x.Protocol) {
							exact(t, x, p)
						}
					})
				}
			}
		}
	}
}
