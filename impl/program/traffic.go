package program

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Traffic is a pattern in which ranks send messages of one length to others, again and again, to
// see what a network carries. Each sender keeps some messages under way.
type Traffic struct {
	Name, What string

	targets func(s Load, ranks int) []int // whom each rank sends to; itself: nobody
}

// Load is how much traffic there is.
type Load struct {
	Size   int // bytes of a message
	Rounds int // messages of each sender
	Stride int // of shift
	Root   int // of incast
	Seed   uint64
}

// UsualLoad is a load whose start and end are a small part of the run time.
var UsualLoad = Load{Size: 64 << 10, Rounds: 50, Stride: 1}

// Patterns are all kinds of traffic.
var Patterns = []*Traffic{
	{"shift", "each rank sends to the rank --stride further on, all at once", func(s Load, ranks int) []int {
		return targets(ranks, func(rank int) int { return ((rank+s.Stride)%ranks + ranks) % ranks })
	}},
	{"incast", "all ranks send to rank --root at once", func(s Load, ranks int) []int {
		return targets(ranks, func(int) int { return s.Root })
	}},
	{"permutation", "each rank sends to another, by a random permutation of --seed, all at once", func(s Load, ranks int) []int {
		to := targets(ranks, func(rank int) int { return rank })
		r := rand.New(rand.NewPCG(s.Seed, 1))
		for i := ranks - 1; i > 0; i-- { // one cycle, so that nobody keeps its place: Sattolo 1986
			j := r.IntN(i)
			to[i], to[j] = to[j], to[i]
		}
		return to
	}},
}

// PatternNamed returns the traffic of a name, or nil.
func PatternNamed(name string) *Traffic {
	i := slices.IndexFunc(Patterns, func(t *Traffic) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return Patterns[i]
}

func targets(ranks int, of func(rank int) int) []int {
	to := make([]int, ranks)
	for rank := range to {
		to[rank] = of(rank)
	}
	return to
}

// Check returns an error if the traffic has no flow among so many ranks.
func (t *Traffic) Check(s Load, ranks int) error {
	switch {
	case ranks < 2:
		return fmt.Errorf("%s needs two ranks or more", t.Name)
	case t.Name == "incast" && (s.Root < 0 || s.Root >= ranks):
		return fmt.Errorf("--root %d: there are ranks 0 to %d", s.Root, ranks-1)
	case t.Name == "shift" && s.Stride%ranks == 0:
		return fmt.Errorf("--stride %d: with %d ranks each would send to itself", s.Stride, ranks)
	case s.Size > mostMemory/(2*underWay*ranks):
		return fmt.Errorf("--size %d: the messages of %d ranks that are under way would take more than %d bytes of memory", s.Size, ranks, mostMemory)
	}
	return nil
}

const (
	underWay   = 4       // messages of a flow, at most
	mostMemory = 2 << 30 // bytes of all ranks' messages that are under way
)

// Run lets the calling rank take part, and returns all flows at rank 0.
func (t *Traffic) Run(c *mpi.Comm, s Load) ([]model.Flow, error) {
	to := t.targets(s, c.Size())
	me := c.Rank()
	var sources []int
	for rank, dst := range to {
		if dst == me && rank != me {
			sources = append(sources, rank)
		}
	}
	window := min(underWay, s.Rounds)
	out, in := buffers(window, s.Size), make([][][]byte, len(sources))
	sends, receives := make([]mpi.Request, window), make([][]mpi.Request, len(sources))
	for i, src := range sources {
		in[i], receives[i] = buffers(window, s.Size), make([]mpi.Request, window)
		for k := range window {
			receives[i][k] = mpi.Irecv(c, in[i][k], src, 0)
		}
	}
	c.Barrier()
	begin, bad := c.Wtime(), error(nil)
	times := make([]int64, len(sources))
	for round := range s.Rounds {
		k := round % window
		if to[me] != me {
			if round >= window {
				sends[k].Wait()
			}
			mark(out[k], round)
			sends[k] = mpi.Isend(c, out[k], to[me], 0)
		}
		for i, src := range sources {
			receives[i][k].Wait()
			if bad == nil && !marked(in[i][k], round) {
				bad = wrong(c, "message %d of rank %d is another", round, src)
			}
			switch {
			case round+window < s.Rounds:
				receives[i][k] = mpi.Irecv(c, in[i][k], src, 0)
			case round == s.Rounds-1:
				times[i] = int64(c.Wtime() - begin)
			}
		}
	}
	if to[me] != me {
		mpi.WaitAll(sends, nil)
	}
	return t.gather(c, to, s, times), agreed(c, bad)
}

// gather collects the flows at rank 0.
func (t *Traffic) gather(c *mpi.Comm, to []int, s Load, times []int64) (all []model.Flow) {
	if c.Rank() != 0 {
		if len(times) > 0 {
			mpi.Send(c, mpi.Raw(times), 0, 1)
		}
		return nil
	}
	received := make(map[int][]int64)
	for src, dst := range to {
		if src != dst {
			received[dst] = append(received[dst], 0)
		}
	}
	for dst := range c.Size() {
		switch {
		case dst == 0:
			copy(received[dst], times)
		case received[dst] != nil:
			mpi.Recv(c, mpi.Raw(received[dst]), dst, 1)
		}
	}
	for src, dst := range to {
		if src != dst {
			all = append(all, model.Flow{Src: src, Dst: dst, Bytes: s.Size * s.Rounds, Time: unit.Time(received[dst][0])})
			received[dst] = received[dst][1:]
		}
	}
	return all
}

func buffers(n, size int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = make([]byte, size)
	}
	return all
}

// mark and marked say which message of a flow it is.
func mark(b []byte, round int) {
	for i := range min(8, len(b)) {
		b[i] = byte(round >> (8 * i))
	}
}

func marked(b []byte, round int) bool {
	want := make([]byte, min(8, len(b)))
	mark(want, round)
	return slices.Equal(b[:len(want)], want)
}
