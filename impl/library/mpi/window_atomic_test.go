package mpi_test

import (
	"encoding/binary"
	"testing"

	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// wordBuffer returns a buffer with an integer.
func wordBuffer(x int64) mpi.Buffer {
	return mpi.Buffer{Bytes: binary.NativeEndian.AppendUint64(nil, uint64(x)), Count: 1, Type: mpi.Int64}
}

func wordOf(b mpi.Buffer) int64 { return int64(binary.NativeEndian.Uint64(b.Bytes)) }

// Ranks of two nodes count in a word of rank 0, which computes meanwhile: by Fetch_and_op, and by
// loops of Compare_and_swap. Interfaces execute these without it, so they take a few microseconds.
// An accumulate that interfaces cannot execute is a message, and what follows it to the same target
// comes after it.
func TestInterfacesExecuteAtomics(t *testing.T) {
	const busy, each = 2 * unit.Millisecond, 5
	for _, name := range []string{"hdr-fattree", "roce-clos", "slingshot-dragonfly"} {
		const ranks = 3
		p, err := platform.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		machine, err := p.Machine.WithPlacement(model.Placement{1, 2})
		if err != nil {
			t.Fatal(err)
		}
		l := p.Libraries[0]
		world, err := hw.New(hw.Config{Machine: machine, Library: l, Ranks: ranks, Seed: 1, Context: t.Context()})
		if err != nil {
			t.Fatal(err)
		}
		var longest unit.Time
		seen := map[int64]bool{}
		holds(t, mpi.Run(world, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
			w := c.AllocateWindow(16, 1, nil)
			c.Barrier()
			last := c.Rank() >= ranks-2
			if c.Rank() == 0 {
				c.Compute(busy)
			}
			if last {
				w.LockAll(mpi.NoCheck)
				result := wordBuffer(0)
				for range each {
					from := c.Wtime()
					w.FetchAndOp(wordBuffer(1), result, 0, 0, mpi.Sum)
					w.Flush(0)
					longest = max(longest, c.Wtime()-from)
					if seen[wordOf(result)] {
						t.Errorf("%s: two ranks counted %d", name, wordOf(result))
					}
					seen[wordOf(result)] = true
					for guess := int64(0); ; guess = wordOf(result) {
						w.CompareAndSwap(wordBuffer(guess+1), wordBuffer(guess), result, 0, 8)
						if w.Flush(0); wordOf(result) == guess {
							break
						}
					}
				}
				w.Accumulate(wordBuffer(100), 0, 0, 1, mpi.Int64, mpi.Sum)
				w.FetchAndOp(wordBuffer(0), result, 0, 0, mpi.NoOp)
				if w.Flush(0); wordOf(result) < 2*each-each+100 {
					t.Errorf("%s: after an accumulate of 100 the word is %d", name, wordOf(result))
				}
				w.UnlockAll()
			}
			c.Barrier()
			if c.Rank() == 0 {
				if got, swapped := binary.NativeEndian.Uint64(w.Memory()), binary.NativeEndian.Uint64(w.Memory()[8:]); got != 2*each+200 || swapped != 2*each {
					t.Errorf("%s: the words are %d and %d, want %d and %d", name, got, swapped, 2*each+200, 2*each)
				}
			}
			w.Free()
			return nil
		}))
		if longest > 20*unit.Microsecond || longest == 0 {
			t.Errorf("%s: an atomic operation takes %v while its target computes", name, longest)
		}
	}
}
