package reports

import (
	"io"
	"strings"

	"github.com/loggp/loggp/model/collective"
)

// Collective is what the algorithms of an operation take.
type Collective struct {
	Operation  string
	Sizes      []int // bytes
	Algorithms []CollectiveAlgorithm
	Unfit      []*collective.Algorithm // which cannot serve these ranks
}

// CollectiveAlgorithm is what one takes, by size.
type CollectiveAlgorithm struct {
	Name      string
	Disorders bool // for operations that commute only
	Costs     []collective.Cost
}

// Collectives writes a table of each operation, a row a size and a column an algorithm, the fastest of each row marked.
func Collectives(w io.Writer, title string, all []Collective, s Style) error {
	out := &writer{w: w, style: s}
	for _, c := range all {
		out.table(c.table(title))
	}
	return out.err
}

func (c Collective) table(title string) *Table {
	t := &Table{Name: c.Operation, Title: c.Operation + " of " + title, Columns: []Column{{Head: "bytes", Key: true, Right: true}, {Head: "fastest"}}}
	for _, a := range c.Algorithms {
		name := a.Name
		if a.Disorders {
			name += "*"
			t.note("* combines in another order than that of ranks: for operations that commute.")
		}
		t.Columns = append(t.Columns, Column{Head: name + "\nus", Right: true})
	}
	for i, k := range c.Sizes {
		best := c.fastest(i)
		row := []Cell{text(size(k)), text(c.Algorithms[best].Name)}
		for j, a := range c.Algorithms {
			x := text(number(a.Costs[i].Last.Micros()))
			if j == best {
				x.Tone = Strong
			}
			row = append(row, x)
		}
		t.add(row...)
	}
	for _, a := range c.Unfit {
		var names []string
		for _, b := range c.Unfit {
			if b.Needs() == a.Needs() {
				names = append(names, b.Name)
			}
		}
		t.note("Only for %s: %s.", a.Needs(), strings.Join(names, ", "))
	}
	t.blocks(c.Operation)
	return t
}

// fastest returns the algorithm that takes least at a size, the first of those that do.
func (c Collective) fastest(size int) int {
	best := 0
	for j, a := range c.Algorithms {
		if a.Costs[size].Last < c.Algorithms[best].Costs[size].Last {
			best = j
		}
	}
	return best
}
