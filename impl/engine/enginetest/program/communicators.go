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
	w.comms, w.openComms = append(w.comms, t), append(w.openComms, t)
	i.createdComms = append(i.createdComms, t)
	return t
}

// addCreatingSteps adds a step, on every rank of a communicator, that creates others. Each rank
// keeps the one to which it belongs.
func (w *generator) addCreatingSteps(i *action, t *communicator, make func(x *runner, c *mpi.Comm) *mpi.Comm) {
	for _, r := range slices.Concat(t.groups...) {
		w.addStep(i, r, blockingTurn, i.name, func(x *runner) error {
			n := make(x, x.comms[t.id])
			for _, made := range i.createdComms {
				if made.contains(r) {
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

// addNewCommunicator adds a communicator created from another one.
func (w *generator) addNewCommunicator() {
	t := w.openComms[w.IntN(len(w.openComms))]
	switch w.IntN(5) {
	case 0:
		w.addDup(t)
	case 1:
		w.addSplit(t)
	case 2:
		w.addCreate(t)
	default:
		w.addIntercommunicator(t)
	}
}

func (w *generator) addDup(t *communicator) {
	i := w.addAction("dup", t)
	w.addCommunicator(i, t.groups...)
	w.addCreatingSteps(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm { return c.Dup() })
}

// addSplit adds a communicator for each colour, ordered by key; some keys are equal.
func (w *generator) addSplit(t *communicator) {
	if t.isInter() {
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
	i := w.addAction("split", t)
	for c := range 3 {
		var ranks []int
		for k := range group {
			if colour[k] == c {
				ranks = append(ranks, k)
			}
		}
		slices.SortFunc(ranks, func(a, b int) int { return cmp.Or(key[a]-key[b], a-b) })
		if len(ranks) > 0 {
			w.addCommunicator(i, selectIndices(group, ranks))
		}
	}
	w.addCreatingSteps(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm { return c.Split(colour[c.Rank()], key[c.Rank()]) })
}

// selectIndices returns the elements of a list at some indices.
func selectIndices(list, at []int) []int {
	var out []int
	for _, i := range at {
		out = append(out, list[i])
	}
	return out
}

// addCreate adds a communicator of some ranks in any order.
func (w *generator) addCreate(t *communicator) {
	if t.isInter() {
		return
	}
	ranks := w.Perm(len(t.groups[0]))[:1+w.IntN(len(t.groups[0]))]
	i := w.addAction("create", t)
	w.addCommunicator(i, selectIndices(t.groups[0], ranks))
	w.addCreatingSteps(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm { return c.Create(c.Group().Include(ranks)) })
}

// addIntercommunicator adds two groups and an intercommunicator between them, or merges those of an
// existing one.
func (w *generator) addIntercommunicator(t *communicator) {
	if t.isInter() {
		w.addMerge(t)
		return
	}
	group := t.groups[0]
	if len(group) < 2 {
		return
	}
	order := w.Perm(len(group))
	cut := 1 + w.IntN(len(group)-1)
	sides := [][]int{selectIndices(group, order[:cut]), selectIndices(group, order[cut:])}
	place := make([]int, len(group))
	for k, r := range order {
		place[r] = k
	}
	i := w.addAction("split in two", t)
	w.addCommunicator(i, sides[0])
	w.addCommunicator(i, sides[1])
	w.addCreatingSteps(i, t, func(_ *runner, c *mpi.Comm) *mpi.Comm {
		side := 0
		if place[c.Rank()] >= cut {
			side = 1
		}
		return c.Split(side, place[c.Rank()])
	})
	halves := i.createdComms
	for range w.IntN(4) { // so that the groups have created different numbers of communicators
		w.addDup(halves[w.IntN(2)])
	}
	leader := []int{w.IntN(cut), w.IntN(len(group) - cut)}
	i = w.addAction("between", t)
	n := w.addCommunicator(i, sides...)
	w.addCreatingSteps(i, t, func(x *runner, c *mpi.Comm) *mpi.Comm {
		side := n.groupIndexOf(x.rank)
		other := t.rankOf(sides[1-side][leader[1-side]])
		return x.comms[halves[side].id].CreateInter(leader[side], c, other, interTag)
	})
	i.requiredComms = halves
}

// addMerge adds a communicator of both groups. If both pass the same value, the group whose first
// rank is lower in the job comes first.
func (w *generator) addMerge(t *communicator) {
	high := []bool{w.IntN(2) == 0, w.IntN(2) == 0}
	first := 0
	if high[0] && !high[1] || high[0] == high[1] && t.groups[1][0] < t.groups[0][0] {
		first = 1
	}
	i := w.addAction("merge", t)
	w.addCommunicator(i, slices.Concat(t.groups[first], t.groups[1-first]))
	w.addCreatingSteps(i, t, func(x *runner, c *mpi.Comm) *mpi.Comm { return c.Merge(high[t.groupIndexOf(x.rank)]) })
}

// addFree may free a communicator, even one with active requests.
func (w *generator) addFree() {
	k := w.IntN(len(w.openComms))
	t := w.openComms[k]
	if t.id == 0 || w.IntN(2) == 0 {
		return
	}
	w.openComms = slices.Delete(w.openComms, k, k+1)
	i := w.addAction("free", t)
	for _, r := range slices.Concat(t.groups...) {
		w.addStep(i, r, waitTurn, i.name, func(x *runner) error {
			x.comms[t.id].Free()
			x.comms[t.id] = nil
			return nil
		})
	}
}

// drawRules draws the algorithms of collective operations.
func (w *generator) drawRules() []collective.Rule {
	var rules []collective.Rule
	for _, o := range collective.Operations() {
		for range w.IntN(3) {
			all := collective.AlgorithmsOf(o)
			rules = append(rules, collective.Rule{Operation: o, MaxRanks: w.IntN(3) * 5, MaxBytes: []int{-1, 64, 1000}[w.IntN(3)], Algorithm: all[w.IntN(len(all))].Name})
		}
	}
	return rules
}
