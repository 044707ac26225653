package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/engine"
)

// RankAudit is what a rank did. When all ranks have ended well, their audits are compared: each
// message that was sent has been received, and, in programs that are checked, all ranks of a
// communicator have made as many collective calls. A message that was lost is thereby an error,
// although no rank waits for it. It takes no virtual time.
type RankAudit struct {
	Rank    int
	Failed  bool `json:",omitempty"` // a call has failed and the program has handled the error
	Traffic engine.MessageTraffic
	Peers   map[int][2]int      `json:",omitempty"` // messages sent to each rank and received from it; of a checked program
	Calls   map[uint32]LastCall `json:",omitempty"` // collective calls by context; of a checked program
}

// LastCall is how many collective calls a rank has made on a communicator, and the last of them.
type LastCall struct {
	Number       int
	Members      []int `json:",omitempty"` // ranks of the job; nil: all
	Call         string
	Tag          int             // of its messages
	CallSite     CallSite        // as far as it was looked up
	recordedCall *collectiveCall // of this process; nil: its line was looked up
}

// LastCalls returns the record of the last call on each communicator.
func (x CallHistory) LastCalls() map[uint32]LastCall {
	if len(x) == 0 {
		return nil
	}
	last := make(map[uint32]LastCall, len(x))
	for context, h := range x {
		c := &h.lastCalls[(h.callCount-1)%maxRememberedCalls]
		last[context] = LastCall{Number: h.callCount, Members: h.members, Call: c.name, Tag: c.tag, recordedCall: c}
	}
	return last
}

// WithLines fills in the lines of the last calls, for another process.
func (a RankAudit) WithLines() RankAudit {
	for context, x := range a.Calls {
		x.CallSite = x.resolvedSite()
		a.Calls[context] = x
	}
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

// compareCalls returns an error if ranks of a communicator made different collective calls: not as
// many, or another one last.
func compareCalls(all []RankAudit) error {
	type group struct {
		context uint32
		first   int // rank of the job: communicators that were made together have one context
	}
	most := map[group]int{} // the rank that made most calls
	for r, a := range all {
		for context, x := range a.Calls {
			g := group{context: context}
			if x.Members != nil {
				g.first = x.Members[0]
			}
			if m, ok := most[g]; !ok || all[m].Calls[context].Number < x.Number {
				most[g] = r
			}
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(most), func(x, y group) int { return cmp.Or(cmp.Compare(x.context, y.context), x.first-y.first) }) {
		a := all[most[g]]
		mine := a.Calls[g.context]
		for i := range all {
			if mine.Members != nil && i == len(mine.Members) {
				break
			}
			if mine.Members != nil {
				i = mine.Members[i]
			}
			theirs := all[i].Calls[g.context]
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

// TrafficBalance is the messages of all ranks that were sent and not received: those of the
// program, and those of collective operations. As a message that is received was sent, their number
// is enough to know that each pair of ranks has received what it sent.
type TrafficBalance [2]struct{ messages, src, dst int } // how many, and the sums of their senders and receivers

// AddTraffic adds what a rank has sent and received.
func (b *TrafficBalance) AddTraffic(rank int, t engine.MessageTraffic) {
	for i := range b {
		x, sent, received := &b[i], t.Sent[i], t.Received[i]
		x.messages += sent.Count - received.Count
		x.src += rank*sent.Count - received.Peers
		x.dst += sent.Peers - rank*received.Count
	}
}

// CheckLost returns an error if messages were lost. It names the pairs of ranks if it gets the
// audits of a checked program, and if there is one message.
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

// unreceivedPairs names the pairs of ranks whose messages were lost, as a checked program counts
// them.
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
