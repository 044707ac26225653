package timeline

import (
	"io"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
)

// eventDetail is what trace events leave out of a recording. The zero value is nothing.
type eventDetail struct {
	withoutSteps    bool      // the steps of the library, and the network
	withoutMessages bool      // and messages
	shortest        unit.Time // calls and waits that are shorter become one with their neighbours; 0: none
}

// maxEventBytes is the size of trace events that viewers load without delay.
const maxEventBytes = 4_800_000

// String says what the events have.
func (d eventDetail) String() string {
	switch {
	case d.shortest > 0:
		return "calls and waits; those shorter than " + format.MicrosWithUnit(d.shortest.Micros()) + " are one with their neighbours"
	case d.withoutMessages:
		return "calls and waits"
	case d.withoutSteps:
		return "calls, waits and messages"
	}
	return "every step"
}

// describeEventDetail says what the trace events of a run have.
func describeEventDetail(t Trace) string { return eventDetailOf(t).String() }

// eventDetailOf returns the most detail for which the trace events of a recording are short.
func eventDetailOf(t Trace) eventDetail {
	levels := []eventDetail{{}, {withoutSteps: true}, {withoutSteps: true, withoutMessages: true}}
	for _, d := range levels {
		if countEvents(t.Recording, d) <= maxEventBytes/minEventBytes && eventBytes(t, d) <= maxEventBytes {
			return d
		}
	}
	d := levels[len(levels)-1]
	end := t.Recording.End()
	for d.shortest = max(end>>14, 1); d.shortest < end && eventBytes(t, d) > maxEventBytes; {
		d.shortest *= 2
	}
	return d
}

// minEventBytes is the size of a short event.
const minEventBytes = 60

// countEvents returns how many events a recording makes at least.
func countEvents(r *model.Timeline, d eventDetail) int {
	n := 0
	for _, x := range r.Ranks {
		if n += len(x.Calls); !d.withoutSteps {
			n += len(x.Spans)
		}
	}
	if !d.withoutSteps {
		for _, x := range r.Resources {
			n += len(x.Spans)
		}
	}
	if !d.withoutMessages {
		n += 2 * len(r.Flights)
	}
	return n
}

// eventBytes returns how long trace events are.
func eventBytes(t Trace, d eventDetail) int {
	var n byteCounter
	if err := writeEvents(&n, t, d); err != nil {
		panic("timeline: " + err.Error())
	}
	return int(n)
}

// byteCounter counts what is written.
type byteCounter int

var _ io.Writer = new(byteCounter)

func (n *byteCounter) Write(b []byte) (int, error) {
	*n += byteCounter(len(b))
	return len(b), nil
}

// waitsOf returns the spans of a rank in which its processor is idle.
func waitsOf(all []model.Span) (out []model.Span) {
	for _, s := range all {
		if k := s.Activity.OverviewKind(); k == model.WaitKind || k == model.BlockedKind {
			out = append(out, s)
		}
	}
	return out
}

// mergeShort makes one span of neighbours of a kind that together are shorter than a time, named
// for the longest of them.
func mergeShort(all []model.Span, shortest unit.Time) (out []model.Span) {
	longest := unit.Time(0) // in the last one of out
	for _, s := range all {
		if n := len(out) - 1; n >= 0 && out[n].Activity == s.Activity && s.To-out[n].From < shortest {
			x := &out[n]
			x.To, x.Count, x.Bytes = s.To, max(x.Count, 1)+1, x.Bytes+s.Bytes
			if s.Duration() > longest {
				x.Name, longest = s.Name, s.Duration()
			}
			continue
		}
		out, longest = append(out, s), s.Duration()
	}
	return out
}
