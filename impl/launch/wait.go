package launch

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/machine"
)

// Wait is how ranks wait.
type Wait string

// The ways of waiting.
const (
	Auto  Wait = ""      // spin where there are as many processors as ranks, else block
	Spin  Wait = "spin"  // look again and again: the shortest times, and a processor for each rank
	Block Wait = "block" // sleep in the kernel until woken
)

// Waits returns how a rank of a job waits that may choose. It spins if the ranks of its host have a processor each: a process manager may have given
// each of them others.
func (w Wait) Waits(t *Team, rank, ranks int) Wait {
	if w != Auto {
		return w
	}
	processors := slices.Clone(machine.Processors())
	if t != nil {
		for r := range ranks {
			if t.Together(rank, r) {
				processors = append(processors, t.Hosts[r].Processors...)
			}
		}
		slices.Sort(processors)
		processors = slices.Compact(processors)
	}
	if t.Beside(rank, ranks) <= len(processors) {
		return Spin
	}
	return Block
}

// Check complains of a way of waiting that there is not.
func (w Wait) Check() error {
	switch w {
	case Auto, Spin, Block:
		return nil
	}
	return fmt.Errorf("ranks wait by %s or %s, not by %q", Spin, Block, string(w))
}
