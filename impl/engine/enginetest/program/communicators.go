package program

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/collective"
)

// Steps that create communicators in random programs.

// addCommunicator adds a communicator of groups.
func (w *generator) addCommunicator(i *action, groups ...[]int) *communicator {
	t := &communicator{id: len(w.comms), groups: groups}
	w.comms, w.open = append(w.comms, t), append(w.open, t)
	i.makes = append(i.makes, t)
	return t
}

// all adds a step, on every rank of a communicator, that creates others. Each rank keeps the one to
// which it belongs.
func (w *generator) all(i *action, t *communicator, make func(x *runner, c *mpi.Comm) *mpi.Comm) {
	for _, r := range slices.Concat(t.groups...) {
		w.step(i, r, block, i.name, func(x *runner) error {
			n := make(x, x.comms[t.id])
			for _, made := range i.makes {
				if made.has(r) {
					if n == nil {
						return fmt.Errorf("no communicator %d", made.id)
					}
					x.comms[made.id], n = n, nil
				}
			}
			if n != nil {
				return fmt.Errorf("a communicator of others")
			}
			return nil
		})
	}
}

// newCommunicator adds a communicator created from another one.
func (w *generator) newCommunicator() {
	t := w.open[w.IntN(len(w.open))]
	switch w.IntN(5) {
	case 0:
		w.dup(t)
	case 1:
		w.split(t)
	case 2:
		w.create(t)
	default:
		w.between(t)
	}
}

func (w *generator) dup(t *communicator) {
	i := w.action("dup", t)
	w.addCommunicator(i, t.groups...)
	w.all(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm { return c.Dup() })
}

// split adds a communicator for each colour, ordered by key; some keys are equal.
func (w *generator) split(t *communicator) {
	if t.inter() {
		return
	}
	group := t.groups[0]
	colour, key := make([]int, len(group)), make([]int, len(group))
	for k := range group {
		if colour[k] = w.IntN(4) - 1; colour[k] < 0 {
			colour[k] = mpi.Undefined
		}
		key[k] = w.IntN(7) - 3
	}
	i := w.action("split", t)
	for c := range 3 {
		var ranks []int
		for k := range group {
			if colour[k] == c {
				ranks = append(ranks, k)
			}
		}
		slices.SortFunc(ranks, func(a, b int) int { return cmp.Or(key[a]-key[b], a-b) })
		if len(ranks) > 0 {
			w.addCommunicator(i, pick(group, ranks))
		}
	}
	w.all(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm { return c.Split(colour[c.Rank()], key[c.Rank()]) })
}

// pick returns the elements of a list at some indices.
func pick(list, at []int) []int {
	var out []int
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}

// create adds a communicator of some ranks in any order.
func (w *generator) create(t *communicator) {
	if t.inter() {
		return
	}
	ranks := w.Perm(len(t.groups[0]))[:1+w.IntN(len(t.groups[0]))]
	i := w.action("create", t)
	w.addCommunicator(i, pick(t.groups[0], ranks))
	w.all(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm { return c.Create(c.Group().Include(ranks)) })
}

// between adds two groups and an intercommunicator between them, or merges those of an existing
// one.
func (w *generator) between(t *communicator) {
	if t.inter() {
		w.merge(t)
		return
	}
	group := t.groups[0]
	if len(group) < 2 {
		return
	}
	order := w.Perm(len(group))
	cut := 1 + w.IntN(len(group)-1)
	sides := [][]int{pick(group, order[:cut]), pick(group, order[cut:])}
	place := make([]int, len(group))
	for k, r := range order {
		place[r] = k
	}
	i := w.action("split in two", t)
	w.addCommunicator(i, sides[0])
	w.addCommunicator(i, sides[1])
	w.all(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm {
		side := 0
		if place[c.Rank()] >= cut {
			side = 1
		}
		return c.Split(side, place[c.Rank()])
	})
	halves := i.makes
	for range w.IntN(4) { // so that the groups have created different numbers of communicators
		w.dup(halves[w.IntN(2)])
	}
	leader := []int{w.IntN(cut), w.IntN(len(group) - cut)}
	i = w.action("between", t)
	n := w.addCommunicator(i, sides...)
	w.all(i, t, func(x *runner, c *mpi.Comm) *mpi.Comm {
		side := n.side(x.me)
		other := t.rank(sides[1-side][leader[1-side]])
		return x.comms[halves[side].id].CreateInter(leader[side], c, other, interTag)
	})
	i.needs = halves
}

// merge adds a communicator of both groups. If both pass the same value, the group whose first rank
// is lower in the job comes first.
func (w *generator) merge(t *communicator) {
	high := []bool{w.IntN(2) == 0, w.IntN(2) == 0}
	first := 0
	if high[0] && !high[1] || high[0] == high[1] && t.groups[1][0] < t.groups[0][0] {
		first = 1
	}
	i := w.action("merge", t)
	w.addCommunicator(i, slices.Concat(t.groups[first], t.groups[1-first]))
	w.all(i, t, func(x *runner, c *mpi.Comm) *mpi.Comm { return c.Merge(high[t.side(x.me)]) })
}

// freeCommunicator may free a communicator, even one with active requests.
func (w *generator) freeCommunicator() {
	k := w.IntN(len(w.open))
	t := w.open[k]
	if t.id == 0 || w.IntN(2) == 0 {
		return
	}
	w.open = slices.Delete(w.open, k, k+1)
	i := w.action("free", t)
	for _, r := range slices.Concat(t.groups...) {
		w.step(i, r, finish, i.name, func(x *runner) error {
			x.comms[t.id].Free()
			x.comms[t.id] = nil
			return nil
		})
	}
}

// rules draws the algorithms of collective operations.
func (w *generator) rules() []collective.Rule {
	var rules []collective.Rule
	for _, o := range collective.Operations() {
		for range w.IntN(3) {
			all := collective.AlgorithmsOf(o)
			rules = append(rules, collective.Rule{Operation: o, MaxRanks: w.IntN(3) * 5, MaxBytes: []int{-1, 64, 1000}[w.IntN(3)], Algorithm: all[w.IntN(len(all))].Name})
		}
	}
	return rules
}
