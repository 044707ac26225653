package platform

import (
	"math"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// networkReaders are the kinds of networks that a machine or its nodes can have, in the order of
// model.NetworkKinds: each makes a network and reads it.
var networkReaders = []func(*fileReader) (model.Network, nodeReader){
	(*fileReader).torusReader,
	(*fileReader).hypernodesReader,
	(*fileReader).ethernetReader,
	(*fileReader).loggpReader,
	(*fileReader).fatTreeReader,
	(*fileReader).fabricReader,
	(*fileReader).numaReader,
}

// readMachine reads the hardware.
func (r *fileReader) readMachine(m *model.Machine) nodeReader {
	kinds, choose := r.networkFields("machine")
	nodes := &model.Nodes{}
	all := r.readMapping(append([]mappingField{
		requiredField("ranks", r.readRankLimits(&m.Ranks)),
		requiredField("timer", r.readMapping(requiredField("resolution", r.positiveTime(&m.TimerResolution)))),
		requiredField("noise", r.readMapping(requiredField("relative", r.readPercent(&m.Noise.Relative, 1)))),
		optionalField("processor", r.readMapping(requiredField("copy", r.readChannel(&m.Processor.Copy)),
			optionalField("long_copy", r.readMapping(requiredField("from", r.readSize(&m.Processor.LongCopy.From, 1, unit.MaxSize)), requiredField("start", r.readTime(&m.Processor.LongCopy.Start)), requiredField("bandwidth", r.readRate(&m.Processor.LongCopy.Bandwidth)))),
			optionalField("operation", r.positiveTime(&m.Processor.Operation)),
			optionalField("loop", r.readTime(&m.Processor.Loop)), optionalField("indirect", r.readTime(&m.Processor.Indirect)),
			optionalField("cache", r.readMapping(requiredField("size", r.readSize(&m.Processor.Cache.Bytes, 1, unit.MaxSize)), requiredField("line", r.readSize(&m.Processor.Cache.LineBytes, 1, 4096)), requiredField("miss", r.readTime(&m.Processor.Cache.Miss)))))),
		optionalField("files", r.readChannel(&m.FileAccess)),
		optionalField("sizes", r.readMapping(requiredField("up_to", r.readSize(&m.SizesUpTo, 1, unit.MaxSize)))),
		optionalField("private", r.readBoolean(&m.ProcessorsCannotShareMemory)),
		optionalField("nodes", r.readNodes(nodes)),
	}, kinds...)...)
	return nodeReader{all.example, func(path string, n *yaml.Node) {
		before := len(r.problems)
		all.read(path, n)
		if n.Kind != yaml.MappingNode {
			return
		}
		m.Network = choose(path, n)
		if mappingValue(n, "nodes") != nil {
			m.Nodes = nodes
		}
		if mappingValue(n, "processor") == nil {
			if _, free := m.Network.(*model.LogGP); free {
				m.Processor.Copy.Bandwidth = unit.Rate(math.Inf(1))
			} else if m.Network != nil {
				r.reportProblem(n, path, "missing key processor: add processor: {copy: {start: ..., bandwidth: ...}}")
			}
		}
		if len(r.problems) == before {
			at := mappingValue(mappingValue(mappingValue(n, "ranks"), "max"), "value")
			r.checkNetworkCapacity(at, joinPath(path, "ranks.max.value"), m.Network, m.Ranks.Max, m.CountEnds(m.Ranks.Max))
			r.checkRails(n, path, m)
			r.checkSharedMemory(n, path, m)
			if m.Processor.LongCopy.From > 0 && m.CopiesPassNetwork() {
				r.reportProblem(mappingValue(mappingValue(n, "processor"), "long_copy"), path+".processor.long_copy", "copies within the nodes of this machine pass their network, whatever their length: remove it")
			}
		}
	}}
}

// readNodes reads the nodes of a machine.
func (r *fileReader) readNodes(to *model.Nodes) nodeReader {
	kinds, choose := r.networkFields("node")
	fields := r.readMapping(append([]mappingField{
		requiredField("ranks", r.readCount(&to.Ranks, 2, maxCount)),
		requiredField("interfaces", r.readCount(&to.Interfaces, 1, maxCount)),
	}, kinds...)...)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		if to.Inside = choose(path, n); to.Inside != nil {
			r.checkNetworkCapacity(mappingValue(n, "ranks"), path+".ranks", to.Inside, to.Ranks, to.Ranks)
		}
		if to.Interfaces > to.Ranks {
			r.reportProblem(mappingValue(n, "interfaces"), path+".interfaces", "%d for %d ranks: a rank uses one interface; write at most as many as ranks", to.Interfaces, to.Ranks)
		}
	})
}

// networkFields returns a field for each kind of network, and a function that returns the one that
// the mapping of a machine or node has.
func (r *fileReader) networkFields(of string) (fields []mappingField, choose func(path string, n *yaml.Node) model.Network) {
	var all []model.Network
	var keys []string
	for _, kind := range networkReaders {
		to, x := kind(r)
		all, keys, fields = append(all, to), append(keys, to.Kind()+":"), append(fields, optionalField(to.Kind(), x))
	}
	return fields, func(path string, n *yaml.Node) (has model.Network) {
		for _, x := range all {
			switch {
			case mappingValue(n, x.Kind()) == nil:
			case has != nil:
				r.reportProblem(mappingValue(n, x.Kind()), path, "has both %s and %s: a %s has one network, leave one", has.Kind(), x.Kind(), of)
			default:
				has = x
			}
		}
		if has == nil {
			last := len(keys) - 1
			r.reportProblem(n, path, "has no network: add %s or %s", strings.Join(keys[:last], ", "), keys[last])
		}
		return has
	}
}

// checkNetworkCapacity checks that a network with a fixed number of processors has as many as the
// largest job of that many ranks needs, and that one with room for some has room for them.
func (r *fileReader) checkNetworkCapacity(at *yaml.Node, path string, n model.Network, ranks, ends int) {
	if x, ok := n.(interface{ CountProcessors() int }); ok && x.CountProcessors() != ends {
		r.reportProblem(at, path, "%d, but the %s have %d processors: write %d", ranks, n.Kind(), x.CountProcessors(), x.CountProcessors()*ranks/ends)
	}
	if x, ok := n.(interface{ Capacity() int }); ok && x.Capacity() < ends {
		r.reportProblem(at, path, "%d, but the %s has room for %d ends: write at most %d", ranks, n.Kind(), x.Capacity(), x.Capacity()*ranks/ends)
	}
}

// readRankLimits reads the bounds of jobs.
func (r *fileReader) readRankLimits(to *model.RankLimits) nodeReader {
	fields := r.readMapping(
		requiredField("default", r.readCount(&to.Default, 1, maxCount)),
		requiredField("min", r.readCount(&to.Min, 1, maxCount)),
		requiredField("max", r.readCount(&to.Max, 1, maxCount)),
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		if !(to.Min <= to.Default && to.Default <= to.Max) {
			r.reportProblem(n, path, "min %d, default %d, max %d: write them so that min <= default <= max", to.Min, to.Default, to.Max)
		}
	})
}

// positiveTime reads a time that is more than zero.
func (r *fileReader) positiveTime(to *unit.Time) nodeReader {
	return r.readNumber(TimeQuantity, "1us", func(s string) (err error) {
		if *to, err = unit.ParseTime(s); err != nil {
			return err
		}
		return checkRange(s, *to, unit.Picosecond, maxTime, unit.Time.String)
	})
}

// readChannel reads a start-up and a bandwidth.
func (r *fileReader) readChannel(to *model.Channel) nodeReader {
	return r.readMapping(
		requiredField("start", r.readTime(&to.Start)),
		requiredField("bandwidth", r.readRate(&to.Bandwidth)),
	)
}
