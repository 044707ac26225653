package launch

import (
	"fmt"

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

// Waits returns how the ranks of a job wait that may choose.
func (w Wait) Waits(ranks int) Wait {
	switch {
	case w != Auto:
		return w
	case ranks <= len(machine.Processors()):
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
