package platform

import (
	"math"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// networks are the kinds of networks that a machine or its nodes can have, in the order of
// model.Kinds: each makes a network and reads it.
var networks = []func(*reader) (model.Network, reading){
	(*reader).torus,
	(*reader).hypernodes,
	(*reader).ethernet,
	(*reader).loggp,
	(*reader).fattree,
}

// machine reads the hardware.
func (r *reader) machine(m *model.Machine) reading {
	kinds, choose := r.network("machine")
	nodes := &model.Nodes{}
	all := r.mapping(append([]field{
		must("ranks", r.ranks(&m.Ranks)),
		must("timer", r.mapping(must("resolution", r.positive(&m.Timer)))),
		must("noise", r.mapping(must("relative", r.percent(&m.Noise.Relative, 1)))),
		may("processor", r.mapping(must("copy", r.channel(&m.Processor.Copy)), may("operation", r.positive(&m.Processor.Operation)),
			may("loop", r.time(&m.Processor.Loop)), may("indirect", r.time(&m.Processor.Indirect)))),
		may("private", r.flag(&m.Private)),
		may("nodes", r.nodes(nodes)),
	}, kinds...)...)
	return reading{all.example, func(path string, n *yaml.Node) {
		before := len(r.problems)
		all.read(path, n)
		if n.Kind != yaml.MappingNode {
			return
		}
		m.Network = choose(path, n)
		if lookup(n, "nodes") != nil {
			m.Nodes = nodes
		}
		if lookup(n, "processor") == nil {
			if _, free := m.Network.(*model.LogGP); free {
				m.Processor.Copy.Bandwidth = unit.Rate(math.Inf(1))
			} else if m.Network != nil {
				r.wrong(n, path, "missing key processor: add processor: {copy: {start: ..., bandwidth: ...}}")
			}
		}
		if len(r.problems) == before {
			at := lookup(lookup(lookup(n, "ranks"), "max"), "value")
			r.checkEnds(at, below(path, "ranks.max.value"), m.Network, m.Ranks.Max, m.Ends(m.Ranks.Max))
		}
	}}
}

// nodes reads the nodes of a machine.
func (r *reader) nodes(to *model.Nodes) reading {
	kinds, choose := r.network("node")
	fields := r.mapping(append([]field{
		must("ranks", r.count(&to.Ranks, 2, maxCount)),
		must("interfaces", r.count(&to.Interfaces, 1, maxCount)),
	}, kinds...)...)
	return r.checked(fields, func(path string, n *yaml.Node) {
		if to.Inside = choose(path, n); to.Inside != nil {
			r.checkEnds(lookup(n, "ranks"), path+".ranks", to.Inside, to.Ranks, to.Ranks)
		}
		if to.Interfaces > to.Ranks {
			r.wrong(lookup(n, "interfaces"), path+".interfaces", "%d for %d ranks: a rank uses one interface; write at most as many as ranks", to.Interfaces, to.Ranks)
		}
	})
}

// network returns a field for each kind of network, and a function that returns the one that the
// mapping of a machine or node has.
func (r *reader) network(of string) (fields []field, choose func(path string, n *yaml.Node) model.Network) {
	var all []model.Network
	var keys []string
	for _, kind := range networks {
		to, x := kind(r)
		all, keys, fields = append(all, to), append(keys, to.Kind()+":"), append(fields, may(to.Kind(), x))
	}
	return fields, func(path string, n *yaml.Node) (has model.Network) {
		for _, x := range all {
			switch {
			case lookup(n, x.Kind()) == nil:
			case has != nil:
				r.wrong(lookup(n, x.Kind()), path, "has both %s and %s: a %s has one network, leave one", has.Kind(), x.Kind(), of)
			default:
				has = x
			}
		}
		if has == nil {
			last := len(keys) - 1
			r.wrong(n, path, "has no network: add %s or %s", strings.Join(keys[:last], ", "), keys[last])
		}
		return has
	}
}

// checkEnds checks that a network with a fixed number of processors has as many as the largest job
// of that many ranks needs, and that one with room for some has room for them.
func (r *reader) checkEnds(at *yaml.Node, path string, n model.Network, ranks, ends int) {
	if x, ok := n.(interface{ Processors() int }); ok && x.Processors() != ends {
		r.wrong(at, path, "%d, but the %s have %d processors: write %d", ranks, n.Kind(), x.Processors(), x.Processors()*ranks/ends)
	}
	if x, ok := n.(interface{ Capacity() int }); ok && x.Capacity() < ends {
		r.wrong(at, path, "%d, but the %s has room for %d ends: write at most %d", ranks, n.Kind(), x.Capacity(), x.Capacity()*ranks/ends)
	}
}

// ranks reads the bounds of jobs.
func (r *reader) ranks(to *model.Ranks) reading {
	fields := r.mapping(
		must("default", r.count(&to.Default, 1, maxCount)),
		must("min", r.count(&to.Min, 1, maxCount)),
		must("max", r.count(&to.Max, 1, maxCount)),
	)
	return r.checked(fields, func(path string, n *yaml.Node) {
		if !(to.Min <= to.Default && to.Default <= to.Max) {
			r.wrong(n, path, "min %d, default %d, max %d: write them so that min <= default <= max", to.Min, to.Default, to.Max)
		}
	})
}

// positive reads a time that is more than zero.
func (r *reader) positive(to *unit.Time) reading {
	return r.number(Time, "1us", func(s string) (err error) {
		if *to, err = unit.ParseTime(s); err != nil {
			return err
		}
		return within(s, *to, unit.Picosecond, maxTime, unit.Time.String)
	})
}

// channel reads a start-up and a bandwidth.
func (r *reader) channel(to *model.Channel) reading {
	return r.mapping(
		must("start", r.time(&to.Start)),
		must("bandwidth", r.rate(&to.Bandwidth)),
	)
}
