package mpi_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"testing"
	"unsafe"

	"github.com/loggp/loggp/impl/library/datatype"
	"github.com/loggp/loggp/impl/library/mpi"
)

// one returns a buffer with a single element.
func one[T mpi.Element](x T) mpi.Buffer { return mpi.BufferOf([]T{x}) }

// windowPrograms must succeed in every world. Each frees its window.
var windowPrograms = map[string]func(c *mpi.Comm) error{
	"fence completes puts, gets and accumulates of all sizes": func(c *mpi.Comm) error {
		for _, n := range []int{1, 100, 3000, 40000} {
			memory := make([]int32, c.Size()*n+1)
			w := c.CreateWindow(mpi.BytesOf(memory), 4)
			mine := make([]int32, n)
			for i := range mine {
				mine[i] = int32(c.Rank()*1000 + i)
			}
			w.Fence(mpi.NoPrecede)
			for to := range c.Size() {
				w.Put(mpi.BufferOf(mine), to, c.Rank()*n, n, mpi.Int32)
				w.Accumulate(one(int32(1+to)), to, c.Size()*n, 1, mpi.Int32, mpi.Sum)
			}
			w.Fence(0)
			for from := range c.Size() {
				for i := range n {
					if got := memory[from*n+i]; got != int32(from*1000+i) {
						return fmt.Errorf("rank %d: element %d of rank %d is %d", c.Rank(), i, from, got)
					}
				}
			}
			if got, want := memory[c.Size()*n], int32(c.Size()*(1+c.Rank())); got != want {
				return fmt.Errorf("rank %d: sum %d, want %d", c.Rank(), got, want)
			}
			back := make([]int32, n)
			next := (c.Rank() + 1) % c.Size()
			w.Get(mpi.BufferOf(back), next, c.Rank()*n, n, mpi.Int32)
			w.Fence(mpi.NoSucceed)
			if !slices.Equal(back, mine) {
				return fmt.Errorf("rank %d: got %d.. of %d elements from rank %d", c.Rank(), back[0], n, next)
			}
			w.Free()
		}
		return nil
	},
	"types with gaps on both sides": func(c *mpi.Comm) error {
		const rows = 300
		column := must(datatype.Vector(rows, 1, 3, mpi.Float64))
		memory := make([]float64, rows*3)
		w := c.CreateWindow(mpi.BytesOf(memory), 8)
		own := make([]float64, rows*3)
		for i := range own {
			own[i] = float64(c.Rank()*10000 + i)
		}
		w.Fence(0)
		next, last := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		w.Put(mpi.Buffer{Bytes: mpi.BytesOf(own), Count: 1, Type: column}, next, 1, 1, column)
		w.Accumulate(mpi.Buffer{Bytes: mpi.BytesOf(own), Count: 1, Type: column}, next, 2, 1, column, mpi.Sum)
		w.Fence(0)
		for i := range rows {
			if x := float64(last*10000 + 3*i); memory[3*i] != 0 || memory[3*i+1] != x || memory[3*i+2] != x {
				return fmt.Errorf("rank %d: row %d is %v, want 0 %v %v", c.Rank(), i, memory[3*i:3*i+3], x, x)
			}
		}
		got := make([]float64, rows*3)
		w.Get(mpi.Buffer{Bytes: mpi.BytesOf(got), Origin: 8, Count: 1, Type: column}, last, 2, 1, column)
		w.Fence(0)
		w.Free()
		for i := range rows {
			if x := float64((last+c.Size()-1)%c.Size()*10000 + 3*i); got[3*i+1] != x || got[3*i] != 0 {
				return fmt.Errorf("rank %d: row %d of what was read is %v, want %v", c.Rank(), i, got[3*i:3*i+3], x)
			}
		}
		return nil
	},
	"post, start, complete, wait": func(c *mpi.Comm) error {
		memory := make([]int64, 2*c.Size())
		w := c.CreateWindow(mpi.BytesOf(memory), 8)
		all := w.Group()
		for round := range 3 {
			w.Post(all, 0)
			w.Start(all, 0)
			for to := range c.Size() {
				w.Put(one(int64(100*round+c.Rank())), to, c.Rank(), 1, mpi.Int64)
				w.Accumulate(one(int64(1)), to, c.Size(), 1, mpi.Int64, mpi.Sum)
			}
			w.Complete()
			if round == 1 {
				for !w.Test() {
				}
			} else {
				w.Wait()
			}
			for from := range c.Size() {
				if memory[from] != int64(100*round+from) || memory[c.Size()] != int64((round+1)*c.Size()) {
					return fmt.Errorf("rank %d, round %d: %v", c.Rank(), round, memory)
				}
			}
		}
		w.Free()
		return nil
	},
	"exclusive locks keep ranks apart": func(c *mpi.Comm) error {
		memory := make([]int64, 2)
		w := c.CreateWindow(mpi.BytesOf(memory), 8)
		const rounds = 5
		for range rounds {
			w.Lock(mpi.LockExclusive, 0, 0)
			both := make([]int64, 2)
			w.Get(mpi.BufferOf(both), 0, 0, 2, mpi.Int64)
			w.Flush(0)
			both[0]++
			both[1] -= 2
			w.Put(mpi.BufferOf(both), 0, 0, 2, mpi.Int64)
			w.Unlock(0)
		}
		c.Barrier()
		w.Lock(mpi.LockShared, c.Rank(), 0)
		n := int64(rounds * c.Size())
		if c.Rank() == 0 && (memory[0] != n || memory[1] != -2*n) {
			return fmt.Errorf("%v after %d increments", memory, n)
		}
		w.Unlock(c.Rank())
		w.Free()
		return nil
	},
	"atomic operations on one element": func(c *mpi.Comm) error {
		w := c.AllocateWindow(16, 8, nil)
		memory := mpi.SliceOf[int64](w.Memory())
		c.Barrier()
		w.LockAll(0)
		const rounds = 6
		seen := make([]int64, rounds)
		for i := range seen {
			w.FetchAndOp(one(int64(1)), mpi.BufferOf(seen[i:i+1]), 0, 0, mpi.Sum)
			w.Flush(0)
		}
		for i := range rounds - 1 {
			if seen[i+1] <= seen[i] {
				return fmt.Errorf("rank %d got %v: they must rise", c.Rank(), seen)
			}
		}
		for was, done := int64(0), false; !done; { // increment by compare-and-swap
			got := make([]int64, 1)
			w.CompareAndSwap(one(was+1), one(was), mpi.BufferOf(got), 0, 1)
			w.FlushLocal(0)
			done = got[0] == was
			was = got[0]
		}
		w.UnlockAll()
		c.Barrier()
		if c.Rank() == 0 && (memory[0] != int64(rounds*c.Size()) || memory[1] != int64(c.Size())) {
			return fmt.Errorf("%v", memory)
		}
		w.Free()
		return nil
	},
	"a flush completes long accesses at the target": func(c *mpi.Comm) error {
		const n = 100000
		memory := make([]int32, n)
		w := c.CreateWindow(mpi.BytesOf(memory), 4)
		w.LockAll(0)
		for round := range int32(3) {
			got := []int32{-1}
			switch c.Rank() {
			case 1:
				values := slices.Repeat([]int32{round + 1}, n)
				if round == 1 {
					w.Accumulate(mpi.BufferOf(values), 0, 0, n, mpi.Int32, mpi.Replace)
				} else {
					w.Put(mpi.BufferOf(values), 0, 0, n, mpi.Int32)
				}
				w.Flush(0)
				mpi.Send(c, []byte{1}, 2, 0) // for rank 2, which has made no access
			case 2:
				mpi.Recv(c, make([]byte, 1), 1, 0)
				w.Get(mpi.BufferOf(got), 0, n-1, 1, mpi.Int32)
				w.Flush(0)
				if got[0] != round+1 {
					return fmt.Errorf("round %d: rank 2 reads %d after rank 1 has flushed", round, got[0])
				}
			}
			c.Barrier()
		}
		w.UnlockAll()
		w.Free()
		return nil
	},
	"calls with no rank have no effect": func(c *mpi.Comm) error {
		w := c.CreateWindow(make([]byte, 8), 8)
		got := []int64{7}
		w.Lock(mpi.LockShared, mpi.ProcNull, 0)
		w.Put(one(int64(1)), mpi.ProcNull, 99, 1, mpi.Int64)
		w.FetchAndOp(one(int64(1)), mpi.BufferOf(got), mpi.ProcNull, 0, mpi.Sum)
		w.CompareAndSwap(one(int64(1)), one(int64(1)), mpi.BufferOf(got), mpi.ProcNull, 0)
		q := w.Rget(mpi.BufferOf(got), mpi.ProcNull, 0, 1, mpi.Int64)
		q.Wait()
		w.Flush(mpi.ProcNull)
		w.Unlock(mpi.ProcNull)
		w.Free()
		if got[0] != 7 {
			return fmt.Errorf("rank %d: %d", c.Rank(), got[0])
		}
		return nil
	},
	"get and accumulate, replace and no operation": func(c *mpi.Comm) error {
		const n = 500
		memory := slices.Repeat([]int32{7}, n)
		w := c.CreateWindow(mpi.BytesOf(memory), 4)
		c.Barrier()
		next := (c.Rank() + 1) % c.Size()
		old, now := make([]int32, n), make([]int32, n)
		w.Lock(mpi.LockShared, next, 0)
		r := w.RgetAccumulate(mpi.BufferOf(slices.Repeat([]int32{int32(c.Rank())}, n)), mpi.BufferOf(old), next, 0, n, mpi.Int32, mpi.Replace)
		r.Wait()
		w.GetAccumulate(mpi.Buffer{}, mpi.BufferOf(now), next, 0, n, mpi.Int32, mpi.NoOp)
		w.Unlock(next)
		if old[0] != 7 || old[n-1] != 7 || now[0] != int32(c.Rank()) || now[n-1] != int32(c.Rank()) {
			return fmt.Errorf("rank %d: %d, then %d", c.Rank(), old[0], now[0])
		}
		w.Free()
		return nil
	},
	"requests of accesses": func(c *mpi.Comm) error {
		const n = 5000
		memory := make([]int64, n)
		w := c.CreateWindow(mpi.BytesOf(memory), 8)
		next := (c.Rank() + 1) % c.Size()
		w.LockAll(mpi.NoCheck)
		put := w.Rput(mpi.BufferOf(slices.Repeat([]int64{int64(c.Rank())}, n)), next, 0, n, mpi.Int64)
		put.Wait()
		w.Flush(next)
		add := w.Raccumulate(mpi.BufferOf(slices.Repeat([]int64{5}, n)), next, 0, n, mpi.Int64, mpi.Sum)
		got := make([]int64, n)
		add.Wait()
		w.Flush(next)
		get := w.Rget(mpi.BufferOf(got), next, 0, n, mpi.Int64)
		nothing := w.Rget(mpi.BufferOf(got), mpi.ProcNull, 0, n, mpi.Int64)
		mpi.WaitAll([]mpi.Request{get, nothing}, nil)
		w.UnlockAll()
		w.Free()
		if got[0] != int64(c.Rank()+5) || got[n-1] != int64(c.Rank()+5) {
			return fmt.Errorf("rank %d: %d", c.Rank(), got[0])
		}
		return nil
	},
	"memory attached to a dynamic window": func(c *mpi.Comm) error {
		w := c.CreateDynamicWindow()
		first, second := make([]int64, 10), make([]int64, 3000)
		places := []int64{int64(w.Attach(mpi.BytesOf(first))), int64(w.Attach(mpi.BytesOf(second)))}
		all := make([]int64, 2*c.Size())
		mpi.Allgather(c, places, all)
		next := (c.Rank() + 1) % c.Size()
		w.LockAll(0)
		w.Put(one(int64(c.Rank())), next, int(all[2*next])+16, 1, mpi.Int64)
		w.Put(mpi.BufferOf(slices.Repeat([]int64{int64(c.Rank())}, len(second))), next, int(all[2*next+1]), len(second), mpi.Int64)
		w.UnlockAll()
		c.Barrier()
		last := int64((c.Rank() + c.Size() - 1) % c.Size())
		if first[2] != last || first[1] != 0 || second[0] != last || second[2999] != last {
			return fmt.Errorf("rank %d: %v %d %d", c.Rank(), first, second[0], second[2999])
		}
		w.Detach(int(places[0]))
		w.Free()
		return nil
	},
	"pairs of a value and an index": func(c *mpi.Comm) error {
		type pair struct {
			value float64
			index int32
		}
		memory := []pair{{-1, -1}, {-1, -1}}
		w := c.CreateWindow(mpi.BytesOf(memory), 16)
		w.Fence(0)
		mine := []pair{{float64(c.Rank() % 3), int32(c.Rank())}}
		w.Accumulate(mpi.Buffer{Bytes: mpi.BytesOf(mine), Count: 1, Type: mpi.Float64Int32}, 0, 1, 1, mpi.Float64Int32, mpi.MaxLoc)
		w.Fence(0)
		w.Free()
		if best := min(c.Size()-1, 2); c.Rank() == 0 && (memory[1] != pair{float64(best), int32(best)} || memory[0].index != -1) {
			return fmt.Errorf("%v", memory)
		}
		return nil
	},
	"pairs in derived types": func(c *mpi.Comm) error {
		memory := slices.Repeat([]int32{-1}, 12)
		w := c.CreateWindow(mpi.BytesOf(memory), 4)
		everySecond := must(datatype.Vector(3, 1, 2, mpi.Int32Int32))
		two := must(datatype.Contiguous(2, mpi.Int32)) // the type MPI_2INT consists of two int
		r := int32(c.Rank())
		w.Fence(0)
		w.Accumulate(mpi.Buffer{Bytes: mpi.BytesOf([]int32{r, r, 7, r, -2, 0}), Count: 3, Type: two}, 0, 0, 1, everySecond, mpi.MaxLoc)
		w.Fence(0)
		w.Free()
		last := int32(c.Size() - 1)
		if want := []int32{last, last, -1, -1, 7, 0, -1, -1, -1, -1, -1, -1}; c.Rank() == 0 && !slices.Equal(memory, want) {
			return fmt.Errorf("%v, want %v", memory, want)
		}
		return nil
	},
	"shared memory is one piece that all store to": func(c *mpi.Comm) error {
		near := nodeComm(c)
		w := near.AllocateSharedWindow(8*(1+near.Rank()), 8, nil)
		if near.Rank() > 0 {
			before, _ := w.SharedMemory(near.Rank() - 1)
			own, _ := w.SharedMemory(near.Rank())
			if len(before) != 8*near.Rank() || uintptr(unsafe.Pointer(&before[0]))+uintptr(len(before)) != uintptr(unsafe.Pointer(&own[0])) {
				return fmt.Errorf("rank %d: the memory of the ranks is not one piece", c.Rank())
			}
		}
		w.Fence(0)
		next, _ := w.SharedMemory((near.Rank() + 1) % near.Size())
		mpi.SliceOf[int64](next)[0] = int64(near.Rank())
		w.Fence(0)
		last := int64((near.Rank() + near.Size() - 1) % near.Size())
		if got := mpi.SliceOf[int64](w.Memory())[0]; got != last {
			return fmt.Errorf("rank %d: %d, want %d", c.Rank(), got, last)
		}
		w.Fence(0)
		w.Accumulate(one(int64(1)), 0, 0, 1, mpi.Int64, mpi.Sum)
		w.Fence(0)
		first, unit := w.SharedMemory(mpi.ProcNull)
		if got, want := mpi.SliceOf[int64](first)[0], int64(2*near.Size()-1); got != want || unit != 8 {
			return fmt.Errorf("rank %d: %d in units of %d, want %d", c.Rank(), got, unit, want)
		}
		w.Fence(0)
		w.Free()
		return nil
	},
	"several windows of one rank's memory": func(c *mpi.Comm) error {
		memory := make([]int32, 8)
		a, b := c.CreateWindow(mpi.BytesOf(memory), 4), c.CreateWindow(mpi.BytesOf(memory[4:]), 4)
		next := (c.Rank() + 1) % c.Size()
		a.Lock(mpi.LockExclusive, next, 0)
		b.Lock(mpi.LockExclusive, next, 0)
		a.Put(one(int32(1)), next, 0, 1, mpi.Int32)
		b.Put(one(int32(2)), next, 0, 1, mpi.Int32)
		b.Unlock(next)
		a.Unlock(next)
		b.Free()
		a.Free()
		if memory[0] != 1 || memory[4] != 2 {
			return fmt.Errorf("rank %d: %v", c.Rank(), memory)
		}
		return nil
	},
}

// nodeComm returns a communicator of the ranks on the caller's node.
func nodeComm(c *mpi.Comm) *mpi.Comm {
	h := fnv.New64a()
	h.Write([]byte(c.ProcessorName()))
	all := make([]uint64, c.Size())
	mpi.Allgather(c, []uint64{h.Sum64()}, all)
	return c.Split(slices.Index(all, h.Sum64()), 0)
}

func TestWindows(t *testing.T) {
	holdsEverywhere(t, 4, func(c *mpi.Comm) error { // one job, because processes start slowly
		for _, name := range slices.Sorted(maps.Keys(windowPrograms)) {
			if err := windowPrograms[name](c); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}
