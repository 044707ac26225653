package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// mpiRank is the record of a rank, with the communicator of each call.
type mpiRank struct {
	name               string
	calls              []mpiCall
	communicatorOfCall []*communicator // by call; nil: it has none

	nextUnresolved       int // the call that is resolved next
	communicatorByHandle map[communicatorHandle]*communicator
	unnamedCreations     []*communicatorCreation // by this rank, whose communicator no call has named yet
	creationCounts       map[*communicator]int
}

// communicator is a group of ranks in whose name calls communicate.
type communicator struct {
	id        int // its group in the workload
	ranks     []int
	creations []*communicatorCreation
}

// communicatorCreation is a collective call that makes communicators. Until all ranks have called,
// made is nil.
type communicatorCreation struct {
	calls              map[int][2]int64 // colour and key by rank
	communicatorByRank map[int]*communicator
}

// communicatorResolver finds the ranks of all communicators. A record names a communicator by a
// number of the process, and shows how it was made: by the colours and keys of all ranks.
type communicatorResolver struct {
	ranks []mpiRank
	all   []*communicator
}

func (c *communicatorResolver) addCommunicator(ranks []int) *communicator {
	x := &communicator{id: len(c.all), ranks: ranks}
	c.all = append(c.all, x)
	return x
}

// resolveCalls sets the communicator of each call.
func (c *communicatorResolver) resolveCalls() error {
	world := make([]int, len(c.ranks))
	for i := range world {
		world[i] = i
	}
	first := c.addCommunicator(world)
	for i := range c.ranks {
		r := &c.ranks[i]
		r.communicatorOfCall, r.communicatorByHandle, r.creationCounts = make([]*communicator, len(r.calls)), map[communicatorHandle]*communicator{}, map[*communicator]int{}
	}
	for progress := true; progress; {
		progress = false
		for rank := range c.ranks {
			moved, err := c.resolveCallsOfRank(rank, first)
			if err != nil {
				return err
			}
			progress = progress || moved
		}
	}
	for rank := range c.ranks {
		if r := &c.ranks[rank]; r.nextUnresolved < len(r.calls) {
			return fmt.Errorf("%s:%d: %s: its communicator is not complete: other ranks did not call what made it", r.name, r.calls[r.nextUnresolved].line, r.calls[r.nextUnresolved].name)
		}
	}
	return nil
}

// resolveCallsOfRank resolves the calls of a rank up to one whose communicator is not complete.
func (c *communicatorResolver) resolveCallsOfRank(rank int, world *communicator) (moved bool, err error) {
	r := &c.ranks[rank]
	for ; r.nextUnresolved < len(r.calls); r.nextUnresolved++ {
		call := &r.calls[r.nextUnresolved]
		form, known := callForms[call.name]
		if !known {
			return moved, fmt.Errorf("%s:%d: %s is not known to this reader", r.name, call.line, call.name)
		}
		if form.kind == localCall || form.kind == waitCall || form.kind == waitAllCall {
			moved = true
			continue
		}
		a := callArguments{mpiCall: call}
		h := a.communicator(form.communicatorArgument)
		if a.err != nil {
			return moved, fmt.Errorf("%s:%d: %w", r.name, call.line, a.err)
		}
		x, waits := c.findCommunicator(rank, h, world)
		if waits {
			return moved, nil
		}
		if x == nil {
			return moved, fmt.Errorf("%s:%d: %s: communicator %d, of %d ranks, was made by a call that this reader does not know", r.name, call.line, call.name, h.number, h.size)
		}
		r.communicatorOfCall[r.nextUnresolved] = x
		if form.kind == splitCall || form.kind == dupCall {
			if err := c.recordCreation(rank, x, form.kind, &a); err != nil {
				return moved, fmt.Errorf("%s:%d: %w", r.name, call.line, err)
			}
		}
		moved = true
	}
	return moved, nil
}

// findCommunicator returns the communicator that a rank names. It waits if the communicator may be
// one that other ranks have not made yet.
func (c *communicatorResolver) findCommunicator(rank int, h communicatorHandle, world *communicator) (x *communicator, waits bool) {
	r := &c.ranks[rank]
	if x := r.communicatorByHandle[h]; x != nil {
		return x, false
	}
	fits := func(x *communicator) bool { return len(x.ranks) == h.size && x.ranks[h.rank] == rank }
	for i, made := range r.unnamedCreations {
		if made.communicatorByRank == nil {
			return nil, true
		}
		if x := made.communicatorByRank[rank]; x != nil && fits(x) {
			r.unnamedCreations = slices.Delete(r.unnamedCreations, i, i+1)
			r.communicatorByHandle[h] = x
			return x, false
		}
	}
	switch {
	case fits(world):
		x = world
	case h.size == 1:
		x = c.addCommunicator([]int{rank})
	default:
		return nil, false
	}
	r.communicatorByHandle[h] = x
	return x, false
}

// recordCreation notes that a rank makes a communicator of the ranks of another one, and makes them
// when all have.
func (c *communicatorResolver) recordCreation(rank int, parent *communicator, kind callKind, a *callArguments) error {
	r := &c.ranks[rank]
	n := r.creationCounts[parent]
	r.creationCounts[parent]++
	if n == len(parent.creations) {
		parent.creations = append(parent.creations, &communicatorCreation{calls: map[int][2]int64{}})
	}
	made := parent.creations[n]
	var colour, key int64
	if kind == splitCall {
		colour, key = a.number(1), a.number(2)
	}
	made.calls[rank] = [2]int64{colour, key}
	r.unnamedCreations = append(r.unnamedCreations, made)
	if a.err != nil || len(made.calls) < len(parent.ranks) {
		return a.err
	}
	made.communicatorByRank = map[int]*communicator{}
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
			x := c.addCommunicator(slices.Clone(members[:n]))
			for _, m := range members[:n] {
				made.communicatorByRank[m] = x
			}
		}
		members = members[n:]
	}
	return nil
}
