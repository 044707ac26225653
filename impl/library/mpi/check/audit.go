package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/engine"
)

// RankAudit is what a rank reports when it ends without an error. CompareAudits checks that each
// message that was sent has been received and, in checked programs, that all ranks of a
// communicator have made the same number of collective calls. It detects lost messages for which no
// rank waits. It takes no virtual time.
type RankAudit struct {
	Rank    int
	Failed  bool `json:",omitempty"` // a call has failed, and the program has handled the error
	Traffic engine.MessageTraffic
	Peers   map[int][2]int      `json:",omitempty"` // by rank: messages sent to it and received from it; checked programs only
	History CallHistory         `json:"-"`          // of checked programs, in this process
	Calls   map[uint32]LastCall `json:",omitempty"` // its last calls by context, from another process (see WithLines)
}

// LastCall is the number of collective calls that a rank has made on a communicator, and the last
// one.
type LastCall struct {
	Number       int
	Members      []int `json:",omitempty"` // ranks of the job; nil: all
	Call         string
	Tag          int             // tag of its messages
	CallSite     CallSite        // empty if it was not looked up yet
	recordedCall *collectiveCall // in this process; nil: its line has been looked up
}

// lastCalls goes through the last call on each communicator.
func (a *RankAudit) lastCalls(yield func(context uint32, x LastCall) bool) {
	for context, h := range a.History {
		if !yield(context, h.lastCall()) {
			return
		}
	}
	for context, x := range a.Calls {
		if !yield(context, x) {
			return
		}
	}
}

// lastCall returns the last call on a communicator, or a zero one.
func (a *RankAudit) lastCall(context uint32) LastCall {
	if h := a.History[context]; h != nil {
		return h.lastCall()
	}
	return a.Calls[context]
}

func (h *commHistory) lastCall() LastCall {
	c := &h.lastCalls[(h.callCount-1)%maxRememberedCalls]
	return LastCall{Number: h.callCount, Members: h.members, Call: c.name, Tag: c.tag, recordedCall: c}
}

// WithLines looks up the source lines of the last calls, so that the audit can be sent to another
// process.
func (a RankAudit) WithLines() RankAudit {
	calls := make(map[uint32]LastCall, len(a.History))
	for context, x := range a.lastCalls {
		x.CallSite = x.resolvedSite()
		calls[context] = x
	}
	a.History, a.Calls = nil, calls
	return a
}

// CompareAudits returns an error if the audits of ranks that have all ended without errors do not
// match.
func CompareAudits(all []RankAudit) error {
	var b TrafficBalance
	for _, a := range all {
		if a.Failed {
			return nil
		}
	}
	if err := compareCalls(all); err != nil {
		return err
	}
	for _, a := range all {
		b.AddTraffic(a.Rank, a.Traffic)
	}
	return b.CheckLost(all)
}

// compareCalls returns an error if the ranks of a communicator made different numbers of collective
// calls, or ended with different ones.
func compareCalls(all []RankAudit) error {
	type group struct {
		context uint32
		first   int // rank of the job; distinguishes disjoint communicators that have the same context
	}
	most := map[group]int{} // the rank with the most calls
	for r, a := range all {
		for context, x := range a.lastCalls {
			g := group{context: context}
			if x.Members != nil {
				g.first = x.Members[0]
			}
			if m, ok := most[g]; !ok || all[m].lastCall(context).Number < x.Number {
				most[g] = r
			}
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(most), func(x, y group) int { return cmp.Or(cmp.Compare(x.context, y.context), x.first-y.first) }) {
		a := all[most[g]]
		mine := a.lastCall(g.context)
		for i := range all {
			if mine.Members != nil && i == len(mine.Members) {
				break
			}
			if mine.Members != nil {
				i = mine.Members[i]
			}
			theirs := all[i].lastCall(g.context)
			if theirs.Number == mine.Number && theirs.Tag == mine.Tag {
				continue
			}
			e := &engine.Error{Class: engine.ErrOther, Rank: a.Rank, Call: mine.Call, CallSite: mine.resolvedSite()}
			if theirs.Number == mine.Number {
				e.Class, e.Text = DescribeDifference(fmt.Sprintf("rank %d of the job", i), theirs.Tag, mine.Tag)
				e.OtherCall = &engine.CallPlace{Rank: i, Call: theirs.Call, Site: theirs.resolvedSite()}
			} else {
				e.Text = fmt.Sprintf("rank %d of the job has ended without this call: it made %d collective calls on the communicator, this rank %d", i, theirs.Number, mine.Number)
			}
			return e
		}
	}
	return nil
}

func (x LastCall) resolvedSite() CallSite {
	if x.recordedCall != nil {
		return x.recordedCall.resolvedSite()
	}
	return x.CallSite
}

// TrafficBalance sums the sent minus the received messages of all ranks, separately for those of
// the program and those of collective operations. Only sent messages can be received, so a zero
// count proves that every pair of ranks has received all its messages.
type TrafficBalance [2]struct{ messages, src, dst int } // number of messages, and the sums of their source and destination ranks

// AddTraffic adds the traffic of a rank.
func (b *TrafficBalance) AddTraffic(rank int, t engine.MessageTraffic) {
	for i := range b {
		x, sent, received := &b[i], t.Sent[i], t.Received[i]
		x.messages += sent.Count - received.Count
		x.src += rank*sent.Count - received.Peers
		x.dst += sent.Peers - rank*received.Count
	}
}

// CheckLost returns an error if messages were lost. It names the pair of ranks if a single message
// is missing, and all pairs if it gets audits of a checked program.
func (b *TrafficBalance) CheckLost(all []RankAudit) error {
	for i, kind := range []string{"", " of collective operations"} {
		x := b[i]
		if x.messages == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s%s %s not received", x.messages, Plural(x.messages, "message", "messages"), kind, Plural(x.messages, "was", "were"))
		pairs := unreceivedPairs(all)
		switch {
		case i == 0 && pairs != "":
			text += ": " + pairs
		case x.messages == 1:
			text += fmt.Sprintf(": 1 from rank %d to rank %d", x.src, x.dst)
		case all == nil:
			text += "; a check of the program (--check=warn, CheckWarn in Go) says which"
		}
		if i == 1 {
			text += "; all ranks make the same collective calls, in the same order and with the same root"
		}
		return &engine.Error{Class: engine.ErrOther, Rank: engine.NoRank, Call: "Finalize", Text: text}
	}
	return nil
}

// unreceivedPairs names the pairs of ranks with lost messages, from audits of a checked program.
func unreceivedPairs(all []RankAudit) string {
	const show = 4
	var pairs []string
	for _, a := range all {
		for _, dst := range slices.Sorted(maps.Keys(a.Peers)) {
			if n := a.Peers[dst][0] - all[dst].Peers[a.Rank][1]; n > 0 {
				pairs = append(pairs, fmt.Sprintf("%d from rank %d to rank %d", n, a.Rank, dst))
			}
		}
	}
	if len(pairs) > show {
		pairs = append(pairs[:show], fmt.Sprintf("and of %d more pairs", len(pairs)-show))
	}
	return strings.Join(pairs, ", ")
}
