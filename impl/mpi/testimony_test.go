package mpi_test

import (
	"errors"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/mpi"
)

// Wrong programs of processes end as those of one process do: with the same error, from whichever
// rank, and all ranks of a deadlock say where they wait.
func TestWrongProgramsOfProcesses(t *testing.T) {
	if enginetest.Racing {
		return // the detector does not see between processes, and slows them down
	}
	for _, name := range []string{"allReceiveFirst", "oneLeavesEarly", "withinAGroup", "tooLong", "noSuchRank", "onlyOneCalls", "eachItsOwnRoot", "noReceive"} {
		for _, at := range processes {
			t.Run(name+"/"+at.Name, func(t *testing.T) {
				for _, p := range wrongPrograms {
					if p.name != name {
						continue
					}
					want := wrong(t, p.ranks, p.program)
					l := enginetest.Default()
					got := mpi.Run(at.Open(t, l, p.ranks), mpi.Options{Engine: carry, Library: l, Check: true}, func(c *mpi.Comm) error { p.program(c); return nil })
					if got == nil || telling(got) != telling(want) {
						t.Errorf("%v\nwant %v", got, want)
					}
				}
			})
		}
	}
}

// What a rank has left goes with how a run ended, also to runs that come to it later in other
// processes.
func TestTestimonyOfRanksThatFollow(t *testing.T) {
	if enginetest.Racing {
		return
	}
	for _, at := range processes {
		t.Run(at.Name, func(t *testing.T) {
			l := enginetest.Default()
			w := at.Open(t, l, 2)
			first := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error { tooLong(c); return nil })
			second := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
				var e *mpi.Error
				if !errors.As(first, &e) || e.Call != "Recv" || e.Rank != 1 {
					return errors.New("the first run has ended otherwise here")
				}
				mpi.Recv(c, make([]byte, 1), 1-c.Rank(), 0)
				return nil
			})
			holds(t, mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
				var e *mpi.DeadlockError
				if !errors.As(second, &e) || len(e.Waits) != 2 || e.Waits[0].Call != "Recv" || e.Waits[1].Call != "Recv" || len(e.Cycle) != 2 {
					return errors.New("the second run has ended otherwise here: " + second.Error())
				}
				return nil
			}))
			var d *device.Deadlock
			if !errors.As(second, &d) {
				t.Error(second)
			}
		})
	}
}
