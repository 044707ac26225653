package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model/collective"
)

// DeadlockError says which ranks wait, and for what.
type DeadlockError struct {
	*device.Deadlock
	Waits []RankWait // of the lowest MaxShownRanks ranks
	Cycle []int      // each of these ranks waits only for the next, and the last for the first; nil: no cycle
}

// RankWait says where a rank waits, and for what.
type RankWait struct {
	Rank           int      // in the job
	Call           string   // the call it is in; "": unknown
	CallSite       CallSite // source line of the call
	WaitsFor       string   // "": unknown
	WaitsOnRank    int      // the only rank of the job that can end the wait, or −1
	ArrivedMessage string   // the first message that has arrived and is not received, or ""

	OtherThreads string // where other threads of the rank wait, or ""

	IsPolling bool // the rank repeats a nonblocking call
}

// String returns the wait as a line of a report.
func (w RankWait) String() string {
	if w.Call == "" {
		return fmt.Sprintf("rank %d: waits, and has not said where", w.Rank)
	}
	s := fmt.Sprintf("rank %d: in %s%s", w.Rank, w.Call, w.CallSite.Parenthesized())
	if w.WaitsFor != "" {
		verb := "waits"
		if w.IsPolling {
			verb = "polls"
		}
		s += fmt.Sprintf(", %s for %s", verb, w.WaitsFor)
	}
	return s
}

// Error lists the ranks, one per line.
func (e *DeadlockError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock: %d of %d ranks wait", len(e.Ranks), e.TotalRanks)
	if n := e.TotalRanks - len(e.Ranks); n > 0 {
		fmt.Fprintf(&b, ", %d %s ended", n, Plural(n, "has", "have"))
	}
	b.WriteString(" and nothing is under way")
	for _, w := range e.Waits {
		fmt.Fprintf(&b, "\n  %v", w)
		if w.WaitsOnRank >= 0 && e.hasEnded(w.WaitsOnRank) {
			fmt.Fprintf(&b, "; rank %d has ended", w.WaitsOnRank)
		}
		if w.ArrivedMessage != "" {
			fmt.Fprintf(&b, "; %s has come", w.ArrivedMessage)
		}
		if w.OtherThreads != "" {
			fmt.Fprintf(&b, "; %s", w.OtherThreads)
		}
	}
	if n := len(e.Ranks) - len(e.Waits); n > 0 {
		fmt.Fprintf(&b, "\n  and %d more %s", n, Plural(n, "rank", "ranks"))
	}
	switch len(e.Cycle) {
	case 0:
	case 1:
		fmt.Fprintf(&b, "\nRank %d waits for itself", e.Cycle[0])
	default:
		fmt.Fprintf(&b, "\nEach of these waits for the next: %s", e.describeCycle())
	}
	return b.String()
}

// hasEnded reports whether a rank has ended.
func (e *DeadlockError) hasEnded(rank int) bool {
	_, waits := slices.BinarySearch(e.Ranks, rank)
	return !waits
}

// describeCycle describes the cycle. Of a long one it shows the first and the last ranks.
func (e *DeadlockError) describeCycle() string {
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

// Plural returns one if n is 1, and several otherwise.
func Plural(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// Unwrap returns the error of the world.
func (e *DeadlockError) Unwrap() error { return e.Deadlock }

// MaxShownRanks is the number of ranks that a report shows.
const MaxShownRanks = 16

// BlockingRank returns the rank for which a rank waits, or −1 if one of several ranks can end the
// wait.
func BlockingRank(w engine.WaitDescription) int {
	if w.Peer == engine.AnySourceOrTag || w.OneSuffices && w.OpenOps > 1 {
		return -1
	}
	return w.Peer
}

// FindCycle returns the first cycle of ranks that wait for each other, starting from the lowest
// rank, or nil. on maps each rank to the one for which it waits; −1: not a single rank.
func FindCycle(ranks []int, on map[int]int) []int {
	walk := make(map[int]int, len(on)) // the rank from which the search reached each rank
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
			c := []int{r}
			for next := on[r]; next != r; next = on[next] {
				c = append(c, next)
			}
			low := slices.Index(c, slices.Min(c))
			return slices.Concat(c[low:], c[:low])
		}
	}
	return nil
}

// RankNames returns the name of a rank of the job, as used in a context by the rank that reports.
type RankNames func(rank int, context uint32) string

// DescribeWait describes what a rank waits for.
func DescribeWait(w engine.WaitDescription, names RankNames) string {
	what := ""
	who := "any rank"
	if w.Peer != engine.AnySourceOrTag {
		who = names(w.Peer, w.Context)
	}
	tag := fmt.Sprintf(" with tag %d", w.Tag)
	switch {
	case isCollectiveContext(w.Context):
		tag = ""
	case w.Tag == engine.AnySourceOrTag:
		tag = " with any tag"
	}
	switch w.Cause {
	case engine.WaitMessage:
		what = fmt.Sprintf("a message from %s%s", who, tag)
	case engine.WaitData:
		what = fmt.Sprintf("the data of a message from %s%s", who, tag)
	case engine.WaitReceive:
		what = fmt.Sprintf("%s to take a %v message of %d bytes%s (protocol %s)", who, w.Mode, w.Bytes, tag, w.Protocol)
	case engine.WaitCancelAnswer:
		what = fmt.Sprintf("%s to say whether it can do without a %v message of %d bytes%s (protocol %s)", who, w.Mode, w.Bytes, tag, w.Protocol)
	case engine.WaitSenderCancel:
		what = fmt.Sprintf("%s to cancel a message of %d bytes%s that was not received", who, w.Bytes, tag)
	case engine.WaitStart:
		what = fmt.Sprintf("Start or Free, being persistent with %s%s", who, tag)
	case engine.WaitBarrier:
		what = fmt.Sprintf("%s in a barrier", who)
	case engine.WaitAccess:
		what = fmt.Sprintf("accesses to the memory of %s to complete", who)
	case engine.WaitLock:
		what = fmt.Sprintf("a lock of the memory of %s", who)
	case engine.WaitExposure:
		what = fmt.Sprintf("%s to expose its memory", who)
	case engine.WaitAccessEnd:
		what = fmt.Sprintf("accesses by %s to complete", who)
	case engine.WaitFinished:
		what = "nothing, being complete"
	case engine.WaitBuffered:
		return fmt.Sprintf("%d buffered %s to leave", w.OpenOps, Plural(w.OpenOps, "message", "messages"))
	}
	switch {
	case w.OpenOps <= 1 || what == "":
		return what
	case w.OneSuffices:
		return fmt.Sprintf("one of %d operations, of which the first is %s", w.OpenOps, what)
	}
	return fmt.Sprintf("%d operations, of which the first is %s", w.OpenOps, what)
}

// DescribeArrived describes the first unexpected message at a rank that waits for another one, or
// returns "".
func DescribeArrived(w engine.WaitDescription, names RankNames) string {
	if w.Unexpected == nil || w.Cause != engine.WaitMessage {
		return ""
	}
	who := names(w.Unexpected.Source, w.Context)
	if !isCollectiveContext(w.Context) {
		return fmt.Sprintf("a message from %s with tag %d", who, w.Unexpected.Tag)
	}
	operation, sort, root := DecodeTag(w.Unexpected.Tag)
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

// isCollectiveContext reports whether a context belongs to collective operations.
func isCollectiveContext(context uint32) bool { return context%2 == 1 }

// StopSites has the source lines where the lowest ranks were stopped. It does not keep all: a job
// may have a million ranks.
type StopSites struct {
	ranks []int // increasing
	lines []CallSite
}

// Record records where a rank was stopped, if it is one of the lowest. Call it on the rank's own
// stack. It skips a number of frames of package mpi.
func (s *StopSites) Record(rank, skip int) {
	i, _ := slices.BinarySearch(s.ranks, rank)
	if i == MaxShownRanks {
		return
	}
	s.ranks = slices.Insert(s.ranks, i, rank)
	s.lines = slices.Insert(s.lines, i, CurrentCallSite(skip+1))
	if len(s.ranks) > MaxShownRanks {
		s.ranks, s.lines = s.ranks[:MaxShownRanks], s.lines[:MaxShownRanks]
	}
}

// SiteOf returns the recorded line of a rank, or the zero value.
func (s *StopSites) SiteOf(rank int) CallSite {
	if i, ok := slices.BinarySearch(s.ranks, rank); ok {
		return s.lines[i]
	}
	return CallSite{}
}
