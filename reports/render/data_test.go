package render

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// A number is a number in files however it is shown: with a sign, as a bound, with a unit of its
// own, or as text. What is not known is nothing.
func TestCellsAsData(t *testing.T) {
	x := &doc.Table{Columns: []doc.Column{{Heading: ""}, {Heading: "error\n%", Kind: doc.NumberColumn}, {Heading: "g\nus", Kind: doc.NumberColumn}, {Heading: "value", Kind: doc.NumberColumn}}}
	row := func(cells ...doc.Cell) { x.AddRow(cells...) }
	row(doc.TextCell("1 KB"), doc.TextCell("+0.1"), doc.TextCell("≤29.82"+format.NonBreakingSpace+"±0.01"), doc.Cell{Text: "5 us", Values: []float64{5}, Unit: "us"})
	row(doc.TextCell("b"), doc.EmptyCell, doc.TextCell("≤29.82").WithTone(doc.FaintTone), doc.Cell{Text: "10 KB", Values: []float64{12345678901}, Unit: "bytes"})
	row(doc.TextCell("c"), doc.TextCell("-12.5"), doc.TextCell("?"), doc.TextCell("all"))
	const want = "subject,error_percent,g_us,g_us_low,g_us_high,value,value_unit\n" +
		"1 KB,0.1,,,29.82,5,us\nb,,,,29.82,12345678901,bytes\nc,-12.5,,,,all,\n"
	var b bytes.Buffer
	if err := WriteTableCSV(&b, x); err != nil || b.String() != want {
		t.Errorf("%v, %s, want\n%s", err, b.String(), want)
	}
}

// Tables of one name are one table with their titles, if their columns are the same, and else
// numbered. A table that is a file too is that file, and a table of settings is a row.
func TestTablesOfDocument(t *testing.T) {
	one := func(name, title, heading string, x float64) *doc.Table {
		t := &doc.Table{Name: name, Title: title, Columns: []doc.Column{{Heading: heading, Kind: doc.NumberColumn}}}
		t.AddRow(doc.NumberCell(x))
		return t
	}
	settings := &doc.Table{Name: "result", IsRecord: true, Columns: doc.TextColumns("quantity", "value")}
	settings.AddRow(doc.TextCell("end"), doc.Cell{Text: "41665 ns", Values: []float64{41665}, Unit: "ns"})
	settings.AddRow(doc.TextCell("ranks"), doc.TextCell("7 of 8"))
	d := &doc.Document{Files: []doc.File{{Name: "all.csv", Write: func(w io.Writer) error { _, err := io.WriteString(w, "# k: v\na,b\n1,x\n"); return err }}}}
	d.AddTables("s", "S", one("times", "first", "time\nus", 1), one("times", "second", "time\nus", 2), one("times", "third", "other", 3), one("all", "all", "a", 1), settings)
	for name, want := range map[string]string{
		"":        "# k: v\na,b\n1,x\n",
		"times":   "title,time_us\nfirst,1\nsecond,2\n",
		"times-2": "other\n3\n",
		"result":  "end_ns,ranks\n41665,7 of 8\n",
	} {
		var b bytes.Buffer
		if err := WriteCSV(&b, d, name); err != nil || b.String() != want {
			t.Errorf("%q: %v, %s, want\n%s", name, err, b.String(), want)
		}
	}
	for name, want := range map[string]string{"all": `[{"a":1,"b":"x"}]`, "times": `[{"title":"first","time_us":1},{"title":"second","time_us":2}]`, "result": `[{"end_ns":41665,"ranks":"7 of 8"}]`} {
		var b bytes.Buffer
		if err := WriteJSON(&b, d, name); err != nil || strings.Join(strings.Fields(b.String()), "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%q: %v, %s, want %s", name, err, b.String(), want)
		}
	}
	var list bytes.Buffer
	if err := WriteTableNames(&list, d); err != nil || strings.Join(strings.Fields(list.String()), " ") != "table title all the file all.csv of a page times first times-2 third result" {
		t.Errorf("%v: %s", err, list.String())
	}
	if err := WriteCSV(io.Discard, d, "tims"); err == nil || !strings.Contains(err.Error(), "did you mean times?") {
		t.Errorf("a table that is not there: %v", err)
	}
}
