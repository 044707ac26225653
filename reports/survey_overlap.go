package reports

import (
	"slices"
	"strconv"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/curve"
)

// pays is the table of where it pays not to block.
func (s *Survey) pays(all []subject) *Table {
	t := &Table{Name: "non-blocking", Title: "From which size on calls that do not block pay", Columns: []Column{{Head: "", Key: true}}, Slim: true}
	for _, x := range all {
		t.Columns = append(t.Columns, Column{Head: x.name, Wrap: true})
	}
	row := func(name string) []Cell {
		r := slices.Repeat([]Cell{none}, 1+len(all))
		r[0] = text(name)
		t.add(r...)
		return r
	}
	if len(s.Fit.Halves) > 0 {
		r := row(map[bool]string{false: "half of the way is free", true: "half of the way may be free"}[s.bounded()])
		for _, x := range s.Fit.Halves {
			r[1+x.Subject] = doubtful(t, x, paying(x))
		}
		t.note("free: the time of one way (rtt/2) less that of the call, isend, or, where round-trip trains with waits were measured, less all that the processor does for a message. Without them it is a bound: what the library does in the call that waits is not known.")
	}
	if s.Contrast == nil {
		return t
	}
	for _, q := range []struct{ quantity, mode, name string }{
		{"o_s", "send", "isend is shorter than send"}, {"o_s", "ssend", "issend than ssend"}, {"o_s", "bsend", "ibsend than bsend"}, {"o_r", "send", "irecv than recv"},
	} {
		var r []Cell
		for _, x := range s.Contrast.Overlaps {
			if x.Quantity == q.quantity && x.Mode == q.mode {
				if r == nil {
					r = row(q.name)
				}
				r[1+x.Subject] = doubtful(t, x, paying(x))
			}
		}
		if r != nil {
			t.note("shorter, than: the call that blocks costs more than %s times as much.", strconv.FormatFloat(1+s.Contrast.Margin, 'g', 6, 64))
		}
	}
	t.units()
	return t
}

// bounded says whether of what is free only a bound is known, of any transport.
func (s *Survey) bounded() bool {
	return slices.ContainsFunc(s.Fit.Overlaps, func(x compare.Overlap) bool { return x.Bound })
}

// freeSizes are the sizes at which the table shows what is free, or the nearest that were measured.
var freeSizes = []int{8, 1024, 8192, 65536, 1 << 20}

// freeTable is how much of a way is free, at some sizes.
func (s *Survey) freeTable(all []subject) *Table {
	t := &Table{Name: "free", Title: "Free while a message is on its way", Columns: []Column{{Head: "", Key: true}, {Head: "size", Key: true, Right: true},
		{Head: "half round\ntrip us", Right: true}, {Head: "send\nus", Right: true}, {Head: "processor\nbusy us", Right: true}, {Head: "free\nus", Right: true}, {Head: "free\n%", Right: true}}}
	for i := range all {
		var of []compare.Overlap
		for _, x := range s.Fit.Overlaps {
			if x.Subject == i {
				of = append(of, x)
			}
		}
		var sizes []int
		for _, x := range of {
			sizes = append(sizes, x.Bytes)
		}
		for _, k := range slices.Compact(nearest(sizes, freeSizes...)) {
			for _, x := range of {
				if x.Bytes == k {
					t.add(freeRow(t, all[i].name, x)...)
				}
			}
		}
	}
	return t
}

func freeRow(t *Table, name string, x compare.Overlap) []Cell {
	value := func(p curve.Point) Cell { return text(measured(p.Value, p.Low, p.High)) }
	blocks, bound := none, ""
	if x.Blocks != nil {
		blocks = value(*x.Blocks)
	}
	if x.Bound {
		bound = "≤"
		t.note("≤ is a bound: what the library does for the message in the call that waits is not known.")
	}
	left, share := text(bound+measured(x.Free.Value, x.Free.Low, x.Free.High)), text(bound+measured(x.Share.Value, x.Share.Low, x.Share.High))
	if x.Free.Value <= 0 {
		left, share = Cell{"none", Faint}, Cell{"none", Faint}
		t.note("none: the processor is busy for as long as the way takes, or longer.")
	}
	return []Cell{text(name), text(size(x.Bytes)), value(x.Way), blocks, value(x.Call), left, share}
}
