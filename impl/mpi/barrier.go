package mpi

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Barrier returns when all ranks have called it. Messages go up a binomial tree to rank 0 and down again, unless the job is tuned to another way, so rank 0
// leaves first; to let another rank be the root, reorder the communicator with Create.
func (c *Comm) Barrier() {
	c.enter("Barrier")
	c.intra()
	r := c.round(collective.Barrier, 0, Byte)
	j := collective.Job{Ranks: c.size}
	a := r.choose(&j)
	if a == binomial {
		c.converge(nil, nil, nil) // on fewer frames: a job may have a million ranks
		return
	}
	r.carry(a, j, nil, nil)
}

var binomial = collective.Named(collective.Barrier, "binomial")

// converge brings every rank's mine up to rank 0, where merge has folded each child's theirs into mine, and what became
// of it back to all.
func (c *Comm) converge(mine, theirs []byte, merge func()) {
	mask := 1
	for ; mask < c.size && c.rank&mask == 0; mask <<= 1 {
		if child := c.rank | mask; child < c.size {
			c.inner(theirs, child)
			if merge != nil {
				merge()
			}
		}
	}
	if c.rank != 0 {
		c.e.Send(model.Standard, mine, 0, c.world(c.rank^mask), c.context+1, 0)
		c.inner(mine, c.rank^mask)
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if child := c.rank | mask; child < c.size {
			c.e.Send(model.Standard, mine, 0, c.world(child), c.context+1, 0)
		}
	}
}

// inner receives in an operation of this file, whose messages have the tag of Barrier.
func (c *Comm) inner(b []byte, src int) {
	if got := c.e.Recv(b, 0, c.world(src), c.context+1, AnyTag); got.Tag != 0 {
		c.differs(got, 0)
	}
}
