package collective

import (
	"iter"

	"github.com/loggp/loggp/model/unit"
)

// transfer is a step that sends or receives, a wait, or the end of a schedule. A posted send is
// executed at once. Posted receives are executed one after another at the Wait.
type transfer struct {
	workBefore    unit.Time // local steps since the previous transfer
	bytes         int       // sent
	to, from      int32     // ranks, or NoRank
	isPosted      bool
	isWait        bool
	isScheduleEnd bool
}

// maxBatch is the number of transfers of a rank that are computed together, since a switch between
// coroutines takes as long as many steps.
const maxBatch = 32

// transferSource produces the transfers of a rank.
type transferSource struct {
	batch  []transfer
	index  int // of the next transfer in the batch
	resume func() ([]transfer, bool)
}

// start prepares the transfers of a rank. stop must be called at the end.
func (s *transferSource) start(m *Machine, a *Algorithm, j Job, rank int) (stop func()) {
	s.resume, stop = iter.Pull(func(yield func([]transfer) bool) {
		w := transferWriter{machine: m, yield: yield}
		a.RunSchedule(j, rank, &Script{Performer: &w})
		w.add(transfer{isScheduleEnd: true, to: NoRank, from: NoRank})
		if !w.stopped {
			yield(w.batch)
		}
	})
	return stop
}

// next returns the next transfer. It is valid until the next call.
func (s *transferSource) next() *transfer {
	if s.index == len(s.batch) {
		s.batch, _ = s.resume()
		s.index = 0
	}
	s.index++
	return &s.batch[s.index-1]
}

// transferWriter is a Performer that yields batches of transfers. A batch is valid until the next.
type transferWriter struct {
	machine *Machine
	work    unit.Time // local steps since the last transfer
	posted  []transfer
	batch   []transfer
	yield   func([]transfer) bool
	stopped bool
}

// ExecuteStep implements Performer.
func (w *transferWriter) ExecuteStep(st *Step) bool {
	switch st.Kind {
	case Transfer, Wait:
		t := transfer{bytes: st.Send.Bytes, to: int32(st.To), from: int32(st.From), isPosted: st.IsPosted, isWait: st.Kind == Wait}
		if t.isPosted && t.from != NoRank {
			w.posted = append(w.posted, t)
			break
		}
		if t.isWait {
			for _, receive := range w.posted {
				w.add(receive)
			}
			w.posted = w.posted[:0]
		}
		w.add(t)
	case Copy:
		w.work += w.machine.Copying.Time(st.Send.Bytes)
	default:
		w.work += w.machine.Combining.Time(st.Send.Bytes)
	}
	return !w.stopped
}

// add adds a transfer to the batch, after the local work that is due.
func (w *transferWriter) add(t transfer) {
	if w.stopped {
		return
	}
	if len(w.batch) == maxBatch {
		w.stopped = !w.yield(w.batch)
		w.batch = w.batch[:0]
	}
	t.workBefore, w.work = w.work, 0
	w.batch = append(w.batch, t)
}

// localStepsPerMessage is how many local steps are added up in the time of a message.
const localStepsPerMessage = 64

// HasMoreMessages reports whether the schedules of a job have more messages than a limit. As many
// as 64 copies or combinations count as a message. It stops counting at the limit.
func (a *Algorithm) HasMoreMessages(j Job, limit int) bool {
	c := &stepCounter{limit: limit}
	for rank := 0; rank < j.Ranks && !c.isOverLimit(); rank++ {
		a.RunSchedule(j, rank, &Script{Performer: c})
	}
	return c.isOverLimit()
}

// stepCounter is a Performer that counts messages and local steps.
type stepCounter struct{ messages, localSteps, limit int }

// ExecuteStep implements Performer.
func (c *stepCounter) ExecuteStep(st *Step) bool {
	switch {
	case st.To != NoRank:
		c.messages++
	case st.Kind == Copy || st.Kind == CombineLeft || st.Kind == CombineRight:
		c.localSteps++
	}
	return !c.isOverLimit()
}

func (c *stepCounter) isOverLimit() bool {
	return c.messages+c.localSteps/localStepsPerMessage > c.limit
}
