// Package render shows documents of package doc: as text for terminals and pipes, as an HTML page
// that needs nothing else with its tables and charts as files beside it, as WriteCSV and as
// WriteJSON. The same document gives the same bytes.
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
	PlainStyle    = Style{}                                     // for pipes and files
	TerminalStyle = Style{Width: 80, Lines: true, Colour: true} // for a terminal, whose width it is to be given
)

// WriteText writes a document as text: the tables of its sections with their titles, lists and
// warnings, but no charts.
func WriteText(w io.Writer, d *doc.Document, s Style) error {
	var b bytes.Buffer
	between := func() {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
	}
	if d.Answer != "" {
		s.writeParagraph(&b, d.Answer, 0, doc.NormalTone)
	}
	for _, x := range d.Sections {
		if x.PageOnly {
			continue
		}
		if len(x.Text)+len(x.Items) > 0 {
			between()
			s.writeHeading(&b, x.Title)
			for _, p := range slices.Concat(x.Text, x.Items) {
				s.writeParagraph(&b, p, 0, doc.NormalTone)
			}
		}
		for _, t := range x.Tables {
			between()
			if err := s.writeTable(&b, t); err != nil {
				return err
			}
		}
		for _, c := range x.Commands {
			b.WriteString(c + "\n")
		}
		if len(x.Warnings) > 0 {
			between()
			s.writeWarnings(&b, x.Title, x.Warnings)
		}
	}
	_, err := w.Write(replaceNonBreakingSpaces(b.Bytes()))
	return err
}

// maxWarningKinds is how many kinds of warnings are told unless all are asked for.
const maxWarningKinds = 2

// writeWarnings writes warnings: how many there are of each kind and, in a line each, what the
// gravest kinds mean; or all.
func (s Style) writeWarnings(b *bytes.Buffer, title string, all []doc.Warning) {
	if s.Verbose {
		s.writeHeading(b, title)
		for _, k := range all {
			s.writeParagraph(b, fmt.Sprintf("%s (%d): %s", k.Code, k.Count, k.Meaning), 0, doc.DoubtfulTone)
			for _, c := range k.Cases {
				s.writeParagraph(b, c.String(), 2, doc.NormalTone)
			}
		}
		return
	}
	n, counts := 0, []string{}
	for _, k := range all {
		n += k.Count
		counts = append(counts, fmt.Sprintf("%d %s", k.Count, k.Code))
	}
	s.writeLine(b, fmt.Sprintf("%s (--verbose explains): %s", format.Plural(n, "warning"), strings.Join(counts, ", ")), doc.DoubtfulTone)
	for _, k := range all[:min(len(all), maxWarningKinds)] {
		var subjects []string
		for _, c := range k.Cases {
			subjects = append(subjects, c.Subjects)
		}
		s.writeLine(b, fmt.Sprintf("  %s: %s (%s)", k.Code, k.Meaning, strings.Join(subjects, "; ")), doc.NormalTone)
	}
}

// writeLine writes one line, cut where it does not fit.
func (s Style) writeLine(b *bytes.Buffer, text string, t doc.CellTone) {
	width := s.lineWidth()
	if s.Width <= 0 {
		width = 160
	}
	if r := []rune(format.SingleLine(text)); len(r) > width {
		text = string(r[:width-1]) + "…"
	}
	b.WriteString(s.paint(text, t) + "\n")
}
