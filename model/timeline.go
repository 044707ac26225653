package model

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Timeline is the course of a run in time: what every processor did, what occupied the network,
// and what was sent between ranks. An emulated machine keeps it, or
// Transfer.Timeline computes it. For a message without other traffic both agree.
type Timeline struct {
	Ranks     []Track  // the processors, by rank: spans without gaps from the start to the end of the rank
	Resources []Track  // the parts of the network that were used: spans with gaps
	Flights   []Flight // in the order in which they depart

	// OmittedCount counts the spans, calls and messages after Cut that were left out to bound the
	// size.
	OmittedCount int
	OmittedFrom  unit.Time

	OtherRanks int // ranks that were left out from the start

	Profile // of all of the run; empty unless an emulated machine keeps it
}

// Flow is the bytes of one rank to another in a traffic of many.
type Flow struct {
	Src, Dst, Bytes int
	Time            unit.Time // from the common start until the last one was received
}

// Rate returns its throughput.
func (f Flow) Rate() unit.Rate {
	return unit.Rate(float64(f.Bytes) / float64(f.Time) * float64(unit.Second))
}

// Track is what one processor, or one part of the network, did.
type Track struct {
	Name  string
	Calls []Span // of a rank: the library calls of its program, each around the spans of its work
	Spans []Span // in the order of time; they do not overlap

	Totals [NumActivities]unit.Time // the time of each activity, including what was left out
	Bytes  int                      // of a part of the network: what it carried, likewise
}

// Span is an activity that lasts from one time to another.
type Span struct {
	Step     PacketKind // message of the protocol to which it belongs, if known
	Name     string     // of a term; of a wait, what ended it; of a part of the network, what it carried
	Activity Activity
	From, To unit.Time
	Bytes    int // that were moved, or that per-byte software worked on
	Count    int // how many consecutive spans of the same name were merged; 0 and 1: one
}

// Duration returns the duration of the span.
func (s Span) Duration() unit.Time { return s.To - s.From }

// End returns when the last span of the track ends.
func (t Track) End() unit.Time {
	if n := len(t.Spans); n > 0 {
		return t.Spans[n-1].To
	}
	return 0
}

// Flight is something under way from one rank to another: a packet, or a part of a remote access.
type Flight struct {
	Name           string     // kind of message, such as RM
	Step           PacketKind // message of the protocol to which it belongs, if known
	Detail         string     // other fields of its header
	From, To       int        // ranks
	Initiator      int        // the rank that sent it, or that requested the remote access and gets its completion
	Sent           unit.Time  // when that rank began to send or request it
	Depart, Arrive unit.Time  // of the first byte, of the last; Arrive < Depart: it had not arrived at the end of the run
	TakenIn        unit.Time  // when the receiving or requesting rank began to take it in; negative: never
	Bytes          int        // of data
	IsRemoteAccess bool       // part of a remote access: no processor sends it
}

// Arrived reports whether it arrived before the run ended.
func (f Flight) Arrived() bool { return f.Arrive >= f.Depart }

// Activity is the kind of a span.
type Activity uint8

// The activities: of processors, then of parts of the network.
const (
	SoftwareActivity  Activity = iota // the library works
	CopyActivity                      // the processor copies
	SendActivity                      // it brings a packet or a request onto the network
	ReceiveActivity                   // it takes a packet off the network
	InterruptActivity                 // an arrival interrupts it
	ComputeActivity                   // the program computes
	WaitActivity                      // for a packet, for the end of a remote access, for an answer
	BlockedActivity                   // the network does not accept a packet
	CarryActivity                     // a part of the network is occupied
	CollisionActivity                 // a medium carries a collision
	BackoffActivity                   // a station backs off
	NumActivities
)

var activityNames = [NumActivities]string{"software", "copy", "send", "receive", "interrupt", "compute", "wait", "blocked", "carry", "collision", "back-off"}

func (a Activity) String() string { return activityNames[a] }

// End returns when the last rank ended and the last message had arrived. Parts of the network may
// be occupied for a while longer.
func (r *Timeline) End() unit.Time {
	var end unit.Time
	for _, t := range r.Ranks {
		end = max(end, t.End())
		if n := len(t.Calls); n > 0 {
			end = max(end, t.Calls[n-1].To)
		}
	}
	for _, f := range r.Flights {
		end = max(end, f.Arrive)
	}
	return end
}

// Window returns what happened between two times, with from as the new zero. Spans are cut at both
// edges. Flights are kept whole if they overlap the window, so they may begin before it.
func (r *Timeline) Window(from, to unit.Time) *Timeline {
	out := &Timeline{OmittedCount: r.OmittedCount, OtherRanks: r.OtherRanks}
	if r.OmittedCount > 0 {
		out.OmittedFrom = r.OmittedFrom - from
	}
	for _, t := range r.Ranks {
		out.Ranks = append(out.Ranks, t.window(from, to))
	}
	for _, t := range r.Resources {
		if t = t.window(from, to); len(t.Spans) > 0 {
			out.Resources = append(out.Resources, t)
		}
	}
	for _, f := range r.Flights {
		if f.Depart > to || max(f.Arrive, f.Depart) < from {
			continue
		}
		f.Sent, f.Depart, f.Arrive = f.Sent-from, f.Depart-from, f.Arrive-from
		if f.TakenIn >= 0 {
			f.TakenIn -= from
		}
		out.Flights = append(out.Flights, f)
	}
	return out
}

func (t Track) window(from, to unit.Time) Track {
	cut := func(list []Span) []Span {
		var out []Span
		for _, s := range list {
			if s.To < from || s.From > to || (s.To == from || s.From == to) && s.To > s.From {
				continue
			}
			s.From, s.To = max(s.From, from)-from, min(s.To, to)-from
			out = append(out, s)
		}
		return out
	}
	return Track{Name: t.Name, Calls: cut(t.Calls), Spans: cut(t.Spans)}
}

// SpanSum adds up the spans of a track with the same name and activity.
type SpanSum struct {
	Name     string
	Activity Activity
	Count    int
	Bytes    int
	Time     unit.Time
}

// SumSpans adds up the spans by activity and name, ordered by activity and then by first
// appearance.
func (t Track) SumSpans() []SpanSum {
	var sums []SpanSum
	for _, s := range t.Spans {
		i := slices.IndexFunc(sums, func(x SpanSum) bool { return x.Name == s.Name && x.Activity == s.Activity })
		if i < 0 {
			i = len(sums)
			sums = append(sums, SpanSum{Name: s.Name, Activity: s.Activity})
		}
		x := &sums[i]
		x.Count += max(s.Count, 1)
		x.Bytes += s.Bytes
		x.Time += s.Duration()
	}
	slices.SortStableFunc(sums, func(a, b SpanSum) int { return int(a.Activity) - int(b.Activity) })
	return sums
}
