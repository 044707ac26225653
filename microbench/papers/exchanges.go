package papers

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/library/ccmpi"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/unit"
)

// equalSizes returns the sizes of an exchange of all ranks with all others, with equal messages.
func equalSizes(ranks, size int) [][]int {
	all := make([][]int, ranks)
	for i := range all {
		all[i] = slices.Repeat([]int{size}, ranks)
		all[i][i] = 0
	}
	return all
}

// randomSizes has one message for each ordered pair of ranks: two thirds have 64 KiB, one twelfth
// 16 KiB and one quarter 100 B, in a random order that is the same in all runs (section 4.1 of the
// thesis has 160, 20 and 60 messages of 16 ranks).
func randomSizes(ranks, _ int) [][]int {
	pairs := ranks * (ranks - 1)
	var sizes []int
	for i := range pairs {
		switch {
		case 3*i < 2*pairs:
			sizes = append(sizes, 64<<10)
		case 4*i < 3*pairs:
			sizes = append(sizes, 16<<10)
		default:
			sizes = append(sizes, 100)
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(pairs, func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	all := equalSizes(ranks, 0)
	for i := range all {
		for j := range all[i] {
			if i != j {
				all[i][j], sizes = sizes[0], sizes[1:]
			}
		}
	}
	return all
}

// alltoallv sends sizes[i][j] bytes from each rank i to each rank j, and checks the received data.
func alltoallv(pattern func(ranks, size int) [][]int, by exchangeMethod) func(c *mpi.Comm, size int) routine {
	return func(c *mpi.Comm, size int) routine {
		sizes, rank := pattern(c.Size(), size), c.Rank()
		out, in := program.NewBlocks(c.Size(), func(i int) int { return sizes[rank][i] }), program.NewBlocks(c.Size(), func(i int) int { return sizes[i][rank] })
		out.ForEachBlock(func(i int, b []byte) { fillMessage(b, rank, i) })
		call, phases := by(c, sizes, out, in)
		return routine{call: call, phases: phases, check: func() (err error) {
			want := []byte(nil)
			in.ForEachBlock(func(i int, b []byte) {
				want = slices.Grow(want[:0], len(b))[:len(b)]
				if fillMessage(want, i, rank); !bytes.Equal(b, want) {
					err = fmt.Errorf("rank %d has received other data than rank %d has sent", rank, i)
				}
			})
			return err
		}}
	}
}

// fillMessage fills in the data of a message from one rank to another.
func fillMessage(b []byte, from, to int) {
	for k := range b {
		b[k] = byte(from + 3*to + k%251)
	}
}

// ccmpiParts returns blocks as the arguments of CC-MPI's calls.
func ccmpiParts(b program.BlocksByRank) ccmpi.PartsByRank {
	return ccmpi.PartsOf(mpi.BufferOf(b.Bytes), b.Counts, b.Offsets)
}

// exchangeMethod prepares an exchange whose pattern all ranks know. If it computes a schedule
// beforehand, it returns the number of its phases.
type exchangeMethod func(c *mpi.Comm, pattern [][]int, out, in program.BlocksByRank) (call func(), phases int)

// exchangeByMPI is MPI_Alltoallv, and exchangeByDataRoutine CC-MPI's data routine without control.
func exchangeByMPI(c *mpi.Comm, _ [][]int, out, in program.BlocksByRank) (func(), int) {
	return func() {
		c.Alltoallv(mpi.BufferOf(out.Bytes), out.Counts, out.Offsets, mpi.BufferOf(in.Bytes), in.Counts, in.Offsets)
	}, 0
}

func exchangeByDataRoutine(c *mpi.Comm, _ [][]int, out, in program.BlocksByRank) (func(), int) {
	return func() { ccmpi.AlltoallvData(c, ccmpiParts(out), ccmpiParts(in)) }, 0
}

// exchangeByLevel1 gathers the pattern and computes the schedule in each call, exchangeByLevel2
// computes the schedule in each call, and exchangeByLevel3 computes it beforehand.
func exchangeByLevel1(c *mpi.Comm, _ [][]int, out, in program.BlocksByRank) (func(), int) {
	return func() {
		ccmpi.AlltoallvDataTrans2(c, ccmpi.AlltoallvControl1(c, ccmpiParts(out)), ccmpiParts(out), ccmpiParts(in))
	}, 0
}

func exchangeByLevel2(c *mpi.Comm, pattern [][]int, out, in program.BlocksByRank) (func(), int) {
	return func() {
		ccmpi.AlltoallvDataTrans2(c, ccmpi.AlltoallvControl2(c, pattern), ccmpiParts(out), ccmpiParts(in))
	}, 0
}

func exchangeByLevel3(c *mpi.Comm, pattern [][]int, out, in program.BlocksByRank) (func(), int) {
	s := ccmpi.AlltoallvControl2(c, pattern)
	return func() { ccmpi.AlltoallvDataTrans2(c, s, ccmpiParts(out), ccmpiParts(in)) }, len(s.Phases)
}

// sharedPageBytes is the size of a page of software distributed shared memory in table 4.6 of the
// thesis on CC-MPI, which does not print it. Of the powers of two it is the one that comes nearest
// to the time of 4 pages and level 1 on 16 nodes.
const sharedPageBytes = 16384

// sharedPageTime is the processor time of a page that a node writes to, which is assumed: 13,000
// cycles of 650 MHz for the fault, with a signal and two changes of protection, and 65 us at
// 250 MB/s both for the copy of the page and for finding what has changed. The thesis has neither.
const sharedPageTime = 150 * unit.Microsecond

// sharedMemory is an iteration of a program on software distributed shared memory: each node writes
// to its pages, and a barrier makes all copies consistent.
func sharedMemory(by exchangeMethod) func(c *mpi.Comm, pages int) routine {
	return func(c *mpi.Comm, pages int) routine {
		m := program.NewSharedMemory(c, sharedPageBytes, pages, func(pattern [][]int, out, in program.BlocksByRank) func() {
			call, _ := by(c, pattern, out, in)
			return call
		})
		iteration := 0
		value := func(page int) byte { return byte(7*page + iteration) }
		return routine{call: func() {
			iteration++
			from, to := m.WrittenPages()
			for p := from; p < to; p++ {
				b := m.Page(p)
				for k := range b {
					b[k] = value(p)
				}
			}
			c.Compute(sharedPageTime.Times(pages))
			m.Barrier()
		}, check: func() error {
			for p := range m.PageCount() {
				if b := m.Page(p); b[0] != value(p) || b[len(b)-1] != value(p) {
					return fmt.Errorf("page %d of rank %d is not consistent", p, c.Rank())
				}
			}
			return nil
		}}
	}
}
