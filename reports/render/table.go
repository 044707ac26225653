package render

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

const (
	columnGap          = 2  // columns between columns
	minTextColumnWidth = 18 // the least for a column of text
	minLineWidth       = 24 // what is laid out for at least
)

// textTable is a table that is laid out.
type textTable struct{ doc.Table }

func (s Style) writeTable(b *bytes.Buffer, t *doc.Table) error {
	s.writeHeading(b, t.Title)
	t = s.limitRows(t)
	for i, part := range markWeakCells(t).splitToWidth(s.lineWidth()) {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := s.writePart(b, part); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	if len(t.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range t.Notes {
		s.writeParagraph(b, n, 0, doc.FaintTone)
	}
	return nil
}

func replaceNonBreakingSpaces(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(format.NonBreakingSpace), []byte(" "))
}

// limitRows returns the table with as many rows as a terminal shows.
func (s Style) limitRows(t *doc.Table) *doc.Table {
	if t.TerminalRows == 0 || t.CountRows() <= t.TerminalRows || s.Verbose {
		return t
	}
	out := *t
	out.Groups, out.Notes = nil, append([]string{fmt.Sprintf("%d more rows are not shown: --verbose shows all.", t.CountRows()-t.TerminalRows)}, t.Notes...)
	left := t.TerminalRows
	for _, g := range t.Groups {
		g.Rows = g.Rows[:min(len(g.Rows), left)]
		out.Groups, left = append(out.Groups, g), left-len(g.Rows)
	}
	return &out
}

// markWeakCells returns the table with a column's weak cells marked behind their last digit, and
// the others moved aside.
func markWeakCells(t *doc.Table) *textTable {
	out := &textTable{*t}
	out.Groups = nil
	weak := make([]bool, len(t.Columns))
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			for i, c := range r {
				weak[i] = weak[i] || c.Tone == doc.DoubtfulTone
			}
		}
	}
	for _, g := range t.Groups {
		out.Groups = append(out.Groups, doc.Group{Name: g.Name})
		for _, r := range g.Rows {
			r = slices.Clone(r)
			for i := range r {
				if i == 0 && g.Name != "" {
					r[i].Text = format.NonBreakingSpace + format.NonBreakingSpace + r[i].Text
				}
				switch {
				case r[i].Tone == doc.DoubtfulTone:
					r[i].Text += doc.WeakMark
				case weak[i] && t.Columns[i].Kind == doc.NumberColumn:
					r[i].Text += format.NonBreakingSpace
				}
			}
			out.AddRow(r...)
		}
	}
	return out
}

// lineWidth returns the columns that there are.
func (s Style) lineWidth() int {
	if s.Width <= 0 {
		return 1 << 20
	}
	return max(s.Width, minLineWidth)
}

// paint returns text in the colour of a tone.
func (s Style) paint(text string, t doc.CellTone) string {
	codes := [...]string{doc.NormalTone: "", doc.StrongTone: "1", doc.FaintTone: "2", doc.DoubtfulTone: "33", doc.GoodTone: "32", doc.BadTone: "31", doc.BlindTone: "35"}
	if !s.Colour || codes[t] == "" || text == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = "\x1b[" + codes[t] + "m" + l + "\x1b[0m"
	}
	return strings.Join(lines, "\n")
}

func (s Style) writeHeading(b *bytes.Buffer, text string) {
	if text != "" {
		s.writeParagraph(b, text, 0, doc.StrongTone)
		b.WriteByte('\n')
	}
}

// writeParagraph writes text in lines that fit, the first indented by so many spaces and the others
// by two more.
func (s Style) writeParagraph(b *bytes.Buffer, text string, indent int, t doc.CellTone) {
	for i, line := range format.Wrap(text, s.lineWidth()-indent-2) {
		if i == 1 {
			indent += 2
		}
		b.WriteString(strings.Repeat(" ", indent) + s.paint(line, t) + "\n")
	}
}

// splitToWidth breaks the table into parts that are at most as wide, each with the columns that say
// what a row is about. Columns of text are made narrower first.
func (t *textTable) splitToWidth(width int) []*textTable {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = t.columnWidth(i)
		if c.Kind == doc.ProseColumn {
			widths[i] = min(widths[i], max(minTextColumnWidth, longestLineLength(c.Heading)))
		}
	}
	var keys []int
	room := width
	for i, c := range t.Columns {
		if c.IsKey {
			keys = append(keys, i)
			room -= widths[i] + columnGap
		}
	}
	var parts []*textTable
	for at := 0; at < len(t.Columns); {
		columns, left := keys, room
		for ; at < len(t.Columns); at++ {
			if t.Columns[at].IsKey {
				continue
			}
			need := widths[at]
			if len(columns) > len(keys) && need > left {
				break
			}
			columns = append(columns[:len(columns):len(columns)], at)
			left -= need + columnGap
		}
		parts = append(parts, t.selectColumns(columns, width))
	}
	return parts
}

// selectColumns returns a table of some of the columns, with its text broken into lines so that it
// is at most as wide.
func (t *textTable) selectColumns(columns []int, width int) *textTable {
	out := &textTable{doc.Table{Name: t.Name}}
	room, texts := width+columnGap, 0
	for _, i := range columns {
		out.Columns = append(out.Columns, t.Columns[i])
		if room -= columnGap; t.Columns[i].Kind != doc.ProseColumn {
			room -= t.columnWidth(i)
		} else {
			texts++
		}
	}
	limits := make([]int, len(columns))
	for n, i := range columns { // a text that is shorter than its share leaves room for the others
		if w := t.columnWidth(i); t.Columns[i].Kind == doc.ProseColumn && w <= room/texts {
			limits[n], room, texts = w, room-w, texts-1
		}
	}
	for n, i := range columns {
		if t.Columns[i].Kind == doc.ProseColumn && limits[n] == 0 {
			limits[n] = max(room/texts, minTextColumnWidth)
		}
	}
	for _, g := range t.Groups {
		out.Groups = append(out.Groups, doc.Group{Name: g.Name})
		for _, row := range g.Rows {
			cells := make([]doc.Cell, len(columns))
			for n, i := range columns {
				cells[n] = row[i]
				if limits[n] > 0 {
					cells[n].Text = strings.Join(format.Wrap(row[i].Text, limits[n]), "\n")
				}
			}
			out.AddRow(cells...)
		}
	}
	return out
}

// columnWidth returns the width of a column.
func (t *textTable) columnWidth(column int) int {
	w := longestLineLength(t.Columns[column].Heading)
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			w = max(w, longestLineLength(r[column].Text))
		}
	}
	return w
}

// longestLineLength returns the length of the longest line.
func longestLineLength(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, utf8.RuneCountInString(line))
	}
	return n
}

// writePart writes a table that fits.
func (s Style) writePart(b *bytes.Buffer, t *textTable) error {
	var out bytes.Buffer
	table := s.tableWriter(&out, t)
	before := map[int]string{} // headings of groups by the line that they precede
	line := 0
	if heads := t.columnHeads(s); heads != nil {
		table.Header(heads...)
		if line = countHeadingLines(t.Columns); s.Lines {
			line++
		}
	}
	for _, g := range t.Groups {
		if g.Name != "" {
			before[line] = g.Name
		}
		for _, r := range g.Rows {
			cells, lines := make([]string, len(r)), 1
			for i, c := range r {
				cells[i] = s.paint(c.Text, c.Tone)
				lines = max(lines, strings.Count(c.Text, "\n")+1)
			}
			line += lines
			if err := table.Append(cells); err != nil {
				return err
			}
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	n := 0
	for l := range strings.Lines(out.String()) {
		if name := before[n]; name != "" {
			s.writeParagraph(b, name, 0, doc.StrongTone)
		}
		b.WriteString(strings.TrimSuffix(trimPadding(l), strings.Repeat("─", columnGap)) + "\n")
		n++
	}
	return nil
}

// trimPadding takes the padding from the end of a line, and ends of colours in it.
func trimPadding(line string) string {
	const end = "\x1b[0m"
	line = strings.TrimRight(line, " \n"+format.NonBreakingSpace)
	colored := false
	for strings.HasSuffix(line, end) {
		colored = true
		line = strings.TrimRight(strings.TrimSuffix(line, end), " "+format.NonBreakingSpace)
	}
	if colored {
		line += end
	}
	return line
}

// columnHeads returns the heads of columns, or nil where there are none.
func (t *textTable) columnHeads(s Style) []any {
	all, some := make([]any, len(t.Columns)), false
	for i, c := range t.Columns {
		all[i] = s.paint(c.Heading, doc.StrongTone)
		some = some || c.Heading != ""
	}
	if !some {
		return nil
	}
	return all
}

func countHeadingLines(columns []doc.Column) int {
	n := 1
	for _, c := range columns {
		n = max(n, strings.Count(c.Heading, "\n")+1)
	}
	return n
}

// tableWriter returns a writer of tables without borders.
func (s Style) tableWriter(w io.Writer, t *textTable) *tablewriter.Table {
	set := tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone}
	symbols := tw.NewSymbols(tw.StyleNone)
	if s.Lines {
		set.Lines.ShowHeaderLine, set.Separators.ShowHeader = tw.On, tw.On
		symbols = tw.NewSymbols(tw.StyleLight)
	}
	aligns := make(tw.Alignment, len(t.Columns))
	for i, c := range t.Columns {
		if aligns[i] = tw.AlignLeft; c.Kind == doc.NumberColumn {
			aligns[i] = tw.AlignRight
		}
	}
	return tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Borders: tw.BorderNone, Settings: set, Symbols: symbols})),
		tablewriter.WithEastAsian(tw.Off), // ± and µ are one column wide, wherever it runs
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithPadding(tw.Padding{Right: strings.Repeat(" ", columnGap), Overwrite: true}),
		tablewriter.WithAlignment(aligns),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
	)
}
