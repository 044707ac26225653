package schedule

import (
	"fmt"
	"strings"
)

// BlockedError is the error of a schedule that does not end: the operations that can never end, and
// why.
type BlockedError struct {
	Receives int // posted receives without a message
	Messages int // messages that have arrived, or were announced, without a receive
	Waiting  int // operations that have not begun

	// Cycle is operations each of which waits for the next, and the last for the first; empty if
	// there is no cycle.
	Cycle []Location

	// Unmatched is the first operations that no other operation matches.
	Unmatched []Location
}

// Location is an operation and its place in the file.
type Location struct {
	File string
	Line int // 0: unknown
	Rank int
	Op   Op
}

func (l Location) String() string {
	at := fmt.Sprintf("rank %d: %v", l.Rank, l.Op)
	if l.Line > 0 {
		at = fmt.Sprintf("%s:%d: %s", l.File, l.Line, at)
	}
	return at
}

func (s *Schedule) location(op uint32) Location {
	l := Location{File: s.name, Rank: int(s.ops[op].rank), Op: s.ops[op]}
	if len(s.lines) > 0 {
		l.Line = int(s.lines[op])
	}
	return l
}

func (b *BlockedError) Error() string {
	var t strings.Builder
	fmt.Fprintf(&t, "the schedule does not end: %d receives without a message, %d messages without a receive, %d operations not begun", b.Receives, b.Messages, b.Waiting)
	if len(b.Cycle) > 0 {
		t.WriteString("; a cycle of operations that wait for each other:")
		for i, l := range b.Cycle {
			next := "next"
			if i == len(b.Cycle)-1 {
				next = "first"
			}
			fmt.Fprintf(&t, "\n  %v, waits for the %s", l, next)
		}
	}
	for i, l := range b.Unmatched {
		switch {
		case i == 0:
			t.WriteString("; without a partner:")
		case i == maxShownUnmatched:
			fmt.Fprintf(&t, "\n  …")
			return t.String()
		}
		what := "nothing that is sent to it matches"
		if l.Op.Kind == Send {
			what = "no receive matches"
		}
		fmt.Fprintf(&t, "\n  %v: %s", l, what)
	}
	return t.String()
}

// Limits of the search for operations without a partner, and of what is shown of them.
const (
	maxShownUnmatched = 10
	maxSearchedOps    = 1000
)

// blockedError explains why a run has stopped before all operations ended.
func (r *run) blockedError() *BlockedError {
	b := &BlockedError{}
	const (
		ended = iota
		stuck // begun
		never // not begun
	)
	state := make([]uint8, len(r.ops))
	waitsFor := map[uint32]uint32{} // of those that have not begun
	var queue, open []uint32
	for i := range r.matcher.buckets {
		q := &r.matcher.buckets[i]
		for op := q.postedReceives.head; op != 0; op = r.matcher.nextInQueue[op-1] {
			b.Receives++
			state[op-1] = stuck
			queue, open = append(queue, op-1), append(open, op-1)
		}
		for op := q.earlyMessages.head; op != 0; op = r.matcher.nextInQueue[op-1] {
			b.Messages++
			open = append(open, op-1)
			if r.messageBytes(&r.ops[op-1]) > r.eagerLimit {
				state[op-1] = stuck
				queue = append(queue, op-1)
			}
		}
	}
	for len(queue) > 0 {
		op := queue[0]
		queue = queue[1:]
		for _, d := range r.dependants[r.firstDependant[op]:r.firstDependant[op+1]] {
			if begun := d&1 != 0 && state[op] != never; begun || state[d>>1] != ended {
				continue
			}
			d >>= 1
			state[d] = never
			b.Waiting++
			waitsFor[d] = op
			queue = append(queue, d)
		}
	}
	// partner returns an operation that could match one and has not begun.
	partner := func(op uint32) (uint32, bool) {
		o := &r.ops[op]
		if o.Peer == Any {
			return 0, false
		}
		for i, p := range r.OpsOfRank(int(o.Peer)) {
			other := r.firstOpOfRank[o.Peer] + uint32(i)
			if state[other] != never || p.Kind == Calc || p.Kind == o.Kind {
				continue
			}
			if o.Kind == Recv && p.Peer == o.rank && r.matcher.isMatch(o, &p) || o.Kind == Send && r.matcher.isMatch(&p, o) {
				return other, true
			}
		}
		return 0, false
	}
	if len(open) > maxSearchedOps {
		open = open[:maxSearchedOps]
	}
	visit := map[uint32]int{} // in which walk an operation was met
	for walk, from := range open {
		for op := from; ; {
			if at, met := visit[op]; met {
				if at == walk && b.Cycle == nil {
					for first := op; ; {
						b.Cycle = append(b.Cycle, r.location(op))
						next, ok := waitsFor[op]
						if !ok {
							next, _ = partner(op)
						}
						if op = next; op == first {
							break
						}
					}
				}
				break
			}
			visit[op] = walk
			next, ok := waitsFor[op]
			if !ok {
				if next, ok = partner(op); !ok {
					if len(b.Unmatched) <= maxShownUnmatched {
						b.Unmatched = append(b.Unmatched, r.location(op))
					}
					break
				}
			}
			op = next
		}
	}
	return b
}
