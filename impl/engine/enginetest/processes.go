package enginetest

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/shm"
	"github.com/loggp/loggp/impl/real/tcp"
	"github.com/loggp/loggp/model"
)

// ProcessWorlds are worlds whose ranks are processes: each starts the test binary again to run only
// the current test. Ranks can share only messages, and their errors arrive as text.
var ProcessWorlds = []World{
	newProcessWorld("shm", launch.Config{}, func(c launch.Config) (device.World, error) { return shm.New(c, shm.Options{}) }),
	newProcessWorld("shm, blocking", launch.Config{Wait: launch.Block}, func(c launch.Config) (device.World, error) {
		return shm.New(c, shm.Options{NoRemoteMemory: true})
	}),
	newProcessWorld("tcp", launch.Config{}, openTCP),
	newProcessWorld("tcp, blocking", launch.Config{Wait: launch.Block}, openTCP),
}

func openTCP(c launch.Config) (device.World, error) { return tcp.New(c, tcp.Options{}) }

func newProcessWorld(name string, c launch.Config, open launchtest.Open) World {
	return World{Name: name, RanksAreProcesses: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		t.Helper()
		return launchtest.Worlds(t, open, c)(ranks)
	}}
}
