package trace

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"
)

// sortNodes returns the nodes of a file in an order in which each follows those that it depends on,
// and the dependencies of each, as indices. Among nodes that could come next the one that was
// recorded first does: by its start if all nodes have one, else by its number. Dependencies on
// nodes that are not in the file are counted and dropped.
//
// PyTorch notes the operation that another one is part of as a control dependency of it, which may
// close a cycle with the dependencies of data. Control dependencies in a cycle are counted and
// dropped; a cycle of data alone is an error.
func sortNodes(f *rankFile, report *Report) (order []int, before [][]int, err error) {
	d := nodeDependencies{file: f, data: make([][]int, len(f.nodes)), control: make([][]int, len(f.nodes))}
	if err := d.resolveIDs(report); err != nil {
		return nil, nil, err
	}
	order, open := d.sortTopologically()
	if len(order) < len(f.nodes) {
		report.DroppedControl += d.dropControlInCycles(open)
		if order, open = d.sortTopologically(); len(order) < len(f.nodes) {
			return nil, nil, fmt.Errorf("%s: the dependencies form a cycle: %s", f.name, describeCycle(f, d.data, open))
		}
	}
	for i := range d.data {
		d.data[i] = append(d.data[i], d.control[i]...)
		slices.Sort(d.data[i])
		d.data[i] = slices.Compact(d.data[i])
	}
	return order, d.data, nil
}

// nodeDependencies are those of the nodes of a file, as indices.
type nodeDependencies struct {
	file          *rankFile
	data, control [][]int
}

// resolveIDs finds the nodes of all dependencies.
func (d *nodeDependencies) resolveIDs(report *Report) error {
	f := d.file
	byID := make(map[uint64]int, len(f.nodes))
	for i := range f.nodes {
		if first, twice := byID[f.nodes[i].id]; twice {
			return fmt.Errorf("%s: node %d is there twice: %s and %s", f.name, f.nodes[i].id, f.nodes[first].name, f.nodes[i].name)
		}
		byID[f.nodes[i].id] = i
	}
	find := func(ids []uint64) []int {
		var found []int
		for _, id := range ids {
			if i, known := byID[id]; known {
				found = append(found, i)
			} else {
				report.DroppedDependencies++
			}
		}
		return found
	}
	for i := range f.nodes {
		d.data[i], d.control[i] = find(f.nodes[i].data), find(f.nodes[i].control)
	}
	return nil
}

// sortTopologically returns the nodes in order, and for each how many dependencies are open. Nodes
// of a cycle, and those that depend on them, are missing and have open dependencies.
func (d *nodeDependencies) sortTopologically() (order, open []int) {
	nodes := d.file.nodes
	after := make([][]int, len(nodes))
	open = make([]int, len(nodes))
	for i := range nodes {
		for _, list := range [][]int{d.data[i], d.control[i]} {
			for _, b := range list {
				after[b] = append(after[b], i)
			}
			open[i] += len(list)
		}
	}
	ready := &readyNodes{nodes: nodes}
	ready.byStart = !slices.ContainsFunc(nodes, func(n traceNode) bool { return !n.hasStart })
	for i, n := range open {
		if n == 0 {
			heap.Push(ready, i)
		}
	}
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		order = append(order, i)
		for _, next := range after[i] {
			if open[next]--; open[next] == 0 {
				heap.Push(ready, next)
			}
		}
	}
	return order, open
}

// dropControlInCycles drops the control dependencies between nodes of one cycle, and returns their
// number.
func (d *nodeDependencies) dropControlInCycles(open []int) (dropped int) {
	g := simple.NewDirectedGraph()
	for i, n := range open {
		if n > 0 && g.Node(int64(i)) == nil {
			g.AddNode(simple.Node(i))
		}
	}
	for i := range open {
		for _, b := range slices.Concat(d.data[i], d.control[i]) {
			if open[i] > 0 && open[b] > 0 && i != b {
				g.SetEdge(simple.Edge{F: simple.Node(i), T: simple.Node(b)})
			}
		}
	}
	component := map[int]int{}
	for number, nodes := range topo.TarjanSCC(g) {
		for _, n := range nodes {
			component[int(n.ID())] = number
		}
	}
	for i := range open {
		if open[i] == 0 {
			continue
		}
		d.control[i] = slices.DeleteFunc(d.control[i], func(b int) bool {
			inCycle := open[b] > 0 && component[i] == component[b]
			if inCycle {
				dropped++
			}
			return inCycle
		})
	}
	return dropped
}

// describeCycle names the nodes of a cycle among those that are still open.
func describeCycle(f *rankFile, before [][]int, open []int) string {
	at := slices.IndexFunc(open, func(n int) bool { return n > 0 })
	var path []int
	for !slices.Contains(path, at) {
		path = append(path, at)
		at = before[at][slices.IndexFunc(before[at], func(b int) bool { return open[b] > 0 })]
	}
	path = append(path[slices.Index(path, at):], at)
	const shown = 8
	var names []string
	for _, i := range path[:min(len(path), shown)] {
		names = append(names, fmt.Sprintf("node %d (%s)", f.nodes[i].id, f.nodes[i].name))
	}
	if len(path) > shown {
		names = append(names, fmt.Sprintf("%d more", len(path)-shown))
	}
	return strings.Join(names, " waits for ")
}

// readyNodes is a heap of nodes whose dependencies are in the order.
type readyNodes struct {
	nodes   []traceNode
	byStart bool
	indices []int
}

func (r *readyNodes) Len() int { return len(r.indices) }
func (r *readyNodes) Less(i, j int) bool {
	a, b := &r.nodes[r.indices[i]], &r.nodes[r.indices[j]]
	if r.byStart && a.start != b.start {
		return a.start < b.start
	}
	return cmp.Less(a.id, b.id)
}
func (r *readyNodes) Swap(i, j int) { r.indices[i], r.indices[j] = r.indices[j], r.indices[i] }
func (r *readyNodes) Push(x any)    { r.indices = append(r.indices, x.(int)) }
func (r *readyNodes) Pop() any {
	last := len(r.indices) - 1
	i := r.indices[last]
	r.indices = r.indices[:last]
	return i
}
