// Package recording records the messages of engines as a communication schedule.
//
// In the schedule an operation requires the end of an earlier one if the program has waited for
// that end, and its start (irequires) if the program began it by a call that does not wait.
//
// A Recorder wraps the engine of each rank. It sees which messages a rank begins to send and to
// receive, when the program learns that they have ended, and how long the rank works between calls.
// Collective operations are recorded as the messages of their algorithms. The work of an engine
// within its calls is not recorded, because another machine, or a simulation, does it in its own
// way.
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

// Recorder records those ranks of one job that run in this process.
type Recorder struct {
	// WorkTime returns how long a rank has worked so far, within calls and between them, without
	// waits. nil: the clock of its port.
	WorkTime func(rank int) unit.Time

	mutex sync.Mutex
	ranks map[int]*rankRecorder
}

// WrapEngines wraps the engine of the job that is recorded.
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

// BeginRank starts the recording of a rank anew. Without it the recording starts when the engine is
// set up.
func (r *Recorder) BeginRank(rank int) { r.rankRecorder(rank).reset() }

// groupedCalls are the calls whose messages a schedule keeps together: it can be computed in which
// order such an exchange is best carried out.
var groupedCalls = []string{"Alltoallv"}

// namedCalls are all calls that a schedule names.
var namedCalls = append(groupedCalls, schedule.SynchronousSendCall)

// EnterCall notes that a rank enters a call of the message-passing interface.
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

// operation is an operation of a lane. Its peer and tag are those of the message, once it is known.
type operation struct {
	kind      schedule.Kind
	cancelled bool
	peer, tag int32
	context   uint32
	size      uint64
}

// dependency says that an operation waits for another, or for its start.
type dependency struct {
	after, before uint32
	start         bool
}

// callSpan is consecutive operations of one call of the program: the first, and the one behind the
// last.
type callSpan struct {
	name     string
	from, to uint32
}

// rankRecorder is the recording of one rank.
type rankRecorder struct {
	workTime        func() unit.Time
	isRecording     bool
	engineCallDepth int // calls of the engine, one within another

	ops          []operation
	dependencies []dependency

	currentCall string     // the call that the rank is in, if it is of those that are kept
	calls       []callSpan // of which the last may have no operations

	isMultithreaded bool // calls of several threads are interleaved: they are not kept together
	openSend        int  // the blocking send of this thread that was not over when another one ran, and 1; 0: none

	previousOperation      int      // the operation that the next one follows; −1: none
	previousGoesOn         bool     // it goes on meanwhile: the next one waits for its start
	previousCallOpen       bool     // its call has not returned
	completedSincePrevious []uint32 // operations that the program knows to have ended, since the previous one
	pendingOps             []pendingOp
	freeLayout             *timedLayout // to use again

	endOfWorkInLastCall       unit.Time // until then the rank has worked at the end of the last call
	scatterTime               unit.Time // what it took in it to put received data to where there are gaps
	emptyWaitTime             unit.Time // what the end of a wait took that was for no message
	callFoundComplete         bool      // this call has found operations complete
	previousCallFoundComplete bool      // the last one has: what is given up without was not waited for
	unrecordedWork            unit.Time // of computing, less than a nanosecond, that no operation has
	failure                   error
}

// pendingOp is an operation that the program has not completed. Its memory in the engine is used
// again for others after that.
type pendingOp struct {
	*engine.Op
	generation    uint32
	operation     uint32
	finished      bool // what it received is known
	startingCall  bool // the call that has begun it has not returned
	freed         bool // the program has given it up
	blocking      bool // its call does not return before
	scatterLayout *timedLayout
}

// reset forgets what there is.
func (l *rankRecorder) reset() {
	*l = rankRecorder{workTime: l.workTime, isRecording: true, previousOperation: -1}
	l.endOfWorkInLastCall = l.workTime()
}

// enterEngine notes the begin of a call of the engine. It returns false if the call is nested in
// another or is not recorded.
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

// leaveEngine notes the end of a call.
func (l *rankRecorder) leaveEngine() {
	if l.engineCallDepth--; l.engineCallDepth > 0 || !l.isRecording {
		return
	}
	for i := range l.pendingOps {
		p := &l.pendingOps[i]
		if !p.finished && p.IsFinished() {
			l.noteReceived(p)
		}
		if p.startingCall && p.scatterLayout != nil { // what was copied later than here waits for the message
			l.scatterTime, p.scatterLayout.copiedTime = l.scatterTime+p.scatterLayout.copiedTime, 0
		}
		p.startingCall = false
	}
	l.endOfWorkInLastCall, l.previousCallOpen = l.workTime(), false
	if l.openSend > 0 {
		l.completedSincePrevious, l.openSend = append(l.completedSincePrevious, uint32(l.openSend-1)), 0
	}
}

// noteReceived notes what an operation has received.
func (l *rankRecorder) noteReceived(p *pendingOp) {
	p.finished = true
	o := &l.ops[p.operation]
	o.cancelled = p.IsCancelled()
	if st, ok := p.Received(); ok && !o.cancelled {
		o.peer, o.tag, o.size = int32(st.Source), int32(st.Tag), uint64(st.Bytes)
	}
}

// collectCompleted finds the operations that the program has completed. One whose memory begins
// another operation now is among them.
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

// appendUnpack adds the work of putting received data to its place, which waits for the message
// only: it is done while the program waits for others.
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

// appendOperation adds an operation that waits for nothing.
func (l *rankRecorder) appendOperation(o operation) uint32 {
	if len(l.ops) == cap(l.ops) { // double, as there is no end of it
		l.ops, l.dependencies = slices.Grow(l.ops, len(l.ops)+16), slices.Grow(l.dependencies, len(l.dependencies)+32)
	}
	l.ops = append(l.ops, o)
	return uint32(len(l.ops) - 1)
}

// appendAfterPrevious adds an operation behind the previous one and those that were completed
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

// nameSend names a send whose mode a schedule keeps.
func (l *rankRecorder) nameSend(n uint32, m model.Mode) {
	if m == model.SynchronousMode && l.currentCall == "" {
		l.calls = append(l.calls, callSpan{schedule.SynchronousSendCall, n, n + 1})
	}
}

// setPrevious says which operation the next one follows, and whether that one goes on meanwhile.
func (l *rankRecorder) setPrevious(n uint32, posted bool) {
	l.previousOperation, l.previousGoesOn, l.previousCallOpen = int(n), posted, true
}

// appendMessageOperation adds the operation that o describes, in a call that waits for it or does
// not.
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
		return // what the program waits for is that its buffer has been copied
	}
	l.pendingOps = append(l.pendingOps, pendingOp{Op: o, generation: o.Generation(), operation: n, startingCall: true, blocking: waits, scatterLayout: gaps})
}

// timedLayout is the layout of data that is received in a call. The messages of a schedule have no
// gaps, so what it takes to put it there is work of the program.
type timedLayout struct {
	engine.Layout
	rank              *rankRecorder
	copiedTime        unit.Time  // what it took, as far as no operation has it
	previousOperation dependency // on the operation that the rank had begun last
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

// Setup implements engine.Engine, as do the methods below.
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
		e.rank.SetContext(engine.AnyContext) // no error handler of the program's gets it
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

// errLowLevelNotRecorded is the failure of programs whose operations a schedule cannot have.
var errLowLevelNotRecorded = errors.New("the program sends single packets, or uses the memory of other ranks: a schedule has no such operations")

// envelope is what the tag of a schedule stands for: a schedule has no communicators.
type envelope struct {
	context uint32
	tag     int32
}

// Schedule returns what ranks 0 to n − 1 have done. Tags of messages of the program in the
// communicator of all ranks are its own; others follow above the largest of these, or where there
// is no room they are the smallest that are free.
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

// maxScheduleTag is the largest tag that the programs that run a schedule have.
const maxScheduleTag = 1<<31 - 1

// assignTags numbers the envelopes of all messages.
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
	if uint64(next)+uint64(len(others)) > maxScheduleTag+1 { // there is no room above
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

// EncodeRank returns what a rank of this process has done, for SetWords in another one.
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

// DecodeRank says what a rank of another process has done, as Words returned it there.
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
