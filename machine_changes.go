package loggp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/reports/format"
)

// MachineChanges say how a simulated machine differs from its platform's file.
type MachineChanges struct {
	Nodes   int      // number of nodes; 0: that of the platform
	Buffers string   // BuffersRegistered or BuffersStaged; "": as the platform says
	Fail    []string // failed links and switches of the network between nodes, such as "link 3" or "switch 0 to switch 16"
}

// fabricPath is the path of the inter-node network in a platform file.
const fabricPath = "machine.fabric"

// change returns the platform with a name, with the changes and with another value for a swept
// quantity; "": no quantity.
func (c MachineChanges) change(name, quantity, value string) (*platform.Platform, error) {
	if c.Nodes == 0 && len(c.Fail) == 0 && quantity == "" {
		return loadWithBuffers(name, c.Buffers)
	}
	if _, err := LoadPlatform(name); err != nil {
		return nil, err
	}
	d, err := edit.Open(name)
	if err != nil {
		return nil, err
	}
	nodes := c.Nodes
	if quantity == nodesQuantity {
		if nodes, err = parseCount(value); err != nil {
			return nil, err
		}
	}
	if nodes != 0 {
		perNode := 1
		if d.Machine.Nodes != nil {
			perNode = d.Machine.Nodes.Ranks
		}
		if nodes < 1 || nodes > maxPredictedRanks {
			return nil, optionErrorf("Nodes", "%d: a machine has 1 to %d", nodes, maxPredictedRanks)
		}
		if d, err = d.Scale(nodes, perNode, fmt.Sprintf("%d nodes, by an option", nodes)); err != nil {
			return nil, err
		}
	}
	if quantity != "" && quantity != nodesQuantity {
		if d, err = setMachineQuantity(d, quantity, value); err != nil {
			return nil, err
		}
	}
	if len(c.Fail) > 0 {
		if d, err = failParts(d, c.Fail); err != nil {
			return nil, &OptionError{"Fail", strings.Join(c.Fail, ","), err}
		}
	}
	return changeBuffers(d.Platform, c.Buffers)
}

// Buffers of programs in the memory of GPUs, which interfaces access or do not.
const (
	BuffersRegistered = platform.RegisteredBuffers // interfaces access them
	BuffersStaged     = platform.StagedBuffers     // they pass host memory, by copy engines
)

// loadWithBuffers is LoadPlatform for buffers of a kind; "": as the platform says.
func loadWithBuffers(name, buffers string) (*platform.Platform, error) {
	p, err := LoadPlatform(name)
	if err != nil {
		return nil, err
	}
	return changeBuffers(p, buffers)
}

// changeBuffers returns a platform with buffers of a kind.
func changeBuffers(p *platform.Platform, buffers string) (*platform.Platform, error) {
	switch {
	case buffers == "":
		return p, nil
	case !slices.Contains(platform.BufferKinds, buffers):
		return nil, optionErrorf("Buffers", "there is no kind %q%s", buffers, table.NameChoices(buffers, platform.BufferKinds))
	}
	m := p.Machine.StageBuffers(buffers == BuffersStaged)
	if m == nil {
		return nil, &OptionError{"Buffers", buffers, fmt.Errorf("%s has no copy engines between memory of GPUs and of hosts: take a platform with machine.fabric.rdma.staging, such as dgx-h100", p.Machine.Name)}
	}
	changed := *p
	changed.Machine = m
	return &changed, nil
}

// checkBuffersUsed returns an error for buffers of a kind in a job whose ranks are all in one node:
// its GPUs copy by themselves, whatever the kind.
func checkBuffersUsed(buffers string, m *model.Machine, ranks int) error {
	if buffers == "" || m.Nodes == nil {
		return nil
	}
	if _, end := m.RanksOfNode(ranks, 0); end < ranks {
		return nil
	}
	return &OptionError{"Buffers", buffers, fmt.Errorf("it has no effect within a node, and all %s are in one node of %s: take more ranks", format.Plural(ranks, "rank"), m.Name)}
}

// Quantities of a machine that are not a single number of its file.
const (
	nodesQuantity     = "nodes"
	taperQuantity     = "taper"
	railsQuantity     = "rails"
	bandwidthQuantity = "links.bandwidth"
	latencyQuantity   = "links.latency"
)

// machineQuantityPaths returns the paths of the numbers that a quantity names: the end of the path
// of one number, or all links of the network between nodes. If several numbers match, it prefers
// that of the network between nodes. It returns none if none match.
func machineQuantityPaths(p *platform.Platform, quantity string) ([]string, error) {
	if quantity == bandwidthQuantity || quantity == latencyQuantity {
		var paths []string
		for _, n := range p.Numbers {
			if strings.HasPrefix(n.Path, fabricPath+".links.") && strings.HasSuffix(n.Path, strings.TrimPrefix(quantity, "links")) {
				paths = append(paths, n.Path)
			}
		}
		return paths, nil
	}
	var ending, between []string
	for _, n := range p.Numbers {
		switch {
		case n.Path == quantity:
			return []string{n.Path}, nil
		case strings.HasSuffix(n.Path, "."+quantity):
			if ending = append(ending, n.Path); strings.HasPrefix(n.Path, fabricPath+".") {
				between = append(between, n.Path)
			}
		}
	}
	if len(between) == 1 {
		return between, nil
	}
	if len(ending) > 1 {
		return nil, fmt.Errorf("%s is one of %s: write more of its path", quantity, strings.Join(ending, ", "))
	}
	return ending, nil
}

// isMachineQuantity reports whether a platform has a quantity. It fails if the name is ambiguous.
func isMachineQuantity(p *platform.Platform, quantity string) (bool, error) {
	if slices.Contains([]string{nodesQuantity, taperQuantity, railsQuantity}, quantity) {
		return true, nil
	}
	paths, err := machineQuantityPaths(p, quantity)
	return len(paths) > 0 || err != nil, err
}

// setMachineQuantity returns a draft with another value for a quantity.
func setMachineQuantity(d *edit.Draft, quantity, value string) (*edit.Draft, error) {
	values := map[string]string{}
	f, isFabric := d.Machine.Network.(*model.Fabric)
	switch quantity {
	case taperQuantity:
		if !isFabric || !slices.Contains([]string{"fattree", "rails"}, f.Graph.Kind) {
			return nil, fmt.Errorf("taper: the network of %s has none: only fabrics of kind fattree and rails have a taper", d.Machine.Name)
		}
		path := fabricPath + "." + f.Graph.Kind
		if _, err := d.Number(path + ".taper"); err != nil {
			return d.Insert(path, "taper", fmt.Sprintf(`{value: %s, basis: assumed, source: "an option"}`, value))
		}
		values[path+".taper"] = value
	case railsQuantity:
		if !isFabric || f.Graph.Kind != "rails" {
			return nil, fmt.Errorf("rails: the network of %s has no rails", d.Machine.Name)
		}
		values[fabricPath+".rails.rails"], values["machine.nodes.interfaces"] = value, value
	default:
		paths, err := machineQuantityPaths(d.Platform, quantity)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			values[path] = value
		}
	}
	return d.DraftWith(values)
}

// failParts returns a draft in which parts of the network between nodes have failed.
func failParts(d *edit.Draft, parts []string) (*edit.Draft, error) {
	f, isFabric := d.Machine.Network.(*model.Fabric)
	if !isFabric {
		return nil, fmt.Errorf("the network of %s is no graph of links and switches that can fail: only one of kind fabric is, see docs/fabric.md", d.Machine.Name)
	}
	graph := *f.Graph
	if err := graph.Fail(parts); err != nil { // without a place in a file that nobody wrote
		return nil, err
	}
	var words []string
	for _, p := range parts {
		words = append(words, fmt.Sprintf("%q", p))
	}
	return d.Insert(fabricPath, "failed", "["+strings.Join(words, ", ")+"]")
}

// unknownQuantityError is the error for a quantity that neither a platform nor a step file has.
func unknownQuantityError(name string, p *platform.Platform, stepKeys []string) error {
	known := []string{"L", "o", "g", "G", "O", "S"}
	if p != nil {
		known = append(known, nodesQuantity, taperQuantity, railsQuantity, bandwidthQuantity, latencyQuantity)
		for _, n := range p.Numbers {
			known = append(known, n.Path)
		}
	}
	known = append(known, stepKeys...)
	if meant := table.Suggestion(name, known); meant != "" {
		return fmt.Errorf("there is no quantity %q; did you mean %s?", name, meant)
	}
	return fmt.Errorf("there is no quantity %q: name a parameter of LogGOPS, a number of the platform such as links.host.bandwidth, or a key of the step file such as data", name)
}

// partName returns the name of a part of a machine, for tables.
func partName(m *model.Machine, c model.Component) string {
	network, of := m.Network, ""
	if c.Node > 0 && m.Nodes != nil {
		network, of = m.Nodes.Inside, fmt.Sprintf(" in node %d", c.Node-1)
	}
	if n, isGraph := network.(interface{ Topology() *topology.Graph }); isGraph && c.Name == "link" {
		return n.Topology().LinkName(int32(c.Index)) + of
	}
	return fmt.Sprintf("%s %d%s", c.Name, c.Index, of)
}
