package reports

import (
	"io"
)

// Advice is what was found about a machine that matters to measurements on it.
type Advice struct {
	Check, Verdict, Found string
	Why, Do               string // "": nothing is to be done

	Grave bool // it spoils numbers, or makes measuring impossible
}

// Doctor writes what was found about a machine, and what to do about it.
func Doctor(w io.Writer, all []Advice, s Style) error {
	out := &writer{w: w, style: s}
	out.table(findingTable(all))
	out.table(adviceTable(all))
	return out.err
}

// DoctorCSV writes the same as CSV.
func DoctorCSV(w io.Writer, all []Advice) error {
	lines := [][]string{{"check", "verdict", "found", "why", "do"}}
	for _, a := range all {
		lines = append(lines, []string{a.Check, a.Verdict, a.Found, a.Why, a.Do})
	}
	return writeLines(w, "findings", lines)
}

// findingTable has what was found.
func findingTable(all []Advice) *Table {
	t := &Table{Name: "doctor", Title: "What measurements on this machine depend on", Columns: []Column{{Head: "check", Key: true}, {Head: "verdict", Key: true}, {Head: "found", Wrap: true}}}
	for _, a := range all {
		t.add(text(a.Check), a.verdict(), text(a.Found))
	}
	return t
}

func (a Advice) verdict() Cell {
	switch {
	case a.Grave:
		return Cell{a.Verdict, Bad}
	case a.Why == "" && a.Do == "":
		return Cell{a.Verdict, Good}
	}
	return text(a.Verdict)
}

// adviceTable has why it matters and what to do, what is grave before the rest.
func adviceTable(all []Advice) *Table {
	t := &Table{Name: "advice", Columns: []Column{{Head: "check", Key: true}, {Head: "why it matters", Wrap: true}, {Head: "what to do", Wrap: true}}}
	for _, grave := range []bool{true, false} {
		for _, a := range all {
			if a.Grave != grave || a.Why == "" && a.Do == "" {
				continue
			}
			do := text(a.Do)
			if a.Do == "" {
				do = none
			}
			t.add(Cell{a.Check, Strong}, text(a.Why), do)
		}
	}
	return t
}
