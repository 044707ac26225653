package reports

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
)

// readings are the conventions of L, in the order of columns: the head of each, and its method.
var readings = []struct{ head, method string }{
	{"LogP\nrtt/2-o_s-o_r", params.ByRoundTrip}, {"paper\ntimer21-timer12", params.ByReceive}, {"PLogP\nrtt/2-g", params.ByHalfTripGap}, {"with overheads\nrtt/2", params.ByHalfTrip},
}

// latencies is the table of the readings of L in all modes that have one, in microseconds.
func (p *place) latencies() *Table {
	t := &Table{Name: "latencies", Title: "L by convention, us, " + p.String(), Columns: []Column{{Head: "mode", Key: true}}}
	used := slices.Clone(readings)
	used = slices.DeleteFunc(used, func(r struct{ head, method string }) bool {
		return !slices.ContainsFunc(p.modes(), func(mode string) bool { return p.latency(mode, r.method) != nil })
	})
	for _, r := range used {
		t.Columns = append(t.Columns, Column{Head: r.head, Right: true})
	}
	for _, mode := range p.modes() {
		row, any := []Cell{text(mode)}, false
		for _, r := range used {
			x := p.latency(mode, r.method)
			any = any || x != nil
			row = append(row, cell(t, x))
		}
		if any {
			t.add(row...)
		}
	}
	t.note("They differ by overheads: LogP takes both from half a round trip, PLogP the gap, and rtt/2 has them in it. The paper's is of ssend alone.")
	return t
}

// latency returns the row of L by a method, or nil.
func (p *place) latency(mode, method string) *params.Parameter {
	for i := range p.rows {
		if x := &p.rows[i]; x.Mode == mode && x.Name == "L" && (x.Method == method || x.Method == method+": not identifiable") {
			return x
		}
	}
	return nil
}

// PLogP writes the parameterized LogP view: for each mode with round trips the overheads and the gap by size, and what it is in the terms of LogGP.
func PLogP(w io.Writer, r *fit.Result, s Style) error {
	all := &writer{w: w, style: s}
	for _, v := range r.PLogP {
		all.table(plogpTable(v))
	}
	return all.err
}

func plogpTable(v params.PLogP) *Table {
	t := &Table{Name: "plogp", Title: fmt.Sprintf("PLogP of %s, %s", where(v.Platform, v.Library, v.Place), v.Mode),
		Columns: []Column{{Head: "bytes", Key: true, Right: true}, {Head: "o_s\nus", Right: true}, {Head: "o_r\nus", Right: true}, {Head: "g\nus", Right: true}}}
	for _, x := range v.Sizes {
		t.add(text(size(x.Bytes)), timed(t, x.SendO), timed(t, x.RecvO), timed(t, x.Gap))
	}
	t.note("L is %s: RTT(0)/2 - g(0), of %s; g(m) is (RTT(m) - RTT(0))/2 + g(0), since as many bytes come back.", timed(t, v.L).Text, size(v.Least))
	x := v.LogGP()
	t.note("As LogGP: L' = L + g - o_s - o_r = %s us, o = (o_s + o_r)/2 = %s us, g = %s us, G = g(m)/m = %s us/B.", number(x.L), number(x.O), number(x.Gap), number(x.BigGap))
	return t
}

// timed returns a time with its interval.
func timed(t *Table, x params.Timed) Cell {
	if math.IsNaN(x.Value) {
		t.note("- was not measured, or is not above nothing.")
		return none
	}
	return Cell{Text: measured(x.Value, x.Low, x.High)}
}

// LogGPS writes L, o, g, G and S of the modes that have an eager limit, or at least a latency.
func LogGPS(w io.Writer, r *fit.Result, s Style) error {
	all := &writer{w: w, style: s}
	for _, p := range places(r) {
		all.table(p.loggps())
	}
	return all.err
}

func (p *place) loggps() *Table {
	t := &Table{Name: "loggps", Title: "LogGPS of " + p.String(), Columns: []Column{{Head: "mode", Key: true}}}
	for _, head := range []string{"L\nus", "o\nus", "g\nus", "G\nus/B", "S"} {
		t.Columns = append(t.Columns, Column{Head: head, Right: true})
	}
	for _, mode := range p.modes() {
		l := p.first(mode, "L")
		if l == nil {
			continue
		}
		t.add(text(mode), cell(t, l), p.mean(mode), cell(t, p.first(mode, "g")), cell(t, p.first(mode, "G")), p.eager(t, mode))
	}
	t.note("o is (o_s + o_r)/2 of the smallest messages. S is the longest message that is sent before the receiver asks for it.")
	return t
}

// mean returns o of the smallest messages.
func (p *place) mean(mode string) Cell {
	send, ok := params.Value(p.rows, mode, "o_s", 0)
	receive, both := params.Value(p.rows, mode, "o_r", 0)
	if !ok || !both {
		return none
	}
	return Cell{Text: number((send + receive) / 2)}
}

// eager returns S of a mode.
func (p *place) eager(t *Table, mode string) Cell {
	for i := range p.rows {
		if x := &p.rows[i]; x.Mode == mode && x.Name == "S" && x.Unit == params.Bytes {
			return Cell{between(int(x.Low), int(x.High)), tone(t, x)}
		}
	}
	t.note("- no eager limit is seen: no size at which half a round trip begins to cost a handshake.")
	return none
}

// HeldOut writes how well one half of the sizes predicts the other.
func HeldOut(w io.Writer, hs []compare.HeldOut, s Style) error {
	t := &Table{Name: "heldout", Title: "Half round trips, predicted from every other size", Columns: []Column{
		{Head: "mode", Key: true}, {Head: "sizes\nfitted", Right: true}, {Head: "sizes\npredicted", Right: true}, {Head: "median error\n%", Right: true}, {Head: "largest\n%", Right: true}}}
	last := ""
	for _, h := range hs {
		if here := where(h.Platform, h.Library, h.Place); here != last {
			t.group(here)
			last = here
		}
		t.add(text(h.Mode), text(fmt.Sprint(h.Fitted)), text(fmt.Sprint(len(h.Others))), text(fmt.Sprintf("%.1f", h.Median)), text(fmt.Sprintf("%.1f", h.Largest)))
	}
	if len(hs) == 0 {
		t.note("No mode has round trips of six sizes, as it takes.")
	}
	t.note("A size just behind a change of protocol is predicted as one before it, or the other way round: the largest error is often there.")
	return t.Text(w, s)
}
