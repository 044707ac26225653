package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Prediction is what a model says of a message. Terms need not be known.
type Prediction struct {
	Mode, Protocol   string // the mode may be empty
	Bytes            int
	Sender, Delivery unit.Time  // T_s and T_s-r
	Terms            model.Cost // what they are made of, if more is known than equations (1) to (7)
	Equations        string     // the sums as the source prints them, or empty
}

// Predictions writes a table of T_s and T_s-r, a row a size and two columns a protocol.
func Predictions(w io.Writer, title string, ps []Prediction, s Style) error {
	all := &writer{w: w, style: s}
	all.table(predictionTable(title, ps))
	return all.err
}

// Explained writes the terms of each prediction.
func Explained(w io.Writer, ps []Prediction, s Style) error {
	all := &writer{w: w, style: s}
	for _, p := range ps {
		all.table(p.terms("T_s: the sender may go on", p.Terms.Sender, p.Sender))
		all.table(p.terms("T_s-r: the receiver has the message", p.Terms.Delivery, p.Delivery))
	}
	return all.err
}

// name is the protocol, with the mode if there is one.
func (p Prediction) name() string { return strings.TrimSpace(p.Mode + " " + p.Protocol) }

// modeless returns predictions without their mode, if all have the same.
func modeless(ps []Prediction) []Prediction {
	out := slices.Clone(ps)
	for i := range out {
		if out[i].Mode != ps[0].Mode {
			return ps
		}
	}
	for i := range out {
		out[i].Mode = ""
	}
	return out
}

func predictionTable(title string, ps []Prediction) *Table {
	t := &Table{Name: "predictions", Title: title, Columns: []Column{{Head: "bytes", Key: true, Right: true}}}
	var names []string
	var sizes []int
	at := map[string]map[int]Prediction{}
	for _, p := range modeless(ps) {
		n := p.name()
		if at[n] == nil {
			at[n] = map[int]Prediction{}
			names = append(names, n)
			t.Columns = append(t.Columns, Column{Head: n + "\nT_s us", Right: true}, Column{Head: n + "\nT_s-r us", Right: true})
			if p.Equations != "" {
				t.note("%s: %s.", n, p.Equations)
			}
		}
		at[n][p.Bytes] = p
		sizes = append(sizes, p.Bytes)
	}
	slices.Sort(sizes)
	for _, k := range slices.Compact(sizes) {
		row := []Cell{text(strconv.Itoa(k))}
		for _, n := range names {
			p, ok := at[n][k]
			if !ok {
				row = append(row, none, none)
				continue
			}
			row = append(row, text(number(p.Sender.Micros())), text(number(p.Delivery.Micros())))
		}
		t.add(row...)
	}
	return t
}

// terms is the table of a sum.
func (p Prediction) terms(what string, sum model.Terms, total unit.Time) *Table {
	t := &Table{Name: "terms", Title: fmt.Sprintf("%s, %s, %s", what, p.name(), size(p.Bytes)), Columns: []Column{
		{Head: "message", Key: true}, {Head: "what", Key: true}, {Head: "us", Right: true}, {Head: "whose time"}, {Head: "how"}}}
	times := []string{total.MicrosString()}
	for _, x := range sum {
		times = append(times, x.Time.MicrosString())
	}
	align(times)
	for i, x := range sum {
		step := string(x.Step)
		if step == "" {
			step = "the call"
		}
		t.add(text(step), text(x.Name), text(times[i+1]), text(x.Where.String()), text(x.String()))
	}
	if len(sum) > 0 {
		t.add(text(""), Cell{"sum", Strong}, Cell{times[0], Strong}, text(""), text(""))
	}
	return t
}

// align adds zeros, so that all numbers have as many places.
func align(numbers []string) {
	places := func(s string) int {
		_, frac, _ := strings.Cut(s, ".")
		return len(frac)
	}
	most := 0
	for _, s := range numbers {
		most = max(most, places(s))
	}
	for i, s := range numbers {
		if most > 0 && !strings.Contains(s, ".") {
			numbers[i] += "."
		}
		numbers[i] += strings.Repeat("0", most-places(s))
	}
}
