package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// Under an exclusive lock a rank changes two numbers one after the other. Ranks with a shared lock
// never see them differ. This holds for locks in registers and, in the third window, for locks by
// messages.
func TestLocksExcludeEachOther(t *testing.T) {
	const windows, rounds = 3, 8
	holdsEverywhere(t, 4, func(c *mpi.Comm) error {
		r := rand.New(rand.NewPCG(7, uint64(c.Rank())))
		var all [windows]*mpi.Window
		for i := range all {
			all[i] = c.AllocateWindow(16, 8, nil)
		}
		c.Barrier()
		for range rounds {
			w, target := all[r.IntN(windows)], r.IntN(min(2, c.Size()))
			both := make([]int64, 2)
			c.Compute(unit.Time(r.IntN(20)) * unit.Microsecond)
			if r.IntN(2) == 0 {
				w.Lock(mpi.LockShared, target, 0)
				w.Get(mpi.BufferOf(both[:1]), target, 0, 1, mpi.Int64)
				w.Flush(target)
				w.Get(mpi.BufferOf(both[1:]), target, 1, 1, mpi.Int64)
				w.Unlock(target)
				if both[0] != both[1] {
					return fmt.Errorf("rank %d sees %v under a shared lock of rank %d", c.Rank(), both, target)
				}
				continue
			}
			w.Lock(mpi.LockExclusive, target, 0)
			w.Get(mpi.BufferOf(both[:1]), target, 0, 1, mpi.Int64)
			w.Flush(target)
			w.Put(one(both[0]+1), target, 0, 1, mpi.Int64)
			w.Flush(target)
			c.Compute(unit.Microsecond)
			w.Accumulate(one(int64(1)), target, 1, 1, mpi.Int64, mpi.Sum)
			w.Unlock(target)
		}
		c.Barrier()
		for _, w := range all {
			if both := mpi.SliceOf[int64](w.Memory()); both[0] != both[1] {
				return fmt.Errorf("rank %d has %v in the end", c.Rank(), both)
			}
			w.Free()
		}
		return nil
	})
}

// On machines with registers a rank can lock memory of a rank that computes. Only windows without a
// register wait for it.
func TestLocksOfRanksThatCompute(t *testing.T) {
	const busy = unit.Second
	l := enginetest.LibraryOfProtocol("T")
	holds(t, mpi.Run(enginetest.OpenEmulated("t3d", nil, 0)(t, l, 2), mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		var all [3]*mpi.Window
		for i := range all {
			all[i] = c.AllocateWindow(8, 8, nil)
		}
		c.Barrier()
		if c.Rank() == 1 {
			c.Compute(busy)
		} else {
			from := c.Wtime()
			for i, w := range all {
				w.Lock(mpi.LockExclusive, 1, 0)
				w.Put(one(int64(1)), 1, 0, 1, mpi.Int64)
				w.Unlock(1)
				if d := c.Wtime() - from; (d > busy/2) != (i == 2) {
					return fmt.Errorf("window %d: the epoch has ended after %v", i, d)
				}
			}
		}
		for _, w := range all {
			w.Free()
		}
		w := c.AllocateWindow(8, 8, nil) // gets a register again
		c.Barrier()
		if c.Rank() == 1 {
			c.Compute(busy)
		} else {
			from := c.Wtime()
			w.Lock(mpi.LockShared, 1, 0)
			w.Unlock(1)
			if d := c.Wtime() - from; d > busy/2 {
				return fmt.Errorf("the registers are not used again: %v", d)
			}
		}
		w.Free()
		return nil
	}))
}
