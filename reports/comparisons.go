package reports

import (
	"io"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
)

// Comparisons writes predictions beside measurements.
func Comparisons(w io.Writer, cs []compare.Comparison, s Style) error {
	all := &writer{w: w, style: s}
	for _, t := range comparisonTables(cs) {
		all.table(t)
	}
	return all.err
}

// errorNote says what an error is.
const errorNote = "error is (predicted − measured) / measured."

// comparisonTables are one for each platform, library and place, with a group for each quantity of a protocol.
func comparisonTables(cs []compare.Comparison) []*Table {
	var all tables
	for _, c := range cs {
		t := all.titled("Predicted and measured times of "+where(c.Platform, c.Library, c.Place), func() *Table {
			return &Table{Name: "comparisons", Notes: []string{errorNote}, Columns: []Column{
				{Head: "bytes", Key: true, Right: true}, {Head: "predicted\nus", Right: true}, {Head: "measured\nus", Right: true},
				{Head: "error\n%", Right: true}, {Head: "basis"}}}
		})
		t.within(c.Quantity + protocolSuffix(c.Protocol))
		if q, _, _ := strings.Cut(c.Quantity, "("); q == sample.Sender || q == sample.OneWay {
			if strings.HasSuffix(c.Quantity, BySteps) {
				t.note("Rows by steps add up every step that the platform's file says something of.")
			} else {
				t.note("T_s and T_sr are predicted by equations (1) to (7), which leave out what calls, matching and copies cost.")
			}
		}
		tone := Normal
		if c.Basis == compare.Calibration {
			tone = Faint
			t.note("calibration: the prediction rests on a number that was fitted to this one, so that agreement proves nothing.")
		}
		t.add(text(strconv.Itoa(c.Bytes)), Cell{number(c.Predicted), tone}, Cell{number(c.Measured), tone}, Cell{percent(c.Error), tone}, Cell{c.Basis, tone})
	}
	return all
}

func protocolSuffix(protocol string) string {
	if protocol == "" || protocol == "auto" {
		return ""
	}
	return " of " + protocol
}
