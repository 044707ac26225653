package main

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// traceProgram is a small program whose course is worth seeing.
type traceProgram struct {
	name, what string
	pair       bool // it runs between two ranks, else among all
	run        func(c *mpi.Comm, w workload)
}

// workload is how much a program does.
type workload struct {
	pair    [2]int
	bytes   int
	rounds  int
	compute unit.Time
}

// tracePrograms are all of them.
var tracePrograms = []traceProgram{
	{"pingpong", "a message there and one back, between two ranks", true, pingpong},
	{"overlap", "a send that does not block, behind which its rank computes", true, overlap},
	{"barrier", "all ranks wait for each other", false, barrier},
	{"exchange", "each rank sends to the one before it and to the one behind it, all at once", false, exchange},
	{"contend", "the first half of the ranks sends to the second half, all at once", false, contend},
	{"ring", "a message goes round all ranks", false, ring},
}

func programNames() []string {
	var names []string
	for _, p := range tracePrograms {
		names = append(names, p.name)
	}
	return names
}

// programNamed returns a program, or an error that names those that there are.
func programNamed(name string) (traceProgram, error) {
	for _, p := range tracePrograms {
		if p.name == name {
			return p, nil
		}
	}
	return traceProgram{}, fmt.Errorf("--program: there is no program %q: there are %s", name, strings.Join(programNames(), ", "))
}

func pingpong(c *mpi.Comm, w workload) {
	b := make([]byte, w.bytes)
	for range w.rounds {
		switch c.Rank() {
		case w.pair[0]:
			mpi.Send(c, b, w.pair[1], 0)
			mpi.Recv(c, b, w.pair[1], 0)
		case w.pair[1]:
			mpi.Recv(c, b, w.pair[0], 0)
			mpi.Send(c, b, w.pair[0], 0)
		}
	}
}

func overlap(c *mpi.Comm, w workload) {
	b := make([]byte, w.bytes)
	for range w.rounds {
		switch c.Rank() {
		case w.pair[0]:
			r := mpi.Isend(c, b, w.pair[1], 0)
			c.Compute(w.compute)
			r.Wait()
		case w.pair[1]:
			mpi.Recv(c, b, w.pair[0], 0)
		}
	}
}

func barrier(c *mpi.Comm, w workload) {
	for range w.rounds {
		c.Barrier()
	}
}

func exchange(c *mpi.Comm, w workload) {
	before, behind := (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
	for range w.rounds {
		mpi.WaitAll([]mpi.Request{
			mpi.Irecv(c, make([]byte, w.bytes), before, 0), mpi.Irecv(c, make([]byte, w.bytes), behind, 1),
			mpi.Isend(c, make([]byte, w.bytes), behind, 0), mpi.Isend(c, make([]byte, w.bytes), before, 1),
		}, nil)
	}
}

func contend(c *mpi.Comm, w workload) {
	half := c.Size() / 2
	b := make([]byte, w.bytes)
	for range w.rounds {
		switch {
		case c.Rank() < half:
			mpi.Send(c, b, c.Rank()+half, 0)
		case c.Rank() < 2*half:
			mpi.Recv(c, b, c.Rank()-half, 0)
		}
	}
}

func ring(c *mpi.Comm, w workload) {
	b := make([]byte, w.bytes)
	before, behind := (c.Rank()+c.Size()-1)%c.Size(), (c.Rank()+1)%c.Size()
	for range w.rounds {
		if c.Rank() == 0 {
			mpi.Send(c, b, behind, 0)
			mpi.Recv(c, b, before, 0)
			continue
		}
		mpi.Recv(c, b, before, 0)
		mpi.Send(c, b, behind, 0)
	}
}
