package mpi

import "github.com/loggp/loggp/model/collective"

// Tune sets by which algorithms the collective operations of this communicator are carried out from now on, instead of the job's table: all ranks call
// it, with the same rules. nil brings the job's back. Communicators that are made of this one know nothing of it.
func (c *Comm) Tune(rules []collective.Rule) {
	c.enter("Tune")
	c.extra().tuning = nil
	if rules != nil {
		c.more.tuning = collective.Tuned(rules)
	}
}

// tuning returns the table by which the communicator's operations choose their algorithms.
func (c *Comm) tuning() *collective.Tuning {
	if c.more != nil && c.more.tuning != nil {
		return c.more.tuning
	}
	return c.own.tuning
}
