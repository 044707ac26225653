package mpi_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// Random programs with windows are compared with an oracle. All ranks draw the same accesses from a
// seed. Each rank carries out its own accesses on the window, and the accesses of all ranks on a
// model.
//
// The memory of each rank has one part per origin, which only that origin writes, and one part for
// sums of all origins. In each round one part is only read.

const (
	partCells = 500 // of 8 bytes: some accesses fit a request, others need separate messages
	sumCells  = 20
)

// randomAccess is an access of a random program.
type randomAccess struct {
	origin, target int
	kind           int
	at, n, stride  int // in cells
	value          int64
	byRequest      bool
}

const (
	randomPut = iota
	randomReplace
	randomAdd
	randomFetch
	randomSum
	randomGet
	randomKinds
)

// windowRound has the accesses between two barriers.
type windowRound struct {
	epoch    int // Fence, Start, Lock with an exclusive or shared lock, or LockAll
	accesses []randomAccess
}

const epochs = 5

// randomRound draws a round. Within a round each part gets either puts to different cells or
// accumulates.
func randomRound(r *rand.Rand, ranks, round int) windowRound {
	out := windowRound{epoch: r.IntN(epochs)}
	for origin := range ranks {
		for target := range ranks {
			free, puts := 0, r.IntN(2) == 0
			for range r.IntN(4) {
				a := randomAccess{origin: origin, target: target, kind: r.IntN(randomKinds), n: 1 + r.IntN(3), stride: 1 + r.IntN(2), value: r.Int64N(1000), byRequest: r.IntN(3) == 0}
				if r.IntN(2) == 0 {
					a.n = 1 + r.IntN(partCells/2)
				}
				switch {
				case a.kind == randomGet:
					a.at = partCells*(round%ranks) + r.IntN(partCells-(a.n-1)*a.stride)
				case a.kind == randomSum:
					a.n = min(a.n, sumCells/2)
					a.at = partCells*ranks + r.IntN(sumCells-(a.n-1)*a.stride)
				case origin == round%ranks: // its part is read only
					continue
				case puts:
					a.kind = randomPut
					if free+(a.n-1)*a.stride >= partCells {
						continue
					}
					a.at = partCells*origin + free
					free += (a.n-1)*a.stride + 1
				default:
					a.kind = randomReplace + (a.kind+a.n)%3
					a.at = partCells*origin + r.IntN(partCells-(a.n-1)*a.stride)
				}
				out.accesses = append(out.accesses, a)
			}
		}
	}
	return out
}

// apply carries out an access on the model of the target's memory, and returns the previous values.
func (a *randomAccess) apply(memory []int64) (old []int64) {
	for i := range a.n {
		cell := &memory[a.at+i*a.stride]
		old = append(old, *cell)
		switch v := a.value + int64(i); a.kind {
		case randomPut, randomReplace:
			*cell = v
		case randomAdd, randomFetch, randomSum:
			*cell += v
		}
	}
	return old
}

// start carries out an access on the window. The values read are in result when it is complete.
func (a *randomAccess) start(w *mpi.Window, passive bool) (result []int64, requests []mpi.Request) {
	t := must(datatype.Vector(a.n, 1, a.stride, mpi.Int64))
	data, result := make([]int64, a.n), make([]int64, a.n)
	for i := range data {
		data[i] = a.value + int64(i)
	}
	in, out := mpi.BufferOf(data), mpi.BufferOf(result)
	op := mpi.Sum
	if a.kind == randomReplace {
		op = mpi.Replace
	}
	switch request := passive && a.byRequest; {
	case a.kind == randomGet && request:
		requests = append(requests, w.Rget(out, a.target, a.at, 1, t))
	case a.kind == randomGet:
		w.Get(out, a.target, a.at, 1, t)
	case a.kind == randomPut && request:
		requests = append(requests, w.Rput(in, a.target, a.at, 1, t))
	case a.kind == randomPut:
		w.Put(in, a.target, a.at, 1, t)
	case a.kind == randomFetch && request:
		requests = append(requests, w.RgetAccumulate(in, out, a.target, a.at, 1, t, op))
	case a.kind == randomFetch:
		w.GetAccumulate(in, out, a.target, a.at, 1, t, op)
	case request:
		requests = append(requests, w.Raccumulate(in, a.target, a.at, 1, t, op))
	default:
		w.Accumulate(in, a.target, a.at, 1, t, op)
	}
	if a.kind != randomGet && a.kind != randomFetch {
		result = nil
	}
	return result, requests
}

// run carries out the accesses of a rank in a round, and returns the values read.
func (x *windowRound) run(c *mpi.Comm, w *mpi.Window) [][]int64 {
	var results [][]int64
	var requests []mpi.Request
	passive := x.epoch >= 2
	accesses := func(target int) {
		for _, a := range x.accesses {
			if a.origin == c.Rank() && (target < 0 || a.target == target) {
				got, q := a.start(w, passive)
				results, requests = append(results, got), append(requests, q...)
			}
		}
	}
	switch x.epoch {
	case 0:
		w.Fence(0)
		accesses(-1)
		w.Fence(mpi.NoSucceed)
	case 1:
		w.Post(w.Group(), 0)
		w.Start(w.Group(), 0)
		accesses(-1)
		w.Complete()
		w.Wait()
	case 2, 3:
		for target := range c.Size() {
			w.Lock(mpi.LockType(x.epoch-2), target, 0)
			accesses(target)
			w.Unlock(target)
		}
	case 4:
		w.LockAll(0)
		accesses(-1)
		w.UnlockAll()
	}
	mpi.WaitAll(requests, nil)
	c.Barrier()
	return results
}

// randomWindow creates a window of the given flavor.
func randomWindow(c *mpi.Comm, flavor, bytes int) *mpi.Window {
	switch {
	case flavor == 0:
		return c.CreateWindow(mpi.BytesOf(make([]int64, bytes/8)), 8)
	case flavor == 1 && nodeComm(c).Size() == c.Size():
		return c.AllocateSharedWindow(bytes, 8, nil)
	}
	return c.AllocateWindow(bytes, 8, nil)
}

func randomWindowProgram(seed uint64) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		r := rand.New(rand.NewPCG(seed, 2))
		w := randomWindow(c, r.IntN(3), 8*(partCells*c.Size()+sumCells))
		mine := mpi.SliceOf[int64](w.Memory())
		model := make([][]int64, c.Size())
		for i := range model {
			model[i] = make([]int64, len(mine))
		}
		for round := range 6 {
			x := randomRound(r, c.Size(), round)
			got := x.run(c, w)
			for _, a := range x.accesses {
				old := a.apply(model[a.target])
				if a.origin != c.Rank() {
					continue
				}
				if got[0] != nil && !slices.Equal(got[0], old) {
					return fmt.Errorf("seed %d, round %d: rank %d has read %v by %+v, want %v", seed, round, c.Rank(), got[0], a, old)
				}
				got = got[1:]
			}
			if !slices.Equal(mine, model[c.Rank()]) {
				return fmt.Errorf("seed %d, round %d in epoch %d: the memory of rank %d is not that of the model", seed, round, x.epoch, c.Rank())
			}
			c.Barrier()
		}
		w.Free()
		return nil
	}
}

// Random programs give the oracle's result in all worlds and with all libraries.
func TestRandomWindows(t *testing.T) {
	for i, x := range tables {
		for k, p := range enginetest.WorldsOfLibrary(i) {
			for seed := range uint64(4) {
				seed += uint64(100*i + 10*k)
				l := x.New()
				ranks := 1 + int(seed)%4
				if err := mpi.Run(p.Open(t, l, ranks), mpi.Options{Engine: carry, Library: l}, randomWindowProgram(seed)); err != nil {
					t.Errorf("%s/%s, %d ranks: %v", p.Name, x.Name, ranks, err)
				}
			}
		}
	}
}

// The same holds if ranks are processes, which share the memory of some windows.
func TestRandomWindowsOfProcesses(t *testing.T) {
	holdsEverywhere(t, 3, func(c *mpi.Comm) error {
		for seed := range uint64(4) {
			if err := randomWindowProgram(5000 + seed)(c); err != nil {
				return err
			}
		}
		return nil
	})
}
