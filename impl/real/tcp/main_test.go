package tcp_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/tcp"
)

func TestMain(m *testing.M) { launchtest.Main(m, settled, nil) }

// settled opens a world with settings.
func settled(s launchtest.Settings) (device.World, error) {
	return tcp.New(tcp.Config{Ranks: s.Ranks, Wait: s.Wait, Args: s.Args, Context: s.Context})
}

// worlds returns what opens worlds for a test.
func worlds(t *testing.T, c tcp.Config) func(ranks int) device.World {
	c.Args = launchtest.Args(t)
	return func(ranks int) device.World { return open(c, ranks) }
}

// open opens a world that has no mistakes.
func open(c tcp.Config, ranks int) device.World {
	c.Ranks = ranks
	w, err := tcp.New(c)
	if err != nil {
		panic(err)
	}
	return w
}
