package model

import (
	"github.com/loggp/loggp/model/unit"
)

// Profile is what a Timeline has of a whole run, also where its spans, calls and messages were left
// out.
type Profile struct {
	Calls    []CallProfile // in the order of their first call
	Traffic  []PairTraffic // by sender, then receiver
	Overview Overview
}

// CallProfile sums up the calls of a name by all ranks.
type CallProfile struct {
	Name              string
	Count             int
	Bytes             int       // of data that ranks sent in these calls
	Time              unit.Time // from entering to leaving
	Shortest, Longest unit.Time
	Waiting           unit.Time // while the processor is idle
	Blocked           unit.Time // while the network accepts no packet

	// The wait states of Scalasca: waiting until a message was sent (late sender; in a collective
	// call, for the ranks that enter it last), and until a receiver was ready (late receiver). The
	// rest of Waiting is the way of messages.
	LateSender, LateReceiver unit.Time

	// DelayedBy has how long ranks waited in these calls while each rank was busy on the critical
	// path to the message that ended the wait. It is nil if that is not known.
	DelayedBy []unit.Time
}

// PairTraffic is the data from one rank to another. If Group is more than 1, From and To are the
// first ranks of groups of so many.
type PairTraffic struct {
	From, To, Group int
	Messages, Bytes int
}

// Overview is how ranks spent their time in equal parts of the run.
type Overview struct {
	Width   unit.Time // of a part; 0: there is no overview
	Parts   int
	Group   int           // how many consecutive ranks are one row
	Rows    [][]unit.Time // by row, then part and kind: NumOverviewKinds values a part
	EndTime unit.Time
}

// OverviewKind is a kind of activity in an overview.
type OverviewKind uint8

// The kinds.
const (
	ComputeKind  OverviewKind = iota
	OverheadKind              // the processor works for communication
	WaitKind
	BlockedKind // the network accepts no packet
	NumOverviewKinds
)

// OverviewKind returns the kind of an activity of a processor.
func (a Activity) OverviewKind() OverviewKind {
	switch a {
	case ComputeActivity:
		return ComputeKind
	case WaitActivity:
		return WaitKind
	case BlockedActivity:
		return BlockedKind
	}
	return OverheadKind
}

// Bounds of an overview.
const (
	maxOverviewRows  = 512
	maxOverviewParts = 1024
)

// NewOverview returns an empty overview of so many ranks.
func NewOverview(ranks int) Overview {
	group := 1
	for (ranks+group-1)/group > maxOverviewRows {
		group *= 2
	}
	return Overview{Width: unit.Nanosecond, Group: group, Rows: make([][]unit.Time, (ranks+group-1)/group)}
}

// Add adds an activity of a rank. If it ends after the last part, parts become longer.
func (o *Overview) Add(rank int, a Activity, from, to unit.Time) {
	for to > o.Width*maxOverviewParts {
		o.doubleWidth()
	}
	row := &o.Rows[rank/o.Group]
	if *row == nil {
		*row = make([]unit.Time, maxOverviewParts*int(NumOverviewKinds))
	}
	o.EndTime = max(o.EndTime, to)
	for from < to {
		part := from / o.Width
		end := min(to, (part+1)*o.Width)
		(*row)[int(part)*int(NumOverviewKinds)+int(a.OverviewKind())] += end - from
		from = end
	}
	o.Parts = max(o.Parts, int((o.EndTime+o.Width-1)/o.Width))
}

// doubleWidth makes one part of each two.
func (o *Overview) doubleWidth() {
	const kinds = int(NumOverviewKinds)
	for _, row := range o.Rows {
		for i := range len(row) / 2 {
			part, kind := i/kinds, i%kinds
			row[i] = row[2*part*kinds+kind] + row[(2*part+1)*kinds+kind]
		}
		clear(row[len(row)/2:])
	}
	o.Width *= 2
	o.Parts = (o.Parts + 1) / 2
}

// Kind returns what ranks of a row do longest in a part of the run, and whether they do anything.
func (o *Overview) Kind(row, part int) (kind OverviewKind, active bool) {
	if o.Rows[row] == nil {
		return 0, false
	}
	times := o.Rows[row][part*int(NumOverviewKinds):][:NumOverviewKinds]
	for k, t := range times {
		if t > times[kind] {
			kind = OverviewKind(k)
		}
	}
	return kind, times[kind] > 0
}

// OverviewOf returns the overview of the spans of a timeline.
func OverviewOf(r *Timeline) Overview {
	o := NewOverview(len(r.Ranks))
	for i, t := range r.Ranks {
		for _, s := range t.Spans {
			o.Add(i, s.Activity, s.From, s.To)
		}
	}
	return o
}
