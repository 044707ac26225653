package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/loggp/loggp/impl/device"
)

// Events returns what all ranks did, in the order of when it ended; of what ended at one time, that
// of lower ranks first.
func (l *Log) Events() []Event {
	var all []Event
	for _, p := range l.ranks {
		if p != nil {
			all = append(all, p.events...)
		}
	}
	slices.SortStableFunc(all, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Rank, b.Rank))
	})
	return all
}

// Print writes the events, one a line: when it began and ended in microseconds, the rank, and what
// it did. Heads are put into words by tell, or not printed if it is nil.
func (l *Log) Print(w io.Writer, tell func(head device.Head) string) error {
	b := bufio.NewWriter(w)
	for _, e := range l.Events() {
		fmt.Fprintf(b, "%s %s %d %s\n", e.From.MicrosString(), e.To.MicrosString(), e.Rank, e.Text(tell))
	}
	return b.Flush()
}

// Text says what was done, without when and by whom.
func (e Event) Text(tell func(head device.Head) string) string {
	switch e.Kind {
	case Spend:
		return fmt.Sprintf("spend %s %d", e.Work, e.Amount)
	case Copy:
		return fmt.Sprintf("copy %d", e.Amount)
	case Delay:
		return "delay"
	case FetchAndAdd, FetchAndStore, CompareAndSwap:
		return fmt.Sprintf("%v %d at %d", e.Kind, e.Amount, e.Peer)
	}
	way := "to"
	if e.Kind == Recv || e.Kind == Get {
		way = "from"
	}
	s := fmt.Sprintf("%v %d %s %d", e.Kind, e.Amount, way, e.Peer)
	if e.Kind == Done {
		s = "done"
	}
	if tell != nil {
		s += ": " + tell(e.Head)
	}
	return s
}
