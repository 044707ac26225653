package tcp_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/tcp"
)

func TestWorld(t *testing.T)    { devicetest.TestWorld(t, worlds(t, tcp.Config{})) }
func TestDeadlock(t *testing.T) { devicetest.TestDeadlock(t, worlds(t, tcp.Config{})) }

func TestWorldBlocking(t *testing.T) {
	devicetest.TestWorld(t, worlds(t, tcp.Config{Wait: launch.Block}))
}

func TestDeadlockBlocking(t *testing.T) {
	devicetest.TestDeadlock(t, worlds(t, tcp.Config{Wait: launch.Block}))
}

// Ranks that spin make way for each other where there are more of them than processors, if not
// fast.
func TestWorldSpinning(t *testing.T) {
	if testing.Short() {
		t.Skip("slow by intention")
	}
	devicetest.TestWorld(t, worlds(t, tcp.Config{Wait: launch.Spin}))
}

// Ranks that also send datagrams keep the laws of both, though some are lost.
func TestWorldDatagrams(t *testing.T) {
	c := tcp.Config{Wait: launch.Block, Datagrams: true, Loss: 0.3}
	devicetest.TestWorld(t, worlds(t, c))
	devicetest.TestDeadlock(t, worlds(t, c))
}

func TestProcesses(t *testing.T) { launchtest.Test(t, settled, tcp.MaxRanks) }
