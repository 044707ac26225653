package mpi_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// Two ranks of a node of the torus have the name of it, and its timer; ranks on this machine have
// the same name, and some clock.
func TestWhereabouts(t *testing.T) {
	if v, sub := mpi.Version(); v != 1 || sub != 2 {
		t.Errorf("version %d.%d", v, sub)
	}
	names := make([]string, 4)
	w, o := t3d(t, 4)
	holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
		names[c.Rank()] = c.ProcessorName()
		if tick := c.Wtick(); tick != machine().Timer {
			return fmt.Errorf("the clock has steps of %v, not of %v", tick, machine().Timer)
		}
		return nil
	}))
	if want := "torus, node 0;torus, node 0;torus, node 1;torus, node 1"; strings.Join(names, ";") != want {
		t.Errorf("the ranks are on %q", names)
	}
	locally(t, 2, func(c *mpi.Comm) error {
		name := []byte(c.ProcessorName())
		mpi.Bcast(c, name, 0)
		if tick := c.Wtick(); string(name) != c.ProcessorName() || tick <= 0 || tick > unit.Millisecond {
			return fmt.Errorf("rank %d is on %q, rank 0 on %q; a tick is %v", c.Rank(), c.ProcessorName(), name, tick)
		}
		return nil
	})
}

func TestInitialized(t *testing.T) {
	var kept *mpi.Comm
	if kept.Initialized() {
		t.Error("no communicator can be used")
	}
	locally(t, 1, func(c *mpi.Comm) error {
		if kept = c; !c.Initialized() || !c.Dup().Initialized() {
			return errors.New("the communicator cannot be used")
		}
		return nil
	})
	if kept.Initialized() {
		t.Error("it can be used after the end")
	}
}

// Who aborts ends all, those that wait as well.
func TestAbort(t *testing.T) {
	everywhere(t, 3, func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			c.Abort(42)
		}
		c.Barrier()
		return nil
	}, func(t *testing.T, err error) {
		var e *mpi.AbortError
		if !errors.As(err, &e) || *e != (mpi.AbortError{Rank: 1, Code: 42}) || !strings.Contains(err.Error(), "rank 1: Abort: the program ends the job with code 42") {
			t.Errorf("Run returned %v", err)
		}
	})
}
