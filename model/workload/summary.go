package workload

import (
	"cmp"
	"slices"

	"github.com/loggp/loggp/model/collective"
)

// CollectiveUse is how often groups of a size execute a collective operation, and with how much
// data.
type CollectiveUse struct {
	Operation collective.Operation
	Ranks     int // of each group
	Groups    int
	Count     int    // of all groups
	MinBytes  uint64 // input of each rank
	MaxBytes  uint64
	Bytes     uint64 // of all of them, input of each rank
}

// Collectives returns how often groups execute collective operations, by operation and size of the
// group.
func (w *Workload) Collectives() []CollectiveUse {
	type key struct {
		o     collective.Operation
		ranks int
	}
	uses := map[key]*CollectiveUse{}
	seen := map[key]map[int]bool{}
	for rank, r := range w.Ranks {
		for _, o := range r.Program.ops {
			if o.Kind != Collective {
				continue
			}
			g := r.Groups[o.Peer]
			group := w.Groups[g].Ranks
			if group[0] != rank {
				continue
			}
			k := key{o.Operation, len(group)}
			use := uses[k]
			if use == nil {
				use = &CollectiveUse{Operation: o.Operation, Ranks: len(group), MinBytes: o.Size}
				uses[k], seen[k] = use, map[int]bool{}
			}
			if !seen[k][g] {
				seen[k][g] = true
				use.Groups++
			}
			use.Count++
			use.Bytes += o.Size
			use.MinBytes, use.MaxBytes = min(use.MinBytes, o.Size), max(use.MaxBytes, o.Size)
		}
	}
	all := make([]CollectiveUse, 0, len(uses))
	for _, use := range uses {
		all = append(all, *use)
	}
	slices.SortFunc(all, func(a, b CollectiveUse) int {
		return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Ranks, b.Ranks))
	})
	return all
}
