package activity

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Timeline returns the activities of the last run.
func (r *Log) Timeline() *model.Timeline {
	out := &model.Timeline{Ranks: make([]model.Track, len(r.processors)), OmittedCount: r.omitted, OmittedFrom: r.omittedSince, Profile: r.profile.result(r)}
	places := make([][]unit.Time, len(r.processors))
	for i := range r.processors {
		out.Ranks[i], places[i] = r.processors[i].buildTrack()
		out.Ranks[i].Name = fmt.Sprintf("rank %d", i)
		out.Ranks[i].Totals = r.processors[i].totals
	}
	for _, x := range r.resources {
		if x.Totals != [model.NumActivities]unit.Time{} {
			out.Resources = append(out.Resources, x)
		}
	}
	for _, f := range r.flights {
		f.Initiator, f.Sent, f.TakenIn = int(f.senderRank), places[f.senderRank][f.sentSpan], -1
		if f.receivedSpan >= 0 {
			f.TakenIn = max(places[f.receiverRank][f.receivedSpan], f.Arrive) // a long packet may arrive while it is received
		}
		out.Flights = append(out.Flights, f.Flight)
	}
	slices.SortStableFunc(out.Flights, func(a, b model.Flight) int { return cmp.Compare(a.Depart, b.Depart) })
	return out
}

// buildTrack places the spans at their times, including delays. It returns the start of each span
// and the end of the last one.
func (l *processorLog) buildTrack() (t model.Track, places []unit.Time) {
	var now unit.Time
	put := func(s *span, long unit.Time) {
		if long > 0 {
			if s.name == "" {
				s.name = "the end" // until all other ranks end: the program has ended
			}
			t.Spans = append(t.Spans, model.Span{Name: s.name, Activity: s.activity, From: now, To: now + long, Bytes: s.bytes})
			now += long
			s.bytes = 0 // the first part already has them
		}
	}
	rest := l.delays
	for i, s := range append(slices.Clone(l.spans), span{}) {
		places = append(places, now)
		long := s.duration
		for len(rest) > 0 && (rest[0].spanIndex == i || rest[0].spanIndex == noSpanIndex && (rest[0].at < now+long || i == len(l.spans))) {
			x := rest[0]
			before := min(max(x.at-now, 0), long)
			put(&s, before)
			put(&x.span, x.duration)
			long -= before
			rest = rest[1:]
		}
		put(&s, long)
	}
	for j, c := range l.calls {
		to := c.toSpan
		if l.lastCallOpen && j == len(l.calls)-1 {
			to = len(l.spans)
		}
		t.Calls = append(t.Calls, model.Span{Name: c.name, From: places[c.fromSpan], To: places[to]})
	}
	return t, places
}
