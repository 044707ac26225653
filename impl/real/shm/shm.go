// Package shm runs ranks as processes of one machine that share memory.
//
// For each ordered pair of ranks the memory has a ring of cache lines with one writer and one
// reader. A short packet is one line, whose first word is written last: sending it moves one line
// from processor to processor, and the receiver looks at nothing else. The data of longer packets
// is in an area beside the ring, in fragments, so that the receiver copies while the sender still
// writes. There are no locks.
//
// Remote memory is the kernel's copy from process to process (process_vm_readv), if the system
// permits it; else there is none. Counters are words of the shared memory. The clock is the
// machine's, the same in all processes.
//
// A rank that waits either spins, which is fast and takes a processor, or sleeps until it is woken
// (a futex).
package shm

import (
	"context"
	"fmt"
	"os"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
)

// Config describes a world.
type Config struct {
	Ranks      int             // from 1 to MaxRanks
	Wait       launch.Wait     // spin or block
	Pin        bool            // each rank to a processor of its own
	Args       []string        // arguments of the processes that are started; nil: those of this one
	Context    context.Context // ends jobs when it is done; nil: none does
	Output     *os.File        // of launch.Config
	NoTransfer bool            // without remote memory, even where the kernel allows it
}

// MaxRanks is the largest number of ranks: each pair has two rings.
const MaxRanks = 64

// New returns a world. A process takes part in one run at a time; package launch says how processes
// come to it.
func New(c Config) (device.World, error) {
	if c.Ranks < 1 || c.Ranks > MaxRanks {
		return nil, fmt.Errorf("shm: a job has from 1 to %d ranks, not %d", MaxRanks, c.Ranks)
	}
	if err := c.Wait.Check(); err != nil {
		return nil, fmt.Errorf("shm: %w", err)
	}
	return &world{c}, nil
}

type world struct{ Config }

// Run implements device.World.
func (w *world) Run(program func(device.Port) error) error { return w.RunChecked(program, nil) }

// RunChecked implements device.Checker.
func (w *world) RunChecked(program func(device.Port) error, check func(details [][]byte) error) error {
	return launch.Run(launch.Config{Ranks: w.Ranks, Args: w.Args, Pin: w.Pin, Context: w.Context, Output: w.Output, Check: check}, w, program)
}

// Create implements launch.Transport.
func (w *world) Create() (launch.Node, *os.File, error) {
	f, err := host.NewSharedMemory(size(w.Ranks))
	if err != nil {
		return nil, nil, fmt.Errorf("shm: memory for %d ranks: %w", w.Ranks, err)
	}
	n, err := w.node(0, f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	n.offer()
	return n, f, nil
}

// Join implements launch.Transport.
func (w *world) Join(rank int, inherited *os.File) (launch.Node, error) {
	defer inherited.Close()
	n, err := w.node(rank, inherited)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// node maps the memory for a rank.
func (w *world) node(rank int, f *os.File) (*node, error) {
	mapped, err := mapFile(f, size(w.Ranks))
	if err != nil {
		return nil, fmt.Errorf("shm: map the memory of %d ranks: %w", w.Ranks, err)
	}
	s := layOut(mapped, w.Ranks)
	n := &node{segment: s, rank: rank, mapped: mapped}
	n.port = newPort(s, rank, w.Wait.Waits(nil, rank, w.Ranks) == launch.Block)
	n.transfer = !w.NoTransfer
	return n, nil
}
