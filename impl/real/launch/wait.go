package launch

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/real/host"
)

// Wait is how ranks wait.
type Wait string

// Ways of waiting.
const (
	Auto  Wait = ""      // spin if each rank has its own processor, else block
	Spin  Wait = "spin"  // poll: the shortest times, at the cost of a processor for each rank
	Block Wait = "block" // sleep in the kernel until woken
)

// Waits resolves Auto for a rank of a job: it spins if the ranks of its host have a processor each.
// A process manager may have given each of them others.
func (w Wait) Waits(t *Team, rank, ranks int) Wait {
	if w != Auto {
		return w
	}
	processors := slices.Clone(host.Processors())
	if t != nil {
		for r := range ranks {
			if t.SameHost(rank, r) {
				processors = append(processors, t.Hosts[r].Processors...)
			}
		}
		slices.Sort(processors)
		processors = slices.Compact(processors)
	}
	if t.RanksOnHost(rank, ranks) <= len(processors) {
		return Spin
	}
	return Block
}

// Check returns an error for an unknown way of waiting.
func (w Wait) Check() error {
	switch w {
	case Auto, Spin, Block:
		return nil
	}
	return fmt.Errorf("ranks wait by %s or %s, not by %q", Spin, Block, string(w))
}
