package workload

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/schedule/pattern"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Expansion says how Schedule expands collective operations.
type Expansion struct {
	Algorithms         map[collective.Operation]string // names; without one, DefaultAlgorithms
	CopyTime, FoldTime unit.PerByte                    // time to copy and to combine a byte
}

// DefaultAlgorithms are those that move the fewest bytes per link on a ring, as libraries for GPUs
// use for long data. NVIDIA, NCCL 2.28, src/graph/tuning.cc.
var DefaultAlgorithms = map[collective.Operation]string{
	collective.Bcast: "chain-1-128KiB", collective.Reduce: "chain-1-128KiB", collective.Allreduce: "ring", collective.Allgather: "ring", collective.ReduceScatter: "ring", collective.Alltoall: "pairwise",
}

// Algorithm returns the algorithm for an operation of a group of ranks.
func (x Expansion) Algorithm(o collective.Operation, job collective.Job) (*collective.Algorithm, error) {
	name := x.AlgorithmName(o)
	a := collective.AlgorithmNamed(o, name)
	if a == nil {
		return nil, fmt.Errorf("%v has no algorithm %q%s", o, name, table.NameChoices(name, collective.NameForms(o)))
	}
	if !a.Serves(job) {
		return nil, fmt.Errorf("%v with %d ranks: %s needs %s", o, job.Ranks, a.Name, a.RankRequirement())
	}
	return a, nil
}

// AlgorithmName returns the name of the algorithm for an operation.
func (x Expansion) AlgorithmName(o collective.Operation) string {
	if name, chosen := x.Algorithms[o]; chosen {
		return name
	}
	return cmp.Or(DefaultAlgorithms[o], collective.AlgorithmsOf(o)[0].Name)
}

// EstimateOps returns how many operations Schedule makes, about: each step of the first member of a
// group counts as a send, a receive and computing of all members.
func (w *Workload) EstimateOps(x Expansion) (int, error) {
	type key struct {
		o     collective.Operation
		ranks int
		bytes uint64
	}
	steps := map[key]int{}
	total := 0
	for rank, r := range w.Ranks {
		total += len(r.Program.ops)
		for i, o := range r.Program.ops {
			if o.Kind != Collective {
				continue
			}
			group := w.Groups[r.Groups[o.Peer]].Ranks
			if group[0] != rank {
				continue
			}
			k := key{o.Operation, len(group), o.Size}
			n, known := steps[k]
			if !known {
				job := o.Job(len(group))
				a, err := x.Algorithm(o.Operation, job)
				if err != nil {
					return 0, fmt.Errorf("%s, rank %d: %w", r.Program.Describe(i), rank, err)
				}
				for range a.Steps(job, 0) {
					n++
				}
				steps[k] = n
			}
			total += 3 * n * len(group)
		}
	}
	return total, nil
}

// Schedule expands a workload, which Check accepts, into messages. Operations of stream s run on
// CPU s. The messages of each collective operation have a tag of their own, above those of all
// messages.
func (w *Workload) Schedule(x Expansion) (*schedule.Schedule, error) {
	e := &expander{workload: w, Expansion: x, builder: pattern.StepBuilder{CopyTime: x.CopyTime, FoldTime: x.FoldTime}}
	if err := e.numberCollectives(); err != nil {
		return nil, err
	}
	for rank := range w.Ranks {
		if err := e.addRank(rank); err != nil {
			return nil, err
		}
	}
	return e.builder.Build()
}

type expander struct {
	Expansion
	workload *Workload
	builder  pattern.StepBuilder
	firstTag []uint32 // of each group

	endOpsOfOp []int // operations of the schedule's rank with which operation i of the program ends: ends[endAt[i]:endAt[i+1]]
	endAt      []uint32
	waitsFor   []int
}

// numberCollectives gives each group as many tags as it has collective operations.
func (e *expander) numberCollectives() error {
	w := e.workload
	counts := make([]uint64, len(w.Groups))
	next := uint64(0)
	for rank, r := range w.Ranks {
		for _, o := range r.Program.ops {
			if o.Kind == Send {
				next = max(next, uint64(o.Tag)+1)
			}
			if o.Kind == Collective {
				if g := r.Groups[o.Peer]; w.Groups[g].Ranks[0] == rank {
					counts[g]++
				}
			}
		}
	}
	e.firstTag = make([]uint32, len(counts))
	for g, n := range counts {
		if e.firstTag[g] = uint32(next); next+n >= schedule.Any {
			return fmt.Errorf("more than %d tags of messages and collective operations", uint64(schedule.Any))
		}
		next += n
	}
	return nil
}

// addRank adds the operations of a rank.
func (e *expander) addRank(rank int) error {
	r := e.workload.Ranks[rank]
	b := &e.builder
	b.BeginRank()
	e.endOpsOfOp, e.endAt = e.endOpsOfOp[:0], append(e.endAt[:0], 0)
	var lastOfStream [MaxStreams]int // 1 + the operation of the program; 0: none
	counts := make([]uint32, len(r.Groups))
	members := make([]int, len(r.Groups)) // the rank's index in each group
	for i, g := range r.Groups {
		members[i] = slices.Index(e.workload.Groups[g].Ranks, rank)
	}
	for i, o := range r.Program.ops {
		e.waitsFor = e.waitsFor[:0]
		for _, before := range r.Program.DependenciesOf(i) {
			e.addWait(int(before))
		}
		if last := lastOfStream[o.Stream]; o.Stream != NoStream && last > 0 {
			e.addWait(last - 1)
		}
		lastOfStream[o.Stream] = i + 1
		b.CPU, b.Tag = o.Stream, 0
		b.WaitFor(e.waitsFor)
		switch o.Kind {
		case Compute:
			b.Add(schedule.Op{Kind: schedule.Calc, Size: o.Size})
		case Send:
			b.Add(schedule.Op{Kind: schedule.Send, Peer: uint32(r.Peers[o.Peer]), Size: o.Size, Tag: o.Tag})
		case Recv:
			b.Add(schedule.Op{Kind: schedule.Recv, Peer: uint32(r.Peers[o.Peer]), Size: o.Size, Tag: o.Tag})
		case Collective:
			g := r.Groups[o.Peer]
			b.Tag = e.firstTag[g] + counts[o.Peer]
			counts[o.Peer]++
			if err := e.addCollective(o, members[o.Peer], e.workload.Groups[g].Ranks); err != nil {
				return fmt.Errorf("%s, rank %d: %w", r.Program.Describe(i), rank, err)
			}
		}
		e.endOpsOfOp = append(e.endOpsOfOp, b.LastStep()...)
		e.endAt = append(e.endAt, uint32(len(e.endOpsOfOp)))
	}
	return nil
}

// addWait makes the operation that is added next wait for the end of an operation of the program.
func (e *expander) addWait(before int) {
	for _, end := range e.endOpsOfOp[e.endAt[before]:e.endAt[before+1]] {
		if !slices.Contains(e.waitsFor, end) {
			e.waitsFor = append(e.waitsFor, end)
		}
	}
}

// addCollective adds what a member of a group does in a collective operation: at least one
// operation.
func (e *expander) addCollective(o Op, member int, ranks []int) error {
	b := &e.builder
	job := o.Job(len(ranks))
	a, err := e.Algorithm(o.Operation, job)
	if err != nil {
		return err
	}
	first := b.CountOps()
	b.Add(schedule.Op{Kind: schedule.Calc}) // so that the steps have one dependency
	b.EndStep()
	b.AddCollective(a, job, member, func(i int) int { return ranks[i] })
	b.Join()
	b.NameLastCall(o.Operation.String(), b.CountOps()-first)
	return nil
}
