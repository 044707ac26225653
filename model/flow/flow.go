// Package flow simulates workloads without packets: a message or a collective operation is an
// activity that progresses at a rate, and activities that use the same parts of a machine share
// them.
//
// An activity alone takes what the model of the machine says: of a message its one-way time, of a
// collective operation the cost of its algorithm. Each part of the machine that it uses (an
// interface, a link, a bus) is busy for some of that time. If activities together would keep a part
// busy for longer than there is time, they progress more slowly, by max-min fairness: none can go
// faster without slowing one that is slower already. This is the model of parallel tasks of SimGrid
// (Casanova et al. 2014, section 4.1, L07), with max-min fairness of Bertsekas and Gallager 1992,
// section 6.5.2.
//
// It stops where packets matter: the order of messages in a queue, buffers that fill up, and a late
// member of a collective operation, which begins when all members are there.
package flow

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// Machine is the machine of a simulation.
type Machine struct {
	collective.Machine                   // the cost of messages, and what they occupy
	Nodes              *collective.Nodes // of all ranks; nil: each rank is a node

	// ProcessorTimes returns for how long a message occupies the processors of its sender and its
	// receiver; nil: for no time. Messages of a rank share its processor.
	ProcessorTimes func(from, to, bytes int) (sender, receiver unit.Time)

	// ArrivalRail returns by which rail a message between nodes arrives; nil: each rank has one
	// interface for all.
	ArrivalRail func(from, to int) int

	Library Library // has times of its own in place of all these; nil: none
}

// Library is a library whose messages and collective operations are not those of
// collective.Machine. Each method returns how long something takes alone, and appends what it
// occupies meanwhile.
type Library interface {
	Message(into []model.Occupation, from, to, bytes int) (unit.Time, []model.Occupation)

	// Collective is an operation of a group of ranks. An algorithm that is not "" is asked for.
	Collective(into []model.Occupation, o collective.Operation, job collective.Job, ranks []int, algorithm string) (unit.Time, []model.Occupation, error)
}

// Result is when the operations of a workload end.
type Result struct {
	Finish     unit.Time   // of the last rank
	LastRank   int         // the first rank that ends then
	RankFinish []unit.Time // by rank
	Events     int
	Activities int // messages and collective operations

	sim *simulation
}

// Simulate computes when the ranks of a workload, which Check accepts, end. Operations without a
// stream that compute run one after the other on each rank. If operations can never end, the error
// names one.
func Simulate(w *workload.Workload, x workload.Expansion, m Machine) (*Result, error) {
	s, err := newSimulation(w, x, m)
	if err != nil {
		return nil, err
	}
	if err := s.runEvents(); err != nil {
		return nil, err
	}
	res := &Result{RankFinish: make([]unit.Time, len(w.Ranks)), Events: s.eventCount, Activities: s.activityCount, sim: s}
	for rank := range s.ranks {
		for _, t := range s.ranks[rank].endTimes {
			res.RankFinish[rank] = max(res.RankFinish[rank], t)
		}
		if res.RankFinish[rank] > res.Finish {
			res.Finish, res.LastRank = res.RankFinish[rank], rank
		}
	}
	return res, nil
}

// partUse is how much of the time that an activity takes alone it occupies a part of the machine: 0
// to
// 1.
type partUse struct {
	part          int32
	occupiedShare float64
}

// demand is what an activity takes.
type demand struct {
	timeAlone unit.Time
	uses      []partUse
	isEager   bool      // of a message: its send ends when the call returns
	sendCall  unit.Time // which takes so long
}

// demandTable computes and keeps the demands of messages and collective operations.
type demandTable struct {
	Machine
	workload.Expansion
	workload *workload.Workload

	parts       map[model.Component]int32
	processors  map[int32]bool // which of them are processors
	messages    map[messageKey]*demand
	collectives map[collectiveKey]*demand
	groupTimes  map[string]unit.Time // of collective operations of groups that lie alike
	occupations []model.Occupation
}

type messageKey struct {
	from, to int
	bytes    uint64
}

type collectiveKey struct {
	group int
	o     collective.Operation
	bytes uint64
	root  uint32
}

func newDemands(w *workload.Workload, x workload.Expansion, m Machine) *demandTable {
	return &demandTable{Machine: m, Expansion: x, workload: w, parts: map[model.Component]int32{}, processors: map[int32]bool{}, messages: map[messageKey]*demand{}, collectives: map[collectiveKey]*demand{}, groupTimes: map[string]unit.Time{}}
}

// interfaces are the parts of ranks that send and receive, beside those of the machine.
const (
	sendInterface    = "sender of rank"
	receiveInterface = "receiver of rank"
	processorName    = "processor of rank"
)

// isOwnPart reports whether a part belongs to one rank.
func isOwnPart(c model.Component) bool {
	return c.Name == sendInterface || c.Name == receiveInterface || c.Name == processorName
}

// partNumber returns the number of a part.
func (d *demandTable) partNumber(c model.Component) int32 {
	n, known := d.parts[c]
	if !known {
		n = int32(len(d.parts))
		d.parts[c] = n
		d.processors[n] = c.Name == processorName
	}
	return n
}

// busyTimes adds up for how long messages occupy parts.
type busyTimes map[int32]unit.Time

// addMessages adds count messages from one rank to another.
func (d *demandTable) addMessages(busy busyTimes, from, to, bytes, count int) {
	flow := d.InterfaceTime(d.Nodes, from, to, bytes)
	busy[d.partNumber(model.Component{Name: sendInterface, Index: from})] += unit.Time(count) * flow
	receiver := model.Component{Name: receiveInterface, Index: to}
	if d.ArrivalRail != nil && !d.Nodes.AreOnOneNode(from, to) {
		receiver.Node = 1 + d.ArrivalRail(from, to)
	}
	busy[d.partNumber(receiver)] += unit.Time(count) * flow
	if d.ProcessorTimes != nil {
		sender, receiver := d.ProcessorTimes(from, to, bytes)
		busy[d.partNumber(model.Component{Name: processorName, Index: from})] += unit.Time(count) * sender
		busy[d.partNumber(model.Component{Name: processorName, Index: to})] += unit.Time(count) * receiver
	}
	if d.SharedOccupations == nil {
		return
	}
	d.occupations = d.SharedOccupations(d.occupations[:0], from, to, bytes)
	d.addOccupations(busy, count)
}

// addOccupations adds what was occupied last, count times.
func (d *demandTable) addOccupations(busy busyTimes, count int) {
	for _, o := range d.occupations {
		busy[d.partNumber(o.Component)] += unit.Time(count) * o.Time
	}
}

// newDemand returns the demand of an activity. If its parts are busy for longer than the time that
// it was said to take, it takes that long. Processors may work for it after its end: they are busy
// for all of it at most.
func (d *demandTable) newDemand(alone unit.Time, busy busyTimes) *demand {
	for part, t := range busy {
		if !d.processors[part] {
			alone = max(alone, t)
		}
	}
	made := &demand{timeAlone: alone}
	for part, t := range busy {
		if t > 0 {
			made.uses = append(made.uses, partUse{part, min(float64(t)/float64(max(alone, 1)), 1)})
		}
	}
	slices.SortFunc(made.uses, func(a, b partUse) int { return int(a.part - b.part) })
	return made
}

// ofMessage returns the demand of a message.
func (d *demandTable) ofMessage(from, to int, bytes uint64) *demand {
	key := messageKey{from, to, bytes}
	if known := d.messages[key]; known != nil {
		return known
	}
	busy := busyTimes{}
	var alone unit.Time
	if from != to && d.Library != nil {
		alone, d.occupations = d.Library.Message(d.occupations[:0], from, to, int(bytes))
		d.addOccupations(busy, 1)
	} else if from != to {
		d.addMessages(busy, from, to, int(bytes), 1)
		alone = d.MessageTime(d.Nodes, from, to, int(bytes))
	}
	made := d.newDemand(alone, busy)
	made.sendCall, made.isEager = d.sendCallTime(from, to, int(bytes))
	made.sendCall = min(made.sendCall, made.timeAlone)
	d.messages[key] = made
	return made
}

// sendCallTime returns how long the call of a send takes that does not wait for its receive, o_s. A
// rendezvous waits.
func (d *demandTable) sendCallTime(from, to, bytes int) (t unit.Time, isEager bool) {
	x := &d.Parameters
	if d.IntraNode != nil && d.Nodes.AreOnOneNode(from, to) {
		x = d.IntraNode
	}
	if x.EagerLimit > 0 && bytes > x.EagerLimit {
		return 0, false
	}
	return x.SendOverhead.Time(bytes), len(x.SendOverhead) > 0
}

// maxCostMessages is how many messages an operation may have, unless it is a ring. A ring with more
// than minFormulaMessages takes what a formula says.
const (
	maxCostMessages    = 1 << 20
	minFormulaMessages = 1 << 15
)

// ofCollective returns the demand of a collective operation of a group.
func (d *demandTable) ofCollective(group int, o workload.Op) (*demand, error) {
	key := collectiveKey{group, o.Operation, o.Size, o.Root}
	if known := d.collectives[key]; known != nil {
		return known, nil
	}
	ranks := d.workload.Groups[group].Ranks
	job := o.Job(len(ranks))
	var nodes *collective.Nodes
	if d.Nodes != nil {
		nodes = d.Nodes.Subset(ranks)
	}
	job.Nodes = nodes
	busy := busyTimes{}
	if d.Library != nil {
		alone, occupations, err := d.Library.Collective(d.occupations[:0], o.Operation, job, ranks, d.Algorithms[o.Operation])
		if err != nil {
			return nil, err
		}
		d.occupations = occupations
		d.addOccupations(busy, 1)
		made := d.newDemand(alone, busy)
		d.collectives[key] = made
		return made, nil
	}
	a, err := d.Algorithm(o.Operation, job)
	if err != nil {
		return nil, err
	}
	ring, isRing := ringOf(a, job)
	var alone unit.Time
	if isRing && ring.steps*job.Ranks > minFormulaMessages {
		alone = d.ringTime(ring, ranks, busy)
	} else {
		if alone, err = d.costOf(a, job, ranks, busy); err != nil {
			return nil, err
		}
	}
	made := d.newDemand(alone, busy)
	d.collectives[key] = made
	return made, nil
}

// costOf adds the messages of an operation, and returns its cost. Groups whose members lie on nodes
// in the same way have the same cost.
func (d *demandTable) costOf(a *collective.Algorithm, job collective.Job, ranks []int, busy busyTimes) (unit.Time, error) {
	messages := 0
	type edge struct{ from, to, bytes int }
	counts := map[edge]int{}
	for i := range ranks {
		for st := range a.Steps(job, i) {
			if st.Kind != collective.Transfer || st.To == collective.NoRank {
				continue
			}
			counts[edge{i, st.To, st.Send.Bytes}]++
			if messages++; messages > maxCostMessages {
				return 0, fmt.Errorf("%v of %d ranks has more than %d messages, and only a ring may", a, job.Ranks, maxCostMessages)
			}
		}
	}
	for e, n := range counts {
		d.addMessages(busy, ranks[e.from], ranks[e.to], e.bytes, n)
	}
	key := fmt.Sprint(a.String(), job.Bytes, job.Root, placementOf(d.Nodes, ranks))
	alone, known := d.groupTimes[key]
	if !known {
		m := d.Machine.Machine
		if m.SharedOccupations != nil {
			m.SharedOccupations = func(into []model.Occupation, from, to, bytes int) []model.Occupation {
				return d.SharedOccupations(into, ranks[from], ranks[to], bytes)
			}
		}
		alone = m.Cost(a, job).LastEnd
		d.groupTimes[key] = alone
	}
	return alone, nil
}

// placementOf describes on which nodes the ranks of a group are, the first node as 0.
func placementOf(nodes *collective.Nodes, ranks []int) []int {
	numbers := map[int]int{}
	placement := make([]int, len(ranks))
	for i, r := range ranks {
		node := r
		if nodes != nil {
			node = nodes.NodeOf(r)
		}
		if _, known := numbers[node]; !known {
			numbers[node] = len(numbers)
		}
		placement[i] = numbers[node]
	}
	return placement
}

// ringCollective is a collective operation in whose steps every member passes a block on to the
// next.
type ringCollective struct {
	steps, folds int // folds of the steps combine the block
	block        int // bytes
}

// ringOf returns the ring that an algorithm is, if it is one.
func ringOf(a *collective.Algorithm, job collective.Job) (r ringCollective, isRing bool) {
	n := job.Ranks
	if a.Name != "ring" {
		return ringCollective{}, false
	}
	switch a.Operation {
	case collective.Allgather:
		return ringCollective{n - 1, 0, job.Bytes}, true
	case collective.ReduceScatter:
		return ringCollective{n - 1, n - 1, job.Bytes}, true
	case collective.Allreduce:
		return ringCollective{2 * (n - 1), n - 1, (job.Bytes + n - 1) / n}, true
	}
	return ringCollective{}, false
}

// ringTime adds the messages of a ring and returns its time. A step begins at a member when it has
// the block of the step before, so in the long run a step takes the mean of the members' one-way
// times, or as long as the busiest interface, and combining a block comes on top:
//
//	steps · max{mean over members of T(block), max over members of busy(block)}
//	+ folds · fold(block)
func (d *demandTable) ringTime(r ringCollective, ranks []int, busy busyTimes) unit.Time {
	var sum, longest unit.Time
	for i, from := range ranks {
		to := ranks[(i+1)%len(ranks)]
		sum += d.MessageTime(d.Nodes, from, to, r.block)
		longest = max(longest, d.InterfaceTime(d.Nodes, from, to, r.block))
		d.addMessages(busy, from, to, r.block, r.steps)
	}
	return unit.Time(r.steps)*max(sum/unit.Time(len(ranks)), longest) + unit.Time(r.folds)*d.Combining.Time(r.block)
}
