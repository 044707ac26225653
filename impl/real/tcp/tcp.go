// Package tcp runs ranks as processes that are connected by TCP.
//
// Each pair of ranks has a connection. A packet is sent as a header and its data in one system
// call, and a rank reads as much as has arrived. So a short message costs one call on each side.
// Long data is read directly into the receiver's buffer if the receiver has named it, or into a
// pooled packet buffer.
//
// The rank's own thread makes all system calls, directly and without blocking. Go's network poller,
// which wakes goroutines from another thread, takes several times as long as loopback. A rank that
// waits either repeats such calls (spins), or sleeps in ppoll until something arrives.
//
// With Options.Datagrams ports also have device.Datagram and device.Watch. There is no remote
// memory, and there are no counters. A rank that has ended drops arriving packets until all ranks
// have ended, so that no connection is reset with packets under way.
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

// Options are settings of this transport beside those of the job.
type Options struct {
	Datagrams    bool    // ports also send datagrams, by UDP and IP multicast, and wait for events
	DatagramLoss float64 // probability that a rank drops a received datagram, for tests
}

// New returns a world whose ranks are connected by TCP; package launch says how processes come to
// it.
func New(c launch.Config, o Options) (device.World, error) {
	return launch.NewWorld("tcp", c, &connections{c, o})
}

// connections implements launch.Transport.
type connections struct {
	launch.Config
	Options
}

// Create implements launch.Transport.
func (t *connections) Create() (launch.Node, *os.File, error) {
	u, f, err := newWireup(t.Team.Address(), t.Ranks)
	if err != nil {
		return nil, nil, fmt.Errorf("tcp: %w", err)
	}
	return t.node(0, u), f, nil
}

// Join implements launch.Transport.
func (t *connections) Join(rank int, inherited *os.File) (launch.Node, error) {
	defer inherited.Close()
	u, err := readWireup(inherited, rank, t.Ranks)
	if err != nil {
		return nil, fmt.Errorf("tcp: rank %d: %w", rank, err)
	}
	return t.node(rank, u), nil
}

func (t *connections) node(rank int, u *wireup) *node {
	n := &node{port: newPort(rank, t.Ranks, t.IsBlocking(rank)), wireup: u}
	n.port.team = t.Team
	if t.Datagrams {
		n.datagramPort = &datagramPort{port: n.port, sockets: datagramSockets{unicast: -1, multicast: -1}, joinedGroups: map[uint32]bool{}, groupsByAddress: map[[4]byte]int{}}
		if n.port.progressTable != nil {
			n.port.progressTable.settleTime = 100 * time.Millisecond
		}
		if t.DatagramLoss > 0 {
			n.datagramPort.lossSource, n.datagramPort.lossRate = rand.New(rand.NewPCG(uint64(rank), 1)), t.DatagramLoss
		}
	}
	n.connectContext, n.cancelConnect = context.WithCancel(context.Background())
	return n
}

// Facts returns the kernel's settings that affect the times of this transport. Settings that cannot
// be read are left out.
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
