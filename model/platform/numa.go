package platform

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// Limits of the parts of a node that share memory, and of its rows of caches.
const (
	maxSockets = 64
	maxCores   = 1 << 16
	maxCaches  = 8
)

// numaReader reads cores that share memory.
func (r *fileReader) numaReader() (model.Network, nodeReader) {
	to := &model.NUMA{}
	var order string
	var distances []mappingField
	for d := range model.Distance(model.NumDistances) {
		a := &to.Distances[d]
		distances = append(distances, optionalField(d.String(), r.readMapping(requiredField("latency", r.readTime(&a.Latency)), requiredField("fetch", r.perByte(&a.Fetch)), optionalField("bandwidth", r.readRate(&a.Bandwidth)))))
	}
	all := r.readMapping(append([]mappingField{
		requiredField("sockets", r.readCount(&to.Sockets, 1, maxSockets)),
		requiredField("domains", r.readCount(&to.Domains, 1, maxSockets)),
		requiredField("clusters", r.readCount(&to.Clusters, 1, maxCores)),
		requiredField("cores", r.readCount(&to.Cores, 1, maxCores)),
		optionalField("order", oneOfWords(r, &order, model.CoreOrderNames)),
		optionalField("caches", r.cacheCopies(&to.Caches)),
		requiredField("memory", r.readRate(&to.Memory)),
		optionalField("link", r.readRate(&to.Link)),
		requiredField("header", r.readSize(&to.Header, 0, unit.MaxSize)),
		requiredField("send", r.readChannel(&to.Send)),
		requiredField("receive", r.readTime(&to.Receive)),
		requiredField("put", r.readChannel(&to.Put)),
		requiredField("get", r.readChannel(&to.Get)),
		optionalField("page", r.readMapping(requiredField("size", r.readSize(&to.Page.Size, 1, unit.MaxSize)), requiredField("time", r.readTime(&to.Page.Time)))),
		requiredField("counter", r.readTime(&to.Counter)),
	}, distances...)...)
	return to, r.withCheck(all, func(path string, n *yaml.Node) {
		to.Order = model.CoreOrder(max(0, slices.Index(model.CoreOrderNames, order)))
		if cores := to.Capacity(); cores > maxCores {
			r.reportProblem(n, path, "%d cores: write at most %d in all sockets", cores, maxCores)
		}
		r.checkDistances(path, n, to)
	})
}

// cacheCopies reads the bandwidths of copies that fit caches: longer ones are slower.
func (r *fileReader) cacheCopies(to *[]model.CacheCopy) nodeReader {
	example := "[{up_to: ..., bandwidth: ...}]"
	return r.readList(example, func(path string, i int, n *yaml.Node) {
		var x model.CacheCopy
		path = fmt.Sprintf("%s[%d]", path, i)
		before := len(r.problems)
		r.readMapping(requiredField("up_to", r.readSize(&x.UpTo, 1, unit.MaxSize)), requiredField("bandwidth", r.readRate(&x.Bandwidth))).read(path, n)
		if len(r.problems) > before {
			return
		}
		if i == maxCaches {
			r.reportProblem(n, path, "more than %d rows: leave out some", maxCaches)
		}
		if last := len(*to) - 1; last >= 0 {
			switch before := (*to)[last]; {
			case x.UpTo <= before.UpTo:
				r.reportProblem(n, path, "up to %s, after a row up to %s: write rows in ascending order", unit.Bytes(x.UpTo), unit.Bytes(before.UpTo))
			case x.Bandwidth > before.Bandwidth:
				r.reportProblem(n, path, "%v, after a row of %v: a larger cache is not faster; write at most as much", x.Bandwidth, before.Bandwidth)
			}
		}
		*to = append(*to, x)
	})
}

// checkDistances checks that the distances between two cores have their numbers, and no others do.
func (r *fileReader) checkDistances(path string, n *yaml.Node, to *model.NUMA) {
	const none = "no two cores are at this distance"
	for _, x := range []struct {
		key, why string
		has      bool
	}{
		{model.SameCluster.String(), "", true},
		{model.SameDomain.String(), none + ", as a domain has one cluster", to.Clusters > 1},
		{model.SameSocket.String(), none + ", as a socket has one domain", to.Domains > 1},
		{model.OtherSocket.String(), none + ", as there is one socket", to.Sockets > 1},
		{"link", "there is one socket", to.Sockets > 1},
	} {
		switch at := mappingValue(n, x.key); {
		case x.has && at == nil && x.key == "link":
			r.reportProblem(n, path, "missing key link: there are %d sockets; add link: %s", to.Sockets, r.readRate(new(unit.Rate)).example)
		case x.has && at == nil:
			r.reportProblem(n, path, "missing key %s: add %s: {latency: ..., fetch: ...}", x.key, x.key)
		case !x.has && at != nil:
			r.reportProblem(at, path+"."+x.key, "has no effect: %s; leave it out", x.why)
		}
	}
}

// checkSharedMemory checks that cores that share memory are those of one node, and that copies
// beyond the caches are no faster than those within.
func (r *fileReader) checkSharedMemory(at *yaml.Node, path string, m *model.Machine) {
	if _, is := m.Network.(*model.NUMA); is && m.Nodes != nil {
		r.reportProblem(mappingValue(at, "numa"), path+".numa", "it joins nodes, which share no memory: write it below nodes, and another network here")
		return
	}
	n, is := m.NetworkOfTier(model.IntraNode).(*model.NUMA)
	if !is || len(n.Caches) == 0 {
		return
	}
	if last := n.Caches[len(n.Caches)-1]; m.Processor.Copy.Bandwidth > last.Bandwidth {
		copies := mappingValue(mappingValue(at, "processor"), "copy")
		r.reportProblem(mappingValue(copies, "bandwidth"), path+".processor.copy.bandwidth", "%v, but copies up to %s take place at %v: copies that fit no cache are not faster; write at most as much", m.Processor.Copy.Bandwidth, unit.Bytes(last.UpTo), last.Bandwidth)
	}
}
