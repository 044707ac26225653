package platform

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/topology"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// Limits of the lanes of a link, and of the bytes of a buffer or of a chunk on links.
const (
	maxLanes     = 1024
	maxWireBytes = 1 << 30
)

// graphReader reads the numbers of one kind of graph, from which build makes it.
type graphReader struct {
	mappingField
	build func() (*topology.Graph, error)
}

// graphReaders returns the kinds of graphs. A count may be too large for a graph: the generators
// say so before they make one.
func (r *fileReader) graphReaders() []graphReader {
	const maxWritten = 1 << 40
	count := func(to *int) nodeReader { return r.readCount(to, 1, maxWritten) }
	var star, mesh int
	var tree, rails struct {
		rails, levels, arity int
		taper                []int
	}
	var dragonfly struct{ groups, routers, hosts, global int }
	var graph struct {
		hosts, switches int
		edges           []topology.Edge
	}
	return []graphReader{
		{optionalField("star", r.readMapping(requiredField("hosts", count(&star)))),
			func() (*topology.Graph, error) { return topology.NewStar(star) }},
		{optionalField("fattree", r.readMapping(requiredField("levels", count(&tree.levels)), requiredField("arity", count(&tree.arity)), optionalField("taper", r.countList(&tree.taper, maxLevels-1)))),
			func() (*topology.Graph, error) { return topology.NewFatTree(tree.levels, tree.arity, tree.taper) }},
		{optionalField("rails", r.readMapping(requiredField("rails", count(&rails.rails)), requiredField("levels", count(&rails.levels)), requiredField("arity", count(&rails.arity)), optionalField("taper", r.countList(&rails.taper, maxLevels-1)))),
			func() (*topology.Graph, error) {
				return topology.NewRails(rails.rails, rails.levels, rails.arity, rails.taper)
			}},
		{optionalField("dragonfly", r.readMapping(requiredField("groups", count(&dragonfly.groups)), requiredField("routers", count(&dragonfly.routers)), requiredField("hosts", count(&dragonfly.hosts)), requiredField("global", count(&dragonfly.global)))),
			func() (*topology.Graph, error) {
				return topology.NewDragonfly(dragonfly.groups, dragonfly.routers, dragonfly.hosts, dragonfly.global)
			}},
		{optionalField("mesh", r.readMapping(requiredField("hosts", count(&mesh)))),
			func() (*topology.Graph, error) { return topology.NewMesh(mesh) }},
		{optionalField("graph", r.readMapping(requiredField("hosts", count(&graph.hosts)), requiredField("switches", count(&graph.switches)), requiredField("edges", r.readEdges(&graph.edges, &graph.hosts, &graph.switches)))),
			func() (*topology.Graph, error) {
				return topology.NewEdges(graph.hosts, graph.switches, graph.edges)
			}},
	}
}

// readEdges reads a list of edges such as "h0 s1" or "s0 s1 global". The numbers of hosts and
// switches stand before it.
func (r *fileReader) readEdges(to *[]topology.Edge, hosts, switches *int) nodeReader {
	const example = `["h0 s0", "h1 s1", "s0 s1"]`
	return r.readList(example, func(path string, i int, n *yaml.Node) {
		r.parsedText(example, func(s string) error {
			words := strings.Fields(s)
			if len(words) != 2 && len(words) != 3 {
				return fmt.Errorf("edge %q: write two ends and at most a class of links, such as h0 s1 or s0 s1 global", s)
			}
			var ends [2]int
			e := topology.Edge{Class: topology.TrunkClass}
			for i, w := range words[:2] {
				number, err := strconv.Atoi(w[1:])
				count, first, what := *hosts, 0, "hosts"
				switch {
				case w[0] == 'h':
					e.Class = topology.HostClass
				case w[0] == 's':
					count, first, what = *switches, *hosts, "switches"
				default:
					err = errors.New("no end")
				}
				if err != nil {
					return fmt.Errorf("edge %q: %q is no end: write h and the number of a host, or s and that of a switch", s, w)
				}
				if number < 0 || number >= count {
					return fmt.Errorf("edge %q: no %s: there are %d %s, counted from 0; write hosts and switches above edges, and a number below theirs", s, w, count, what)
				}
				ends[i] = first + number
			}
			e.A, e.B = ends[0], ends[1]
			if len(words) == 3 {
				var names []string
				for c := range topology.NumClasses {
					if names = append(names, c.String()); c.String() == words[2] {
						e.Class = c
						names = nil
						break
					}
				}
				if names != nil {
					return fmt.Errorf("edge %q: unknown class of links %q: %s", s, words[2], suggestName(words[2], names))
				}
			}
			*to = append(*to, e)
			return nil
		}).read(fmt.Sprintf("%s[%d]", path, i), n)
	})
}

// routingsOf are the words for the routings of each kind of graph, the default first.
var routingsOf = map[string][]struct {
	word    string
	routing topology.Routing
}{
	"fattree":   {{"d-mod-k", topology.DeterministicRouting}, {"ecmp", topology.HashRouting}, {"spray", topology.SprayRouting}},
	"rails":     {{"d-mod-k", topology.DeterministicRouting}, {"ecmp", topology.HashRouting}, {"spray", topology.SprayRouting}},
	"dragonfly": {{"minimal", topology.DeterministicRouting}, {"ugal", topology.AdaptiveRouting}},
	"graph":     {{"shortest", topology.DeterministicRouting}, {"ecmp", topology.HashRouting}},
}

// fabricReader reads a graph of switches and links.
func (r *fileReader) fabricReader() (model.Network, nodeReader) {
	to, nic := &model.Fabric{}, &model.NIC{}
	var routing, arbitration string
	var seed int
	var failed []string
	congestion, loss := &model.CongestionControl{}, &model.LossRecovery{}
	var links, fields []mappingField
	for c := range topology.NumClasses {
		l := &to.Links[c]
		l.Width = 1
		links = append(links, optionalField(c.String(), r.readMapping(requiredField("bandwidth", r.readRate(&l.Bandwidth)), requiredField("latency", r.readTime(&l.Latency)), optionalField("width", r.readCount(&l.Width, 1, maxLanes)))))
	}
	graphs := r.graphReaders()
	for _, x := range graphs {
		fields = append(fields, x.mappingField)
	}
	all := r.readMapping(append(fields,
		requiredField("links", r.readMapping(links...)),
		optionalField("switch", r.readMapping(requiredField("latency", r.readTime(&to.SwitchLatency)), optionalField("buffer", r.readSize(&to.Buffer, 1, maxWireBytes)), optionalField("arbitration", oneOfWords(r, &arbitration, model.ArbitrationNames)))),
		optionalField("ecn", r.congestionControl(congestion)),
		optionalField("loss", r.readMapping(requiredField("timeout", r.positiveTime(&loss.Timeout)))),
		optionalField("routing", r.readText(&routing, "ecmp")),
		optionalField("seed", r.readCount(&seed, 0, maxWindow)),
		optionalField("failed", r.textList(&failed, `["link 3", "switch 0"]`)),
		requiredField("deliver", r.readTime(&to.Deliver)),
		requiredField("header", r.readSize(&to.Header, 0, unit.MaxSize)),
		requiredField("packet", r.readMapping(
			requiredField("header", r.readSize(&to.Packet.Header, 0, maxFrame)),
			requiredField("payload", r.readSize(&to.Packet.Payload, 1, maxFrame)),
		)),
		requiredField("chunk", r.readSize(&to.Chunk, 1, maxWireBytes)),
		optionalField("send", r.readChannel(&to.Send)),
		optionalField("receive", r.readTime(&to.Receive)),
		optionalField("put", r.readTime(&to.Put)),
		optionalField("get", r.readTime(&to.Get)),
		optionalField("rdma", r.readRDMA(nic)),
	)...)
	return to, r.withCheck(all, func(path string, n *yaml.Node) {
		r.checkInterface(path, n, to, nic)
		if to.Arbitration = model.FairArbitration; arbitration == model.ArbitrationNames[model.FIFOArbitration] {
			to.Arbitration = model.FIFOArbitration
		}
		if r.buildGraph(path, n, to, graphs); to.Graph == nil {
			return
		}
		if to.NIC != nil && to.NIC.StripeFrom > 0 && to.Graph.Rails() == 1 {
			at := mappingValue(mappingValue(n, "rdma"), "striped")
			r.reportProblem(at, path+".rdma.striped", "has no effect: the graph, %s, has one rail; leave it out, or write rails", to.Graph.Kind)
		}
		if to.NIC != nil && to.NIC.CopyEngines != nil && to.NIC.CopyEngines.Fragment%to.Chunk != 0 {
			at := mappingValue(mappingValue(mappingValue(n, "rdma"), "staging"), "fragment")
			r.reportProblem(at, path+".rdma.staging.fragment", "%s is no multiple of chunk: write whole chunks, such as %s", unit.Bytes(to.NIC.CopyEngines.Fragment), unit.Bytes((to.NIC.CopyEngines.Fragment/to.Chunk+1)*to.Chunk))
		}
		r.checkRouting(path, n, to, routing, seed)
		r.failParts(path, mappingValue(n, "failed"), to, failed)
		r.checkLinks(path, n, to)
		if at := mappingValue(n, "ecn"); at != nil {
			if to.Congestion = congestion; to.Graph.Switches == 0 {
				r.reportProblem(at, path+".ecn", "has no effect: switches mark packets, and a %s has none; leave it out", to.Graph.Kind)
			}
		}
		if at := mappingValue(n, "loss"); at != nil {
			r.checkLoss(path+".loss", at, to)
			to.Loss = loss
		}
		if to.WireBytes(to.Chunk) > maxWireBytes {
			r.reportProblem(mappingValue(n, "chunk"), path+".chunk", "%s with headers are more than %s on a link: write a smaller chunk", unit.Bytes(to.Chunk), unit.Bytes(maxWireBytes))
		}
		if to.Chunk%to.Packet.Payload != 0 {
			r.reportProblem(mappingValue(n, "chunk"), path+".chunk", "%s is no multiple of packet.payload: write whole packets, such as %s", unit.Bytes(to.Chunk), unit.Bytes((to.Chunk/to.Packet.Payload+1)*to.Packet.Payload))
		}
	})
}

// checkLoss checks that there is something to lose, and that what is lost is seen by its order.
func (r *fileReader) checkLoss(path string, at *yaml.Node, f *model.Fabric) {
	switch {
	case f.Graph.Switches == 0:
		r.reportProblem(at, path, "has no effect: switches lose bytes, and a %s has none; leave it out", f.Graph.Kind)
	case f.Buffer == 0:
		r.reportProblem(at, path, "has no effect: switches have unlimited buffers; write switch.buffer, or leave it out")
	case f.Graph.Routing == topology.AdaptiveRouting || f.Graph.Routing == topology.SprayRouting:
		r.reportProblem(at, path, "bytes that overtake each other would count as lost: write a routing that keeps their order, or leave it out")
	}
}

// congestionControl reads when switches mark packets, and how senders react.
func (r *fileReader) congestionControl(to *model.CongestionControl) nodeReader {
	fields := r.readMapping(
		requiredField("from", r.readSize(&to.MarkFrom, 0, maxWireBytes)),
		requiredField("all", r.readSize(&to.MarkAll, 1, maxWireBytes)),
		requiredField("probability", r.readPercent(&to.Probability, 1)),
		requiredField("interval", r.readTime(&to.NoticeInterval)),
		requiredField("gain", r.readPercent(&to.Gain, 1)),
		requiredField("period", r.positiveTime(&to.Period)),
		requiredField("increase", r.readRate(&to.Increase)),
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		if to.MarkAll <= to.MarkFrom {
			r.reportProblem(mappingValue(n, "all"), path+".all", "%s, but marks begin at %s: write more than from", unit.Bytes(to.MarkAll), unit.Bytes(to.MarkFrom))
		}
	})
}

// checkInterface checks that a fabric has the keys of one kind of interface.
func (r *fileReader) checkInterface(path string, n *yaml.Node, to *model.Fabric, nic *model.NIC) {
	if mappingValue(n, "rdma") != nil {
		to.NIC = nic
		for _, key := range []string{"send", "receive", "put", "get"} {
			if at := mappingValue(n, key); at != nil {
				r.reportProblem(at, path+"."+key, "has no effect: rdma has the costs of the interface; leave out %s, or rdma", key)
			}
		}
		return
	}
	for _, key := range []string{"send", "receive"} {
		if mappingValue(n, key) == nil {
			r.reportProblem(n, path, "missing key %s: add rdma: {doorbell: ..., bus: ..., message: ..., complete: ...} for an RDMA interface, or send: {start: ..., bandwidth: ...} and receive: ... for another one", key)
			return
		}
	}
	to.RDMA = mappingValue(n, "put") != nil
	if (mappingValue(n, "put") != nil) != (mappingValue(n, "get") != nil) {
		r.reportProblem(n, path, "has one of put and get: an interface that accesses memory has both; add the other, or leave out both")
	}
}

// buildGraph makes the one graph that a fabric has.
func (r *fileReader) buildGraph(path string, n *yaml.Node, to *model.Fabric, graphs []graphReader) {
	var has *graphReader
	var keys []string
	for i, x := range graphs {
		keys = append(keys, x.key)
		switch at := mappingValue(n, x.key); {
		case at == nil:
		case has != nil:
			r.reportProblem(at, path, "has both %s and %s: a fabric has one graph, leave one", has.key, x.key)
			return
		default:
			has = &graphs[i]
		}
	}
	if has == nil {
		r.reportProblem(n, path, "has no graph: add one of %s", strings.Join(keys, ", "))
		return
	}
	at, where := mappingValue(n, has.key), path+"."+has.key
	g, err := has.build()
	if wrong := (*topology.EdgeError)(nil); errors.As(err, &wrong) {
		at, where = mappingValue(at, "edges").Content[wrong.Index], fmt.Sprintf("%s.edges[%d]", where, wrong.Index)
	}
	if err != nil {
		r.reportProblem(at, where, "%v", err)
		return
	}
	to.Graph = g
}

// checkRouting sets the routing of the graph, or says which there are.
func (r *fileReader) checkRouting(path string, n *yaml.Node, to *model.Fabric, word string, seed int) {
	kind := to.Graph.Kind
	at := mappingValue(n, "routing")
	var words []string
	found := word == ""
	for _, x := range routingsOf[kind] {
		if words = append(words, x.word); x.word == word {
			to.Graph.Routing, found = x.routing, true
		}
	}
	switch {
	case at != nil && len(words) == 0:
		r.reportProblem(at, path+".routing", "a %s has one route between two hosts: leave it out", kind)
	case !found:
		r.reportProblem(at, path+".routing", "unknown %q for %s: %s", word, kind, suggestName(word, words))
	}
	to.Graph.Seed = uint64(seed)
	if at := mappingValue(n, "seed"); at != nil && to.Graph.Routing != topology.HashRouting {
		r.reportProblem(at, path+".seed", "has no effect: only routing: ecmp has a hash; leave it out")
	}
}

// failParts lets links and switches of the graph fail.
func (r *fileReader) failParts(path string, at *yaml.Node, to *model.Fabric, parts []string) {
	err := to.Graph.Fail(parts)
	where := path + ".failed"
	if wrong := (*topology.FailedPartError)(nil); errors.As(err, &wrong) {
		at, where = at.Content[wrong.Index], fmt.Sprintf("%s[%d]", where, wrong.Index)
	}
	if err != nil {
		r.reportProblem(at, where, "%v", err)
	}
}

// checkLinks checks that the links and switches of the graph have their numbers, and no others do,
// and that a buffer keeps a link busy.
func (r *fileReader) checkLinks(path string, n *yaml.Node, to *model.Fabric) {
	links, node := mappingValue(n, "links"), mappingValue(n, "switch")
	for c, has := range to.Graph.Classes() {
		name := topology.Class(c).String()
		switch at := mappingValue(links, name); {
		case has && at == nil:
			r.reportProblem(links, path+".links", "missing key %s: the graph, %s, has such links; add %s: {bandwidth: ..., latency: ...}", name, to.Graph.Kind, name)
		case !has && at != nil:
			r.reportProblem(at, path+".links."+name, "has no effect: the graph, %s, has no such links; leave it out", to.Graph.Kind)
		}
	}
	switch {
	case to.Graph.Switches > 0 && node == nil:
		r.reportProblem(n, path, "missing key switch: the %s has switches; add switch: {latency: ..., buffer: ...}", to.Graph.Kind)
	case to.Graph.Switches == 0 && node != nil:
		r.reportProblem(node, path+".switch", "has no effect: a %s has no switches; leave it out", to.Graph.Kind)
	}
	if to.Buffer == 0 || node == nil {
		return
	}
	classes := to.Graph.Classes()
	c := topology.Class(slices.Index(classes[:], true))
	need := 0
	for x, has := range classes {
		l := &to.Links[x]
		flight := float64(l.Rate()) * float64(l.Latency+to.SwitchLatency) / float64(unit.Second)
		if bytes := 2*to.WireBytes(to.Chunk) + int(flight); has && bytes > need {
			need, c = bytes, topology.Class(x)
		}
	}
	if to.Buffer < need {
		at := mappingValue(mappingValue(node, "buffer"), "value")
		r.reportProblem(at, path+".switch.buffer", "%s does not keep a %s link busy while credits return: write at least %s, or a smaller chunk", unit.Bytes(to.Buffer), c, unit.Bytes(need))
	}
}

// checkRails checks that a node has an interface for each rail of the network between nodes, and
// that its own network has no rails.
func (r *fileReader) checkRails(at *yaml.Node, path string, m *model.Machine) {
	if m.Nodes != nil {
		if f, ok := m.Nodes.Inside.(*model.Fabric); ok && f.Graph.Kind == "rails" {
			r.reportProblem(mappingValue(at, "nodes"), path+".nodes", "rails inside a node: each rail is an interface of a node, and ranks inside have one each; use another graph")
		}
	}
	f, ok := m.Network.(*model.Fabric)
	if !ok || f.Graph.Kind != "rails" {
		return
	}
	rails := f.Graph.Rails()
	switch {
	case m.Nodes == nil:
		r.reportProblem(at, path, "rails without nodes: each rail is an interface of a node; add nodes: {ranks: ..., interfaces: %d, ...}", rails)
	case m.Nodes.Interfaces != rails:
		r.reportProblem(mappingValue(mappingValue(at, "nodes"), "interfaces"), path+".nodes.interfaces", "%d interfaces of a node for %d rails: write interfaces: %d", m.Nodes.Interfaces, rails, rails)
	}
}

// checkCompletions checks that the machine has interfaces that complete sends, if libraries wait
// for that.
func (r *fileReader) checkCompletions(m *model.Machine) {
	why := "the machine has no RDMA interface"
	if f, ok := m.Network.(*model.Fabric); ok && f.NIC != nil {
		if f.NIC.Datagrams == nil {
			return
		}
		why = "processors prepare datagrams"
	}
	for _, x := range r.completionPositions {
		r.reportProblem(x.node, x.path, "has no effect: %s; leave it out", why)
	}
}
