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

// maxWarningKinds is how many kinds of warnings are explained unless all are asked for.
const maxWarningKinds = 2

// writeWarnings writes warnings: what the gravest kinds mean and which results they concern, and
// the names of the others; or all.
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
	explained := slices.DeleteFunc(slices.Clone(all), func(k doc.Warning) bool { return k.IsNote })
	if len(explained) == 0 {
		explained = all
	}
	explained = explained[:min(len(explained), maxWarningKinds)]
	count, others := 0, []string{}
	for _, k := range all {
		count += k.Count
		if !slices.ContainsFunc(explained, func(x doc.Warning) bool { return x.Code == k.Code }) {
			others = append(others, fmt.Sprintf("%s (%d)", k.Code, k.Count))
		}
	}
	heading := fmt.Sprintf("%s (--verbose lists all %d):", title, count)
	if count == 1 {
		heading = title + ":"
	}
	s.writeParagraph(b, heading, 0, doc.DoubtfulTone)
	for _, k := range explained {
		var subjects []string
		for _, c := range k.Cases {
			subjects = append(subjects, c.Subjects)
		}
		s.writeParagraph(b, fmt.Sprintf("%s (%s): %s", k.Code, strings.Join(subjects, ", "), k.Meaning), 2, doc.NormalTone)
	}
	if len(others) > 0 {
		s.writeParagraph(b, "also "+strings.Join(others, ", "), 2, doc.FaintTone)
	}
}
