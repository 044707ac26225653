// Package tcp runs ranks as processes that are connected by TCP.
//
// Each pair of ranks has a connection. A packet is sent as a header and its data in one system
// call, and a rank reads as much as has arrived: so a short message costs one call on each side.
// Long data is read to where the receiver wants it, or into a packet buffer that is used again.
//
// The rank's own thread makes all system calls, directly and without blocking. Go's network poller,
// which wakes goroutines from another thread, takes several times as long as loopback. A rank that
// waits either repeats such calls (spins), or sleeps in ppoll until something arrives.
//
// With Config.Datagrams ports also have device.Datagram and device.Watch. There is no remote
// memory, and there are no counters. A rank that has ended drops what arrives until all ranks have
// ended, so that no connection is reset with packets under way.
package tcp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
)

// Config describes a world.
type Config struct {
	Ranks   int             // from 1 to MaxRanks
	Wait    launch.Wait     // spin or block
	Pin     bool            // each rank to a processor of its own
	Args    []string        // arguments of the processes that are started; nil: those of this one
	Context context.Context // ends jobs when it is done; nil: none does
	Output  *os.File        // of launch.Config
	Team    *launch.Team    // where ranks are; nil: on this machine

	Datagrams bool    // ports also send datagrams, by UDP and IP multicast, and wait for events
	Loss      float64 // probability that a rank drops a received datagram, for tests
}

// MaxRanks is the largest number of ranks: each pair has a connection.
const MaxRanks = 64

// New returns a world. A process takes part in one run at a time; package launch says how processes
// come to it.
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
	return launch.Run(launch.Config{Ranks: w.Ranks, Args: w.Args, Pin: w.Pin, Context: w.Context, Output: w.Output, Team: w.Team, Check: check}, w, program)
}

// Create implements launch.Transport.
func (w *world) Create() (launch.Node, *os.File, error) {
	u, f, err := newWireup(w.Team.Address(), w.Ranks)
	if err != nil {
		return nil, nil, fmt.Errorf("tcp: %w", err)
	}
	return w.node(0, u), f, nil
}

// Join implements launch.Transport.
func (w *world) Join(rank int, inherited *os.File) (launch.Node, error) {
	defer inherited.Close()
	u, err := readWireup(inherited, rank, w.Ranks)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d: %w", rank, err)
	}
	return w.node(rank, u), nil
}

func (w *world) node(rank int, u *wireup) *node {
	n := &node{port: newPort(rank, w.Ranks, w.Wait.Waits(w.Team, rank, w.Ranks) == launch.Block), wireup: u}
	n.port.team = w.Team
	if w.Datagrams {
		n.datagrams = &datagrams{port: n.port, sockets: sockets{own: -1, groups: -1}, joined: map[uint32]bool{}, uses: map[[4]byte]int{}}
		if n.port.table != nil {
			n.port.table.settled = 100 * time.Millisecond
		}
		if w.Loss > 0 {
			n.datagrams.loss, n.datagrams.lossRate = rand.New(rand.NewPCG(uint64(rank), 1)), w.Loss
		}
	}
	n.context, n.cancel = context.WithCancel(context.Background())
	return n
}

// Facts returns the settings of the kernel on which times of this transport depend. Those that
// cannot be read are left out.
func Facts() []host.Fact {
	facts := []host.Fact{{Key: "tcp_nodelay", Value: "on"}}
	for _, f := range []struct{ key, file string }{
		{"tcp_congestion", "/proc/sys/net/ipv4/tcp_congestion_control"},
		{"tcp_send_buffer", "/proc/sys/net/ipv4/tcp_wmem"},
		{"tcp_receive_buffer", "/proc/sys/net/ipv4/tcp_rmem"},
		{"loopback_mtu", "/sys/class/net/lo/mtu"},
	} {
		if text, err := os.ReadFile(f.file); err == nil {
			facts = append(facts, host.Fact{Key: f.key, Value: strings.Join(strings.Fields(string(text)), " ")})
		}
	}
	return facts
}
