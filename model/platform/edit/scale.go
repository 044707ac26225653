package edit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"go.yaml.in/yaml/v3"
)

// Insert returns the draft with a key more in a mapping, which the path of its keys names. The text
// is that of the key's value.
func (d *Draft) Insert(path, key, text string) (*Draft, error) {
	n := d.document.Content[0]
	for _, k := range strings.Split(path, ".") {
		if n = mappingValue(n, k); n == nil {
			return nil, fmt.Errorf("%s: there is no %s", d.File, path)
		}
	}
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return nil, fmt.Errorf("%s: %s has no keys", d.File, path)
	}
	first := n.Content[0]
	text = key + ": " + text
	if n.Style&yaml.FlowStyle != 0 {
		text += ", "
	} else {
		text += "\n" + strings.Repeat(" ", first.Column-1)
	}
	at := d.nodeOffset(first)
	return New(d.File, d.applyEdits([]textEdit{{at, at, text}}))
}

// assumeValues returns the draft with other values of numbers, which are then assumed.
func (d *Draft) assumeValues(numbers ...Assumption) (*Draft, error) {
	text, err := d.Assume(numbers)
	if err != nil {
		return nil, err
	}
	return New(d.File, text)
}

// Scale returns the draft with as many nodes of ranks as given. A graph that is too small for them
// is enlarged: a star or mesh by hosts, a fat tree by a level or, if that is too large to emulate,
// by twice the arity, and a dragonfly by groups.
func (d *Draft) Scale(nodes, ranksPerNode int, why string) (*Draft, error) {
	ranks := nodes * ranksPerNode
	sizes := []Assumption{{"machine.ranks.max", strconv.Itoa(ranks), why}, {"machine.ranks.default", strconv.Itoa(min(2, nodes) * ranksPerNode), why}}
	ends := ranks
	if n := d.Machine.Nodes; n != nil {
		ends = nodes * n.Interfaces
		if ranksPerNode != n.Ranks {
			sizes = append(sizes, Assumption{"machine.nodes.ranks", strconv.Itoa(ranksPerNode), why})
		}
	}
	f, isFabric := d.Machine.Network.(*model.Fabric)
	if !isFabric || f.Graph.Hosts >= ends {
		return d.assumeValues(sizes...)
	}
	var wrong error
	for _, graph := range d.largerGraphs(f.Graph.Kind, ends, why) {
		scaled, err := d.assumeValues(append(graph, sizes...)...)
		if err == nil {
			return scaled, nil
		}
		wrong = err
	}
	if wrong == nil {
		wrong = fmt.Errorf("%s: a %s of %d hosts has no place for %d: write a file with a larger one", d.File, f.Graph.Kind, f.Graph.Hosts, ends)
	}
	return nil, wrong
}

// largerGraphs returns the numbers of graphs of a kind that have at least so many hosts, the
// preferred one first.
func (d *Draft) largerGraphs(kind string, hosts int, why string) (all [][]Assumption) {
	path := "machine.fabric." + kind + "."
	count := func(key string) int {
		n, err := d.Number(path + key)
		if err != nil {
			return 1
		}
		x, _ := strconv.Atoi(n.Value)
		return max(x, 1)
	}
	set := func(key string, n int) []Assumption { return []Assumption{{path + key, strconv.Itoa(n), why}} }
	switch kind {
	case "star", "mesh":
		all = append(all, set("hosts", hosts))
	case "fattree", "rails":
		rails, levels, arity := 1, count("levels"), count("arity")
		if kind == "rails" {
			rails = count("rails")
		}
		size := func(levels, arity int) int {
			n := rails
			for range levels {
				n = min(n*arity, 1<<40)
			}
			return n
		}
		more, wider := levels, arity
		for arity > 1 && size(more, arity) < hosts {
			more++
		}
		for arity > 0 && size(levels, wider) < hosts {
			wider *= 2
		}
		all = append(all, set("levels", more), set("arity", wider))
	case "dragonfly":
		routers, ports := count("routers"), count("routers")*count("global")
		for groups := count("groups"); groups <= ports+1; groups++ {
			if groups*routers*count("hosts") >= hosts && ports%(groups-1) == 0 {
				return append(all, set("groups", groups))
			}
		}
	}
	return all
}
