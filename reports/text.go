package reports

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
)

// Style is how text is laid out. The zero value is for pipes and files: aligned, as wide as it takes, nothing but characters.
type Style struct {
	Width  int  // columns that text has; 0: no limit
	Lines  bool // a line under heads, of box-drawing characters
	Colour bool // with the escape sequences of terminals
}

// The styles.
var (
	Plain    = Style{}                                     // for pipes and files
	Terminal = Style{Width: 80, Lines: true, Colour: true} // for a terminal, whose width it is to be given
)

const (
	gutter    = 2  // columns between columns
	narrow    = 18 // the least for a column of text
	narrowest = 24 // what is laid out for at least
)

// Text writes the table as text.
func (t *Table) Text(w io.Writer, s Style) error {
	var b bytes.Buffer
	s.heading(&b, t.Title)
	for i, part := range t.marked().parts(s.width()) {
		if i > 0 {
			b.WriteByte('\n')
		}
		if err := s.part(&b, part); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	if len(t.Notes) > 0 {
		b.WriteByte('\n')
	}
	for _, n := range t.Notes {
		s.paragraph(&b, n, 0, Faint)
	}
	_, err := w.Write(unglued(b.Bytes()))
	return err
}

func unglued(text []byte) []byte { return bytes.ReplaceAll(text, []byte(glue), []byte(" ")) }

// marked returns the table with a column's weak cells marked behind their last digit, and the others moved aside.
func (t *Table) marked() *Table {
	out := *t
	out.Groups = nil
	weak := make([]bool, len(t.Columns))
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			for i, c := range r {
				weak[i] = weak[i] || c.Tone == Doubt
			}
		}
	}
	for _, g := range t.Groups {
		out.group(g.Name)
		for _, r := range g.Rows {
			r = slices.Clone(r)
			for i := range r {
				if i == 0 && g.Name != "" {
					r[i].Text = glue + glue + r[i].Text
				}
				switch {
				case r[i].Tone == Doubt:
					r[i].Text += doubt
				case weak[i] && t.Columns[i].Right:
					r[i].Text += glue
				}
			}
			out.add(r...)
		}
	}
	return &out
}

// width returns the columns that there are.
func (s Style) width() int {
	if s.Width <= 0 {
		return 1 << 20
	}
	return max(s.Width, narrowest)
}

// paint returns text in the colour of a tone.
func (s Style) paint(text string, t Tone) string {
	codes := [...]string{Normal: "", Strong: "1", Faint: "2", Doubt: "33", Good: "32", Bad: "31"}
	if !s.Colour || codes[t] == "" || text == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = "\x1b[" + codes[t] + "m" + l + "\x1b[0m"
	}
	return strings.Join(lines, "\n")
}

func (s Style) heading(b *bytes.Buffer, text string) {
	if text != "" {
		s.paragraph(b, text, 0, Strong)
		b.WriteByte('\n')
	}
}

// paragraph writes text in lines that fit, the first indented by so many spaces and the others by two more.
func (s Style) paragraph(b *bytes.Buffer, text string, indent int, t Tone) {
	for i, line := range wrap(text, s.width()-indent-2) {
		if i == 1 {
			indent += 2
		}
		b.WriteString(strings.Repeat(" ", indent) + s.paint(line, t) + "\n")
	}
}

// parts breaks the table into parts that are at most as wide, each with the columns that say what a row is about.
// Columns of text are made narrower first.
func (t *Table) parts(width int) []*Table {
	widths := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		widths[i] = t.widest(i)
		if c.Wrap {
			widths[i] = min(widths[i], max(narrow, longest(c.Head)))
		}
	}
	var keys []int
	room := width
	for i, c := range t.Columns {
		if c.Key {
			keys = append(keys, i)
			room -= widths[i] + gutter
		}
	}
	var parts []*Table
	for at := 0; at < len(t.Columns); {
		columns, left := keys, room
		for ; at < len(t.Columns); at++ {
			if t.Columns[at].Key {
				continue
			}
			need := widths[at]
			if len(columns) > len(keys) && need > left {
				break
			}
			columns = append(columns[:len(columns):len(columns)], at)
			left -= need + gutter
		}
		parts = append(parts, t.pick(columns, width))
	}
	return parts
}

// pick returns a table of some of the columns, with its text broken into lines so that it is at most as wide.
func (t *Table) pick(columns []int, width int) *Table {
	out := &Table{Name: t.Name}
	room, texts := width+gutter, 0
	for _, i := range columns {
		out.Columns = append(out.Columns, t.Columns[i])
		if room -= gutter; !t.Columns[i].Wrap {
			room -= t.widest(i)
		} else {
			texts++
		}
	}
	limits := make([]int, len(columns))
	for n, i := range columns { // a text that is shorter than its share leaves room for the others
		if w := t.widest(i); t.Columns[i].Wrap && w <= room/texts {
			limits[n], room, texts = w, room-w, texts-1
		}
	}
	for n, i := range columns {
		if t.Columns[i].Wrap && limits[n] == 0 {
			limits[n] = max(room/texts, narrow)
		}
	}
	for _, g := range t.Groups {
		out.group(g.Name)
		for _, row := range g.Rows {
			cells := make([]Cell, len(columns))
			for n, i := range columns {
				cells[n] = row[i]
				if limits[n] > 0 {
					cells[n].Text = strings.Join(wrap(row[i].Text, limits[n]), "\n")
				}
			}
			out.add(cells...)
		}
	}
	return out
}

// widest returns the width of a column.
func (t *Table) widest(column int) int {
	w := longest(t.Columns[column].Head)
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			w = max(w, longest(r[column].Text))
		}
	}
	return w
}

// longest returns the length of the longest line.
func longest(text string) int {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, utf8.RuneCountInString(line))
	}
	return n
}

// part writes a table that fits.
func (s Style) part(b *bytes.Buffer, t *Table) error {
	var out bytes.Buffer
	table := s.writer(&out, t)
	before := map[int]string{} // headings of groups by the line that they precede
	line := 0
	if heads := t.heads(s); heads != nil {
		table.Header(heads...)
		if line = headLines(t.Columns); s.Lines {
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
			s.paragraph(b, name, 0, Strong)
		}
		b.WriteString(strings.TrimSuffix(trim(l), strings.Repeat("─", gutter)) + "\n")
		n++
	}
	return nil
}

// trim takes the padding from the end of a line, and ends of colours in it.
func trim(line string) string {
	const end = "\x1b[0m"
	line = strings.TrimRight(line, " \n"+glue)
	colored := false
	for strings.HasSuffix(line, end) {
		colored = true
		line = strings.TrimRight(strings.TrimSuffix(line, end), " "+glue)
	}
	if colored {
		line += end
	}
	return line
}

// heads returns the heads of columns, or nil where there are none.
func (t *Table) heads(s Style) []any {
	all, some := make([]any, len(t.Columns)), false
	for i, c := range t.Columns {
		all[i] = s.paint(c.Head, Strong)
		some = some || c.Head != ""
	}
	if !some {
		return nil
	}
	return all
}

func headLines(columns []Column) int {
	n := 1
	for _, c := range columns {
		n = max(n, strings.Count(c.Head, "\n")+1)
	}
	return n
}

// writer returns a writer of tables without borders.
func (s Style) writer(w io.Writer, t *Table) *tablewriter.Table {
	set := tw.Settings{Separators: tw.SeparatorsNone, Lines: tw.LinesNone}
	symbols := tw.NewSymbols(tw.StyleNone)
	if s.Lines {
		set.Lines.ShowHeaderLine, set.Separators.ShowHeader = tw.On, tw.On
		symbols = tw.NewSymbols(tw.StyleLight)
	}
	aligns := make(tw.Alignment, len(t.Columns))
	for i, c := range t.Columns {
		if aligns[i] = tw.AlignLeft; c.Right {
			aligns[i] = tw.AlignRight
		}
	}
	return tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{Borders: tw.BorderNone, Settings: set, Symbols: symbols})),
		tablewriter.WithEastAsian(tw.Off), // ± and µ are one column wide, wherever it runs
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithPadding(tw.Padding{Right: strings.Repeat(" ", gutter), Overwrite: true}),
		tablewriter.WithAlignment(aligns),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
	)
}

// wrap breaks text into lines of at most width characters, between words where it can.
func wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.SplitSeq(paragraph, " ") {
			if word == "" {
				continue
			}
			for utf8.RuneCountInString(word) > width {
				if line != "" {
					lines, line = append(lines, line), ""
				}
				head := []rune(word)[:width]
				lines, word = append(lines, string(head)), word[len(string(head)):]
			}
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= width:
				line += " " + word
			default:
				lines, line = append(lines, line), word
			}
		}
		lines = append(lines, line)
	}
	return lines
}
