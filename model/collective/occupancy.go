package collective

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// occupancy is the times until which components are occupied.
type occupancy struct {
	names []string
	times [][][]unit.Time // by name, node and index
}

// until returns the time until which a component is occupied, for the caller to read and to set. It
// is valid until the next call.
func (o *occupancy) until(c *model.Component) *unit.Time {
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
