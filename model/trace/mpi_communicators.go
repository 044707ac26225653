package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// mpiRank is the record of a rank, with the communicator of each call.
type mpiRank struct {
	name  string
	calls []mpiCall
	of    []*communicator // by call; nil: it has none

	at       int // the call that is resolved next
	numbers  map[handle]*communicator
	made     []*creation // by this rank, whose communicator no call has named yet
	creating map[*communicator]int
}

// communicator is a group of ranks in whose name calls communicate.
type communicator struct {
	id        int // its group in the workload
	ranks     []int
	creations []*creation
}

// creation is a collective call that makes communicators. Until all ranks have called, made is nil.
type creation struct {
	calls map[int][2]int64 // colour and key by rank
	made  map[int]*communicator
}

// communicators finds the ranks of all communicators. A record names a communicator by a number of
// the process, and shows how it was made: by the colours and keys of all ranks.
type communicators struct {
	ranks []mpiRank
	all   []*communicator
}

func (c *communicators) add(ranks []int) *communicator {
	x := &communicator{id: len(c.all), ranks: ranks}
	c.all = append(c.all, x)
	return x
}

// resolve sets the communicator of each call.
func (c *communicators) resolve() error {
	world := make([]int, len(c.ranks))
	for i := range world {
		world[i] = i
	}
	first := c.add(world)
	for i := range c.ranks {
		r := &c.ranks[i]
		r.of, r.numbers, r.creating = make([]*communicator, len(r.calls)), map[handle]*communicator{}, map[*communicator]int{}
	}
	for progress := true; progress; {
		progress = false
		for rank := range c.ranks {
			moved, err := c.advance(rank, first)
			if err != nil {
				return err
			}
			progress = progress || moved
		}
	}
	for rank := range c.ranks {
		if r := &c.ranks[rank]; r.at < len(r.calls) {
			return fmt.Errorf("%s:%d: %s: its communicator is not complete: other ranks did not call what made it", r.name, r.calls[r.at].line, r.calls[r.at].name)
		}
	}
	return nil
}

// advance resolves the calls of a rank up to one whose communicator is not complete.
func (c *communicators) advance(rank int, world *communicator) (moved bool, err error) {
	r := &c.ranks[rank]
	for ; r.at < len(r.calls); r.at++ {
		call := &r.calls[r.at]
		form, known := callForms[call.name]
		if !known {
			return moved, fmt.Errorf("%s:%d: %s is not known to this reader", r.name, call.line, call.name)
		}
		if form.kind == localCall || form.kind == waitCall || form.kind == waitAllCall {
			moved = true
			continue
		}
		a := callArguments{mpiCall: call}
		h := a.communicator(form.communicator)
		if a.err != nil {
			return moved, fmt.Errorf("%s:%d: %w", r.name, call.line, a.err)
		}
		x, waits := c.find(rank, h, world)
		if waits {
			return moved, nil
		}
		if x == nil {
			return moved, fmt.Errorf("%s:%d: %s: communicator %d, of %d ranks, was made by a call that this reader does not know", r.name, call.line, call.name, h.number, h.size)
		}
		r.of[r.at] = x
		if form.kind == splitCall || form.kind == dupCall {
			if err := c.create(rank, x, form.kind, &a); err != nil {
				return moved, fmt.Errorf("%s:%d: %w", r.name, call.line, err)
			}
		}
		moved = true
	}
	return moved, nil
}

// find returns the communicator that a rank names. It waits if the communicator may be one that
// other ranks have not made yet.
func (c *communicators) find(rank int, h handle, world *communicator) (x *communicator, waits bool) {
	r := &c.ranks[rank]
	if x := r.numbers[h]; x != nil {
		return x, false
	}
	fits := func(x *communicator) bool { return len(x.ranks) == h.size && x.ranks[h.rank] == rank }
	for i, made := range r.made {
		if made.made == nil {
			return nil, true
		}
		if x := made.made[rank]; x != nil && fits(x) {
			r.made = slices.Delete(r.made, i, i+1)
			r.numbers[h] = x
			return x, false
		}
	}
	switch {
	case fits(world):
		x = world
	case h.size == 1:
		x = c.add([]int{rank})
	default:
		return nil, false
	}
	r.numbers[h] = x
	return x, false
}

// create notes that a rank makes a communicator of the ranks of another one, and makes them when
// all have.
func (c *communicators) create(rank int, parent *communicator, kind callKind, a *callArguments) error {
	r := &c.ranks[rank]
	n := r.creating[parent]
	r.creating[parent]++
	if n == len(parent.creations) {
		parent.creations = append(parent.creations, &creation{calls: map[int][2]int64{}})
	}
	made := parent.creations[n]
	var colour, key int64
	if kind == splitCall {
		colour, key = a.number(1), a.number(2)
	}
	made.calls[rank] = [2]int64{colour, key}
	r.made = append(r.made, made)
	if a.err != nil || len(made.calls) < len(parent.ranks) {
		return a.err
	}
	made.made = map[int]*communicator{}
	members := slices.Clone(parent.ranks)
	slices.SortStableFunc(members, func(a, b int) int {
		x, y := made.calls[a], made.calls[b]
		return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1]))
	})
	for len(members) > 0 {
		colour := made.calls[members[0]][0]
		n := 1
		for n < len(members) && made.calls[members[n]][0] == colour {
			n++
		}
		if colour >= 0 { // MPI_UNDEFINED is negative: these ranks get none
			x := c.add(slices.Clone(members[:n]))
			for _, m := range members[:n] {
				made.made[m] = x
			}
		}
		members = members[n:]
	}
	return nil
}
