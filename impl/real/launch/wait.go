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

// IsBlocking reports whether a rank sleeps while it waits. With Auto it spins if the ranks of its
// host have a processor each. A process manager may have given each of them other processors.
func (c *Config) IsBlocking(rank int) bool {
	if c.Wait != Auto {
		return c.Wait == Block
	}
	processors := slices.Clone(host.Processors())
	if c.Team != nil {
		for r := range c.Ranks {
			if c.Team.SameHost(rank, r) {
				processors = append(processors, c.Team.Hosts[r].Processors...)
			}
		}
		slices.Sort(processors)
		processors = slices.Compact(processors)
	}
	return c.Team.RanksOnHost(rank, c.Ranks) > len(processors)
}

// validate returns an error for an unknown way of waiting.
func (w Wait) validate() error {
	switch w {
	case Auto, Spin, Block:
		return nil
	}
	return fmt.Errorf("ranks wait by %s or %s, not by %q", Spin, Block, string(w))
}
