package pattern

import (
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// StepBuilder builds ranks whose operations follow each other in steps: the operations of a step
// wait for all operations of the step before. The zero value has no ranks.
type StepBuilder struct {
	schedule.Builder
	CPU                uint8        // of the operations that are added from now on
	Tag                uint32       // of the messages that are added without a tag from now on
	CopyTime, FoldTime unit.PerByte // time to copy and to combine a byte in a collective operation

	lastStepOps, stepOps []int // operations of the step before, and of this one
}

// BeginRank begins the next rank.
func (b *StepBuilder) BeginRank() {
	b.Builder.BeginRank()
	b.lastStepOps, b.stepOps = b.lastStepOps[:0], b.stepOps[:0]
}

// Add adds an operation to the step.
func (b *StepBuilder) Add(o schedule.Op) int {
	o.CPU = b.CPU
	if o.Kind != schedule.Calc && o.Tag == 0 {
		o.Tag = b.Tag
	}
	i := b.AddOp(o)
	for _, before := range b.lastStepOps {
		b.AddDependency(i, before, false)
	}
	b.stepOps = append(b.stepOps, i)
	return i
}

// WaitFor begins a step whose operations wait for these operations of the rank.
func (b *StepBuilder) WaitFor(ops []int) {
	b.lastStepOps, b.stepOps = append(b.lastStepOps[:0], ops...), b.stepOps[:0]
}

// LastStep returns the operations of the last step that has any. They are valid until the next call
// of a method.
func (b *StepBuilder) LastStep() []int {
	b.EndStep()
	return b.lastStepOps
}

func (b *StepBuilder) send(to, size int) {
	b.Add(schedule.Op{Kind: schedule.Send, Peer: uint32(to), Size: uint64(size)})
}

func (b *StepBuilder) recv(from, size int) {
	b.Add(schedule.Op{Kind: schedule.Recv, Peer: uint32(from), Size: uint64(size)})
}

// EndStep ends the step: what follows waits for all of it.
func (b *StepBuilder) EndStep() {
	if len(b.stepOps) > 0 {
		b.lastStepOps, b.stepOps = b.stepOps, b.lastStepOps[:0]
	}
}

// Join ends a step of many operations by an empty one, so that the next step has few dependencies.
func (b *StepBuilder) Join() {
	b.EndStep()
	if len(b.lastStepOps) > 2 {
		b.Add(schedule.Op{Kind: schedule.Calc})
		b.EndStep()
	}
}

// Compute is a step of computing, if there is anything to compute.
func (b *StepBuilder) Compute(t unit.Time) {
	if t > 0 {
		b.Add(schedule.Op{Kind: schedule.Calc, Size: uint64(t / unit.Nanosecond)})
		b.EndStep()
	}
}

// AddCollective adds the steps of a rank in a collective operation; member returns the rank of the
// schedule that is a rank of the job.
func (b *StepBuilder) AddCollective(a *collective.Algorithm, j collective.Job, rank int, member func(rank int) int) {
	for st := range a.Steps(j, rank) {
		switch st.Kind {
		case collective.Transfer:
			if st.From != collective.NoRank {
				b.recv(member(st.From), st.Recv.Bytes)
			}
			if st.To != collective.NoRank {
				b.send(member(st.To), st.Send.Bytes)
			}
			if !st.IsPosted {
				b.EndStep()
			}
		case collective.Wait:
			b.Join()
		case collective.Copy:
			b.Compute(roundToNanosecond(b.CopyTime.Time(st.Send.Bytes)))
		default:
			b.Compute(roundToNanosecond(b.FoldTime.Time(st.Send.Bytes)))
		}
	}
}

func roundToNanosecond(t unit.Time) unit.Time {
	return (t + unit.Nanosecond/2) / unit.Nanosecond * unit.Nanosecond
}
