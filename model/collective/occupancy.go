package collective

import (
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// componentOccupancy has the times until which components are occupied.
type componentOccupancy struct {
	times      []unit.Time // by number of the component
	names      []string
	nearby     [][][]int32 // numbers plus one, by name, node and index
	components map[model.Component]int32
}

// maxDenseIndex is the largest index that is stored in a list. Some networks number pairs of their
// parts.
const maxDenseIndex = 1 << 16

// number returns the number of a component, which is the index in times.
func (o *componentOccupancy) number(c *model.Component) int32 {
	if c.Index > maxDenseIndex || c.Node > maxDenseIndex {
		n, known := o.components[*c]
		if !known {
			if o.components == nil {
				o.components = map[model.Component]int32{}
			}
			n = o.addComponent()
			o.components[*c] = n
		}
		return n
	}
	name := 0
	for name < len(o.names) && o.names[name] != c.Name {
		name++
	}
	if name == len(o.names) {
		o.names, o.nearby = append(o.names, c.Name), append(o.nearby, nil)
	}
	nodes := &o.nearby[name]
	for c.Node >= len(*nodes) {
		*nodes = append(*nodes, nil)
	}
	numbers := &(*nodes)[c.Node]
	if c.Index >= len(*numbers) {
		*numbers = append(*numbers, make([]int32, c.Index+1-len(*numbers))...)
	}
	n := &(*numbers)[c.Index]
	if *n == 0 {
		*n = o.addComponent() + 1
	}
	return *n - 1
}

// addComponent adds a component that is free, and returns its number.
func (o *componentOccupancy) addComponent() int32 {
	o.times = append(o.times, 0)
	return int32(len(o.times) - 1)
}

// componentUse is an occupation of a component by a message.
type componentUse struct {
	component        int32
	atReceiver       bool
	time, contention unit.Time
}

// componentUseCache has what the last message of a rank occupies. The next often goes the same way.
type componentUseCache struct {
	destination, bytes int
	uses               []componentUse
	isKnown            bool
}

// usesOf returns what a message of a rank occupies, until the rank's next message.
func (x *simulation) usesOf(c *rankClock, to, bytes int) []componentUse {
	d := &c.occupied
	if d.isKnown && d.destination == to && d.bytes == bytes {
		return d.uses
	}
	x.occupations = x.SharedOccupations(x.occupations[:0], c.rank, to, bytes)
	*d = componentUseCache{to, bytes, d.uses[:0], true}
	for i := range x.occupations {
		o := &x.occupations[i]
		d.uses = append(d.uses, componentUse{x.occupied.number(&o.Component), o.AtReceiver, o.Time, o.Contention})
	}
	return d.uses
}
