package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// Undefined stands for no rank, or for no colour in Split (MPI_UNDEFINED).
const Undefined = -3

// Group is an immutable ordered set of ranks of the job (MPI_Group). Groups come from
// communicators. The zero value is invalid (MPI_GROUP_NULL).
type Group struct {
	engine  *engine.Rank
	members []int // ranks of the job, by rank of the group
}

// Group returns the group of the communicator (MPI_Comm_group), for an intercommunicator the local
// group.
func (c *Comm) Group() Group {
	c.engine.Enter("Group")
	return c.group()
}

func (c *Comm) group() Group {
	if x := c.interFields(); x != nil {
		return Group{c.engine, x.comm.jobRanks()}
	}
	return Group{c.engine, c.jobRanks()}
}

// Free makes g invalid (MPI_Group_free). Copies of g, and communicators and groups created from it,
// stay valid. Calling Free is optional.
func (g *Group) Free() { *g = Group{} }

// checkValid fails if g is the zero value. It returns g.
func (g Group) checkValid(call string) Group {
	if g.engine == nil {
		failCall(call, engine.ErrGroup, "the group was freed, or is none")
	}
	return g
}

// jobRanks returns the ranks in the job of the ranks that the communicator addresses.
func (c *Comm) jobRanks() []int {
	if c.members != nil {
		return c.members
	}
	all := make([]int, c.size)
	for i := range all {
		all[i] = i
	}
	return all
}

// Size returns the number of ranks (MPI_Group_size).
func (g Group) Size() int { return len(g.checkValid("Size").members) }

// Rank returns the rank of the caller in the group, or Undefined (MPI_Group_rank).
func (g Group) Rank() int { return g.indexOf(g.checkValid("Rank").engine.Port().Rank()) }

// indexOf returns the rank in the group of a rank of the job, or Undefined.
func (g Group) indexOf(world int) int {
	if i := slices.Index(g.members, world); i >= 0 {
		return i
	}
	return Undefined
}

// memberIndex maps ranks of the job to ranks of the group.
func (g Group) memberIndex() map[int]int {
	at := make(map[int]int, len(g.members))
	for i, m := range g.members {
		at[m] = i
	}
	return at
}

// TranslateRanks translates ranks of g to ranks of another group (MPI_Group_translate_ranks). Ranks
// that are not in the other group become Undefined.
func (g Group) TranslateRanks(ranks []int, to Group) []int {
	g.checkValid("TranslateRanks")
	at := to.checkValid("TranslateRanks").memberIndex()
	out := make([]int, len(ranks))
	for i, r := range ranks {
		g.checkRank("TranslateRanks", r)
		out[i] = Undefined
		if there, ok := at[g.members[r]]; ok {
			out[i] = there
		}
	}
	return out
}

// Comparison is the result of comparing two groups or two communicators.
type Comparison uint8

// The results of comparisons.
const (
	Identical Comparison = iota // the same communicator; for groups, the same ranks in the same order
	Congruent                   // for communicators: the same ranks in the same order, but another context
	Similar                     // the same ranks in another order
	Unequal
)

// String returns the name of the result.
func (c Comparison) String() string {
	return [...]string{"identical", "congruent", "similar", "unequal"}[c]
}

// Compare compares two groups (MPI_Group_compare).
func (g Group) Compare(h Group) Comparison {
	switch g, h = g.checkValid("Compare"), h.checkValid("Compare"); {
	case slices.Equal(g.members, h.members):
		return Identical
	case len(g.members) == len(h.members) && len(g.selectMembers(h, false).members) == 0:
		return Similar
	}
	return Unequal
}

// Union returns the ranks of g, followed by those of h that are not in g (MPI_Group_union).
func (g Group) Union(h Group) Group {
	g, h = g.checkValid("Union"), h.checkValid("Union")
	return Group{g.engine, slices.Concat(g.members, h.selectMembers(g, false).members)}
}

// Intersection returns the ranks of g that are in h, in the order of g (MPI_Group_intersection).
func (g Group) Intersection(h Group) Group {
	return g.checkValid("Intersection").selectMembers(h.checkValid("Intersection"), true)
}

// Difference returns the ranks of g that are not in h (MPI_Group_difference).
func (g Group) Difference(h Group) Group {
	return g.checkValid("Difference").selectMembers(h.checkValid("Difference"), false)
}

func (g Group) selectMembers(h Group, want bool) Group {
	at := h.memberIndex()
	var kept []int
	for _, m := range g.members {
		if _, in := at[m]; in == want {
			kept = append(kept, m)
		}
	}
	return Group{g.engine, kept}
}

// Include returns the group of the given ranks of g, in the given order (MPI_Group_incl).
func (g Group) Include(ranks []int) Group {
	g.checkValid("Include")
	members := make([]int, len(ranks))
	for i, r := range g.checkDistinct("Include", ranks) {
		members[i] = g.members[r]
	}
	return Group{g.engine, members}
}

// Exclude returns g without the given ranks (MPI_Group_excl).
func (g Group) Exclude(ranks []int) Group {
	g.checkValid("Exclude")
	return g.Difference(Group{g.engine, g.Include(ranks).members})
}

// Range stands for the ranks First, First+Stride, … up to Last.
type Range struct{ First, Last, Stride int }

// IncludeRanges is Include with ranges of ranks (MPI_Group_range_incl).
func (g Group) IncludeRanges(ranges []Range) Group { return g.Include(g.expandRanges(ranges)) }

// ExcludeRanges is Exclude with ranges of ranks (MPI_Group_range_excl).
func (g Group) ExcludeRanges(ranges []Range) Group { return g.Exclude(g.expandRanges(ranges)) }

func (g Group) expandRanges(ranges []Range) []int {
	g.checkValid("Range")
	var ranks []int
	for _, r := range ranges {
		g.checkRank("Range", r.First)
		if r.Stride == 0 {
			g.engine.Enter("Range")
			g.engine.Fail(engine.ErrArg, "a range from %d to %d with stride 0 has no end", r.First, r.Last)
		}
		if (r.Last < r.First) == (r.Stride > 0) && r.Last != r.First {
			g.engine.Enter("Range")
			g.engine.Fail(engine.ErrArg, "a range from %d to %d with stride %d has no ranks", r.First, r.Last, r.Stride)
		}
		for x := r.First; r.Stride > 0 && x <= r.Last || r.Stride < 0 && x >= r.Last; x += r.Stride {
			g.checkRank("Range", x)
			ranks = append(ranks, x)
		}
	}
	return ranks
}

// checkDistinct fails unless all ranks are in the group and distinct. It returns them as ranks of
// the job.
func (g Group) checkDistinct(call string, ranks []int) []int {
	seen := make(map[int]bool, len(ranks))
	for _, r := range ranks {
		g.checkRank(call, r)
		if seen[r] {
			g.engine.Enter(call)
			g.engine.Fail(engine.ErrRank, "rank %d is named twice", r)
		}
		seen[r] = true
	}
	return ranks
}

func (g Group) checkRank(call string, r int) {
	if r < 0 || r >= len(g.members) {
		g.engine.Enter(call)
		g.engine.Fail(engine.ErrRank, "rank %d is not in a group of %d", r, len(g.members))
	}
}
