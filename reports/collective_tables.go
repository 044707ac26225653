package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/collective"
)

// CollectiveTimes writes what collective operations took: a table of each, with a group of rows for each algorithm, the fastest at each length marked. Where there is
// a model, its times stand beside them, and other tables say which algorithms are the fastest by either.
func CollectiveTimes(w io.Writer, cs []compare.CollectiveComparison, s Style) error {
	out := &writer{w: w, style: s}
	for _, t := range timesTables(cs) {
		out.table(t)
	}
	if slices.ContainsFunc(cs, modelled) {
		for _, t := range fastestTables(compare.FastestOf(cs)) {
			out.table(t)
		}
	}
	return out.err
}

// modelled says whether there is a model of what was measured.
func modelled(c compare.CollectiveComparison) bool { return c.By != "" }

// which is what was measured, without its times.
type which struct {
	platform, library, place, operation, algorithm string
	ranks, bytes                                   int
}

func whichOf(c compare.Collective) which {
	return which{c.Platform, c.Library, c.Place, c.Operation, c.Algorithm, c.Ranks, c.Bytes}
}

// ofRanks names an operation of so many ranks.
func ofRanks(operation string, ranks int) string {
	return fmt.Sprintf("%s of %d ranks", operation, ranks)
}

// timesTables are one for each operation of a platform, library, place and number of ranks.
func timesTables(cs []compare.CollectiveComparison) []*Table {
	var all tables
	model := slices.ContainsFunc(cs, modelled)
	best := map[which]bool{}
	for _, f := range compare.FastestOf(cs) {
		best[whichOf(f.Collective)] = true
	}
	for _, c := range cs {
		t := all.titled(ofRanks(c.Operation, c.Ranks)+" on "+where(c.Platform, c.Library, c.Place), func() *Table { return timesTable(c.Operation, model) })
		t.within(c.Algorithm)
		row := []Cell{text(size(c.Bytes)), text(number(c.Min)), text(number(c.Median)), text(number(c.Max)), text(number(c.Last))}
		counts := &row[4]
		if math.IsNaN(c.Last) {
			counts = &row[3]
		}
		switch {
		case c.Weak():
			counts.Tone = Doubt
			t.note("! is weak: repetitions are few or scatter, or the clock is coarse.")
		case best[whichOf(c.Collective)]:
			counts.Tone = Strong
		}
		took, _ := c.Took()
		row = append(row, text(beyond(took, c.Low, c.High)), text(strconv.Itoa(c.Samples)))
		if model {
			x := c.Comparison()
			row = append(row, text(number(x.Predicted)), text(percent(x.Error)))
		}
		if modelled(c) {
			t.note("predicted: by LogGP with the parameters of %s; %s", c.By, errorNote)
		}
		t.add(row...)
	}
	for _, t := range all {
		t.units()
	}
	return all
}

// beyond returns what is to either side of a value in its interval: ±0.1.
func beyond(value, low, high float64) string {
	_, half, _ := strings.Cut(measured(value, low, high), " ")
	return half
}

func timesTable(operation string, model bool) *Table {
	t := &Table{Name: operation, Columns: []Column{{Head: "bytes", Key: true, Right: true},
		{Head: "min\nus", Right: true}, {Head: "median\nus", Right: true}, {Head: "max\nus", Right: true}, {Head: "last\nus", Right: true}, {Head: "±\nus", Right: true}, {Head: "repetitions", Right: true}}}
	if model {
		t.Columns = append(t.Columns, Column{Head: "predicted\nus", Right: true}, Column{Head: "error\n%", Right: true})
	}
	t.blocks(operation)
	t.note("min, median and max: of the ranks' own calls behind a barrier; last: from a common start until the last rank has ended. Each is the median of repetitions. What counts is last, or max where there is no common start." +
		" ± is its 95 %% interval.")
	return t
}

// blocks notes what bytes are, unless they are the whole data.
func (t *Table) blocks(operation string) {
	if o, ok := collective.OperationNamed(operation); ok && o.ByBlocks() {
		t.note("Bytes are those of each rank's block.")
	}
}

// fastestTables are one for each platform, library, place and number of ranks.
func fastestTables(fs []compare.Fastest) []*Table {
	var all tables
	model := slices.ContainsFunc(fs, func(f compare.Fastest) bool { return f.ByModel.Operation != "" })
	for _, f := range fs {
		t := all.titled(fmt.Sprintf("The fastest algorithms of %d ranks on %s", f.Ranks, where(f.Platform, f.Library, f.Place)), func() *Table { return fastestTable(model) })
		t.within(f.Operation)
		took, _ := f.Took()
		row := []Cell{text(size(f.Bytes)), t.winner(f), text(number(took)), text(f.Next.Algorithm), text(percent(f.Lead()))}
		if model {
			row = append(row, text(f.ByModel.Algorithm), text(percent(f.Loss())))
		}
		t.add(row...)
	}
	for _, t := range all {
		t.units()
	}
	return all
}

// winner names the fastest algorithm.
func (t *Table) winner(f compare.Fastest) Cell {
	if f.Clear {
		return text(f.Algorithm)
	}
	t.note("! another may be as fast: the intervals of their times have something in common.")
	return Cell{f.Algorithm, Doubt}
}

func fastestTable(model bool) *Table {
	t := &Table{Name: "fastest", Columns: []Column{{Head: "bytes", Key: true, Right: true}, {Head: "measured"}, {Head: "us", Right: true}, {Head: "next"}, {Head: "slower\n%", Right: true}}}
	if model {
		t.Columns = append(t.Columns, Column{Head: "by the model"}, Column{Head: "loss\n%", Right: true})
		t.note("loss: by how much what the model takes for the fastest is slower than what is.")
	}
	return t
}

// byRanks is the table of the fastest algorithms by ranks and lengths, of one library that was measured among several numbers of ranks; else nil.
func byRanks(name string, fs []compare.Fastest) *Table {
	var sizes, ranks []int
	for _, f := range fs {
		sizes, ranks = append(sizes, f.Bytes), append(ranks, f.Ranks)
	}
	slices.Sort(sizes)
	slices.Sort(ranks)
	if ranks = slices.Compact(ranks); len(ranks) < 2 {
		return nil
	}
	sizes = slices.Compact(sizes)
	t := &Table{Name: "fastest-by-ranks", Title: "The fastest algorithms by ranks and bytes on " + name, Columns: []Column{{Head: "ranks", Key: true, Right: true}}}
	for _, k := range sizes {
		t.Columns = append(t.Columns, Column{Head: size(k)})
	}
	operations := map[string]bool{}
	for _, f := range fs {
		if operations[f.Operation] {
			continue
		}
		operations[f.Operation] = true
		t.group(f.Operation)
		for _, n := range ranks {
			row, any := []Cell{text(strconv.Itoa(n))}, false
			for _, k := range sizes {
				i := slices.IndexFunc(fs, func(g compare.Fastest) bool { return g.Operation == f.Operation && g.Ranks == n && g.Bytes == k })
				if i < 0 {
					row = append(row, none)
					continue
				}
				any, row = true, append(row, t.winner(fs[i]))
			}
			if any {
				t.add(row...)
			}
		}
	}
	t.units()
	return t
}

// modelTable sums up how well the model predicts.
func modelTable(name string, ms []compare.Modelled) *Table {
	t := &Table{Name: "model", Title: "The model on " + name, Slim: true, Columns: []Column{{Head: "", Key: true}, {Head: "times", Right: true}, {Head: "median error\n%", Right: true},
		{Head: "largest\n%", Right: true}, {Head: "finds the\nfastest", Right: true}, {Head: "loss\n%", Right: true}}}
	t.note("Errors are without their signs. The model finds the fastest at so many of the lengths where there is a choice; what is not to be told from the fastest counts as such. loss: by how much its choice is slower than the fastest, at most.")
	for _, m := range ms {
		finds, loss := none, none
		if m.Lengths > 0 {
			finds, loss = text(fmt.Sprintf("%d of %d", m.Right, m.Lengths)), text(percent(m.Loss))
		}
		t.add(text(ofRanks(m.Of.Operation, m.Of.Ranks)), text(strconv.Itoa(m.Times)), text(fixed(m.Middle, 1)), text(fixed(m.Most, 1)), finds, loss)
		t.note("By LogGP with the parameters of %s.", m.Of.By)
	}
	return t
}
