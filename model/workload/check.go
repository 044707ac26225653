package workload

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/collective"
)

// Check returns an error if an operation is outside the limits, if the members of a group do not
// execute the same collective operations in the same order, or if the messages between two ranks do
// not match.
func (w *Workload) Check() error {
	if n := len(w.Ranks); n < 1 || n > MaxRanks {
		return fmt.Errorf("%d ranks: there must be 1 to %d", n, MaxRanks)
	}
	for g, group := range w.Groups {
		if err := w.checkGroup(group); err != nil {
			return fmt.Errorf("group %s (number %d): %w", cmp.Or(group.Name, "without a name"), g, err)
		}
	}
	for rank := range w.Ranks {
		if err := w.checkRank(rank); err != nil {
			return err
		}
	}
	if err := w.checkCollectives(); err != nil {
		return err
	}
	return w.checkMessages()
}

func (w *Workload) checkGroup(g Group) error {
	if len(g.Ranks) == 0 {
		return fmt.Errorf("it has no ranks")
	}
	seen := map[int]bool{}
	for _, r := range g.Ranks {
		if r < 0 || r >= len(w.Ranks) {
			return fmt.Errorf("it has rank %d: there are %d ranks", r, len(w.Ranks))
		}
		if seen[r] {
			return fmt.Errorf("it has rank %d twice", r)
		}
		seen[r] = true
	}
	return nil
}

// checkRank checks each operation of a rank by itself.
func (w *Workload) checkRank(rank int) error {
	r := w.Ranks[rank]
	for _, g := range r.Groups {
		if g < 0 || g >= len(w.Groups) || !slices.Contains(w.Groups[g].Ranks, rank) {
			return fmt.Errorf("%s: rank %d is not in its group %d", r.Program.Source, rank, g)
		}
	}
	for i, o := range r.Program.ops {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("%s, rank %d: %s", r.Program.Describe(i), rank, fmt.Sprintf(format, args...))
		}
		switch o.Kind {
		case Compute:
			if o.Size > MaxCompute {
				return wrong("computing for %d ns: at most %d", o.Size, uint64(MaxCompute))
			}
			continue
		case Collective:
			if int(o.Peer) >= len(r.Groups) {
				return wrong("it is of group %d: the rank has %d", o.Peer, len(r.Groups))
			}
			group := w.Groups[r.Groups[o.Peer]]
			if int(o.Root) >= len(group.Ranks) {
				return wrong("its root is member %d: the group %s has %d", o.Root, group.Name, len(group.Ranks))
			}
		default:
			if int(o.Peer) >= len(r.Peers) {
				return wrong("it is with peer %d: the rank has %d", o.Peer, len(r.Peers))
			}
			if peer := r.Peers[o.Peer]; peer < 0 || peer >= len(w.Ranks) {
				return wrong("its peer is rank %d: there are %d ranks, 0 to %d", peer, len(w.Ranks), len(w.Ranks)-1)
			}
			if o.Tag > MaxTag {
				return wrong("its tag is %d: at most %d", o.Tag, MaxTag)
			}
		}
		if o.Size > MaxBytes {
			return wrong("%d bytes: at most %d", o.Size, uint64(MaxBytes))
		}
	}
	return nil
}

// checkCollectives compares the collective operations of each group's members with those of its
// first.
func (w *Workload) checkCollectives() error {
	type position struct {
		rank int
		ops  []int // operations of the first member, by their number in the group
	}
	firsts := make([]position, len(w.Groups))
	for g := range firsts {
		firsts[g].rank = slices.Min(w.Groups[g].Ranks)
	}
	counts := make([]int, len(w.Groups))
	for rank, r := range w.Ranks {
		for _, g := range r.Groups {
			counts[g] = 0
		}
		for i, o := range r.Program.ops {
			if o.Kind != Collective {
				continue
			}
			g := r.Groups[o.Peer]
			first, n := &firsts[g], counts[g]
			counts[g]++
			if first.rank == rank {
				first.ops = append(first.ops, i)
				continue
			}
			if n >= len(first.ops) {
				return fmt.Errorf("%s, rank %d: it is collective operation %d of group %s; rank %d has %d",
					r.Program.Describe(i), rank, n+1, w.Groups[g].Name, first.rank, len(first.ops))
			}
			p := w.Ranks[first.rank].Program
			if f := p.ops[first.ops[n]]; f.Operation != o.Operation || f.Size != o.Size || f.Root != o.Root {
				return fmt.Errorf("%s, rank %d: it is %v; collective operation %d of group %s is %v in rank %d (%s)",
					r.Program.Describe(i), rank, describeCollective(o), n+1, w.Groups[g].Name, describeCollective(f), first.rank, p.Describe(first.ops[n]))
			}
		}
		for _, g := range r.Groups {
			if first := firsts[g]; first.rank != rank && counts[g] < len(first.ops) {
				p := w.Ranks[first.rank].Program
				return fmt.Errorf("%s, rank %d: it has %d collective operations of group %s; rank %d has %d, the next is %s",
					r.Program.Source, rank, counts[g], w.Groups[g].Name, first.rank, len(first.ops), p.Describe(first.ops[counts[g]]))
			}
		}
	}
	for g, first := range firsts {
		if len(first.ops) == 0 {
			continue
		}
		for _, member := range w.Groups[g].Ranks {
			if !slices.Contains(w.Ranks[member].Groups, g) {
				p := w.Ranks[first.rank].Program
				return fmt.Errorf("%s, rank %d: it has no collective operation of group %s; rank %d begins with %s",
					w.Ranks[member].Program.Source, member, w.Groups[g].Name, first.rank, p.Describe(first.ops[0]))
			}
		}
	}
	return nil
}

func describeCollective(o Op) string {
	text := fmt.Sprintf("%v of %d bytes", o.Operation, o.Size)
	if o.Operation == collective.Bcast || o.Operation == collective.Reduce || o.Operation == collective.Scatter || o.Operation == collective.Gather {
		text += fmt.Sprintf(" with root %d", o.Root)
	}
	return text
}

// checkMessages compares, for each pair of ranks and tag, what one sends with what the other
// receives.
func (w *Workload) checkMessages() error {
	type channel struct {
		from, to int
		tag      uint32
	}
	type traffic struct {
		sends, receives int
		bytes           int64 // sent minus received
		rank, op        int   // the last of them
	}
	channels := map[channel]*traffic{}
	var order []channel
	for rank, r := range w.Ranks {
		for i, o := range r.Program.ops {
			if o.Kind != Send && o.Kind != Recv {
				continue
			}
			c := channel{rank, r.Peers[o.Peer], o.Tag}
			if o.Kind == Recv {
				c.from, c.to = c.to, c.from
			}
			t := channels[c]
			if t == nil {
				t = &traffic{}
				channels[c] = t
				order = append(order, c)
			}
			t.rank, t.op = rank, i
			if o.Kind == Send {
				t.sends++
				t.bytes += int64(o.Size)
			} else {
				t.receives++
				t.bytes -= int64(o.Size)
			}
		}
	}
	for _, c := range order {
		t := channels[c]
		where := w.Ranks[t.rank].Program.Describe(t.op)
		if t.sends != t.receives {
			return fmt.Errorf("%s, rank %d: rank %d sends %d messages with tag %d to rank %d, which receives %d of them", where, t.rank, c.from, t.sends, c.tag, c.to, t.receives)
		}
		if t.bytes != 0 {
			more, less := "sent", "received"
			if t.bytes < 0 {
				more, less = less, more
			}
			return fmt.Errorf("%s, rank %d: of the messages with tag %d from rank %d to %d, %d bytes more are %s than %s", where, t.rank, c.tag, c.from, c.to, max(t.bytes, -t.bytes), more, less)
		}
	}
	return nil
}
