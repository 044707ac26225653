// Package tcp runs ranks as processes that are connected by TCP.
//
// Each pair of ranks has a connection. A packet is a header and its data in one call of the kernel, and what has come is read as much as there is of it: so a
// short message costs a call on each side. Data that comes in part is put together in memory that is used again; data of a long packet is read to where it
// stays until the rank has looked at it.
//
// All calls are made by the thread of the rank, directly and without waiting: Go's own way, by a thread that waits for all connections and wakes goroutines,
// takes several times as long as the network. What waits either spins over such calls, or sleeps in the kernel until something comes.
//
// There is no remote memory, and there are no counters. A rank that has ended stays and drops what comes until all have ended, so that no
// connection is reset with packets under way.
package tcp

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/machine"
)

// Config says what a world is.
type Config struct {
	Ranks   int             // from 1 to MaxRanks
	Wait    launch.Wait     // how they wait
	Pin     bool            // each to a processor of its own
	Args    []string        // arguments of the processes that are started; nil: those of this one
	Context context.Context // ends jobs when it is done; nil: none does
	Team    *launch.Team    // where ranks are; nil: on this machine
}

// MaxRanks is how many ranks a world may have: each pair has its connection.
const MaxRanks = 64

// New returns a world. A process takes part in one run at a time; package launch says how processes come to it.
func New(c Config) (device.World, error) {
	if c.Ranks < 1 || c.Ranks > MaxRanks {
		return nil, fmt.Errorf("tcp: a job has from 1 to %d ranks, not %d", MaxRanks, c.Ranks)
	}
	if err := c.Wait.Check(); err != nil {
		return nil, fmt.Errorf("tcp: %w", err)
	}
	return &world{c}, nil
}

type world struct{ Config }

// Run implements device.World.
func (w *world) Run(program func(device.Port) error) error { return w.RunChecked(program, nil) }

// RunChecked implements device.Checker.
func (w *world) RunChecked(program func(device.Port) error, check func(details [][]byte) error) error {
	return launch.Run(launch.Config{Ranks: w.Ranks, Args: w.Args, Pin: w.Pin, Context: w.Context, Team: w.Team, Check: check}, w, program)
}

// Create implements launch.Transport.
func (w *world) Create() (launch.Node, *os.File, error) {
	m, f, err := invite(w.Team.Address(), w.Ranks)
	if err != nil {
		return nil, nil, fmt.Errorf("tcp: %w", err)
	}
	return w.node(0, m), f, nil
}

// Join implements launch.Transport.
func (w *world) Join(rank int, inherited *os.File) (launch.Node, error) {
	defer inherited.Close()
	m, err := invited(inherited)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d: %w", rank, err)
	}
	return w.node(rank, m), nil
}

func (w *world) node(rank int, m *meeting) *node {
	n := &node{port: newPort(rank, w.Ranks, w.Wait.Waits(w.Team, rank, w.Ranks) == launch.Block), meeting: m}
	n.port.team = w.Team
	n.context, n.cancel = context.WithCancel(context.Background())
	return n
}

// Facts returns what numbers of this transport depend on beside what they depend on anyway: what the kernel does with connections over loopback. What cannot be
// found out is left out.
func Facts() []machine.Fact {
	facts := []machine.Fact{{Key: "tcp_nodelay", Value: "on"}}
	for _, f := range []struct{ key, file string }{
		{"tcp_congestion", "/proc/sys/net/ipv4/tcp_congestion_control"},
		{"tcp_send_buffer", "/proc/sys/net/ipv4/tcp_wmem"},
		{"tcp_receive_buffer", "/proc/sys/net/ipv4/tcp_rmem"},
		{"loopback_mtu", "/sys/class/net/lo/mtu"},
	} {
		if text, err := os.ReadFile(f.file); err == nil {
			facts = append(facts, machine.Fact{Key: f.key, Value: strings.Join(strings.Fields(string(text)), " ")})
		}
	}
	return facts
}
