package model

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// Recording is the course of a run in time: what every processor did, by what the network was
// taken, and what went between ranks. It is recorded on an emulated machine, or computed by
// Transfer.Timeline; where a message travels alone both say the same.
type Recording struct {
	Ranks     []Track  // the processors, by rank: from the beginning to its end a rank does one thing after the other
	Resources []Track  // the parts of the network that were used: one thing at a time, with gaps
	Flights   []Flight // in the order in which they depart

	// Omitted is how many spans, calls and messages were left out, as a recording is bounded: all
	// that began after Cut.
	Omitted int
	Cut     unit.Time

	Called map[string]int // how often ranks have made each call, whatever was left out
}

// Track is what one processor, or one part of the network, did.
type Track struct {
	Name  string
	Calls []Span // of a rank: the library calls that its program made, each around what was done for it
	Spans []Span // in the order of time; they do not overlap

	Totals [NumActivities]unit.Time // of a rank: the time of each activity, whatever was left out
}

// Span is something that lasts.
type Span struct {
	Step     Kind   // message of the protocol to which it belongs, where that is known
	Name     string // as terms are named; of a wait, of what ended it; of a part of the network, of what it carried
	Activity Activity
	From, To unit.Time
	Bytes    int // that were moved; of software that works by the byte, on how many
	Count    int // how many things of the same name, one behind the other, were drawn together; 0 and 1: one
}

// Time returns how long it lasts.
func (s Span) Time() unit.Time { return s.To - s.From }

// End returns when its last span ends.
func (t Track) End() unit.Time {
	if n := len(t.Spans); n > 0 {
		return t.Spans[n-1].To
	}
	return 0
}

// Flight is something under way from a rank to another: a packet, or a part of a remote access.
type Flight struct {
	Name           string    // kind of message, such as RM
	Step           Kind      // message of the protocol to which it belongs, where that is known
	Detail         string    // what else its head says
	From, To       int       // ranks
	By             int       // the rank that sent it; of a remote access the one that asked for it, which also hears of its end
	Sent           unit.Time // when that began to send, or to ask
	Depart, Arrive unit.Time // of its first byte, of its last. What had not arrived when the run ended has Arrive before Depart
	Taken          unit.Time // when the rank that receives it, or hears of its end, began to take that in; negative: never
	Bytes          int       // of data
	Hardware       bool      // part of a remote access: no processor sends it
}

// Arrived reports whether it arrived before the run ended.
func (f Flight) Arrived() bool { return f.Arrive >= f.Depart }

// Activity is what a span is spent on.
type Activity uint8

// The activities: of processors, then of parts of the network.
const (
	Software  Activity = iota // the library works
	Copying                   // the processor copies
	Sending                   // it brings a packet or a request onto the network
	Receiving                 // it takes a packet off the network
	Interrupt                 // it does what an arrival asks for, whatever it was at
	Computing                 // the program does something of its own
	Waiting                   // for a packet, for the end of a remote access, for an answer
	Blocked                   // the network does not take what it sends
	Carrying                  // a part of the network is taken
	Colliding                 // a medium carries signals that cannot be read
	Silent                    // a station backs off
	NumActivities
)

var activityNames = [NumActivities]string{"software", "copy", "send", "receive", "interrupt", "compute", "wait", "blocked", "carry", "collision", "back-off"}

func (a Activity) String() string { return activityNames[a] }

// End returns when the last rank ended, and the last message arrived. Parts of the network may be
// taken for a while longer.
func (r *Recording) End() unit.Time {
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

// Window returns what happened between two times, as if the first were the beginning. What lasts
// beyond an edge is cut there; flights are kept whole if any of their way is in the window, and may
// begin before it.
func (r *Recording) Window(from, to unit.Time) *Recording {
	out := &Recording{Omitted: r.Omitted}
	if r.Omitted > 0 {
		out.Cut = r.Cut - from
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
		if f.Taken >= 0 {
			f.Taken -= from
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

// Sum is how much of a track went to what has one name.
type Sum struct {
	Name     string
	Activity Activity
	Count    int
	Bytes    int
	Time     unit.Time
}

// Sums adds up the spans by activity and name, in the order of the activities and then of first
// appearance.
func (t Track) Sums() []Sum {
	var sums []Sum
	for _, s := range t.Spans {
		i := slices.IndexFunc(sums, func(x Sum) bool { return x.Name == s.Name && x.Activity == s.Activity })
		if i < 0 {
			i = len(sums)
			sums = append(sums, Sum{Name: s.Name, Activity: s.Activity})
		}
		x := &sums[i]
		x.Count += max(s.Count, 1)
		x.Bytes += s.Bytes
		x.Time += s.Time()
	}
	slices.SortStableFunc(sums, func(a, b Sum) int { return int(a.Activity) - int(b.Activity) })
	return sums
}
