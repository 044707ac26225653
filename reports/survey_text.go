package reports

import (
	"bytes"
	"io"
	"strings"
)

// WriteSurvey writes a survey: what is said in tables on its page, and how far to trust it.
func WriteSurvey(w io.Writer, s *Survey, style Style) error {
	subjects := s.subjects()
	all := &writer{w: w, style: style}
	for _, t := range []*Table{s.standings(subjects), s.pays(subjects), s.freeTable(subjects), s.launchTable(subjects), s.tailTable(subjects), settingTable(subjects)} {
		all.table(t)
	}
	all.list("How far to trust it", s.trust(subjects))
	all.doubts(s.doubts(subjects))
	return all.err
}

// doubts writes what not to trust.
func (a *writer) doubts(kinds []kindView) {
	if len(kinds) == 0 {
		return
	}
	a.part(func(w io.Writer) error {
		var b bytes.Buffer
		a.style.heading(&b, "What not to trust, and why")
		for _, k := range kinds {
			a.style.paragraph(&b, strings.TrimSuffix(k.Code+": "+k.Meaning, ": "), 0, Doubt)
			for _, c := range k.Cases {
				a.style.paragraph(&b, c.Subjects+": "+c.Text, 2, Normal)
			}
		}
		_, err := w.Write(unglued(b.Bytes()))
		return err
	})
}

// list writes sentences under a heading.
func (a *writer) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	a.part(func(w io.Writer) error {
		var b bytes.Buffer
		a.style.heading(&b, title)
		for _, x := range items {
			a.style.paragraph(&b, x, 0, Normal)
		}
		_, err := w.Write(unglued(b.Bytes()))
		return err
	})
}
