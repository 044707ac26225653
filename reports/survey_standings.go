package reports

import (
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// standings is the table that one looks at first: a row a number, a column a transport, and how far each is from the best.
func (s *Survey) standings(all []subject) *Table {
	t := &Table{Name: "transports", Title: "Parameters side by side", Columns: []Column{{Head: "", Key: true}}, Slim: true}
	for _, x := range all {
		t.Columns = append(t.Columns, Column{Head: x.name, Right: true})
	}
	if len(all) > 1 {
		for _, x := range all {
			t.Columns = append(t.Columns, Column{Head: "to the best\n" + x.name, Right: true})
		}
	}
	t.note("± is the 95 %% interval; - means not applicable or not measured.")
	for _, x := range s.Fit.Standings {
		if g := standingGroup(x); len(t.Groups) == 0 || t.Groups[len(t.Groups)-1].Name != g {
			t.group(g)
		}
		t.add(s.standingRow(t, x, all)...)
	}
	s.limitRows(t, all)
	s.methods(t, all)
	t.units()
	return t
}

func standingGroup(x compare.Standing) string {
	level := ""
	if x.Mode == "message" {
		level = ", low-level messages"
	}
	switch x.Quantity {
	case compare.OneWay, "L":
		return "Latency" + level
	case "o_s", "o_r":
		return "Overheads" + level
	}
	return "Gap and bandwidth" + level
}

// standingRow is the row of a number.
func (s *Survey) standingRow(t *Table, x compare.Standing, all []subject) []Cell {
	subjects := len(all)
	var values []float64
	for _, r := range x.Of {
		values = append(values, r.Value)
	}
	in := scaleOf(x.Unit, values...)
	row := slices.Repeat([]Cell{none}, 1+subjects)
	if subjects > 1 {
		row = slices.Repeat([]Cell{none}, 1+2*subjects)
	}
	row[0] = text(standingWords(x) + ", " + in.unit)
	if !slices.ContainsFunc(values, func(v float64) bool { return v > 0 }) {
		row[0] = text(standingWords(x))
	}
	if x.Quantity == compare.Achieved && x.Bytes < 0 {
		t.note("The longest messages: %s.", s.longest(x, all))
	}
	for i, r := range x.Of {
		p := in.of(r.Parameter)
		row[1+r.Subject] = cell(t, &p)
		if subjects == 1 {
			continue
		}
		c := ratioCell(t, r)
		if i == x.Best && len(x.Of) > 1 {
			c = Cell{"best", Good}
		}
		row[1+subjects+r.Subject] = c
	}
	return row
}

// longest says which sizes those of a row are.
func (s *Survey) longest(x compare.Standing, all []subject) string {
	var words []string
	for _, r := range x.Of {
		words = append(words, size(r.From)+" ("+all[r.Subject].name+")")
	}
	return strings.Join(words, ", ")
}

// standingWords names the row of a number.
func standingWords(x compare.Standing) string {
	switch {
	case x.Quantity == "L":
		return "L = " + map[string]string{params.ByRoundTrip: "rtt/2 − o_s − o_r", params.ByReceive: "timer21 − timer12 of ssend", params.ByHalfTripGap: "rtt/2 − g (PLogP)"}[x.Method]
	case x.Quantity == compare.OneWay:
		return "L = rtt/2, half round trip, " + size(x.Bytes)
	case x.Quantity == compare.Achieved && x.Bytes < 0:
		return "bandwidth of the longest messages"
	case x.Quantity == compare.Achieved:
		return "bandwidth at " + size(x.Bytes)
	case x.Quantity == compare.Bandwidth:
		return "1/G, bandwidth of a byte more"
	case x.Quantity == "G":
		return "G, gap a byte"
	case x.Quantity == "g":
		return "g, gap"
	}
	return quantityWords(x.Quantity, x.Mode, x.Bytes)
}

// limitRows adds from which size on a library changes its ways: as found, and as it says itself.
func (s *Survey) limitRows(t *Table, all []subject) {
	found, says, eager := []Cell{text("pieces of rtt/2 end")}, []Cell{text("the library says")}, []Cell{text("S, eager limit of LogGPS")}
	some, any, sent := false, false, false
	for i := range all {
		c := all[i].curve(all[i].main(), sample.RTT)
		a, b := none, none
		if c != nil && len(c.Points) > 2 {
			a = Cell{"nowhere", Faint}
			if words := breakWords(c.Breaks()); words != "" {
				a, some = text(words), true
			}
		}
		if l := all[i].limits(); len(l) > 0 {
			var words []string
			for _, k := range l {
				words = append(words, size(int(k)))
			}
			b, any = text(strings.Join(words, "\n")), true
		}
		e := none
		if p := all[i].eager(); p != nil {
			e, sent = Cell{between(int(p.Low), int(p.High)), tone(t, p)}, true
			if int(p.Low) < int(p.Value) && int(p.Value) < int(p.High) {
				e.Text = size(int(p.Value)) + "\n" + e.Text
			}
		}
		found, says, eager = append(found, a), append(says, b), append(eager, e)
	}
	if !some && !any && !sent {
		return
	}
	blank := slices.Repeat([]Cell{{}}, len(t.Columns)-1-len(all))
	t.group("Changes of protocol")
	if sent {
		t.add(append(eager, blank...)...)
		t.note("S is the longest message that is sent before its receiver asks for it: somewhere in the range that is named.")
	}
	t.add(append(found, blank...)...)
	if any {
		t.add(append(says, blank...)...)
	}
}

// eager returns the eager limit that was found, or nil.
func (s *subject) eager() *params.Parameter {
	for i := range s.rows {
		if p := &s.rows[i]; p.Name == "S" && p.Unit == params.Bytes && p.Mode == s.main() && !math.IsNaN(p.Value) {
			return p
		}
	}
	return nil
}

// breakWords lists the sizes in between which a curve breaks.
func breakWords(bs []curve.Break) string {
	var words []string
	for _, b := range bs {
		words = append(words, between(b.From, b.To))
	}
	return strings.Join(words, "\n")
}

// methods notes by which timers numbers came about.
func (s *Survey) methods(t *Table, all []subject) {
	var parts []string
	for _, x := range s.Fit.Standings {
		if x.Quantity == "L" || x.Quantity == compare.OneWay || x.Quantity == compare.Achieved || x.Quantity == compare.Bandwidth {
			continue
		}
		methods, by := []string{}, map[string][]string{}
		for _, r := range x.Of {
			if math.IsNaN(r.Value) || r.Bound() || r.Method == params.ByOverhead {
				continue
			}
			if by[r.Method] == nil {
				methods = append(methods, r.Method)
			}
			by[r.Method] = append(by[r.Method], all[r.Subject].name)
		}
		for i, m := range methods {
			if len(methods) > 1 {
				methods[i] += " (" + strings.Join(by[m], ", ") + ")"
			}
		}
		if len(methods) > 0 {
			name, _, _ := strings.Cut(standingWords(x), ",")
			parts = append(parts, name+" "+strings.Join(methods, ", "))
		}
	}
	if len(parts) > 0 {
		t.note("Where numbers are from: %s.", strings.Join(parts, "; "))
	}
}
