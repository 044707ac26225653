package shm_test

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
)

func TestDevice(t *testing.T) { launchtest.TestDevice(t, open) }

func TestDeviceWithoutRemoteMemory(t *testing.T) {
	devicetest.TestWorld(t, launchtest.Worlds(t, openWithoutRemoteMemory, launch.Config{Wait: launch.Block}))
}

func TestProcesses(t *testing.T) { launchtest.TestJobs(t, open) }

func TestSeveralHostsAreRefused(t *testing.T) {
	if _, err := open(launch.Config{Ranks: 2, Team: &launch.Team{}}); err == nil || !strings.Contains(err.Error(), "several hosts") {
		t.Errorf("got %v", err)
	}
}
