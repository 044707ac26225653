package mpi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// DeadlockError says who waits for what.
type DeadlockError struct {
	*device.Deadlock
	Waits []Wait // of the first few ranks
	Cycle []int  // ranks of which each waits for the next one and for nobody else, and the last for the first; nil: there are none
}

// Wait is where a rank waits.
type Wait struct {
	Rank int    // in the job
	Call string // it is in; "": it has not said
	At   Site   // of the program, where the call is
	For  string // in words; "": nothing that is known
	On   int    // the one rank of the job that has to go on before this one can, or −1
	Has  string // the first message that has come and is not received, in words, or ""
}

// String is for a line of a report.
func (w Wait) String() string {
	if w.Call == "" {
		return fmt.Sprintf("rank %d: waits, and has not said where", w.Rank)
	}
	s := fmt.Sprintf("rank %d: in %s%s", w.Rank, w.Call, w.At.Beside())
	if w.For != "" {
		s += ", waits for " + w.For
	}
	return s
}

// Error lists the ranks, one a line.
func (e *DeadlockError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock: %d of %d ranks wait", len(e.Ranks), e.Of)
	if n := e.Of - len(e.Ranks); n > 0 {
		fmt.Fprintf(&b, ", %d %s ended", n, plural(n, "has", "have"))
	}
	b.WriteString(" and nothing is under way")
	for _, w := range e.Waits {
		fmt.Fprintf(&b, "\n  %v", w)
		if w.On >= 0 && e.ended(w.On) {
			fmt.Fprintf(&b, "; rank %d has ended", w.On)
		}
		if w.Has != "" {
			fmt.Fprintf(&b, "; %s has come", w.Has)
		}
	}
	if n := len(e.Ranks) - len(e.Waits); n > 0 {
		fmt.Fprintf(&b, "\n  and %d more %s", n, plural(n, "rank", "ranks"))
	}
	switch len(e.Cycle) {
	case 0:
	case 1:
		fmt.Fprintf(&b, "\nRank %d waits for itself", e.Cycle[0])
	default:
		fmt.Fprintf(&b, "\nEach of these waits for the next: %s", e.cycle())
	}
	return b.String()
}

// ended reports whether a rank has ended.
func (e *DeadlockError) ended(rank int) bool {
	_, waits := slices.BinarySearch(e.Ranks, rank)
	return !waits
}

// cycle puts the cycle into words: of a long one the first and the last ranks.
func (e *DeadlockError) cycle() string {
	const show = 8
	var ranks []string
	for i, r := range e.Cycle {
		switch {
		case len(e.Cycle) <= show || i < show-2 || i == len(e.Cycle)-1:
			ranks = append(ranks, fmt.Sprintf("rank %d", r))
		case i == show-2:
			ranks = append(ranks, fmt.Sprintf("%d more", len(e.Cycle)-show+1))
		}
	}
	return strings.Join(append(ranks, ranks[0]), " → ")
}

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Unwrap returns the world's own error.
func (e *DeadlockError) Unwrap() error { return e.Deadlock }

// shown is how many ranks a report shows.
const shown = 16

// explain says what the ranks of a deadlock wait for.
func (j *job) explain(d *device.Deadlock) *DeadlockError {
	e := &DeadlockError{Deadlock: d}
	on := make(map[int]int, len(d.Ranks))
	for i, r := range d.Ranks {
		w := recall(d.Details[r]).Wait
		switch {
		case w != nil:
			on[r] = w.On
		case i < shown:
			w = j.wait(r)
			on[r] = w.On
		case j.worlds != nil && j.worlds[r] != nil:
			on[r] = sole(j.worlds[r].e.Waits())
		}
		if i < shown {
			e.Waits = append(e.Waits, *w)
		}
	}
	e.Cycle = cycle(d.Ranks, on)
	return e
}

// wait says where a rank waits, as far as this process knows.
func (j *job) wait(rank int) *Wait {
	if j.worlds == nil || j.worlds[rank] == nil {
		return &Wait{Rank: rank, On: -1}
	}
	c := j.worlds[rank]
	w := c.e.Waits()
	return &Wait{Rank: rank, Call: w.Call, At: j.sites.of(rank), For: c.own.waitsFor(w), On: sole(w), Has: c.own.got(w)}
}

// sole returns the rank that must go on before one that waits can, or −1 if it may be one of several.
func sole(w engine.Wait) int {
	if w.Peer == engine.Any || w.One && w.Open > 1 {
		return -1
	}
	return w.Peer
}

// cycle returns the first ranks of which each waits for the next.
func cycle(ranks []int, on map[int]int) []int {
	walk := make(map[int]int, len(on)) // which of the ranks came by first
	for _, first := range ranks {
		r, known := first, true
		for {
			if _, been := walk[r]; been {
				break
			}
			walk[r] = first
			if r, known = on[r]; !known || r < 0 {
				break
			}
		}
		if known && r >= 0 && walk[r] == first {
			return around(r, on)
		}
	}
	return nil
}

// around returns the ranks of a cycle from the lowest.
func around(r int, on map[int]int) []int {
	c := []int{r}
	for next := on[r]; next != r; next = on[next] {
		c = append(c, next)
	}
	low := slices.Index(c, slices.Min(c))
	return slices.Concat(c[low:], c[:low])
}

// waitsFor puts into words what a rank waits for, with the ranks of the communicator that its program sees.
func (o *own) waitsFor(w engine.Wait) string {
	what := ""
	who := "any rank"
	if w.Peer != engine.Any {
		who = o.named(w.Peer, w.Context)
	}
	tag := fmt.Sprintf(" with tag %d", w.Tag)
	switch {
	case collectives(w.Context):
		tag = ""
	case w.Tag == engine.Any:
		tag = " with any tag"
	}
	switch w.For {
	case engine.ForMessage:
		what = fmt.Sprintf("a message from %s%s", who, tag)
	case engine.ForData:
		what = fmt.Sprintf("the data of a message from %s%s", who, tag)
	case engine.ForReceive:
		what = fmt.Sprintf("%s to take a %v message of %d bytes%s (protocol %s)", who, w.Mode, w.Bytes, tag, w.Protocol)
	case engine.ForAnswer:
		what = fmt.Sprintf("%s to say whether it can do without a %v message of %d bytes%s (protocol %s)", who, w.Mode, w.Bytes, tag, w.Protocol)
	case engine.ForCancel:
		what = fmt.Sprintf("%s to cancel a message of %d bytes%s that was not received", who, w.Bytes, tag)
	case engine.ForStart:
		what = fmt.Sprintf("Start or Free, being persistent with %s%s", who, tag)
	case engine.ForEnd:
		what = "nothing, being complete"
	case engine.ForBuffered:
		return fmt.Sprintf("%d buffered %s to leave", w.Open, plural(w.Open, "message", "messages"))
	}
	switch {
	case w.Open <= 1 || what == "":
		return what
	case w.One:
		return fmt.Sprintf("one of %d operations, of which the first is %s", w.Open, what)
	}
	return fmt.Sprintf("%d operations, of which the first is %s", w.Open, what)
}

// got puts into words what has come to a rank that waits for something else.
func (o *own) got(w engine.Wait) string {
	if w.Early == nil || w.For != engine.ForMessage {
		return ""
	}
	who := o.named(w.Early.Source, w.Context)
	if !collectives(w.Context) {
		return fmt.Sprintf("a message from %s with tag %d", who, w.Early.Tag)
	}
	operation, sort, root := untag(w.Early.Tag)
	what := fmt.Sprintf("a message from %s in %v", who, operation)
	if sort != 0 {
		what += fmt.Sprintf(" by %v", sort)
	}
	switch operation {
	case collective.Bcast, collective.Scatter, collective.Gather, collective.Reduce:
		what += fmt.Sprintf(" with root %d", root)
	}
	return what
}

// collectives reports whether a context is of collective operations.
func collectives(context uint32) bool { return context%2 == 1 }

// named says who a rank of the job is to those who talk in a context.
func (o *own) named(world int, context uint32) string {
	c := o.communicator(context &^ 1)
	switch {
	case c == nil || c.ranks == nil:
		return fmt.Sprintf("rank %d", world)
	case c.inter() != nil:
		return fmt.Sprintf("rank %d of the other group of %d (rank %d of the job)", c.ranks[world], len(c.members), world)
	}
	s := fmt.Sprintf("rank %d of a communicator of %d", c.ranks[world], len(c.members))
	if int(c.ranks[world]) != world {
		s += fmt.Sprintf(" (rank %d of the job)", world)
	}
	return s
}

// sites are the lines where ranks were stopped, of the lowest ones: a job may have a million.
type sites struct {
	ranks []int // in order
	lines []Site
}

// note notes where a rank is stopped if it is one of those that are shown. So many frames are above those of the library.
func (s *sites) note(rank, above int) {
	i, _ := slices.BinarySearch(s.ranks, rank)
	if i == shown {
		return
	}
	s.ranks = slices.Insert(s.ranks, i, rank)
	s.lines = slices.Insert(s.lines, i, where(above+1))
	if len(s.ranks) > shown {
		s.ranks, s.lines = s.ranks[:shown], s.lines[:shown]
	}
}

// of returns the line where a rank was stopped, if that was noted.
func (s *sites) of(rank int) Site {
	if i, ok := slices.BinarySearch(s.ranks, rank); ok {
		return s.lines[i]
	}
	return Site{}
}
