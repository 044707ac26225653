package platform

import (
	"math"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// machine reads the hardware.
func (r *reader) machine(m *model.Machine) reading {
	networks := r.networks(m)
	fields := []field{
		must("ranks", r.ranks(&m.Ranks)),
		must("timer", r.mapping(must("resolution", r.positive(&m.Timer)))),
		must("noise", r.mapping(must("relative", r.percent(&m.Noise.Relative)))),
		may("processor", r.mapping(must("copy", r.channel(&m.Processor.Copy)), may("operation", r.positive(&m.Processor.Operation)))),
		may("private", r.flag(&m.Private)),
	}
	for _, x := range networks {
		fields = append(fields, may(x.key, x.reading))
	}
	all := r.mapping(fields...)
	return reading{all.example, func(path string, n *yaml.Node) {
		all.read(path, n)
		if n.Kind == yaml.MappingNode {
			r.network(m, path, n, networks)
		}
	}}
}

// network is a kind of network that a machine can have.
type network struct {
	key string
	reading
	use func(path string, n *yaml.Node) // makes it the machine's; the node is that of the machine
}

// networks returns all kinds.
func (r *reader) networks(m *model.Machine) []network {
	torus, hypernodes, ethernet, loggp := &model.Torus{}, &model.Hypernodes{}, &model.Ethernet{}, &model.LogGP{}
	return []network{
		{"torus", r.torus(torus), func(string, *yaml.Node) { m.Torus = torus }},
		{"hypernodes", r.hypernodes(hypernodes), func(path string, n *yaml.Node) {
			m.Hypernodes = hypernodes
			r.checkProcessors(m, path, n)
		}},
		{"ethernet", r.ethernet(ethernet), func(string, *yaml.Node) { m.Ethernet = ethernet }},
		{"loggp", r.loggp(loggp), func(string, *yaml.Node) { m.LogGP = loggp }},
	}
}

// network gives the machine the one network that it has, and copies that take no time if it may go without a processor.
func (r *reader) network(m *model.Machine, path string, n *yaml.Node, networks []network) {
	var has *network
	var keys []string
	for i, x := range networks {
		keys = append(keys, x.key+":")
		switch {
		case lookup(n, x.key) == nil:
		case has != nil:
			r.wrong(lookup(n, x.key), path, "has both %s and %s: a machine has one network, leave one", has.key, x.key)
		default:
			has = &networks[i]
		}
	}
	if has == nil {
		last := len(keys) - 1
		r.wrong(n, path, "has no network: add %s or %s", strings.Join(keys[:last], ", "), keys[last])
		return
	}
	has.use(path, n)
	switch {
	case lookup(n, "processor") != nil:
	case m.LogGP != nil:
		m.Processor.Copy.Bandwidth = unit.Rate(math.Inf(1))
	default:
		r.wrong(n, path, "missing key processor: add processor: {copy: {start: ..., bandwidth: ...}}")
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
	return r.number("1us", func(s string) (err error) {
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

// torus reads the network of processors on a torus.
func (r *reader) torus(to *model.Torus) reading {
	return r.mapping(
		must("per_node", r.count(&to.PerNode, 1, maxCount)),
		must("hop", r.time(&to.Hop)),
		must("turn", r.time(&to.Turn)),
		must("deliver", r.time(&to.Deliver)),
		must("link", r.rate(&to.Link)),
		must("chunk", r.size(&to.Chunk, 1, unit.MaxSize)),
		must("header", r.size(&to.Header, 0, unit.MaxSize)),
		must("send", r.channel(&to.Send)),
		must("receive", r.time(&to.Receive)),
		must("put", r.channel(&to.Put)),
		must("get", r.channel(&to.Get)),
		must("counter", r.time(&to.Counter)),
	)
}

// loggp reads the machine of the model. Its keys are the letters of the papers.
func (r *reader) loggp(to *model.LogGP) reading {
	return r.mapping(
		must("L", r.time(&to.L)),
		must("o_s", r.time(&to.SendO)),
		must("o_r", r.time(&to.RecvO)),
		must("g", r.time(&to.Gap)),
		must("G", r.perByte(&to.BigGap)),
	)
}
