package mpi

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Barrier returns when all ranks of c have called it (MPI_Barrier). An engine with a barrier of its
// own carries it out. Otherwise messages go up a binomial tree to rank 0 and down again, unless the
// job's tuning selects another algorithm. In the tree rank 0 leaves first. To make another rank the
// root, reorder the communicator with Create.
func (c *Comm) Barrier() {
	c.enterCall("Barrier")
	c.checkIntra()
	r := c.newCollectiveOperation(collective.Barrier, 0, Byte)
	if r.runLibraryMethod(func(o Collectives, k *CollectiveCall) bool { return o.Barrier(k) }) {
		return
	}
	if !r.tuningTable().HasOwnRule(collective.Barrier) && c.engine.Barrier(c.size, c.rank, c.jobRank) {
		return
	}
	j := collective.Job{Ranks: c.size}
	a := r.chooseAlgorithm(&j)
	if a == binomialBarrier {
		c.allreduceOnTree(0, nil, nil, nil) // avoids stack frames: a job may have a million ranks
		return
	}
	r.runAlgorithm(a, &j, nil, nil)
	r.raiseError()
}

var binomialBarrier = collective.AlgorithmNamed(collective.Barrier, "binomial")

// allreduceOnTree reduces to rank 0 and broadcasts, both on one binomial tree. A rank receives the
// value of each child into theirs and calls merge, which combines theirs into mine. At the end mine
// holds the result on all ranks.
func (c *Comm) allreduceOnTree(tag int, mine, theirs []byte, merge func()) {
	mask := 1
	for ; mask < c.size && c.rank&mask == 0; mask <<= 1 {
		if child := c.rank | mask; child < c.size {
			c.receiveFromTree(theirs, child, tag)
			if merge != nil {
				merge()
			}
		}
	}
	if c.rank != 0 {
		c.engine.Send(model.StandardMode, mine, 0, c.jobRank(c.rank^mask), c.context+1, tag)
		c.receiveFromTree(mine, c.rank^mask, tag)
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if child := c.rank | mask; child < c.size {
			c.engine.Send(model.StandardMode, mine, 0, c.jobRank(child), c.context+1, tag)
		}
	}
}

// receiveFromTree receives a message of allreduceOnTree. If tag is 0, the tag of a barrier, a
// message with another tag is an error.
func (c *Comm) receiveFromTree(b []byte, src, tag int) {
	want := tag
	if tag == 0 {
		want = AnyTag
	}
	got := c.engine.Recv(b, 0, c.jobRank(src), c.context+1, want)
	if got.Tag != tag {
		c.failMismatch(got, tag)
	}
	if got.Err != nil {
		panic(got.Err)
	}
}
