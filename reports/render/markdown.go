package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// WriteMarkdown writes a document for pages that are written in WriteMarkdown: what WriteText
// writes, with tables of pipes. It has every row and every warning. Where there are groups, the
// first column is their names.
func WriteMarkdown(w io.Writer, d *doc.Document) error {
	var b bytes.Buffer
	heading := func(text string) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if text != "" {
			b.WriteString("### " + format.SingleLine(text) + "\n\n")
		}
	}
	for _, x := range d.Sections {
		if x.PageOnly {
			continue
		}
		if len(x.Text)+len(x.Items) > 0 {
			heading(x.Title)
			for _, p := range slices.Concat(x.Text, x.Items) {
				b.WriteString(format.SingleLine(p) + "\n\n")
			}
		}
		for _, t := range x.Tables {
			heading(t.Title)
			if err := writePipeTable(&b, t); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
			for _, n := range t.Notes {
				b.WriteString("\n" + format.SingleLine(n) + "\n")
			}
		}
		for _, c := range x.Commands {
			b.WriteString("\n    " + c + "\n")
		}
		if len(x.Warnings) > 0 {
			heading(x.Title)
			for _, k := range x.Warnings {
				fmt.Fprintf(&b, "- %s (%d): %s\n", k.Code, k.Count, format.SingleLine(k.Meaning))
				for _, c := range k.Cases {
					b.WriteString("  - " + format.SingleLine(c.String()) + "\n")
				}
			}
		}
	}
	_, err := w.Write(replaceNonBreakingSpaces(b.Bytes()))
	return err
}

// writePipeTable writes a table. Numbers stand to the right.
func writePipeTable(b *bytes.Buffer, t *doc.Table) error {
	var head []string
	var align []tw.Align
	if t.HasGroups() {
		head, align = append(head, ""), append(align, tw.AlignLeft)
	}
	for _, c := range t.Columns {
		a := tw.AlignLeft
		if c.Kind == doc.NumberColumn {
			a = tw.AlignRight
		}
		head, align = append(head, format.SingleLine(c.Heading)), append(align, a)
	}
	out := tablewriter.NewTable(b, tablewriter.WithRenderer(renderer.NewMarkdown()), tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}), tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: align}),
		tablewriter.WithRowAutoWrap(tw.WrapNone), tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithTrimSpace(tw.Off))
	out.Header(head)
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			var row []string
			if t.HasGroups() {
				row = append(row, escapePipes(g.Name))
			}
			for _, c := range r {
				text := escapePipes(format.SingleLine(c.Text))
				if c.Tone == doc.DoubtfulTone {
					text += doc.WeakMark
				}
				row = append(row, text)
			}
			if err := out.Append(row); err != nil {
				return err
			}
		}
	}
	return out.Render()
}

// escapePipes keeps a pipe from ending a cell.
func escapePipes(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
