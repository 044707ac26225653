package tcp_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
)

func TestDevice(t *testing.T) { launchtest.TestDevice(t, open) }

// Ranks that also send datagrams keep the laws of both, though some datagrams are lost.
func TestDeviceWithDatagrams(t *testing.T) {
	worlds := launchtest.Worlds(t, openWithDatagrams, launch.Config{Wait: launch.Block})
	devicetest.TestWorld(t, worlds)
	devicetest.TestDeadlock(t, worlds)
}

func TestProcesses(t *testing.T) { launchtest.TestJobs(t, open) }
