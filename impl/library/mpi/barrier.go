package mpi

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Barrier returns when all ranks have called it. If the engine has no barrier of its own messages
// go up a binomial tree to rank 0 and down again, unless the job is tuned to another way, so rank 0
// leaves first; to let another rank be the root, reorder the communicator with Create.
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
		c.allreduceOnTree(0, nil, nil, nil) // on fewer frames: a job may have a million ranks
		return
	}
	r.runAlgorithm(a, j, nil, nil)
	r.raiseError()
}

var binomialBarrier = collective.AlgorithmNamed(collective.Barrier, "binomial")

// allreduceOnTree reduces and broadcasts on a binomial tree: merge folds a child's theirs into
// mine, rank 0 has the result, and mine of all ranks becomes that.
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

// receiveFromTree receives a message of convergeOnTree. With the tag 0, that of a barrier, any
// other message is an error.
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
