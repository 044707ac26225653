package shm_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/shm"
)

func TestWorld(t *testing.T)    { devicetest.TestWorld(t, worlds(t, shm.Config{})) }
func TestDeadlock(t *testing.T) { devicetest.TestDeadlock(t, worlds(t, shm.Config{})) }

func TestWorldBlocking(t *testing.T) {
	devicetest.TestWorld(t, worlds(t, shm.Config{Wait: launch.Block, NoTransfer: true}))
}

func TestDeadlockBlocking(t *testing.T) {
	devicetest.TestDeadlock(t, worlds(t, shm.Config{Wait: launch.Block}))
}

// Ranks that spin make way for each other where there are more of them than processors, if not
// fast.
func TestWorldSpinning(t *testing.T) {
	if testing.Short() {
		t.Skip("slow by intention")
	}
	devicetest.TestWorld(t, worlds(t, shm.Config{Wait: launch.Spin}))
}

func TestProcesses(t *testing.T) { launchtest.Test(t, settled, shm.MaxRanks) }
