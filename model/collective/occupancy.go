package collective

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// occupancy has the times until which components are occupied.
type occupancy struct {
	names []string
	times [][][]unit.Time // by name, node and index
	far   map[model.Component]*unit.Time
}

// maxDenseIndex is the largest index that is stored in a list. Some networks number pairs of their
// parts.
const maxDenseIndex = 1 << 16

// until returns a pointer to the time until which a component is occupied. It is valid until the
// next call.
func (o *occupancy) until(c *model.Component) *unit.Time {
	if c.Index > maxDenseIndex || c.Node > maxDenseIndex {
		t := o.far[*c]
		if t == nil {
			if o.far == nil {
				o.far = map[model.Component]*unit.Time{}
			}
			t = new(unit.Time)
			o.far[*c] = t
		}
		return t
	}
	name := 0
	for name < len(o.names) && o.names[name] != c.Name {
		name++
	}
	if name == len(o.names) {
		o.names, o.times = append(o.names, c.Name), append(o.times, nil)
	}
	nodes := &o.times[name]
	for c.Node >= len(*nodes) {
		*nodes = append(*nodes, nil)
	}
	times := &(*nodes)[c.Node]
	if c.Index >= len(*times) {
		*times = append(*times, make([]unit.Time, c.Index+1-len(*times))...)
	}
	return &(*times)[c.Index]
}
