package launch

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// MaxRanks is the largest number of ranks of a job: each pair of them has a connection, or two
// rings in shared memory.
const MaxRanks = 64

// NewWorld returns a world whose ranks are processes that a transport connects. Its name is for
// errors. A process takes part in one run at a time.
func NewWorld(name string, c Config, t Transport) (device.World, error) {
	if c.Ranks < 1 || c.Ranks > MaxRanks {
		return nil, fmt.Errorf("%s: a job has from 1 to %d ranks, not %d", name, MaxRanks, c.Ranks)
	}
	if err := c.Wait.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &world{c, t}, nil
}

type world struct {
	config    Config
	transport Transport
}

// Run implements device.World.
func (w *world) Run(program func(device.Port) error) error {
	return runOnRanks(w.config, w.transport, program)
}

// RunChecked implements device.CheckedWorld.
func (w *world) RunChecked(program func(device.Port) error, check func(details [][]byte) error) error {
	c := w.config
	c.check = check
	return runOnRanks(c, w.transport, program)
}
