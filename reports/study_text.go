package reports

import (
	"bytes"
	"io"
	"slices"
)

// StudyText writes what came of a study: the verdicts on its claims with what decided them, and of each table and figure the published
// values beside what was measured and predicted. Values that nothing published is beside are left to WriteCells.
func StudyText(w io.Writer, s *Study, style Style) error {
	all := &writer{w: w, style: style}
	all.paragraphs(s.Title, s.Source, s.counts(), s.agreement())
	all.table(s.claimTable(false))
	if len(s.Artefacts) > 0 {
		all.paragraphs("How to read the tables", reading...)
	}
	for i := range s.Artefacts {
		a := &s.Artefacts[i]
		t := a.findings(false)
		t.Notes = append(t.Notes, a.Words...)
		if i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Head == printedIn }); i >= 0 {
			t.drop(i) // the page has it: there is no room here
		}
		if t.rows() > 0 {
			all.table(t)
		} else {
			all.paragraphs(t.Title, t.Notes...)
		}
	}
	if facts := s.factTable(); facts.rows() > 0 {
		facts.Title = "The run"
		all.table(facts)
	}
	return all.err
}

// paragraphs writes a heading and paragraphs below.
func (a *writer) paragraphs(heading string, texts ...string) {
	a.part(func(w io.Writer) error {
		var b bytes.Buffer
		a.style.paragraph(&b, heading, 0, Strong)
		for _, t := range texts {
			if t != "" {
				a.style.paragraph(&b, t, 0, Normal)
			}
		}
		_, err := w.Write(unglued(b.Bytes()))
		return err
	})
}
