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
	// Work returns how long a rank has worked so far, within calls and between them, without waits.
	// nil: the clock of its port.
	Work func(rank int) unit.Time

	mu    sync.Mutex
	lanes map[int]*lane
}

// Engine wraps the engine of the job that is recorded.
func (r *Recorder) Engine(inner engine.New) engine.New {
	return func(l *model.Library, protocol string) (engine.Maker, error) {
		m, err := inner(l, protocol)
		if err != nil {
			return nil, err
		}
		r.lanes = map[int]*lane{}
		return maker{r, m}, nil
	}
}

// Begin starts the recording of a rank anew. Without it the recording starts when the engine is set
// up.
func (r *Recorder) Begin(rank int) { r.lane(rank).begin() }

// grouped are the calls whose messages a schedule keeps together: it can be computed in which order
// such an exchange is best carried out.
var grouped = []string{"Alltoallv"}

// named are all calls that a schedule names.
var named = append(grouped, schedule.Ssend)

// Enter notes that a rank enters a call of the message-passing interface.
func (r *Recorder) Enter(rank int, name string) {
	if l := r.lane(rank); l != nil {
		l.called = ""
		if l.active && slices.Contains(grouped, name) {
			l.called, l.calls = name, append(l.calls, call{name: name})
		}
	}
}

// End ends the recording of a rank.
func (r *Recorder) End(rank int) {
	if l := r.lane(rank); l.active {
		l.enter()
		l.active, l.depth = false, 0
	}
}

func (r *Recorder) lane(rank int) *lane {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lanes[rank]
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

// call is consecutive operations of one call of the program: the first, and the one behind the
// last.
type call struct {
	name     string
	from, to uint32
}

// lane is the recording of one rank.
type lane struct {
	work   func() unit.Time
	active bool
	depth  int // calls of the engine, one within another

	ops  []operation
	deps []dependency

	called string // the call that the rank is in, if it is of those that are kept
	calls  []call // of which the last may have no operations

	previous  int      // the operation that the next one follows; −1: none
	posted    bool     // it goes on meanwhile: the next one waits for its start
	within    bool     // its call has not returned
	completed []uint32 // operations that the program knows to have ended, since the previous one
	pending   []pending
	spare     *scattered // to use again

	left   unit.Time // until then the rank has worked at the end of the last call
	copied unit.Time // what it took in it to put received data to where there are gaps
	looked unit.Time // what the end of a wait took that was for no message
	found  bool      // this call has found operations complete
	ended  bool      // the last one has: what is given up without was not waited for
	rest   unit.Time // of computing, less than a nanosecond, that no operation has
	fail   error
}

// pending is an operation that the program has not completed. Its memory in the engine is used
// again for others after that.
type pending struct {
	*engine.Op
	use      uint32
	number   uint32
	finished bool // what it received is known
	posting  bool // the call that has begun it has not returned
	freed    bool // the program has given it up
	blocks   bool // its call does not return before
	gaps     *scattered
}

// begin forgets what there is.
func (l *lane) begin() {
	*l = lane{work: l.work, active: true, previous: -1}
	l.left = l.work()
}

// enter notes the begin of a call of the engine. It returns false if the call is nested in another
// or is not recorded.
func (l *lane) enter() bool {
	l.depth++
	if l.depth > 1 || !l.active {
		return false
	}
	l.ended, l.found = l.found, false
	worked := l.rest + l.copied + l.work() - l.left
	if l.settle(nil); len(l.completed) == 0 {
		worked += l.looked
	}
	l.copied, l.looked = 0, 0
	if ns := worked / unit.Nanosecond; ns > 0 {
		l.follow(l.add(operation{kind: schedule.Calc, size: uint64(ns)}), false)
		worked -= ns * unit.Nanosecond
	}
	l.rest, l.within = max(0, worked), false
	return true
}

// leave notes the end of a call.
func (l *lane) leave() {
	if l.depth--; l.depth > 0 || !l.active {
		return
	}
	for i := range l.pending {
		p := &l.pending[i]
		if !p.finished && p.Finished() {
			l.finish(p)
		}
		if p.posting && p.gaps != nil { // what was copied later than here waits for the message
			l.copied, p.gaps.copied = l.copied+p.gaps.copied, 0
		}
		p.posting = false
	}
	l.left, l.within = l.work(), false
}

// finish notes what an operation has received.
func (l *lane) finish(p *pending) {
	p.finished = true
	o := &l.ops[p.number]
	o.cancelled = p.Cancelled()
	if st, ok := p.Received(); ok && !o.cancelled {
		o.peer, o.tag, o.size = int32(st.Source), int32(st.Tag), uint64(st.Bytes)
	}
}

// settle finds the operations that the program has completed. One whose memory begins another
// operation now is among them.
func (l *lane) settle(begins *engine.Op) {
	kept := l.pending[:0]
	for _, p := range l.pending {
		n := len(kept)
		released := p.Use() != p.use || p.Inactive() || p.Op == begins
		if released && p.finished && p.gaps != nil {
			l.unpack(&p)
		}
		switch {
		case released && p.finished && !p.freed && (l.ended || p.blocks):
			l.completed = append(l.completed, p.number)
		case released && p.finished:
		case released && p.Use() == p.use+1:
			p.freed = true
			kept = append(kept, p)
		case !released:
			kept = append(kept, p)
		}
		if len(kept) == n && p.gaps != nil {
			l.spare = p.gaps
		}
	}
	clear(l.pending[len(kept):])
	l.pending = kept
}

// unpack adds the work of putting received data to its place, which waits for the message only: it
// is done while the program waits for others.
func (l *lane) unpack(p *pending) {
	took := l.rest + p.gaps.copied
	p.gaps.copied = 0
	if ns := took / unit.Nanosecond; ns > 0 {
		n := l.put(operation{kind: schedule.Calc, size: uint64(ns)})
		l.deps = append(l.deps, dependency{n, p.number, false})
		if d := p.gaps.behind; d.before != p.number {
			l.deps = append(l.deps, dependency{n, d.before, d.start})
		}
		l.completed = append(l.completed, n)
		took -= ns * unit.Nanosecond
	}
	l.rest = took
}

// put adds an operation that waits for nothing.
func (l *lane) put(o operation) uint32 {
	if len(l.ops) == cap(l.ops) { // double, as there is no end of it
		l.ops, l.deps = slices.Grow(l.ops, len(l.ops)+16), slices.Grow(l.deps, len(l.deps)+32)
	}
	l.ops = append(l.ops, o)
	return uint32(len(l.ops) - 1)
}

// add adds an operation behind the previous one and those that were completed since.
func (l *lane) add(o operation) uint32 {
	n := l.put(o)
	if l.called != "" && o.kind != schedule.Calc {
		c := &l.calls[len(l.calls)-1]
		if c.to == 0 {
			c.from = n
		}
		c.to = n + 1
	}
	for _, c := range l.completed {
		l.deps = append(l.deps, dependency{n, c, false})
	}
	if l.previous >= 0 && (l.posted || !slices.Contains(l.completed, uint32(l.previous))) {
		l.deps = append(l.deps, dependency{n, uint32(l.previous), l.posted})
	}
	l.completed = l.completed[:0]
	return n
}

// sends names a send whose mode a schedule keeps.
func (l *lane) sends(n uint32, m model.Mode) {
	if m == model.Synchronous && l.called == "" {
		l.calls = append(l.calls, call{schedule.Ssend, n, n + 1})
	}
}

// follow says which operation the next one follows, and whether that one goes on meanwhile.
func (l *lane) follow(n uint32, posted bool) { l.previous, l.posted, l.within = int(n), posted, true }

// post adds the operation that o describes, in a call that waits for it or does not.
func (l *lane) post(o *engine.Op, kind schedule.Kind, waits bool) {
	l.settle(o)
	var gaps *scattered
	if x := o.Layout(); x != nil && kind == schedule.Recv {
		gaps = l.spare
		if l.spare = nil; gaps == nil {
			gaps = new(scattered)
		}
		*gaps = scattered{Layout: x, lane: l}
		o.SetLayout(gaps)
	}
	n := l.add(operation{kind: kind, peer: o.Peer, tag: o.Tag, context: o.Context, size: uint64(len(o.Buf))})
	if kind == schedule.Send {
		l.sends(n, o.Mode)
	}
	l.follow(n, !waits)
	if kind == schedule.Send && o.Mode == model.Buffered {
		return // what the program waits for is that its buffer has been copied
	}
	l.pending = append(l.pending, pending{Op: o, use: o.Use(), number: n, posting: true, blocks: waits, gaps: gaps})
}

// scattered is the layout of data that is received in a call. The messages of a schedule have no
// gaps, so what it takes to put it there is work of the program.
type scattered struct {
	engine.Layout
	lane   *lane
	copied unit.Time  // what it took, as far as no operation has it
	behind dependency // on the operation that the rank had begun last
}

func (x *scattered) Scatter(from []byte) {
	before := x.lane.work()
	x.Layout.Scatter(from)
	x.copied += x.lane.work() - before
	x.behind = dependency{before: uint32(x.lane.previous), start: x.lane.posted || x.lane.within}
}

type maker struct {
	*Recorder
	engine.Maker
}

// Engines implements engine.Maker.
func (m maker) Engines(n int) func(i int) engine.Engine {
	inner := m.Maker.Engines(n)
	return func(i int) engine.Engine { return &recorded{Engine: inner(i), r: m.Recorder} }
}

// recorded is an engine whose calls are recorded.
type recorded struct {
	engine.Engine
	r *Recorder
	*lane
}

// Setup implements engine.Engine, as do the methods below.
func (e *recorded) Setup(r *engine.Rank) {
	rank, port := r.Port().Rank(), r.Port()
	e.lane = &lane{work: port.Now}
	if e.r.Work != nil {
		e.work = func() unit.Time { return e.r.Work(rank) }
	}
	e.begin()
	e.r.mu.Lock()
	e.r.lanes[rank] = e.lane
	e.r.mu.Unlock()
	e.Engine.Setup(r)
}

func (e *recorded) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	defer e.leave()
	if e.enter() {
		n := e.add(operation{kind: schedule.Send, peer: int32(dst), tag: int32(tag), context: context, size: uint64(len(buf))})
		e.sends(n, m)
		e.follow(n, m == model.Buffered)
	}
	e.Engine.Send(m, buf, s, dst, context, tag)
}

func (e *recorded) Isend(o *engine.Op) {
	defer e.leave()
	if e.enter() {
		e.post(o, schedule.Send, false)
	}
	e.Engine.Isend(o)
}

func (e *recorded) Irecv(o *engine.Op) {
	defer e.leave()
	if e.enter() {
		e.post(o, schedule.Recv, false)
	}
	e.Engine.Irecv(o)
}

func (e *recorded) Recv(o *engine.Op) {
	defer e.leave()
	if e.enter() {
		e.post(o, schedule.Recv, true)
	}
	e.Engine.Recv(o)
}

func (e *recorded) Progress(block bool) bool {
	defer e.leave()
	e.enter()
	return e.Engine.Progress(block)
}

func (e *recorded) Looked(found bool) {
	defer e.leave()
	outer := e.enter()
	before := e.work()
	if e.Engine.Looked(found); outer && found {
		e.looked, e.found = e.work()-before, true
	}
}

func (e *recorded) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	defer e.leave()
	e.enter()
	return e.Engine.Probe(src, context, tag, block)
}

func (e *recorded) Cancel(o *engine.Op) {
	defer e.leave()
	e.enter()
	e.Engine.Cancel(o)
}

func (e *recorded) Direct() engine.Direct {
	if e.active {
		e.fail = errDirect
	}
	return e.Engine.Direct()
}

// Counts implements engine.Counter.
func (e *recorded) Counts(yield func(name string, n int64) bool) {
	if c, ok := e.Engine.(engine.Counter); ok {
		c.Counts(yield)
	}
}

// errDirect is the failure of programs whose operations a schedule cannot have.
var errDirect = errors.New("the program sends single packets, or uses the memory of other ranks: a schedule has no such operations")

// envelope is what the tag of a schedule stands for: a schedule has no communicators.
type envelope struct {
	context uint32
	tag     int32
}

// Schedule returns what ranks 0 to n − 1 have done. Tags of messages of the program in the
// communicator of all ranks are its own; others follow above the largest of these, or where there
// is no room they are the smallest that are free.
func (r *Recorder) Schedule(n int) (*schedule.Schedule, error) {
	tags, err := r.tags(n)
	if err != nil {
		return nil, err
	}
	var b schedule.Builder
	for rank := range n {
		b.Rank()
		l := r.lanes[rank]
		calls := l.calls
		for i, o := range l.ops {
			for ; len(calls) > 0 && int(calls[0].from) <= i; calls = calls[1:] {
				if c := calls[0]; c.to > 0 {
					b.Call(c.name, int(c.to-c.from))
				}
			}
			switch {
			case o.cancelled:
				b.Add(schedule.Op{Kind: schedule.Calc})
			case o.kind == schedule.Calc:
				b.Add(schedule.Op{Kind: o.kind, Size: o.size})
			default:
				b.Add(schedule.Op{Kind: o.kind, Size: o.size, Peer: uint32(o.peer), Tag: tags[envelope{o.context, o.tag}]})
			}
		}
		for _, d := range l.deps {
			b.Depend(int(d.after), int(d.before), d.start)
		}
	}
	return b.Schedule()
}

// maxTag is the largest tag that the programs that run a schedule have.
const maxTag = 1<<31 - 1

// tags numbers the envelopes of all messages.
func (r *Recorder) tags(n int) (map[envelope]uint32, error) {
	tags := map[envelope]uint32{}
	var others []envelope
	next := uint32(0)
	for rank := range n {
		l := r.lanes[rank]
		if l == nil {
			return nil, fmt.Errorf("nothing was recorded of rank %d", rank)
		}
		if l.fail != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, l.fail)
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
			case o.tag == engine.Any:
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
	if uint64(next)+uint64(len(others)) > maxTag+1 { // there is no room above
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

// Words returns what a rank of this process has done, for SetWords in another one.
func (r *Recorder) Words(rank int) []int64 {
	l := r.lanes[rank]
	failed := int64(0)
	if l.fail != nil {
		failed = 1
	}
	w := []int64{failed, int64(len(l.ops)), int64(len(l.calls))}
	for _, c := range l.calls {
		w = append(w, int64(slices.Index(named, c.name)), int64(c.from), int64(c.to))
	}
	for _, o := range l.ops {
		cancelled := int64(0)
		if o.cancelled {
			cancelled = 1
		}
		w = append(w, int64(o.kind)|cancelled<<8|int64(o.context)<<16, int64(o.peer), int64(o.tag), int64(o.size))
	}
	for _, d := range l.deps {
		start := int64(0)
		if d.start {
			start = 1
		}
		w = append(w, int64(d.after)<<32|int64(d.before), start)
	}
	return w
}

// SetWords says what a rank of another process has done, as Words returned it there.
func (r *Recorder) SetWords(rank int, w []int64) {
	l := &lane{}
	if w[0] == 1 {
		l.fail = errDirect
	}
	n, calls := w[1], w[2]
	for w = w[3:]; calls > 0; calls-- {
		l.calls = append(l.calls, call{named[w[0]], uint32(w[1]), uint32(w[2])})
		w = w[3:]
	}
	for ; n > 0; n-- {
		l.ops = append(l.ops, operation{kind: schedule.Kind(w[0] & 0xff), cancelled: w[0]>>8&0xff == 1, context: uint32(w[0] >> 16), peer: int32(w[1]), tag: int32(w[2]), size: uint64(w[3])})
		w = w[4:]
	}
	for ; len(w) > 0; w = w[2:] {
		l.deps = append(l.deps, dependency{uint32(w[0] >> 32), uint32(w[0]), w[1] == 1})
	}
	r.lanes[rank] = l
}
