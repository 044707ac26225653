package reports

import (
	"encoding/csv"
	"io"

	"github.com/loggp/loggp/reports/doc"
)

// Advice is what was found about a machine that matters to measurements on it.
type Advice struct {
	Check, Verdict, Found string
	Why, Do               string // "": nothing is to be done

	Grave bool // it spoils numbers, or makes measuring impossible
}

// Doctor is what was found about a machine, and what to do about it.
func Doctor(all []Advice) *doc.Document {
	d := &doc.Document{Title: "What measurements on this machine depend on"}
	d.AddTables("doctor", d.Title, findingTable(all), adviceTable(all))
	d.Files = []doc.File{{Name: "findings.csv", Write: func(w io.Writer) error {
		lines := [][]string{{"check", "verdict", "found", "why", "do"}}
		for _, a := range all {
			lines = append(lines, []string{a.Check, a.Verdict, a.Found, a.Why, a.Do})
		}
		return csv.NewWriter(w).WriteAll(lines)
	}}}
	return d
}

// findingTable has what was found.
func findingTable(all []Advice) *doc.Table {
	t := &doc.Table{Name: "doctor", Title: "What measurements on this machine depend on", Columns: []doc.Column{{Head: "check", Key: true}, {Head: "verdict", Key: true}, {Head: "found", Kind: doc.Prose}}}
	for _, a := range all {
		t.Add(doc.Words(a.Check), a.verdict(), doc.Words(a.Found))
	}
	return t
}

func (a Advice) verdict() doc.Cell {
	switch {
	case a.Grave:
		return doc.Words(a.Verdict).In(doc.Bad)
	case a.Why == "" && a.Do == "":
		return doc.Words(a.Verdict).In(doc.Good)
	}
	return doc.Words(a.Verdict)
}

// adviceTable has why it matters and what to do, what is grave before the rest.
func adviceTable(all []Advice) *doc.Table {
	t := &doc.Table{Name: "advice", Columns: []doc.Column{{Head: "check", Key: true}, {Head: "why it matters", Kind: doc.Prose}, {Head: "what to do", Kind: doc.Prose}}}
	for _, grave := range []bool{true, false} {
		for _, a := range all {
			if a.Grave != grave || a.Why == "" && a.Do == "" {
				continue
			}
			do := doc.Words(a.Do)
			if a.Do == "" {
				do = doc.None
			}
			t.Add(doc.Words(a.Check).In(doc.Strong), doc.Words(a.Why), do)
		}
	}
	return t
}
