package nccl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// step is a step of a block of threads, or a transfer by an interface: a vertex of a graph in which
// the time of a step is that of the longest way to it. Data travels with it. So operations are
// derived once more, from who sends what to whom, and not in the order in which package nccl
// executes them.
type step struct {
	before   *step // of the same block or interface
	room     *step // that takes a slice out of the receiver's buffer; nil: there is room
	inputs   []input
	busy     unit.Time
	data     []int64
	isTimed  bool
	from, to unit.Time // when it begins and ends
}

// input is data that a step takes from another one.
type input struct {
	*step
	latency    unit.Time
	cutThrough bool // it is taken in while it arrives
}

// time sets when a step begins and ends.
func (s *step) time() {
	if s.isTimed {
		return
	}
	s.isTimed = true
	var ready, last unit.Time
	for _, x := range s.inputs {
		x.time()
		begin := x.to
		if x.cutThrough {
			begin = x.from
		}
		ready, last = max(ready, begin+x.latency), max(last, x.to+x.latency)
	}
	for _, x := range []*step{s.before, s.room} {
		if x != nil {
			x.time()
			ready = max(ready, x.to)
		}
	}
	s.from, s.to = ready, max(ready+s.busy, last)
}

// traffic counts the bytes that ranks send, by rank and by link.
type traffic struct {
	sent  map[int]int
	links map[[2]int]int
}

func newTraffic() *traffic { return &traffic{map[int]int{}, map[[2]int]int{}} }

func (t *traffic) add(from, to, bytes int) {
	t.sent[from] += bytes
	t.links[[2]int{from, to}] += bytes
}

// addVectors returns the sums of two vectors.
func addVectors(a, b []int64) []int64 {
	sum := slices.Clone(a)
	for i := range b {
		sum[i] += b[i]
	}
	return sum
}

// recursiveTree returns the parents of the tree of nodes 0 to n − 1: the root 0 has the tree of all
// others below it, and the tree of an interval has the node in the middle as root that is a
// multiple of the largest power of two, between the trees of the parts to its left and right.
func recursiveTree(n int) []int {
	parents := make([]int, n)
	parents[0] = -1
	var divide func(low, high, parent int)
	divide = func(low, high, parent int) {
		if low >= high {
			return
		}
		power := 1
		for (low+2*power-1)/(2*power)*(2*power) < high {
			power *= 2
		}
		root := (low + power - 1) / power * power
		parents[root] = parent
		divide(low, root, root)
		divide(root+1, high, root)
	}
	divide(1, n, 0)
	return parents
}

// secondTree returns the parents of the other tree: ranks backwards, or the next rank's place if
// their number is odd.
func secondTree(n int) []int {
	first := recursiveTree(n)
	parents := make([]int, n)
	for place := range n {
		rank := n - 1 - place
		parent := n - 1 - first[place]
		if n%2 == 1 {
			rank, parent = (place+1)%n, (first[place]+1)%n
		}
		if first[place] < 0 {
			parent = -1
		}
		parents[rank] = parent
	}
	return parents
}

// Of the two trees each reaches every node once, from one root, over no more levels than there are
// digits. A node that has children in both exists only if the number of nodes is odd.
func TestDoubleTrees(t *testing.T) {
	for n := 2; n <= 64; n++ {
		tree := binaryTree(n)
		var inner [2]int // nodes with children, by tree
		both := 0
		children := [2][]int{make([]int, n), make([]int, n)}
		for k, parents := range [2][]int{recursiveTree(n), secondTree(n)} {
			roots := 0
			for rank := range n {
				if k == 0 && tree[rank].parent != parents[rank] {
					t.Errorf("%d nodes: the parent of %d is %d, want %d", n, rank, tree[rank].parent, parents[rank])
				}
				if parents[rank] < 0 {
					roots++
					continue
				}
				children[k][parents[rank]]++
				depth := 0
				for at := rank; parents[at] >= 0; at = parents[at] {
					if depth++; depth > n {
						t.Fatalf("%d nodes: %d is on a cycle of tree %d", n, rank, k)
					}
				}
				if depth > floorLog2(n)+1 {
					t.Errorf("%d nodes: %d is %d levels below the root of tree %d", n, rank, depth, k)
				}
			}
			if roots != 1 {
				t.Errorf("%d nodes: tree %d has %d roots", n, k, roots)
			}
		}
		flows := countDoubleTreeFlows(tree)
		for rank := range n {
			degree := 0
			for k, parents := range [2][]int{recursiveTree(n), secondTree(n)} {
				if children[k][rank] > 0 {
					inner[k]++
				}
				if children[k][rank] > 2 {
					t.Errorf("%d nodes: %d has %d children", n, rank, children[k][rank])
				}
				degree += children[k][rank]
				if parents[rank] >= 0 {
					degree++
				}
			}
			if children[0][rank] > 0 && children[1][rank] > 0 {
				both++
			}
			if flows[rank] != degree {
				t.Errorf("%d nodes: %d has %d flows, want %d", n, rank, flows[rank], degree)
			}
		}
		if both > n%2 || inner[0] != inner[1] || inner[0] > (n+1)/2 {
			t.Errorf("%d nodes: %d and %d have children, %d in both trees", n, inner[0], inner[1], both)
		}
	}
}

// channelSteps are the steps of all ranks for a channel.
type channelSteps struct {
	*testing.T
	*Communicator
	channelPlan
	perNode int // blocks of a node
	last    map[string]*step
	taken   [][]*step // that receive, by rank of a ring
	sent    []int     // slices, by rank of a ring
	traffic *traffic
}

// do adds a step to what a block or an interface does.
func (c *channelSteps) do(resource string, busy unit.Time, data []int64, inputs ...input) *step {
	s := &step{before: c.last[resource], busy: busy, data: data, inputs: inputs}
	for i, x := range inputs {
		if data == nil && i == 0 {
			s.data = x.data
		} else {
			s.data = addVectors(s.data, x.data)
		}
	}
	c.last[resource] = s
	return s
}

// send hands data to a block: within the node, or by an interface of its own for this flow.
func (c *channelSteps) send(s *step, from, to, bytes int, flow string, rate unit.Rate) input {
	c.traffic.add(from, to, bytes)
	if from/c.perNode == to/c.perNode {
		return input{s, c.nearHopLatency, c.cutThrough}
	}
	return input{c.do(flow, rate.Time(bytes), nil, input{step: s}), c.farHopLatency, false}
}

// end returns when the last step ends.
func (c *channelSteps) end() (last unit.Time) {
	for _, s := range c.last {
		s.time()
		last = max(last, s.to)
	}
	return last
}

// treeSteps writes down an allreduce of a vector by a tree: of each rank, up and down.
func (c *channelSteps) treeSteps(chunk int, vectors [][]int64) (results [][]int64) {
	first, second := recursiveTree(c.Nodes), secondTree(c.Nodes)
	degree := make([]int, c.Nodes)
	for _, parents := range [][]int{first, second} {
		for n, p := range parents {
			if p >= 0 {
				degree[n]++
				degree[p]++
			}
		}
	}
	rate := func(n, parent int) unit.Rate { return 2 * c.channelNetRate / unit.Rate(max(degree[n], degree[parent])) }
	results = make([][]int64, c.Nodes*c.perNode)
	var up func(n int) *step
	up = func(n int) *step {
		var inputs []input
		for r := c.perNode - 1; r > 0; r-- {
			rank := n*c.perNode + r
			s := c.do(fmt.Sprint("up ", rank), c.sendingStepRate.Time(chunk), vectors[rank], inputs...)
			inputs = []input{c.send(s, rank, rank-1, chunk, "", 0)}
		}
		for child, p := range first {
			if p == n {
				inputs = append(inputs, c.send(up(child), child*c.perNode, n*c.perNode, chunk, fmt.Sprint("up flow ", child), rate(child, n)))
			}
		}
		return c.do(fmt.Sprint("up ", n*c.perNode), c.sendingStepRate.Time(chunk), vectors[n*c.perNode], inputs...)
	}
	var down func(n int, from input)
	down = func(n int, from input) {
		for r := range c.perNode {
			rank := n*c.perNode + r
			s := c.do(fmt.Sprint("down ", rank), c.sendingStepRate.Time(chunk), nil, from)
			results[rank] = s.data
			for child, p := range first {
				if p == n && r == 0 {
					down(child, c.send(s, rank, child*c.perNode, chunk, fmt.Sprint("down flow ", child), rate(child, n)))
				}
			}
			if r+1 < c.perNode {
				from = c.send(s, rank, rank+1, chunk, "", 0)
			}
		}
	}
	down(0, input{step: up(0), cutThrough: true})
	return results
}

// ringSteps writes down an operation by a ring, in which each rank passes on what it got. Vectors
// have an element for each slice of each rank's block.
func (c *channelSteps) ringSteps(o collective.Operation, chunk int, vectors [][]int64) (results [][]int64) {
	n := c.Ranks
	sends := map[collective.Operation]int{collective.Allreduce: 2*n - 2, collective.Allgather: n - 1, collective.ReduceScatter: n - 1}[o]
	firstBlock := map[bool]int{true: n - 1, false: 0}[o == collective.ReduceScatter] // that rank 0 sends first
	for r := range n {
		results = append(results, slices.Clone(vectors[r]))
	}
	sent := make([][]input, n)
	for k := range sends + 1 {
		next := make([][]input, n)
		for slice := range c.slices {
			bytes := max(0, min(divideUp(chunk, c.slices), chunk-slice*divideUp(chunk, c.slices)))
			for r := range n {
				element := &results[r][(r-k+firstBlock+2*n)%n*c.slices+slice]
				var inputs []input
				if k > 0 {
					got := sent[(r+n-1)%n][slice]
					if inputs = []input{got}; o == collective.Allgather || k >= n {
						*element = 0 // what is complete takes the place of a part
					}
					*element += got.data[0]
				}
				busy := c.sendingStepRate
				if k == sends {
					busy = c.receivingStepRate
				}
				s := c.do(fmt.Sprint("block ", r), busy.Time(bytes), nil, inputs...)
				if k > 0 {
					c.taken[r] = append(c.taken[r], s)
				}
				if s.data = []int64{*element}; k < sends {
					if behind := c.sent[r] - c.receiverSlots; behind >= 0 {
						s.room = c.taken[(r+1)%n][behind]
					}
					c.sent[r]++
					next[r] = append(next[r], c.send(s, r, (r+1)%n, bytes, fmt.Sprint("flow ", r), c.channelNetRate))
				}
			}
		}
		sent = next
	}
	return results
}

// chainSteps writes down a broadcast from the first rank or a reduction to the last.
func (c *channelSteps) chainSteps(o collective.Operation, chunk int, vectors [][]int64) (results [][]int64) {
	var inputs []input
	for r := range c.Ranks {
		own := vectors[r]
		if o == collective.Bcast && r > 0 {
			own = nil
		}
		s := c.do(fmt.Sprint("block ", r), c.sendingStepRate.Time(chunk), own, inputs...)
		if results = append(results, s.data); r+1 < c.Ranks {
			inputs = []input{c.send(s, r, r+1, chunk, fmt.Sprint("flow ", r), c.channelNetRate)}
		}
	}
	return results
}

// execute writes down all chunks of a channel, with random data, and checks the results.
func (c *channelSteps) execute(o collective.Operation, random *rand.Rand) {
	isRing := c.Algorithm == Ring && o != collective.Bcast && o != collective.Reduce
	length, round := 3, c.chunk
	if isRing {
		length, round = c.Ranks*c.slices, c.Ranks*c.chunk
	}
	for left := c.bytes; left > 0; left -= round {
		ranks := c.Nodes * c.perNode
		vectors, sum := make([][]int64, ranks), make([]int64, length)
		for r := range vectors {
			for range length {
				vectors[r] = append(vectors[r], random.Int64N(1<<40))
			}
			sum = addVectors(sum, vectors[r])
		}
		var got [][]int64
		switch {
		case isRing:
			got = c.ringSteps(o, min(c.chunk, divideUp(left, c.Ranks)), vectors)
		case c.Algorithm == Ring:
			got = c.chainSteps(o, min(c.chunk, left), vectors)
		default:
			got = c.treeSteps(min(c.chunk, left), vectors)
		}
		for r := range got {
			want := sum
			from, to := 0, length
			switch o {
			case collective.Bcast:
				want = vectors[0]
			case collective.Reduce:
				if r+1 < ranks {
					continue
				}
			case collective.ReduceScatter:
				from, to = r*c.slices, (r+1)*c.slices
			case collective.Allgather:
				want = nil
				for k := range c.Ranks {
					want = append(want, vectors[k][k*c.slices:(k+1)*c.slices]...)
				}
			}
			if !slices.Equal(got[r][from:to], want[from:to]) {
				c.Fatalf("%v by %v on %d nodes: rank %d of %d has %v, want %v", o, c.Method, c.Nodes, r, ranks, got[r], want)
			}
		}
	}
}

// communicatorsOfTest are ranks on nodes of GPUs that are joined by a switch.
var communicatorsOfTest = [][2]int{{2, 1}, {3, 1}, {5, 1}, {8, 1}, {2, 2}, {3, 3}, {8, 2}, {12, 3}, {16, 2}, {24, 6}, {14, 7}, {28, 14}, {33, 11}, {64, 8}, {64, 64}}

// Operations by rings, chains and trees give every rank the right data, over the links and with the
// bytes that they should need, in the time that they have as graphs of steps, to the picosecond:
// with all ranks of all nodes, for every method.
func TestOperationsEqualTheirGraphs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, x := range communicatorsOfTest {
		ranks, nodes := x[0], x[1]
		whole, err := NewCommunicator(testHardware(8), ranks, nodes)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range Operations {
			for _, m := range whole.Methods(o) {
				if m.Algorithm == NVLS || m.Algorithm == Peers {
					continue
				}
				for _, bytes := range []int{8 * ranks, 96 << 10, 24 * ranks << 20} {
					call := Call{o, bytes}
					c := &channelSteps{T: t, Communicator: whole, channelPlan: whole.newPlan(call, m), perNode: whole.perNode(), last: map[string]*step{}, taken: make([][]*step, ranks), sent: make([]int, ranks), traffic: newTraffic()}
					base := whole.callLatency(m)
					if m.Algorithm == NVLSTree {
						c.perNode, c.sendingStepRate, base, c.nearHopLatency = 1, whole.switchRate(c.channelPlan), base+c.nearHopLatency, 0
					}
					if c.bytes/c.chunk > 500 {
						continue // which are continued by their mean
					}
					c.execute(o, random)
					if got, want := whole.Time(call, m), base+c.end(); got != want {
						t.Errorf("%v of %d ranks on %d nodes by %v, %d bytes: %v, by its graph %v", o, ranks, nodes, m, bytes, got, want)
					}
					c.checkTraffic(o)
				}
			}
		}
	}
}

// checkTraffic checks the bytes of a channel, by rank and by link.
func (c *channelSteps) checkTraffic(o collective.Operation) {
	ranks := c.Nodes * c.perNode
	total := 0
	for _, bytes := range c.traffic.sent {
		total += bytes
	}
	if c.Algorithm != Ring { // up and down each edge
		if want := 2 * (ranks - 1) * c.bytes; total != want || len(c.traffic.links) != 2*(ranks-1) {
			c.Errorf("%v of %d ranks: %d bytes on %d links, want %d on %d", c.Method, ranks, total, len(c.traffic.links), want, 2*(ranks-1))
		}
		between := 0
		for link, bytes := range c.traffic.links {
			if link[0]/c.perNode != link[1]/c.perNode {
				between += bytes
			}
		}
		if want := 2 * (c.Nodes - 1) * c.bytes; between != want {
			c.Errorf("%v of %d ranks: %d bytes between %d nodes, want %d", c.Method, ranks, between, c.Nodes, want)
		}
		return
	}
	for rank, bytes := range c.traffic.sent {
		want := BusFactor(o, ranks) * float64(c.bytes)
		if excess := float64(bytes) - want; excess < 0 || excess > float64(4*ranks*(1+c.bytes/c.chunk)) || bytes != c.traffic.links[[2]int{rank, (rank + 1) % ranks}] {
			c.Errorf("%v of %d ranks by %v: rank %d sends %d bytes, want %g to the next", o, ranks, c.Method, rank, bytes, want)
		}
	}
}

// The switch of a node combines and multicasts. Each GPU reads its part of the data of all combined
// and writes the result to all: what a link carries in one direction then, and so the time.
func TestSwitchCombinesAndMulticasts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for n := 2; n <= 8; n++ {
		c, err := NewCommunicator(testHardware(8), n, 1)
		if err != nil {
			t.Fatal(err)
		}
		const part = 1 << 20
		for _, o := range []collective.Operation{collective.Allreduce, collective.Allgather, collective.ReduceScatter} {
			out, in := make([]int, n), make([]int, n) // bytes of the links of each GPU
			memory, sum := make([][]int64, n), make([]int64, n)
			for g := range n {
				for range n {
					memory[g] = append(memory[g], random.Int64N(1<<40))
				}
				sum = addVectors(sum, memory[g])
			}
			for g := range n { // its part
				value := memory[g][g]
				if o != collective.Allgather {
					value = 0
					for h := range n {
						out[h] += part
						value += memory[h][g]
					}
					in[g] += part
				}
				if memory[g][g] = value; o == collective.ReduceScatter {
					if value != sum[g] {
						t.Fatalf("%v: GPU %d has %d, want %d", o, g, value, sum[g])
					}
					continue
				}
				out[g] += part
				for h := range n {
					in[h] += part
					memory[h][g] = value
				}
			}
			for g := range n {
				if o == collective.Allreduce && !slices.Equal(memory[g], sum) {
					t.Fatalf("GPU %d of %d has %v, want %v", g, n, memory[g], sum)
				}
			}
			busiest := max(slices.Max(out), slices.Max(in))
			want := 25 + float64(busiest)/(370.8e9*0.85*15/16)*1e6
			if got := c.Time(Call{o, n * part}, Method{NVLS, Simple}).Micros(); got < 0.9999*want || got > 1.0001*want {
				t.Errorf("%v of %d GPUs: %g us, want %g", o, n, got, want)
			}
		}
	}
}

// In an all-to-all exchange each link of a GPU carries the blocks of all others in each direction.
func TestExchangeLoadsLinks(t *testing.T) {
	const block = 1 << 20
	for _, x := range communicatorsOfTest {
		c, err := NewCommunicator(testHardware(8), x[0], x[1])
		if err != nil {
			t.Fatal(err)
		}
		g := c.newGroup(block, Simple)
		bytes := map[sharedPart]int{}
		for from := range c.Ranks {
			for to := range c.Ranks {
				if from != to {
					for _, l := range g.partLoads(Message{from, to, block}, from/c.perNode() != to/c.perNode()) {
						bytes[l.sharedPart] += block
					}
				}
			}
		}
		near, far := (c.perNode()-1)*block, (c.Ranks-c.perNode())*block
		for r := range c.Ranks {
			for name, want := range map[string]int{"links out": near, "links in": near, "interface out": far, "interface in": far} {
				if got := bytes[sharedPart{name, r, 0}]; got != want {
					t.Errorf("%d ranks on %d nodes: %s of %d: %d bytes, want %d", c.Ranks, c.Nodes, name, r, got, want)
				}
			}
		}
		if got, want := float64(near+far), BusFactor(collective.Alltoall, c.Ranks)*float64(block*c.Ranks); got != want {
			t.Errorf("%d ranks: %g bytes, want %g", c.Ranks, got, want)
		}
	}
}
