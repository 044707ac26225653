package aclmpl

import (
	"fmt"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/impl/real/shm"
	"github.com/loggp/loggp/impl/real/tcp"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

func TestMain(m *testing.M) { launchtest.Main(m, nil, nil) }

// worlds are the places where the library runs: by remote memory where there is some, else by
// packets. In those with delays puts take effect late, so that slots are being written while others
// are there.
var worlds = append(enginetest.Worlds(),
	enginetest.World{Name: "loop with delays", Open: func(_ testing.TB, _ *model.Library, ranks int) device.World {
		return loop.NewFaulty(ranks, loop.Faults{Seed: 1, Delay: 0.3})
	}})

// processes are places whose ranks are processes.
var processes = []enginetest.World{
	{Name: "shm", Processes: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		return opened(shm.New(launch.Config{Ranks: ranks, Args: launchtest.Args(t)}, shm.Options{}))
	}},
	{Name: "shm, blocking", Processes: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		return opened(shm.New(launch.Config{Ranks: ranks, Args: launchtest.Args(t), Wait: launch.Block}, shm.Options{NoRemoteMemory: true}))
	}},
	{Name: "tcp", Processes: true, Open: func(t testing.TB, _ *model.Library, ranks int) device.World {
		return opened(tcp.New(launch.Config{Ranks: ranks, Args: launchtest.Args(t)}, tcp.Options{}))
	}},
}

func opened(w device.World, err error) device.World {
	if err != nil {
		panic(err)
	}
	return w
}

// library has the software costs of a machine's own ACLMPL, or a microsecond for each.
func library() *model.Library { return &model.Library{Name: "aclmpl", Engine: model.Aclmpl} }

// patience is how long a job may take. The longest need seconds.
const patience = time.Minute

// runIn runs a job and gives up if it does not end.
func runIn(w device.World, o Options, program func(*PE) error) error {
	end := make(chan error, 1)
	go func() { end <- Run(w, o, program) }()
	select {
	case err := <-end:
		return err
	case <-time.After(patience):
		return fmt.Errorf("the job has not ended after %v", patience)
	}
}
