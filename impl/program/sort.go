package program

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
)

var sortProgram = Program{
	Name: "sort", Description: "bucket sort of integers, as in the benchmark IS: each rank sends every other rank the numbers of that rank's range",
	SizeUnit: "numbers of each rank", Defaults: Settings{Size: 4096, Rounds: 1}, Parameters: operationParameters, Run: withoutResult(runSort),
	whyNeedsData: "how many numbers a rank sends to another depends on the numbers",
}

// keyBits is the length of the numbers.
const keyBits = 20

func runSort(c *mpi.Comm, s *Settings) error {
	keys := randomKeys(c.Rank(), s.Size)
	var err error
	for range s.Rounds {
		err = errors.Join(err, checkSorted(c, s, sortKeys(c, s, keys)))
	}
	return agreeOnError(c, err)
}

func randomKeys(rank, n int) []uint32 {
	r := rand.New(rand.NewPCG(uint64(rank), 314159))
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = (r.Uint32N(1<<keyBits) + r.Uint32N(1<<keyBits)) / 2 // not uniform, so that ranks get unequal shares
	}
	return keys
}

// ownerOf returns the rank to whose range a number belongs.
func ownerOf(key uint32, ranks int) int { return int(uint64(key) * uint64(ranks) >> keyBits) }

// sortKeys returns the numbers of all ranks in this rank's range, sorted.
func sortKeys(c *mpi.Comm, s *Settings, keys []uint32) []uint32 {
	p := c.Size()
	counts, arriving := make([]int32, p), make([]int32, p)
	for _, k := range keys {
		counts[ownerOf(k, p)]++
	}
	one := func(x []int32) mpi.Buffer { b := mpi.BufferOf(x); b.Count = 1; return b }
	c.Alltoall(one(counts), one(arriving))
	out, outAt := blockOffsets(counts)
	in, inAt := blockOffsets(arriving)
	parted, fill := make([]uint32, len(keys)), slices.Clone(outAt)
	for _, k := range keys {
		o := ownerOf(k, p)
		parted[fill[o]] = k
		fill[o]++
	}
	chargeOperations(c, s, 4*len(keys))
	mine := make([]uint32, inAt[p-1]+in[p-1])
	c.Alltoallv(mpi.BufferOf(parted), out, outAt, mpi.BufferOf(mine), in, inAt)
	slices.Sort(mine)
	chargeOperations(c, s, len(mine)*bits.Len(uint(len(mine))))
	return mine
}

// blockOffsets returns the lengths of consecutive parts and where each begins.
func blockOffsets(counts []int32) (lengths, at []int) {
	next := 0
	for _, n := range counts {
		lengths, at = append(lengths, int(n)), append(at, next)
		next += int(n)
	}
	return lengths, at
}

// checkSorted checks the order, the range and the values of the numbers.
func checkSorted(c *mpi.Comm, s *Settings, mine []uint32) error {
	if !slices.IsSorted(mine) {
		return resultError(c, "the numbers are not in order")
	}
	var want []uint32
	for r := range c.Size() {
		for _, k := range randomKeys(r, s.Size) {
			if ownerOf(k, c.Size()) == c.Rank() {
				want = append(want, k)
			}
		}
	}
	slices.Sort(want)
	if !slices.Equal(mine, want) {
		return resultError(c, "it has %d numbers that are not the %d of its range", len(mine), len(want))
	}
	return nil
}
