// Package render shows documents of package doc: as text for terminals and pipes, as an HTML page
// that needs nothing else with its tables and charts as files beside it, as CSV and as JSON. The
// same document gives the same bytes.
package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// Style is how text is laid out. The zero value is for pipes and files: aligned, as wide as it
// takes, nothing but characters.
type Style struct {
	Width   int  // columns that text has; 0: no limit
	Lines   bool // a line under heads, of box-drawing characters
	Colour  bool // with the escape sequences of terminals
	Verbose bool // with every warning
}

// The styles.
var (
	Plain    = Style{}                                     // for pipes and files
	Terminal = Style{Width: 80, Lines: true, Colour: true} // for a terminal, whose width it is to be given
)

// Text writes a document as text: the tables of its sections with their titles, lists and warnings,
// but no charts.
func Text(w io.Writer, d *doc.Document, s Style) error {
	var b bytes.Buffer
	between := func() {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
	}
	if d.Answer != "" {
		s.paragraph(&b, d.Answer, 0, doc.Normal)
	}
	for _, x := range d.Sections {
		if x.PageOnly {
			continue
		}
		if len(x.Text)+len(x.Items) > 0 {
			between()
			s.heading(&b, x.Title)
			for _, p := range slices.Concat(x.Text, x.Items) {
				s.paragraph(&b, p, 0, doc.Normal)
			}
		}
		for _, t := range x.Tables {
			between()
			if err := s.table(&b, t); err != nil {
				return err
			}
		}
		for _, c := range x.Commands {
			b.WriteString(c + "\n")
		}
		if len(x.Warnings) > 0 {
			between()
			s.warnings(&b, x.Title, x.Warnings)
		}
	}
	_, err := w.Write(unglued(b.Bytes()))
	return err
}

// terse is how many kinds of warnings are told unless all are asked for.
const terse = 2

// warnings writes warnings: how many there are of each kind and, in a line each, what the gravest
// kinds mean; or all.
func (s Style) warnings(b *bytes.Buffer, title string, all []doc.Warning) {
	if s.Verbose {
		s.heading(b, title)
		for _, k := range all {
			s.paragraph(b, fmt.Sprintf("%s (%d): %s", k.Code, k.Count, k.Meaning), 0, doc.Doubt)
			for _, c := range k.Cases {
				s.paragraph(b, c.String(), 2, doc.Normal)
			}
		}
		return
	}
	n, counts := 0, []string{}
	for _, k := range all {
		n += k.Count
		counts = append(counts, fmt.Sprintf("%d %s", k.Count, k.Code))
	}
	s.line(b, fmt.Sprintf("%s (--verbose explains): %s", format.Plural(n, "warning"), strings.Join(counts, ", ")), doc.Doubt)
	for _, k := range all[:min(len(all), terse)] {
		var subjects []string
		for _, c := range k.Cases {
			subjects = append(subjects, c.Subjects)
		}
		s.line(b, fmt.Sprintf("  %s: %s (%s)", k.Code, k.Meaning, strings.Join(subjects, "; ")), doc.Normal)
	}
}

// line writes one line, cut where it does not fit.
func (s Style) line(b *bytes.Buffer, text string, t doc.Tone) {
	width := s.width()
	if s.Width <= 0 {
		width = 160
	}
	if r := []rune(format.Flat(text)); len(r) > width {
		text = string(r[:width-1]) + "…"
	}
	b.WriteString(s.paint(text, t) + "\n")
}
