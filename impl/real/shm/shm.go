// Package shm runs ranks as processes of one machine that share memory.
//
// For each ordered pair of ranks the memory has a ring of cache lines with one writer and one
// reader. A short packet is one line, whose first word is written last: sending it moves one line
// from processor to processor, and the receiver polls only that line. The data of longer packets is
// in an area beside the ring, in fragments, so that the receiver copies while the sender still
// writes. There are no locks.
//
// Remote memory is the kernel's copy from process to process (process_vm_readv). Without the
// permission for it, ports have no remote memory. Counters are words of the shared memory. All
// processes read the same clock of the computer.
//
// A rank that waits either spins, which is fast and takes a processor, or sleeps until it is woken
// (a futex).
package shm

import (
	"errors"
	"fmt"
	"os"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
)

// Options are settings of this transport beside those of the job.
type Options struct {
	NoRemoteMemory bool // even where the kernel allows it
}

// New returns a world whose ranks share memory; package launch says how processes come to it.
func New(c launch.Config, o Options) (device.World, error) {
	if c.Team != nil {
		return nil, errors.New("shm: ranks on several hosts cannot share memory")
	}
	return launch.NewWorld("shm", c, &sharedMemory{c, o})
}

// sharedMemory implements launch.Transport.
type sharedMemory struct {
	launch.Config
	Options
}

// Create implements launch.Transport.
func (t *sharedMemory) Create() (launch.Node, *os.File, error) {
	f, err := host.NewSharedMemory(segmentSize(t.Ranks))
	if err != nil {
		return nil, nil, fmt.Errorf("shm: memory for %d ranks: %w", t.Ranks, err)
	}
	n, err := t.node(0, f)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	n.publishProbe()
	return n, f, nil
}

// Join implements launch.Transport.
func (t *sharedMemory) Join(rank int, inherited *os.File) (launch.Node, error) {
	defer inherited.Close()
	n, err := t.node(rank, inherited)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// node maps the memory for a rank.
func (t *sharedMemory) node(rank int, f *os.File) (*node, error) {
	mapped, err := mapFile(f, segmentSize(t.Ranks))
	if err != nil {
		return nil, fmt.Errorf("shm: map the memory of %d ranks: %w", t.Ranks, err)
	}
	s := segmentAt(mapped, t.Ranks)
	return &node{segment: s, rank: rank, mapped: mapped, port: newPort(s, rank, t.IsBlocking(rank)), wantsRemoteMemory: !t.NoRemoteMemory}, nil
}
