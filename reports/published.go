package reports

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/platform"
)

// Row is a number as it was published, with the measurement that answers to it.
type Row struct {
	Table     string // table-3
	Platform  string // as the source writes it: T3D
	Parameter string // L o_s o_r g G o s S H P
	Column    string // low, high, or sync_low and sync_high for the non-blocking synchronous mode; of a range without sizes low
	Level     string // inter or intra; of a source with one level inter

	Printed   string // as printed; a range as low to high
	Low, High float64
	Unit      string // us, us_per_byte, count
	Bytes     int    // size of the message; -1 where that has no meaning
	Flat      bool   // one value is printed for all sizes
	Note      string

	Contradiction string // what the source says against it
	Refuted       bool   // the printed number itself cannot be right
}

// Name names the row as platform files do: table-3 T3D o_s low.
func (r Row) Name() string {
	return strings.Join([]string{r.Table, r.Platform, r.Parameter, r.Column}, " ")
}

// Published is the published numbers.
type Published []Row

// The files of a source, in its directory.
const (
	loggpTable     = "table-3-loggp-signature.csv"
	loghTable      = "table-4-loghssp-signature.csv"
	latencyTable   = "table-5-latency.csv"
	contradictions = "contradictions.csv"
)

// ReadPublished reads the published parameters of a directory: tables 3 and 4 of Al-Tawil and Moritz, in their order.
func ReadPublished(dir fs.FS) (Published, error) {
	var all Published
	against, err := records(dir, contradictions)
	if err != nil {
		return nil, err
	}
	for _, file := range []string{loggpTable, loghTable} {
		table, err := records(dir, file)
		if err != nil {
			return nil, err
		}
		for _, r := range table {
			rows, err := published(file, r)
			if err != nil {
				return nil, err
			}
			for i := range rows {
				for _, c := range against {
					if c.get("table") == rows[i].Table && c.get("platform") == rows[i].Platform && c.get("parameter") == rows[i].Parameter {
						rows[i].Contradiction, rows[i].Refuted = c.get("contradiction"), c.get("against") == "number"
					}
				}
			}
			all = append(all, rows...)
		}
	}
	return all, nil
}

// Of returns the rows of a platform by its name in the catalogue, which is that of the source in small letters.
func (p Published) Of(platform string) Published {
	var out Published
	for _, r := range p {
		if strings.EqualFold(r.Platform, platform) {
			out = append(out, r)
		}
	}
	return out
}

// ReadLatencies reads the latencies that a directory has once more, beside those of ReadPublished: table 5, in its order.
func ReadLatencies(dir fs.FS) (Published, error) {
	table, err := records(dir, latencyTable)
	if err != nil {
		return nil, err
	}
	var all Published
	for _, r := range table {
		rows, err := published(latencyTable, record{r.place, map[string]string{"platform": r.get("platform"), "parameter": "L", "unit": "us",
			"low": r.get("low_us"), "high": r.get("high_us"), "sync_low": "NA", "sync_high": "NA", "low_bytes": "NA", "high_bytes": "NA"}})
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// ReadTable reads a file of a source as rows by the names of its columns.
func ReadTable(dir fs.FS, file string) ([]map[string]string, error) {
	table, err := records(dir, file)
	var rows []map[string]string
	for _, r := range table {
		rows = append(rows, r.cells)
	}
	return rows, err
}

// record is a row of a file by the names of its columns.
type record struct {
	place string // file and line
	cells map[string]string
}

func (r record) get(column string) string { return r.cells[column] }

// records reads a file with a header.
func records(dir fs.FS, file string) ([]record, error) {
	f, err := dir.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read published numbers: %w", err)
	}
	defer f.Close()
	in := csv.NewReader(f)
	head, err := in.Read()
	var all []record
	for err == nil {
		var cells []string
		if cells, err = in.Read(); err == nil {
			line, _ := in.FieldPos(0)
			r := record{fmt.Sprintf("%s:%d", file, line), map[string]string{}}
			for i, h := range head {
				r.cells[h] = cells[i]
			}
			all = append(all, r)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read published numbers: %s: %w", file, err)
	}
	return all, nil
}

// published makes rows of a row of a table: one for each number, but one for a range without sizes.
func published(file string, r record) ([]Row, error) {
	parts := strings.SplitN(file, "-", 3)
	row := Row{Table: parts[0] + "-" + parts[1], Platform: r.get("platform"), Parameter: r.get("parameter"), Level: r.get("level"),
		Unit: r.get("unit"), Note: r.get("note")}
	if row.Level == "" {
		row.Level = "inter"
	}
	one := r.get("low_bytes") == "NA"
	row.Flat = !one && r.get("low") == r.get("high") && r.get("sync_low") == "NA"
	var rows []Row
	for _, column := range []string{"low", "high", "sync_low", "sync_high"} {
		printed := r.get(column)
		if printed == "" {
			return nil, fmt.Errorf("read published numbers: %s: no column %q", r.place, column)
		}
		if printed == "NA" || one && column != "low" {
			continue
		}
		x := row
		x.Column, x.Printed, x.Bytes = column, printed, -1
		var err error
		if !one {
			_, end, _ := strings.Cut("_"+column, "_")
			end = strings.TrimPrefix(end, "sync_")
			if x.Bytes, err = strconv.Atoi(r.get(end + "_bytes")); err != nil {
				return nil, fmt.Errorf("read published numbers: %s: %w", r.place, err)
			}
		}
		x.Low, err = strconv.ParseFloat(printed, 64)
		x.High = x.Low
		if high := r.get("high"); one && high != printed && err == nil {
			x.High, err = strconv.ParseFloat(high, 64)
			x.Printed += " to " + high
		}
		if err != nil {
			return nil, fmt.Errorf("read published numbers: %s: %w", r.place, err)
		}
		rows = append(rows, x)
	}
	return rows, nil
}

// Answer returns the mode and the parameter that answer to a published number, or "": overheads of the non-blocking modes as the text has
// it; H and P are of no mode; for o_r the blocking receive that finds its message there. A blocking receive has the message to copy: where one value
// is printed for all sizes, it is that of the receive that does not block.
func (r Row) Answer() (mode, parameter string) {
	switch {
	case r.Parameter == "L":
		return "ssend", "L"
	case r.Parameter == "H" || r.Parameter == "P":
		return "", r.Parameter
	case r.Parameter == "G" || r.Parameter == "S":
		return "send", "G"
	case r.Parameter == "o_r" && r.Flat:
		return "isend", "o_r"
	case r.Parameter == "o_r":
		return "send", "o_r"
	case r.Parameter == "o_s" || r.Parameter == "o" || r.Parameter == "s":
		if strings.HasPrefix(r.Column, "sync") {
			return "issend", "o_s"
		}
		return "isend", "o_s"
	}
	return "", ""
}

// against is the table of the published numbers of this place, if it has any.
func (p *place) against(rows Published, of *platform.Platform) *Table {
	t := &Table{Name: "published", Title: "Published and measured parameters of " + p.String(), Columns: []Column{
		{Head: "", Key: true}, {Head: "mode", Key: true}, {Head: "bytes", Right: true, Key: true}, {Head: "published", Right: true},
		{Head: "measured", Right: true}, {Head: "differs\n%", Right: true}, {Head: "basis"}}}
	var against []string
	for _, r := range rows.Of(p.platform) {
		if r.Level != p.place {
			continue
		}
		mode, name := r.Answer()
		found, difference := p.answer(t, r, mode, name)
		bytes := none
		if r.Bytes >= 0 {
			bytes = text(strconv.Itoa(r.Bytes))
		}
		mark := ""
		if r.Contradiction != "" {
			i := 0
			for i < len(against) && against[i] != r.Contradiction {
				i++
			}
			if i == len(against) {
				against = append(against, r.Contradiction)
			}
			mark = fmt.Sprintf("%s(%d)", glue, i+1)
		}
		call := text(mode)
		if mode == "" {
			call = none
		}
		t.add(text(r.Parameter+units[r.Unit]), call, bytes, text(r.Printed), found, text(difference), basis(r, of, found, mark))
	}
	if t.rows() > 0 {
		t.note("published is table 3, or 4 of two levels, of Al-Tawil and Moritz; it differs by (measured − published) / published.")
		t.note("calibration: some number of the platform was fitted to this one, so that agreement proves nothing; the others are validation.")
	}
	for i, c := range against {
		t.note("(%d) The source contradicts itself: %s", i+1, c)
	}
	return t
}

// units are those of published numbers behind the name of a parameter.
var units = map[string]string{"us": " us", "us_per_byte": " us/B"}

// answer returns what was measured, and how far that is from what was published.
func (p *place) answer(t *Table, r Row, mode, name string) (Cell, string) {
	x := p.first(mode, name)
	if x == nil || math.IsNaN(x.Value) {
		return none, none.Text
	}
	c, v := cell(t, x), x.Value
	if r.Bytes >= 0 {
		var ok bool
		c = p.overhead(t, mode, name, r.Bytes)
		if v, ok = p.at(mode, name, r.Bytes); !ok {
			return none, none.Text
		}
	}
	switch {
	case v >= r.Low && v <= r.High && r.Low < r.High:
		return c, "within"
	case v > r.High:
		return c, percent(100 * (v - r.High) / r.High)
	}
	return c, percent(100 * (v - r.Low) / r.Low)
}

// basis says whether agreement means something.
func basis(r Row, of *platform.Platform, found Cell, mark string) Cell {
	switch {
	case of == nil || found == none:
		return Cell{none.Text + mark, Faint}
	case of.Calibrated(r.Name()):
		return Cell{compare.Calibration + mark, Faint}
	}
	return text(compare.Validation + mark)
}
