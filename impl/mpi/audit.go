package mpi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/engine"
)

// When all ranks have ended well, what they did is compared: what one has sent another has received,
// and, in programs that are checked, all ranks of a communicator have made as many collective calls.
// A message that was lost is thereby an error, although no rank waits for it. It takes no virtual time.

// audit is what a rank did.
type audit struct {
	Rank    int
	Failed  bool `json:",omitempty"` // a call has failed and the program has handled the error
	Traffic engine.Traffic
	Peers   map[int][2]int     `json:",omitempty"` // messages sent to each rank and received from it; of a checked program
	Calls   map[uint32]lastOne `json:",omitempty"` // collective calls by context; of a checked program
}

// lastOne is how many collective calls a rank has made on a communicator, and the last of them.
type lastOne struct {
	Number  int
	Members []int `json:",omitempty"` // ranks of the job; nil: all
	Call    string
	Tag     int  // of its messages
	At      Site // as far as it was looked up
	made    *made
}

// audit returns what this rank did.
func (c *Comm) audit() audit {
	a := audit{Rank: c.e.Port().Rank(), Failed: c.e.Failed(), Traffic: c.e.Traffic(), Peers: c.e.Peers()}
	if len(c.own.calls) > 0 {
		a.Calls = make(map[uint32]lastOne, len(c.own.calls))
		for context, h := range c.own.calls {
			m := &h.last[(h.n-1)%remembered]
			a.Calls[context] = lastOne{Number: h.n, Members: h.members, Call: m.call, Tag: m.tag, made: m}
		}
	}
	return a
}

// located fills in where the last calls were, for another process.
func (a audit) located() audit {
	for context, x := range a.Calls {
		x.At = x.site()
		a.Calls[context] = x
	}
	return a
}

// compare returns an error if ranks in this process, which have all ended well, did not do what goes
// together.
func (j *job) compare() error {
	if !j.check { // as a job may have a million ranks, nothing is made for each of them
		var sent, received [2]engine.Tally
		for _, c := range j.worlds {
			if c.e.Failed() {
				return nil
			}
			t := c.e.Traffic()
			for i := range sent {
				sent[i].Add(t.Sent[i])
				received[i].Add(t.Received[i])
			}
		}
		return lost(sent, received, nil, len(j.worlds))
	}
	all := make([]audit, len(j.worlds))
	for r, c := range j.worlds {
		all[r] = c.audit()
	}
	return compare(all)
}

// compareDetails does the same for ranks in other processes.
func compareDetails(details [][]byte) error {
	all := make([]audit, len(details))
	for r, text := range details {
		left := recall(text).Audit
		if left == nil {
			return nil // it ended without the library's end, which is not this check's to judge
		}
		all[r] = *left
	}
	if err := compare(all); err != nil {
		return audited{err.(*Error)}
	}
	return nil
}

// audited is an error of an audit, which goes to processes that come to the run later.
type audited struct{ err *Error }

func (a audited) Error() string { return a.err.Error() }
func (a audited) Unwrap() error { return a.err }

// ErrorDetail returns the error as ranks leave errors.
func (a audited) ErrorDetail() []byte {
	text, _ := json.Marshal(told(a.err))
	return text
}

func compare(all []audit) error {
	var sent, received [2]engine.Tally
	for _, a := range all {
		if a.Failed {
			return nil
		}
	}
	if err := compareCalls(all); err != nil {
		return err
	}
	for _, a := range all {
		for i := range sent {
			sent[i].Add(a.Traffic.Sent[i])
			received[i].Add(a.Traffic.Received[i])
		}
	}
	return lost(sent, received, all, len(all))
}

// compareCalls returns an error if ranks of a communicator made different collective calls: not as
// many, or another one last.
func compareCalls(all []audit) error {
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
			e := &Error{Class: ErrOther, Rank: a.Rank, Call: mine.Call, At: mine.site()}
			if theirs.Number == mine.Number {
				e.Class, e.Text = difference(fmt.Sprintf("rank %d of the job", i), theirs.Tag, mine.Tag)
				e.Other = &engine.Place{Rank: i, Call: theirs.Call, At: theirs.site()}
			} else {
				e.Text = fmt.Sprintf("rank %d of the job has ended without this call: it made %d collective calls on the communicator, this rank %d", i, theirs.Number, mine.Number)
			}
			return e
		}
	}
	return nil
}

func (x lastOne) site() Site {
	if x.made != nil {
		return siteOf(x.made.on[:x.made.frames])
	}
	return x.At
}

// lost returns an error if less was received than was sent.
func lost(sent, received [2]engine.Tally, all []audit, ranks int) error {
	for i, kind := range []string{"", " of collective operations"} {
		left := sent[i].Minus(received[i])
		if left == (engine.Tally{}) {
			continue
		}
		n := int(left.Count)
		text := fmt.Sprintf("%d %s%s %s not received", n, plural(n, "message", "messages"), kind, plural(n, "was", "were"))
		switch pairs := unreceived(left, all, ranks); {
		case pairs != "":
			text += ": " + pairs
		case all == nil:
			text += "; a check of the program (Options.Check, --check) says which"
		}
		if i == 1 {
			text += "; all ranks make the same collective calls, in the same order and with the same root"
		}
		return &Error{Class: ErrOther, Rank: NoRank, Call: "Finalize", Text: text}
	}
	return nil
}

// searched is the largest number of ranks whose pairs are searched for one whose messages were lost.
const searched = 2048

// unreceived names the pairs of ranks whose messages were lost: as programs that are checked count
// them, or the one pair of which all are.
func unreceived(left engine.Tally, all []audit, ranks int) string {
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
	if pairs != nil || ranks > searched {
		return strings.Join(pairs, ", ")
	}
	for src := range ranks {
		for dst := range ranks {
			if left.Of(src, dst) {
				return fmt.Sprintf("%d from rank %d to rank %d", left.Count, src, dst)
			}
		}
	}
	return ""
}
