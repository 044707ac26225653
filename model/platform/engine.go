package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// settingReaders reads the settings of one engine.
type settingReaders struct {
	values map[string]nodeReader           // by the key of model.Setting
	check  func(path string, n *yaml.Node) // what no single value shows, once all are read; nil: nothing
}

// engineSettings has a function for each engine with settings, which returns how to read them into
// a library.
var engineSettings = map[*model.Engine]func(*fileReader, *model.Library) settingReaders{
	model.ProtoEngine:  (*fileReader).protoSettings,
	model.MBCFEngine:   (*fileReader).mbcfSettings,
	model.StartEngine:  (*fileReader).startSettings,
	model.AclmplEngine: (*fileReader).aclmplSettings,
	model.NCCLEngine:   (*fileReader).ncclSettings,
}

// engineSettingFields returns how to read the settings of the library's engine.
func (r *fileReader) engineSettingFields(l *model.Library) (fields []mappingField, check func(path string, n *yaml.Node)) {
	e := l.CarriedBy()
	if len(e.Settings) == 0 {
		return nil, nil
	}
	x := engineSettings[e](r, l)
	for _, s := range e.Settings {
		fields = append(fields, mappingField{s.Key, s.Optional, x.values[s.Key]})
	}
	return fields, x.check
}

// explainOtherEngine says which engines read a key, if only others than e do.
func explainOtherEngine(e *model.Engine, key string) string {
	var others []string
	for _, other := range model.EnginesWithSetting(key) {
		others = append(others, other.Name)
	}
	if len(others) == 0 || slices.Contains(others, e.Name) {
		return ""
	}
	return fmt.Sprintf("setting %q is read by the engine %s, not by this library's engine %s: remove it, or change engine", key, strings.Join(others, " and "), e.Name)
}

// protoSettings reads the settings of model.ProtoEngine.
func (r *fileReader) protoSettings(l *model.Library) settingReaders {
	var rules []protocolRule
	var long, near model.LongMessage
	var rendezvous []string // protocols that need no buffer space at the receiver
	for _, p := range model.Protocols {
		if !p.IsEager() {
			rendezvous = append(rendezvous, p.Name)
		}
	}
	s := &l.Proto
	return settingReaders{map[string]nodeReader{
		"rules": r.readList("[{mode: [standard, synchronous, ready, buffered], protocol: RTA}]",
			func(path string, i int, n *yaml.Node) {
				rules = append(rules, protocolRule{node: n, path: fmt.Sprintf("%s[%d]", path, i)})
				r.protocolRule(&rules[i]).read(rules[i].path, n)
			}),
		"fallback": oneOfWords(r, &s.Fallback, rendezvous),
		"window":   r.readSize(&s.WindowBytes, 0, maxWindow),
		"first":    r.readSize(&s.FirstBytes, 0, unit.MaxSize),
		"stage":    r.readBoolean(&long.CopiesToAccessibleMemory),
		"bounce":   r.readSize(&long.BounceBufferBytes, 0, unit.MaxSize),
		"grant":    r.readSize(&long.GrantBytes, 1, unit.MaxSize),
		"intra": r.readMapping(
			requiredField("stage", r.readBoolean(&near.CopiesToAccessibleMemory)),
			requiredField("bounce", r.readSize(&near.BounceBufferBytes, 0, unit.MaxSize)),
		),
	}, func(path string, n *yaml.Node) {
		if at := mappingValue(n, "grant"); at != nil && long.BounceBufferBytes > 0 {
			r.reportProblem(at, path+".grant", "has no effect beside bounce: receivers get so many bytes at a time into the bounce buffer; write bounce: 0B, or leave out grant")
		}
		s.LongMessages = model.ForEveryTier(long)
		if mappingValue(n, "intra") != nil {
			s.LongMessages[model.IntraNode] = near
		}
		r.checkFirstPartLength(path, n, rules)
		s.Rules = r.convertRules(path+".rules", mappingValue(n, "rules"), rules, s)
	}}
}

// checkFirstPartLength checks that a library has the length of first parts if, and only if, a rule
// names a protocol with first parts.
func (r *fileReader) checkFirstPartLength(path string, n *yaml.Node, rules []protocolRule) {
	first := mappingValue(n, "first")
	i := slices.IndexFunc(rules, func(x protocolRule) bool { return model.FindProtocol(x.protocol).Steps[0].Data == model.FirstData })
	switch {
	case i >= 0 && first == nil:
		r.reportProblem(n, path, "missing key first: %s sends so much of a message with its first packet, and rules[%d] names it: add first: %s",
			rules[i].protocol, i, r.readSize(new(int), 0, 0).example)
	case i < 0 && first != nil:
		r.reportProblem(first, path+".first", "no rule names a protocol that has a first part: leave it out, or write a rule with PTAT")
	}
}

// mbcfSettings reads the settings of model.MBCFEngine.
func (r *fileReader) mbcfSettings(l *model.Library) settingReaders {
	s := &l.MBCF
	s.Requests = model.DefaultRequestFIFOEntries
	return settingReaders{map[string]nodeReader{
		"fifo":     r.readSize(&s.FIFOBytes, model.MinFIFOBytes, maxWindow),
		"requests": r.readCount(&s.Requests, 0, maxRequestFIFOEntries),
	}, func(string, *yaml.Node) {
		if s.Requests == 0 {
			s.Requests = -1
		}
	}}
}

// startSettings reads the settings of model.StartEngine.
func (r *fileReader) startSettings(l *model.Library) settingReaders {
	s := &l.Start
	return settingReaders{map[string]nodeReader{
		"short": r.readMapping(
			requiredField(model.InterNode.String(), r.readSize(&s.ShortBytes[model.InterNode], 0, unit.MaxSize)),
			requiredField(model.IntraNode.String(), r.readSize(&s.ShortBytes[model.IntraNode], 0, unit.MaxSize)),
		),
		"block":  r.readSize(&s.BlockBytes, 1, maxWindow),
		"pinned": r.readSize(&s.PinnedBytes, 1, unit.MaxSize),
	}, nil}
}

// aclmplSettings reads the settings of model.AclmplEngine.
func (r *fileReader) aclmplSettings(l *model.Library) settingReaders {
	return settingReaders{map[string]nodeReader{"slots": r.readCount(&l.Aclmpl.PoolSlots, 1, maxRequestFIFOEntries)}, nil}
}

// ncclSettings reads the settings of model.NCCLEngine.
func (r *fileReader) ncclSettings(l *model.Library) settingReaders {
	s := &l.NCCL
	known := nccl.FindTables(nccl.TableNames()[0])
	return settingReaders{map[string]nodeReader{
		"tables":    oneOfWords(r, &s.Tables, nccl.TableNames()),
		"gpu":       oneOfWords(r, &s.GPU, known.GPUs()),
		"processor": oneOfWords(r, &s.Processor, known.Processors()),
		"gpudirect": r.readBoolean(&s.HasGPUDirect),
		"nvlink":    r.readRate(&s.NVLink),
		"network": r.readMapping(
			requiredField("bandwidth", r.readRate(&s.Network)),
			requiredField("latency", r.readTime(&s.NetworkLatency)),
			optionalField("connection", ofNCCLProtocols(r, &s.Connection, r.readRate)),
			optionalField("hop", ofNCCLProtocols(r, &s.NetworkHop, r.positiveTime)),
		),
		"algorithms": r.ncclNames(&s.Algorithms, model.NCCLAlgorithms),
		"protocols":  r.ncclNames(&s.Protocols, model.NCCLProtocols[:]),
		"call":       ofNCCLProtocols(r, &s.Call, r.positiveTime),
		"block":      ofNCCLProtocols(r, &s.Block, r.readRate),
		"tree_chunk": r.readSize(&s.TreeChunk, 32<<10, 4<<20),
		"channels": r.readMapping(
			requiredField("node", r.readCount(&s.NodeChannels, 1, maxChannels)),
			requiredField("interface", r.readCount(&s.InterfaceChannels, 1, maxChannels)),
			requiredField("nvls", r.readCount(&s.NVLSChannels, 2, maxChannels)),
			requiredField("peers", r.readCount(&s.PeerChannels, 1, maxChannels)),
		),
	}, nil}
}

// ofNCCLProtocols reads a number for each protocol, of which all are optional.
func ofNCCLProtocols[T any](r *fileReader, to *[model.NumNCCLProtocols]T, read func(*T) nodeReader) nodeReader {
	var fields []mappingField
	for i, name := range model.NCCLProtocols {
		fields = append(fields, optionalField(name, read(&to[i])))
	}
	return r.readMapping(fields...)
}

// ncclNames reads a list of algorithms or protocols.
func (r *fileReader) ncclNames(to *[]string, names []string) nodeReader {
	return r.readList("["+names[0]+"]", func(path string, i int, n *yaml.Node) {
		*to = append(*to, "")
		oneOfWords(r, &(*to)[i], names).read(fmt.Sprintf("%s[%d]", path, i), n)
	})
}

// readSoftwareCosts reads the cost of each kind of work that the library's engine declares.
func (r *fileReader) readSoftwareCosts(l *model.Library) nodeReader {
	costs := func() []mappingField {
		var fields []mappingField
		for k, c := range l.CarriedBy().Costs {
			if c.PerByte {
				fields = append(fields, requiredField(c.Key, r.wholePerByte(&l.Software[k])))
			} else {
				fields = append(fields, requiredField(c.Key, r.readTime(&l.Software[k])))
			}
		}
		return fields
	}
	return nodeReader{exampleMapping(costs()), func(path string, n *yaml.Node) { r.readMapping(costs()...).read(path, n) }}
}
