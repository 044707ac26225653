package mpi_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/launch/launchtest"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/shm"
	"github.com/loggp/loggp/impl/tcp"
	"github.com/loggp/loggp/model"
)

// Ranks of these places are processes: this binary, which is started again to run the one test that
// it is wanted for. So a program there can use nothing that another rank has written but messages,
// and its errors come as text.
var processes = []enginetest.World{
	{Name: "shm", Processes: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		return opened(shm.New(shm.Config{Ranks: ranks, Args: launchtest.Args(t)}))
	}},
	{Name: "shm, blocking", Processes: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		return opened(shm.New(shm.Config{Ranks: ranks, Args: launchtest.Args(t), Wait: launch.Block, NoTransfer: true}))
	}},
	{Name: "tcp", Processes: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		return opened(tcp.New(tcp.Config{Ranks: ranks, Args: launchtest.Args(t)}))
	}},
	{Name: "tcp, blocking", Processes: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		return opened(tcp.New(tcp.Config{Ranks: ranks, Args: launchtest.Args(t), Wait: launch.Block}))
	}},
}

func opened(w device.World, err error) device.World {
	if err != nil {
		panic(err)
	}
	return w
}

// holdsEverywhere runs a program that has to hold everywhere, and among processes.
func holdsEverywhere(t *testing.T, ranks int, program func(*mpi.Comm) error) {
	t.Helper()
	everywhere(t, ranks, program, holds)
	if enginetest.Racing {
		return // the detector does not see between processes, and slows them down
	}
	for i, p := range processes {
		for k, x := range tables {
			if testing.Short() && (i+k)%len(tables) > 0 || !testing.Short() && (i+k)%2 > 0 {
				continue
			}
			t.Run(p.Name+"/"+x.Name, func(t *testing.T) {
				l := x.New()
				holds(t, mpi.Run(p.Open(t, l, ranks), mpi.Options{Engine: carry, Library: l}, program))
			})
		}
	}
}
