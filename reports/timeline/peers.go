package timeline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/format"
)

// messageGroup is the messages of a call in one direction: those that it began to send, or that
// arrived in it.
type messageGroup struct {
	peers    []int
	tags     []int
	messages int // with data
	bytes    int
}

func (e *messageGroup) add(peer int, f model.Flight) {
	if tag, ok := parseFlightTag(f); ok && !slices.Contains(e.tags, tag) {
		e.tags = append(e.tags, tag)
	}
	if f.Bytes == 0 {
		return
	}
	if !slices.Contains(e.peers, peer) {
		e.peers = append(e.peers, peer)
	}
	e.messages++
	e.bytes += f.Bytes
}

// eventArgs returns it for viewers of trace events.
func (e messageGroup) eventArgs() map[string]any {
	out := map[string]any{"peer": listNumbers(e.peers), "bytes": e.bytes}
	if len(e.tags) > 0 {
		out["tag"] = listNumbers(e.tags)
	}
	return out
}

// describe returns it as text: 2000 bytes to rank 3, tag 0.
func (e messageGroup) describe(direction string) string {
	who := fmt.Sprintf("rank %d", e.peers[0])
	if n := len(e.peers); n > 1 {
		who = format.Plural(n, "rank")
	}
	out := fmt.Sprintf("%s %s %s", format.Plural(e.bytes, "byte"), direction, who)
	if e.messages > 1 {
		out += fmt.Sprintf(" in %d messages", e.messages)
	}
	if len(e.tags) == 1 {
		out += fmt.Sprintf(", tag %d", e.tags[0])
	}
	return out
}

// listNumbers returns one number as such, and several as a text.
func listNumbers(of []int) any {
	if len(of) == 1 {
		return of[0]
	}
	const most = 16
	var words []string
	for i, x := range of {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(of)-i))
			break
		}
		words = append(words, strconv.Itoa(x))
	}
	return strings.Join(words, ", ")
}

// tagCalls matches the calls of messages with tags of the program. Those of collective operations
// are the library's own.
var tagCalls = regexp.MustCompile("(?i)send|recv|wait|test|start")

var tagPattern = regexp.MustCompile(`\btag (-?\d+)`)

func parseFlightTag(f model.Flight) (int, bool) {
	m := tagPattern.FindStringSubmatch(f.Detail)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// callExchange is what a call exchanged with other ranks.
type callExchange struct{ sends, receives messageGroup }

// String returns the messages as text, or an empty string.
func (e callExchange) String() string {
	var parts []string
	if e.sends.messages > 0 {
		parts = append(parts, e.sends.describe("to"))
	}
	if e.receives.messages > 0 {
		parts = append(parts, e.receives.describe("from"))
	}
	return strings.Join(parts, "; ")
}

// eventArgs returns it for viewers of trace events, or nil.
func (e callExchange) eventArgs() any {
	out := map[string]any{}
	if e.sends.messages > 0 {
		out["sends"] = e.sends.eventArgs()
	}
	if e.receives.messages > 0 {
		out["receives"] = e.receives.eventArgs()
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// callExchanges returns what each call of each rank exchanged: the data that it began to send, and
// that it took in while it lasted. Headers without data tell the tag alone.
func callExchanges(r *model.Timeline) [][]callExchange {
	sent, taken := make([][]model.Flight, len(r.Ranks)), make([][]model.Flight, len(r.Ranks))
	begun := func(f model.Flight) unit.Time {
		if f.Initiator != f.From { // another rank gets it
			return f.Depart
		}
		return f.Sent
	}
	came := func(f model.Flight) unit.Time {
		if f.IsRemoteAccess && f.Initiator != f.To { // its receiver does nothing for it
			return f.Arrive
		}
		return f.TakenIn
	}
	for _, f := range r.Flights {
		if f.From >= 0 && f.From < len(sent) {
			sent[f.From] = append(sent[f.From], f)
		}
		if f.To >= 0 && f.To < len(taken) && came(f) >= 0 {
			taken[f.To] = append(taken[f.To], f)
		}
	}
	out := make([][]callExchange, len(r.Ranks))
	for rank, x := range r.Ranks {
		sends, takes := sortFlights(sent[rank], begun), sortFlights(taken[rank], came)
		for _, c := range x.Calls {
			var e callExchange
			sends = visitThingsInCall(sends, c, begun, func(f model.Flight) { e.sends.add(f.To, f) })
			takes = visitThingsInCall(takes, c, came, func(f model.Flight) { e.receives.add(f.From, f) })
			if !tagCalls.MatchString(c.Name) {
				e.sends.tags, e.receives.tags = nil, nil
			}
			out[rank] = append(out[rank], e)
		}
	}
	return out
}

func sortFlights(of []model.Flight, when func(model.Flight) unit.Time) []model.Flight {
	slices.SortStableFunc(of, func(a, b model.Flight) int { return cmp.Compare(when(a), when(b)) })
	return of
}
