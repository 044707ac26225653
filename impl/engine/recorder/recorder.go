// Package recorder records the messages of engines as a communication schedule.
//
// In the schedule an operation requires the end of an earlier one if the program has waited for
// that end. It requires the start of an earlier one (irequires) if the program started it by a
// nonblocking call.
//
// A Recorder wraps the engine of each rank (WrapEngines). It records which messages a rank starts
// to send and to receive, when the program learns that they have ended, and how long the rank works
// between calls. Collective operations are recorded as the messages of their algorithms. The work
// of an engine within its calls is not recorded, because another machine, or a simulation, has its
// own.
package recorder

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// Recorder records the ranks of one job that run in this process.
type Recorder struct {
	// WorkTime returns the time for which a rank has worked so far, within calls and between them,
	// without waits; nil: the clock of its port.
	WorkTime func(rank int) unit.Time

	mutex sync.Mutex
	ranks map[int]*rankRecorder
}

// WrapEngines wraps the engines of the job to be recorded.
func (r *Recorder) WrapEngines(inner engine.NewJobEnginesFunc) engine.NewJobEnginesFunc {
	return func(l *model.Library, protocol string) (engine.JobEngines, error) {
		m, err := inner(l, protocol)
		if err != nil {
			return nil, err
		}
		r.ranks = map[int]*rankRecorder{}
		return recordingJob{r, m}, nil
	}
}

// BeginRank restarts the recording of a rank. Without it the recording starts when the engine is
// set up.
func (r *Recorder) BeginRank(rank int) { r.rankRecorder(rank).reset() }

// groupedCalls are the calls whose messages a schedule keeps together, so that the best order of
// such an exchange can be computed.
var groupedCalls = []string{"Alltoallv"}

// namedCalls are all calls that a schedule names.
var namedCalls = append(groupedCalls, schedule.SynchronousSendCall)

// EnterCall records that a rank enters a call of the message-passing interface.
func (r *Recorder) EnterCall(rank int, name string) {
	if l := r.rankRecorder(rank); l != nil {
		l.currentCall = ""
		if l.isRecording && !l.isMultithreaded && slices.Contains(groupedCalls, name) {
			l.currentCall, l.calls = name, append(l.calls, callSpan{name: name})
		}
	}
}

// EndRank ends the recording of a rank.
func (r *Recorder) EndRank(rank int) {
	if l := r.rankRecorder(rank); l.isRecording {
		l.enterEngine()
		l.isRecording, l.engineCallDepth = false, 0
	}
}

func (r *Recorder) rankRecorder(rank int) *rankRecorder {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.ranks[rank]
}

// operation is an operation of a lane. Its peer and tag are those of the message, once known.
type operation struct {
	kind      schedule.Kind
	cancelled bool
	peer, tag int32
	context   uint32
	size      uint64
}

// dependency says that an operation depends on the end or the start of another.
type dependency struct {
	after, before uint32
	start         bool
}

// callSpan is the range of operations of one call of the program.
type callSpan struct {
	name     string
	from, to uint32
}

// rankRecorder is the recording of one rank.
type rankRecorder struct {
	workTime        func() unit.Time
	isRecording     bool
	engineCallDepth int // nesting depth of engine calls

	ops          []operation
	dependencies []dependency

	currentCall string     // the current call, if its name is kept
	calls       []callSpan // the last one may have no operations

	isMultithreaded bool // calls of several threads interleave, so they are not kept together
	openSend        int  // this thread's blocking send that had not ended when another thread ran, plus 1; 0: none

	previousOperation      int      // the operation after which the next one follows; −1: none
	previousGoesOn         bool     // the next operation depends only on its start
	previousCallOpen       bool     // its call has not returned
	completedSincePrevious []uint32 // operations that the program learned to have ended since the previous one
	pendingOps             []pendingOp
	freeLayout             *timedLayout // reused

	endOfWorkInLastCall       unit.Time // end of the rank's work at the end of the last call
	scatterTime               unit.Time // time of scattering received data in that call
	emptyWaitTime             unit.Time // time of the end of a wait that was for no message
	callFoundComplete         bool      // this call has found completed operations
	previousCallFoundComplete bool      // the last call did; otherwise a released operation was not waited for
	unrecordedWork            unit.Time // computing of less than a nanosecond that has not been recorded
	failure                   error
}

// pendingOp is an operation that the program has not completed. Afterwards the engine reuses its
// memory.
type pendingOp struct {
	*engine.Op
	generation    uint32
	operation     uint32
	finished      bool // what it received is known
	startingCall  bool // the call that started it has not returned
	freed         bool // the program has freed it
	blocking      bool // its call returns only when it has ended
	scatterLayout *timedLayout
}

// reset discards the recording.
func (l *rankRecorder) reset() {
	*l = rankRecorder{workTime: l.workTime, isRecording: true, previousOperation: -1}
	l.endOfWorkInLastCall = l.workTime()
}

// enterEngine records the start of an engine call. It returns false if the call is nested or not
// recorded.
func (l *rankRecorder) enterEngine() bool {
	l.engineCallDepth++
	if l.engineCallDepth > 1 || !l.isRecording {
		return false
	}
	l.previousCallFoundComplete, l.callFoundComplete = l.callFoundComplete, false
	worked := l.unrecordedWork + l.scatterTime + l.workTime() - l.endOfWorkInLastCall
	if l.collectCompleted(nil); len(l.completedSincePrevious) == 0 {
		worked += l.emptyWaitTime
	}
	l.scatterTime, l.emptyWaitTime = 0, 0
	if ns := worked / unit.Nanosecond; ns > 0 {
		l.setPrevious(l.appendAfterPrevious(operation{kind: schedule.Calc, size: uint64(ns)}), false)
		worked -= ns * unit.Nanosecond
	}
	l.unrecordedWork, l.previousCallOpen = max(0, worked), false
	return true
}

// leaveEngine records the end of an engine call.
func (l *rankRecorder) leaveEngine() {
	if l.engineCallDepth--; l.engineCallDepth > 0 || !l.isRecording {
		return
	}
	for i := range l.pendingOps {
		p := &l.pendingOps[i]
		if !p.finished && p.IsFinished() {
			l.noteReceived(p)
		}
		if p.startingCall && p.scatterLayout != nil { // later copies depend on the message
			l.scatterTime, p.scatterLayout.copiedTime = l.scatterTime+p.scatterLayout.copiedTime, 0
		}
		p.startingCall = false
	}
	l.endOfWorkInLastCall, l.previousCallOpen = l.workTime(), false
	if l.openSend > 0 {
		l.completedSincePrevious, l.openSend = append(l.completedSincePrevious, uint32(l.openSend-1)), 0
	}
}

// noteReceived records what an operation has received.
func (l *rankRecorder) noteReceived(p *pendingOp) {
	p.finished = true
	o := &l.ops[p.operation]
	o.cancelled = p.IsCancelled()
	if st, ok := p.Received(); ok && !o.cancelled {
		o.peer, o.tag, o.size = int32(st.Source), int32(st.Tag), uint64(st.Bytes)
	}
}

// collectCompleted finds the operations that the program has completed. They include one whose
// memory a new operation reuses now.
func (l *rankRecorder) collectCompleted(begins *engine.Op) {
	kept := l.pendingOps[:0]
	for _, p := range l.pendingOps {
		n := len(kept)
		released := p.Generation() != p.generation || p.IsInactive() || p.Op == begins
		if released && p.finished && p.scatterLayout != nil {
			l.appendUnpack(&p)
		}
		switch {
		case released && p.finished && !p.freed && (l.previousCallFoundComplete || p.blocking):
			l.completedSincePrevious = append(l.completedSincePrevious, p.operation)
		case released && p.finished:
		case released && p.Generation() == p.generation+1:
			p.freed = true
			kept = append(kept, p)
		case !released:
			kept = append(kept, p)
		}
		if len(kept) == n && p.scatterLayout != nil {
			l.freeLayout = p.scatterLayout
		}
	}
	clear(l.pendingOps[len(kept):])
	l.pendingOps = kept
}

// appendUnpack adds the work of scattering received data. It depends only on the message, because
// it is done while the program waits for others.
func (l *rankRecorder) appendUnpack(p *pendingOp) {
	took := l.unrecordedWork + p.scatterLayout.copiedTime
	p.scatterLayout.copiedTime = 0
	if ns := took / unit.Nanosecond; ns > 0 {
		n := l.appendOperation(operation{kind: schedule.Calc, size: uint64(ns)})
		l.dependencies = append(l.dependencies, dependency{n, p.operation, false})
		if d := p.scatterLayout.previousOperation; d.before != p.operation {
			l.dependencies = append(l.dependencies, dependency{n, d.before, d.start})
		}
		l.completedSincePrevious = append(l.completedSincePrevious, n)
		took -= ns * unit.Nanosecond
	}
	l.unrecordedWork = took
}

// appendOperation adds an operation without dependencies.
func (l *rankRecorder) appendOperation(o operation) uint32 {
	if len(l.ops) == cap(l.ops) { // double, because the final size is unknown
		l.ops, l.dependencies = slices.Grow(l.ops, len(l.ops)+16), slices.Grow(l.dependencies, len(l.dependencies)+32)
	}
	l.ops = append(l.ops, o)
	return uint32(len(l.ops) - 1)
}

// appendAfterPrevious adds an operation that depends on the previous one and on those completed
// since.
func (l *rankRecorder) appendAfterPrevious(o operation) uint32 {
	n := l.appendOperation(o)
	if l.currentCall != "" && o.kind != schedule.Calc {
		c := &l.calls[len(l.calls)-1]
		if c.to == 0 {
			c.from = n
		}
		c.to = n + 1
	}
	for _, c := range l.completedSincePrevious {
		l.dependencies = append(l.dependencies, dependency{n, c, false})
	}
	if l.previousOperation >= 0 && (l.previousGoesOn || !slices.Contains(l.completedSincePrevious, uint32(l.previousOperation))) {
		l.dependencies = append(l.dependencies, dependency{n, uint32(l.previousOperation), l.previousGoesOn})
	}
	l.completedSincePrevious = l.completedSincePrevious[:0]
	return n
}

// nameSend marks a send whose mode the schedule keeps.
func (l *rankRecorder) nameSend(n uint32, m model.Mode) {
	if m == model.SynchronousMode && l.currentCall == "" {
		l.calls = append(l.calls, callSpan{schedule.SynchronousSendCall, n, n + 1})
	}
}

// setPrevious sets the operation after which the next one follows. posted says that the next one
// depends only on its start.
func (l *rankRecorder) setPrevious(n uint32, posted bool) {
	l.previousOperation, l.previousGoesOn, l.previousCallOpen = int(n), posted, true
}

// appendMessageOperation adds the operation described by o. waits says whether its call waits for
// it.
func (l *rankRecorder) appendMessageOperation(o *engine.Op, kind schedule.Kind, waits bool) {
	l.collectCompleted(o)
	var gaps *timedLayout
	if x := o.Layout(); x != nil && kind == schedule.Recv {
		gaps = l.freeLayout
		if l.freeLayout = nil; gaps == nil {
			gaps = new(timedLayout)
		}
		*gaps = timedLayout{Layout: x, rank: l}
		o.ReplaceLayout(gaps)
	}
	n := l.appendAfterPrevious(operation{kind: kind, peer: o.Peer, tag: o.Tag, context: o.Context, size: uint64(len(o.Buf))})
	if kind == schedule.Send {
		l.nameSend(n, o.Mode)
	}
	l.setPrevious(n, !waits)
	if kind == schedule.Send && o.Mode == model.BufferedMode {
		return // the program waits only for the copy of its buffer
	}
	l.pendingOps = append(l.pendingOps, pendingOp{Op: o, generation: o.Generation(), operation: n, startingCall: true, blocking: waits, scatterLayout: gaps})
}

// timedLayout measures the scattering of received data. Messages of a schedule have no gaps, so
// scattering is work of the program.
type timedLayout struct {
	engine.Layout
	rank              *rankRecorder
	copiedTime        unit.Time  // time of copies that are not in an operation yet
	previousOperation dependency // dependency on the operation that the rank had started last
}

func (x *timedLayout) Scatter(from []byte) {
	before := x.rank.workTime()
	x.Layout.Scatter(from)
	x.copiedTime += x.rank.workTime() - before
	x.previousOperation = dependency{before: uint32(x.rank.previousOperation), start: x.rank.previousGoesOn || x.rank.previousCallOpen}
}

type recordingJob struct {
	*Recorder
	engine.JobEngines
}

// Engines implements engine.JobEngines.
func (m recordingJob) Engines(n int) func(i int) engine.Engine {
	inner := m.JobEngines.Engines(n)
	return func(i int) engine.Engine { return &recordingEngine{Engine: inner(i), recorder: m.Recorder} }
}

// recordingEngine is an engine whose calls are recorded.
type recordingEngine struct {
	engine.Engine
	recorder *Recorder
	*rankRecorder
	rank *engine.Rank
}

// Setup and the methods below implement engine.Engine.
func (e *recordingEngine) Setup(r *engine.Rank) {
	rank, port := r.Port().Rank(), r.Port()
	e.rank = r
	e.rankRecorder = &rankRecorder{workTime: port.Now}
	if e.recorder.WorkTime != nil {
		e.workTime = func() unit.Time { return e.recorder.WorkTime(rank) }
	}
	e.reset()
	e.recorder.mutex.Lock()
	e.recorder.ranks[rank] = e.rankRecorder
	e.recorder.mutex.Unlock()
	e.Engine.Setup(r)
}

func (e *recordingEngine) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	defer e.leaveEngine()
	if e.enterEngine() {
		n := e.appendAfterPrevious(operation{kind: schedule.Send, peer: int32(dst), tag: int32(tag), context: context, size: uint64(len(buf))})
		e.nameSend(n, m)
		e.setPrevious(n, m == model.BufferedMode)
	}
	e.Engine.Send(m, buf, s, dst, context, tag)
}

func (e *recordingEngine) Isend(o *engine.Op) {
	defer e.leaveEngine()
	if e.enterEngine() {
		e.appendMessageOperation(o, schedule.Send, false)
	}
	e.Engine.Isend(o)
}

func (e *recordingEngine) Irecv(o *engine.Op) {
	if o.IsService() {
		e.rank.SetContext(engine.AnyContext) // no error handler of the program gets it
		e.rank.Fail(engine.ErrOther, "a program with windows cannot be recorded: in which of its calls a rank serves accesses is no part of a schedule")
	}
	defer e.leaveEngine()
	if e.enterEngine() {
		e.appendMessageOperation(o, schedule.Recv, false)
	}
	e.Engine.Irecv(o)
}

func (e *recordingEngine) Recv(o *engine.Op) {
	defer e.leaveEngine()
	if e.enterEngine() {
		e.appendMessageOperation(o, schedule.Recv, true)
	}
	e.Engine.Recv(o)
}

func (e *recordingEngine) Progress(block bool) bool {
	defer e.leaveEngine()
	e.enterEngine()
	return e.Engine.Progress(block)
}

func (e *recordingEngine) ChargeCompletionCheck(found bool) {
	defer e.leaveEngine()
	outer := e.enterEngine()
	before := e.workTime()
	if e.Engine.ChargeCompletionCheck(found); outer && found {
		e.emptyWaitTime, e.callFoundComplete = e.workTime()-before, true
	}
}

func (e *recordingEngine) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	defer e.leaveEngine()
	e.enterEngine()
	return e.Engine.Probe(src, context, tag, block)
}

func (e *recordingEngine) Cancel(o *engine.Op) {
	defer e.leaveEngine()
	e.enterEngine()
	e.Engine.Cancel(o)
}

func (e *recordingEngine) LowLevelPort() engine.LowLevelPort {
	if e.isRecording {
		e.failure = errLowLevelNotRecorded
	}
	return e.Engine.LowLevelPort()
}

// Counts implements engine.CountingEngine.
func (e *recordingEngine) Counts(yield func(name string, n int64) bool) {
	if c, ok := e.Engine.(engine.CountingEngine); ok {
		c.Counts(yield)
	}
}

// errLowLevelNotRecorded is the error for programs with operations that a schedule cannot
// represent.
var errLowLevelNotRecorded = errors.New("the program sends single packets, or uses the memory of other ranks: a schedule has no such operations")

// envelope is the meaning of a tag in the schedule: a schedule has no communicators.
type envelope struct {
	context uint32
	tag     int32
}

// Schedule returns the schedule of ranks 0 to n − 1. Messages of the program on the world
// communicator keep their tags. Others get larger tags, or the smallest free ones if there is no
// space above.
func (r *Recorder) Schedule(n int) (*schedule.Schedule, error) {
	tags, err := r.assignTags(n)
	if err != nil {
		return nil, err
	}
	var b schedule.Builder
	for rank := range n {
		b.BeginRank()
		l := r.ranks[rank]
		calls := l.calls
		for i, o := range l.ops {
			for ; len(calls) > 0 && int(calls[0].from) <= i; calls = calls[1:] {
				if c := calls[0]; c.to > 0 {
					b.NameCall(c.name, int(c.to-c.from))
				}
			}
			switch {
			case o.cancelled:
				b.AddOp(schedule.Op{Kind: schedule.Calc})
			case o.kind == schedule.Calc:
				b.AddOp(schedule.Op{Kind: o.kind, Size: o.size})
			default:
				b.AddOp(schedule.Op{Kind: o.kind, Size: o.size, Peer: uint32(o.peer), Tag: tags[envelope{o.context, o.tag}]})
			}
		}
		for _, d := range l.dependencies {
			b.AddDependency(int(d.after), int(d.before), d.start)
		}
	}
	return b.Build()
}

// maxScheduleTag is the largest tag of programs that run a schedule.
const maxScheduleTag = 1<<31 - 1

// assignTags assigns tags to the envelopes of all messages.
func (r *Recorder) assignTags(n int) (map[envelope]uint32, error) {
	tags := map[envelope]uint32{}
	var others []envelope
	next := uint32(0)
	for rank := range n {
		l := r.ranks[rank]
		if l == nil {
			return nil, fmt.Errorf("nothing was recorded of rank %d", rank)
		}
		if l.failure != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, l.failure)
		}
		for _, o := range l.ops {
			if o.kind == schedule.Calc || o.cancelled {
				continue
			}
			x := envelope{o.context, o.tag}
			if _, known := tags[x]; known {
				continue
			}
			switch {
			case o.tag == engine.AnySourceOrTag:
				return nil, fmt.Errorf("rank %d: a receive with any tag has not ended", rank)
			case o.context == 0:
				tags[x] = uint32(o.tag)
				next = max(next, uint32(o.tag)+1)
			default:
				tags[x] = 0
				others = append(others, x)
			}
		}
	}
	slices.SortFunc(others, func(a, b envelope) int {
		if a.context != b.context {
			return int(int64(a.context) - int64(b.context))
		}
		return int(int64(a.tag) - int64(b.tag))
	})
	used := map[uint32]bool{}
	if uint64(next)+uint64(len(others)) > maxScheduleTag+1 { // no space above
		for x, tag := range tags {
			if x.context == 0 {
				used[tag] = true
			}
		}
		next = 0
	}
	for _, x := range others {
		for used[next] {
			next++
		}
		tags[x] = next
		next++
	}
	return tags, nil
}

// EncodeRank returns the recording of a rank of this process, for DecodeRank in another one.
func (r *Recorder) EncodeRank(rank int) []int64 {
	l := r.ranks[rank]
	failed := int64(0)
	if l.failure != nil {
		failed = 1
	}
	w := []int64{failed, int64(len(l.ops)), int64(len(l.calls))}
	for _, c := range l.calls {
		w = append(w, int64(slices.Index(namedCalls, c.name)), int64(c.from), int64(c.to))
	}
	for _, o := range l.ops {
		cancelled := int64(0)
		if o.cancelled {
			cancelled = 1
		}
		w = append(w, int64(o.kind)|cancelled<<8|int64(o.context)<<16, int64(o.peer), int64(o.tag), int64(o.size))
	}
	for _, d := range l.dependencies {
		start := int64(0)
		if d.start {
			start = 1
		}
		w = append(w, int64(d.after)<<32|int64(d.before), start)
	}
	return w
}

// DecodeRank adds the recording of a rank of another process, which EncodeRank returned there.
func (r *Recorder) DecodeRank(rank int, w []int64) {
	l := &rankRecorder{}
	if w[0] == 1 {
		l.failure = errLowLevelNotRecorded
	}
	n, calls := w[1], w[2]
	for w = w[3:]; calls > 0; calls-- {
		l.calls = append(l.calls, callSpan{namedCalls[w[0]], uint32(w[1]), uint32(w[2])})
		w = w[3:]
	}
	for ; n > 0; n-- {
		l.ops = append(l.ops, operation{kind: schedule.Kind(w[0] & 0xff), cancelled: w[0]>>8&0xff == 1, context: uint32(w[0] >> 16), peer: int32(w[1]), tag: int32(w[2]), size: uint64(w[3])})
		w = w[4:]
	}
	for ; len(w) > 0; w = w[2:] {
		l.dependencies = append(l.dependencies, dependency{uint32(w[0] >> 32), uint32(w[0]), w[1] == 1})
	}
	r.ranks[rank] = l
}
