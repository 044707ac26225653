package reports

import (
	"io"
	"slices"
	"strconv"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Run writes where the time of each rank of a program went: computing, overhead of communication, and waiting.
func Run(w io.Writer, title, note string, r *model.Recording, s Style) error {
	out := &writer{w: w, style: s}
	out.table(runTable(title, note, r))
	return out.err
}

// spent is what a rank did with its time.
type spent struct{ computing, overhead, waiting, end unit.Time }

func spentBy(t model.Track) spent {
	var x spent
	for a, d := range t.Totals {
		switch model.Activity(a) {
		case model.Computing:
			x.computing += d
		case model.Waiting, model.Blocked:
			x.waiting += d
		default:
			x.overhead += d
		}
	}
	x.end = x.computing + x.overhead + x.waiting
	return x
}

// rankRows is how many ranks are shown one by one.
const rankRows = 64

func runTable(title, note string, r *model.Recording) *Table {
	t := &Table{Name: "run", Title: title, Columns: []Column{{Head: "rank", Key: true, Right: true},
		{Head: "computes\nus", Right: true}, {Head: "overhead\nus", Right: true}, {Head: "waits\nus", Right: true}, {Head: "ends at\nus", Right: true}, {Head: "computes\n%", Right: true}}}
	var all []spent
	for _, x := range r.Ranks {
		all = append(all, spentBy(x))
	}
	for rank, x := range all {
		if rank == rankRows {
			t.note("%d more ranks are in the summary only.", len(all)-rankRows)
			break
		}
		t.add(x.row(text(strconv.Itoa(rank)))...)
	}
	t.group("summary")
	t.add(summary(all, func(x []unit.Time) unit.Time { return mean(x) }).row(Cell{"mean", Strong})...)
	t.add(summary(all, slices.Max[[]unit.Time]).row(Cell{"most", Strong})...)
	t.note("Overhead is processor time for communication; a waiting processor is idle. %s", note)
	return t
}

func (x spent) row(name Cell) []Cell {
	share := none
	if x.end > 0 {
		share = text(number(100 * x.computing.Micros() / x.end.Micros()))
	}
	return []Cell{name, text(number(x.computing.Micros())), text(number(x.overhead.Micros())), text(number(x.waiting.Micros())), text(number(x.end.Micros())), share}
}

// summary makes one of all, column by column.
func summary(all []spent, of func([]unit.Time) unit.Time) spent {
	column := func(get func(spent) unit.Time) unit.Time {
		var x []unit.Time
		for _, s := range all {
			x = append(x, get(s))
		}
		return of(x)
	}
	return spent{
		computing: column(func(s spent) unit.Time { return s.computing }),
		overhead:  column(func(s spent) unit.Time { return s.overhead }),
		waiting:   column(func(s spent) unit.Time { return s.waiting }),
		end:       column(func(s spent) unit.Time { return s.end }),
	}
}

func mean(x []unit.Time) unit.Time {
	var sum unit.Time
	for _, t := range x {
		sum += t
	}
	return sum / unit.Time(len(x))
}
