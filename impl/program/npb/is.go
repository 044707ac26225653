package npb

import (
	"fmt"

	"github.com/loggp/loggp/impl/library/mpi"
)

var isBenchmark = Benchmark{
	Name: "npb-is", Description: "integer sort: keys are ranked by buckets; a sum and two exchanges of all ranks with all", Classes: "SWA", Run: runIS,
}

const (
	isIterations = 10
	isTestedKeys = 5
	isSeed       = 314159265
)

// isClass is a class of IS: 2^keys keys below 2^largest in 2^buckets buckets. The key at place
// index[i] of all has rank rank[i] + step[i]·(iteration − late[i]).
type isClass struct {
	keys, largest, buckets             int
	index, rank, step, iterationOffset [isTestedKeys]int
}

// isRank is a rank's part of the problem.
type isRank struct {
	comm             *mpi.Comm
	s                Settings
	class            isClass
	keys             []int32
	bucketSizes      []int32 // of the rank's buckets, and the keys whose ranks are known
	totalBucketSizes []int32 // the same of all ranks

	receivedKeys     []int32 // keys of the rank's buckets
	receiveBuffer    []int32
	keysUpToValue    []int32 // for each value from least on the number of keys up to it
	smallestValue    int     // possible value of a key of the rank
	keysOfLowerRanks int     // keys of lower ranks
	passedTests      int
	keysInBuckets    []int32
	sendCounts       []int32
	sendN, at        []int
	fromN, from      []int
}

// runIS is the kernel of RNR-94-007, section 2.2.5, with the buckets of NPB 2 and later.
func runIS(c *mpi.Comm, s Settings) (Result, error) {
	// Indices and ranks: is.c of NPB 3.4.
	k, err := classOf(s, "npb-is",
		isClass{16, 11, 9, [5]int{48427, 17148, 23627, 62548, 4431}, [5]int{0, 18, 346, 64917, 65463}, [5]int{1, 1, 1, -1, -1}, [5]int{}},
		isClass{20, 16, 10, [5]int{357773, 934767, 875723, 898999, 404505}, [5]int{1249, 11698, 1039987, 1043896, 1048018}, [5]int{1, 1, -1, -1, -1}, [5]int{2, 2, 0, 0, 0}},
		isClass{23, 19, 10, [5]int{2112377, 662041, 5336171, 3642833, 4250760}, [5]int{104, 17523, 123928, 8288932, 8388264}, [5]int{1, 1, 1, -1, -1}, [5]int{1, 1, 1, 1, 1}})
	if err != nil {
		return Result{}, err
	}
	if _, err := log2Ranks(c, "npb-is", 1<<k.buckets); err != nil {
		return Result{}, err
	}
	n := c.Size()
	y := &isRank{comm: c, s: s, class: k, keys: make([]int32, 1<<k.keys/n), bucketSizes: make([]int32, 1<<k.buckets+isTestedKeys), totalBucketSizes: make([]int32, 1<<k.buckets+isTestedKeys),
		sendCounts: make([]int32, n), sendN: make([]int, n), at: make([]int, n), fromN: make([]int, n), from: make([]int, n)}
	y.receiveBuffer, y.keysInBuckets = make([]int32, 2*len(y.keys)+1<<k.buckets), make([]int32, len(y.keys))
	y.generateKeys()
	y.rankAllKeys(1)
	y.passedTests = 0
	time := timeSection(c, func() {
		for i := 1; i <= isIterations; i++ {
			y.rankAllKeys(i)
		}
	})
	if y.isSorted() {
		y.passedTests++
	}
	all := make([]int32, 1)
	mpi.Allreduce(c, []int32{int32(y.passedTests)}, all, mpi.Sum)
	return Result{
		Class: s.classLetter(), Size: fmt.Sprint(1 << k.keys), Iterations: isIterations, Time: time,
		Operations: isIterations * float64(int(1)<<k.keys), OperationKind: "keys ranked", IsVerified: int(all[0]) == isIterations*isTestedKeys+n,
	}, nil
}

// generateKeys makes the rank's keys: the sum of four random numbers each.
func (y *isRank) generateKeys() {
	r := randomNumbers{isSeed}
	r.skipNumbers(4 * len(y.keys) * y.comm.Rank())
	quarter := float64(int(1) << y.class.largest / 4)
	for i := range y.keys {
		y.keys[i] = int32(quarter * (r.nextNumber() + r.nextNumber() + r.nextNumber() + r.nextNumber()))
	}
}

// rankAllKeys ranks all keys: each rank gets those of its buckets and counts them.
func (y *isRank) rankAllKeys(iteration int) {
	if y.comm.Rank() == 0 {
		y.keys[iteration] = int32(iteration)
		y.keys[iteration+isIterations] = int32(1<<y.class.largest - iteration)
	}
	y.fillBuckets()
	mpi.Allreduce(y.comm, y.bucketSizes, y.totalBucketSizes, mpi.Sum)
	first, end := y.distributeKeys()
	for i, n := range y.sendN {
		y.sendCounts[i] = int32(n)
	}
	got := make([]int32, len(y.sendCounts))
	mpi.Alltoall(y.comm, y.sendCounts, got)
	sum := 0
	for i, n := range got {
		y.fromN[i], y.from[i] = int(n), sum
		sum += int(n)
	}
	if len(y.receiveBuffer) < sum {
		y.receiveBuffer = make([]int32, sum)
	}
	y.receivedKeys = y.receiveBuffer[:sum]
	y.comm.Alltoallv(mpi.BufferOf(y.keysInBuckets), y.sendN, y.at, mpi.BufferOf(y.receivedKeys), y.fromN, y.from)
	y.rankKeys(first, end)
	y.testRanks(iteration)
}

func (y *isRank) bucketShift() int { return y.class.largest - y.class.buckets }

// fillBuckets sorts the rank's keys into buckets and counts them.
func (y *isRank) fillBuckets() {
	clear(y.bucketSizes)
	for i, at := range y.class.index {
		if at/len(y.keys) == y.comm.Rank() {
			y.bucketSizes[1<<y.class.buckets+i] = y.keys[at%len(y.keys)]
		}
	}
	for _, k := range y.keys {
		y.bucketSizes[k>>y.bucketShift()]++
	}
	next := make([]int32, 1<<y.class.buckets)
	for i := 1; i < len(next); i++ {
		next[i] = next[i-1] + y.bucketSizes[i-1]
	}
	for _, k := range y.keys {
		b := k >> y.bucketShift()
		y.keysInBuckets[next[b]] = k
		next[b]++
	}
	y.s.chargeOperations(y.comm, 5*len(y.keys)+len(next))
}

// distributeKeys gives each rank the next buckets, until the ranks so far have their share of all
// keys. It returns this rank's buckets, from first to end−1.
func (y *isRank) distributeKeys() (first, end int) {
	to, all, mine, sent, begin := 0, 0, 0, 0, 0
	clear(y.sendN)
	for b := range 1 << y.class.buckets {
		all, mine = all+int(y.totalBucketSizes[b]), mine+int(y.bucketSizes[b])
		if all < (to+1)*len(y.keys) {
			continue
		}
		y.sendN[to], y.at[to] = mine, sent
		if to == y.comm.Rank() {
			first, end, y.keysOfLowerRanks = begin, b+1, 0
		}
		sent, mine, begin = sent+mine, 0, b+1
		to++
	}
	for ; to < len(y.at); to++ {
		y.at[to] = sent
	}
	for b := range first {
		y.keysOfLowerRanks += int(y.totalBucketSizes[b])
	}
	y.s.chargeOperations(y.comm, 4<<y.class.buckets)
	return first, end
}

// rankKeys counts the keys of the rank's buckets: the rank of a key is the number of those before
// it.
func (y *isRank) rankKeys(first, end int) {
	y.smallestValue = first << y.bucketShift()
	values := (end - first) << y.bucketShift()
	if cap(y.keysUpToValue) < values {
		y.keysUpToValue = make([]int32, values)
	}
	y.keysUpToValue = y.keysUpToValue[:values]
	clear(y.keysUpToValue)
	for _, k := range y.receivedKeys {
		y.keysUpToValue[int(k)-y.smallestValue]++
	}
	for i := 1; i < values; i++ {
		y.keysUpToValue[i] += y.keysUpToValue[i-1]
	}
	y.s.chargeOperations(y.comm, 2*len(y.receivedKeys)+2*values)
}

// testRanks compares the ranks that are known.
func (y *isRank) testRanks(iteration int) {
	for i, want := range y.class.rank {
		k := int(y.totalBucketSizes[1<<y.class.buckets+i]) - y.smallestValue
		if k < 0 || k >= len(y.keysUpToValue) {
			continue
		}
		got := y.keysOfLowerRanks
		if k > 0 {
			got += int(y.keysUpToValue[k-1])
		}
		if got == want+y.class.step[i]*(iteration-y.class.iterationOffset[i]) {
			y.passedTests++
		}
	}
}

// isSorted puts the rank's keys at their places and says whether they are in order, also with the
// last key of the rank before.
func (y *isRank) isSorted() bool {
	keys := make([]int32, len(y.receivedKeys))
	for _, k := range y.receivedKeys {
		i := &y.keysUpToValue[int(k)-y.smallestValue]
		*i--
		keys[*i] = k
	}
	last, before := []int32{0}, []int32{0}
	if len(keys) > 0 {
		last[0] = keys[len(keys)-1]
	}
	var r mpi.Request
	if y.comm.Rank() > 0 {
		r = mpi.Irecv(y.comm, before, y.comm.Rank()-1, 0)
	}
	if y.comm.Rank() < y.comm.Size()-1 {
		mpi.Send(y.comm, last, y.comm.Rank()+1, 0)
	}
	if y.comm.Rank() > 0 {
		r.Wait()
		if len(keys) > 0 && before[0] > keys[0] {
			return false
		}
	}
	for i := 1; i < len(keys); i++ {
		if keys[i] < keys[i-1] {
			return false
		}
	}
	return true
}
