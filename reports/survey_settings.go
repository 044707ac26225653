package reports

import (
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// settings are what is known of how each transport was measured.
var settings = []struct {
	name string
	keys []string
}{
	{"measured", []string{"when", "date", "begun"}},
	{"library", []string{"library_version", "library"}},
	{"waits", []string{sample.Wait}},
	{"kept on processors", []string{sample.Pin}},
	{"P1 may run on", []string{"p1_bound_to"}},
	{"P2 may run on", []string{"p2_bound_to"}},
	{"processor", []string{"processor", "p1_processor"}},
	{"processors", []string{"processors"}},
	{"hosts", []string{"hosts"}},
	{"system", []string{"system"}},
	{"kernel", []string{"kernel"}},
	{"governor", []string{"governor"}},
	{"load", []string{"load"}},
	{"launches", []string{"launches"}},
	{"took", []string{"took"}},
	{"precision asked for", []string{"precision"}},
	{"medians that reached it", []string{"reached"}},
	{"repetitions", []string{"reps"}},
	{"order", []string{"order_seed", "seed"}},
	{"clocks of processors", []string{"clock_offset_ns"}},
	{"the clock's cost, us", []string{sample.ClockCost}},
	{"the clock's cost is", []string{sample.ClockIs}},
	{"the clock's step, us", []string{sample.Resolution}},
	{"timers", []string{"timer"}},
	{"threads", []string{"thread_level"}},
	{"eager limits", []string{"eager_limits"}},
	{"compiler", []string{"compiler", "go"}},
	{"launcher", []string{"launcher"}},
	{"loggp", []string{"loggp"}},
}

// settingTable says how each transport was measured.
func settingTable(all []subject) *Table {
	t := &Table{Name: "settings", Title: "How each transport was measured", Columns: []Column{{Head: "", Key: true}}}
	for _, x := range all {
		t.Columns = append(t.Columns, Column{Head: x.name, Wrap: true})
	}
	for _, q := range settings {
		row, known := []Cell{text(q.name)}, false
		for i := range all {
			v := all[i].fact(q.keys...)
			if q.name == "launches" && v == "" {
				v = strconv.Itoa(all[i].launches)
			}
			c := none
			if v != "" {
				c, known = text(shortened(v)), true
			}
			row = append(row, c)
		}
		if known {
			t.add(row...)
		}
	}
	return t
}

// shortened returns as much of a long text as a table has room for.
func shortened(v string) string {
	const most = 160
	if r := []rune(v); len(r) > most {
		return strings.TrimSpace(string(r[:most])) + "…"
	}
	return v
}
