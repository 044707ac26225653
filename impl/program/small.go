package program

import (
	"fmt"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// SmallProgram is a program of few messages, whose steps are worth seeing.
type SmallProgram struct {
	Name, Help string
	IsPair     bool // it runs between two ranks; otherwise among all
	Run        func(c *mpi.Comm, w SmallWorkload)
}

// SmallWorkload is how much a small program does.
type SmallWorkload struct {
	Pair    [2]int    // ranks
	Bytes   int       // of a message
	Rounds  int       // repetitions
	Compute unit.Time // that overlaps with a message
}

// SmallPrograms are all small programs.
var SmallPrograms = []SmallProgram{
	{"pingpong", "a message there and one back, between two ranks", true, runPingPong},
	{"overlap", "a send that does not block, behind which its rank computes", true, runOverlap},
	{"barrier", "all ranks wait for each other", false, runBarrier},
	{"exchange", "each rank sends to the one before it and to the one behind it, all at once", false, runExchange},
	{"contend", "the first half of the ranks sends to the second half, all at once", false, runContention},
	{"ring", "a message goes round all ranks", false, runSmallRing},
}

// SmallProgramNames are the names of all small programs.
func SmallProgramNames() []string {
	var names []string
	for _, p := range SmallPrograms {
		names = append(names, p.Name)
	}
	return names
}

// SmallProgramNamed returns a small program, or an error that names those that there are.
func SmallProgramNamed(name string) (SmallProgram, error) {
	for _, p := range SmallPrograms {
		if p.Name == name {
			return p, nil
		}
	}
	return SmallProgram{}, fmt.Errorf("there is no program %q%s", name, table.NameChoices(name, SmallProgramNames()))
}

func runPingPong(c *mpi.Comm, w SmallWorkload) {
	b := make([]byte, w.Bytes)
	for range w.Rounds {
		switch c.Rank() {
		case w.Pair[0]:
			mpi.Send(c, b, w.Pair[1], 0)
			mpi.Recv(c, b, w.Pair[1], 0)
		case w.Pair[1]:
			mpi.Recv(c, b, w.Pair[0], 0)
			mpi.Send(c, b, w.Pair[0], 0)
		}
	}
}

func runOverlap(c *mpi.Comm, w SmallWorkload) {
	b := make([]byte, w.Bytes)
	for range w.Rounds {
		switch c.Rank() {
		case w.Pair[0]:
			r := mpi.Isend(c, b, w.Pair[1], 0)
			c.Compute(w.Compute)
			r.Wait()
		case w.Pair[1]:
			mpi.Recv(c, b, w.Pair[0], 0)
		}
	}
}

func runBarrier(c *mpi.Comm, w SmallWorkload) {
	for range w.Rounds {
		c.Barrier()
	}
}

func runExchange(c *mpi.Comm, w SmallWorkload) {
	before, behind := (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
	for range w.Rounds {
		mpi.WaitAll([]mpi.Request{
			mpi.Irecv(c, make([]byte, w.Bytes), before, 0), mpi.Irecv(c, make([]byte, w.Bytes), behind, 1),
			mpi.Isend(c, make([]byte, w.Bytes), behind, 0), mpi.Isend(c, make([]byte, w.Bytes), before, 1),
		}, nil)
	}
}

func runContention(c *mpi.Comm, w SmallWorkload) {
	half := c.Size() / 2
	b := make([]byte, w.Bytes)
	for range w.Rounds {
		switch {
		case c.Rank() < half:
			mpi.Send(c, b, c.Rank()+half, 0)
		case c.Rank() < 2*half:
			mpi.Recv(c, b, c.Rank()-half, 0)
		}
	}
}

func runSmallRing(c *mpi.Comm, w SmallWorkload) {
	b := make([]byte, w.Bytes)
	before, behind := (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
	for range w.Rounds {
		if c.Rank() == 0 {
			mpi.Send(c, b, behind, 0)
			mpi.Recv(c, b, before, 0)
			continue
		}
		mpi.Recv(c, b, before, 0)
		mpi.Send(c, b, behind, 0)
	}
}
