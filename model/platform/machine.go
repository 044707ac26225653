package platform

import (
	"math"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// machine reads the hardware.
func (r *reader) machine(m *model.Machine) reading {
	torus, loggp := &model.Torus{}, &model.LogGP{}
	fields := r.mapping(
		must("ranks", r.ranks(&m.Ranks)),
		must("timer", r.mapping(must("resolution", r.positive(&m.Timer)))),
		must("noise", r.mapping(must("relative", r.percent(&m.Noise.Relative)))),
		may("processor", r.mapping(must("copy", r.channel(&m.Processor.Copy)))),
		may("torus", r.torus(torus)),
		may("loggp", r.loggp(loggp)),
	)
	return reading{fields.example, func(path string, n *yaml.Node) {
		fields.read(path, n)
		if n.Kind != yaml.MappingNode {
			return
		}
		hasTorus, hasLogGP := lookup(n, "torus") != nil, lookup(n, "loggp") != nil
		switch {
		case hasTorus && hasLogGP:
			r.wrong(lookup(n, "loggp"), path, "has both torus and loggp: a machine has one network, leave one")
		case hasTorus:
			m.Torus = torus
			if lookup(n, "processor") == nil {
				r.wrong(n, path, "missing key processor: add processor: {copy: {start: ..., bandwidth: ...}}")
			}
		case hasLogGP:
			m.LogGP = loggp
			if lookup(n, "processor") == nil {
				m.Processor.Copy.Bandwidth = unit.Rate(math.Inf(1))
			}
		default:
			r.wrong(n, path, "has no network: add torus: or loggp:")
		}
	}}
}

// ranks reads the bounds of jobs.
func (r *reader) ranks(to *model.Ranks) reading {
	fields := r.mapping(
		must("default", r.count(&to.Default, 1, maxCount)),
		must("min", r.count(&to.Min, 1, maxCount)),
		must("max", r.count(&to.Max, 1, maxCount)),
	)
	return reading{fields.example, func(path string, n *yaml.Node) {
		before := len(r.problems)
		fields.read(path, n)
		if len(r.problems) == before && !(to.Min <= to.Default && to.Default <= to.Max) {
			r.wrong(n, path, "min %d, default %d, max %d: write them so that min <= default <= max", to.Min, to.Default, to.Max)
		}
	}}
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
