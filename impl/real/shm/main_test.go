package shm_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/shm"
)

func TestMain(m *testing.M) {
	launchtest.Main(m, open, map[string]func() error{pingPongJob: pingPongRank, postedJob: postedPingPongRank})
}

func open(c launch.Config) (device.World, error) { return shm.New(c, shm.Options{}) }

func openWithoutRemoteMemory(c launch.Config) (device.World, error) {
	return shm.New(c, shm.Options{NoRemoteMemory: true})
}
