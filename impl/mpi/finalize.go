package mpi

import "github.com/loggp/loggp/impl/engine"

// finalize ends a rank's communication. Nothing of it may be left.
func (c *Comm) finalize() {
	c.e.Enter("Finalize")
	if n, first := c.e.Unfinished(); n > 0 {
		c.e.Fail(engine.ErrRequest, "%d %s neither completed nor freed; the first waits for %s", n, plural(n, "request was", "requests were"), c.own.waitsFor(first))
	}
	if n, m := c.e.Finalize(); n > 0 {
		c.e.Fail(engine.ErrOther, "%d %s not received; the first is from %s with tag %d, of %d bytes",
			n, plural(n, "message was", "messages were"), c.own.named(m.Source, m.Context), m.Tag, m.Bytes)
	}
	c.e.Enter("")
}
