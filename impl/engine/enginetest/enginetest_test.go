package enginetest

import (
	"slices"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/queue"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
)

// The suite is only worth something if it sees faults. Here an engine that keeps the laws is broken
// in one way after another, and the law named has to notice.

// faulty is an engine with some of its methods replaced.
type faulty struct {
	engine.Engine
	rank     *engine.Rank
	looks    int // without finding anything
	isend    func(o *engine.Op)
	irecv    func(o *engine.Op)
	progress func(block bool) bool
	probe    func(src int, context uint32, tag int, block bool) (engine.Status, bool)
	cancel   func(o *engine.Op)
	explain  func(o *engine.Op) engine.WaitDescription
	arrived  func(context uint32) (int, *engine.UnexpectedMessage)
}

func (f *faulty) Isend(o *engine.Op)                                           { f.isend(o) }
func (f *faulty) Irecv(o *engine.Op)                                           { f.irecv(o) }
func (f *faulty) Progress(block bool) bool                                     { return f.progress(block) }
func (f *faulty) Cancel(o *engine.Op)                                          { f.cancel(o) }
func (f *faulty) ExplainWait(o *engine.Op) engine.WaitDescription              { return f.explain(o) }
func (f *faulty) Recv(o *engine.Op)                                            { f.irecv(o); f.rank.WaitUntilFinished(o) }
func (f *faulty) UnexpectedMessages(c uint32) (int, *engine.UnexpectedMessage) { return f.arrived(c) }
func (f *faulty) Probe(src int, context uint32, tag int, block bool) (engine.Status, bool) {
	return f.probe(src, context, tag, block)
}

func (f *faulty) Send(m model.Mode, buf []byte, s engine.Signature, dst int, context uint32, tag int) {
	o := f.rank.NewOp()
	o.Mode, o.Peer, o.Tag, o.Context, o.Signature, o.Buf, o.Size = m, int32(dst), int32(tag), context, s, buf, len(buf)
	f.isend(o)
	f.rank.WaitUntilFinished(o)
	f.rank.Release(o)
}

func (f *faulty) Setup(r *engine.Rank) {
	f.rank = r
	f.Engine.Setup(r)
}

// idle ends a rank that polls too often without finding anything: a hanging job would otherwise
// outlive the test.
func (f *faulty) idle() bool {
	if f.looks++; f.looks > 2000 {
		panic("the rank makes no progress")
	}
	if f.looks > 1000 {
		time.Sleep(10 * time.Microsecond)
	}
	return false
}

type faultyMaker struct {
	engine.JobEngines
	fault
}

func (m faultyMaker) Engines(n int) func(i int) engine.Engine {
	all := m.JobEngines.Engines(n)
	return func(i int) engine.Engine {
		e := all(i)
		f := &faulty{Engine: e}
		f.isend, f.irecv, f.progress, f.probe, f.cancel, f.explain, f.arrived = e.Isend, e.Irecv, e.Progress, e.Probe, e.Cancel, e.ExplainWait, e.UnexpectedMessages
		if m.engine != nil {
			m.engine(f)
		}
		look := f.progress
		f.progress = func(block bool) bool {
			if !look(block) {
				return f.idle()
			}
			f.looks = 0
			return true
		}
		return f
	}
}

// faultyWorld is impl/real/loop with faulty ports.
type faultyWorld struct {
	device.World
	fault
}

func (w faultyWorld) Run(program func(device.Port) error) error {
	return w.World.Run(func(p device.Port) error {
		f := &faultyPort{Port: p, send: p.Send}
		if w.port != nil {
			w.port(f)
		}
		return program(f)
	})
}

type faultyPort struct {
	device.Port
	send func(dst int, p *device.Packet)
}

func (f *faultyPort) Send(dst int, p *device.Packet) { f.send(dst, p) }

// fault breaks the engine or what is below it.
type fault struct {
	name   string
	law    string // that must notice, with its group
	engine func(f *faulty)
	port   func(f *faultyPort)
}

func (x fault) subject() *Subject {
	return &Subject{
		Name: x.name,
		NewJobEngines: func(l *model.Library, protocol string) (engine.JobEngines, error) {
			m, err := queue.New(l, protocol)
			return faultyMaker{m, x}, err
		},
		Library: func() *model.Library { return &model.Library{Name: "queue", Engine: model.QueueEngine} },
	}
}

func (x fault) world() World {
	return World{Name: "loop", Open: func(_ testing.TB, _ *model.Library, ranks int) device.World { return faultyWorld{loop.New(ranks), x} }}
}

// kind names a packet of the engine.
func kind(p *device.Packet) string {
	name, _ := queue.Describe(p.Head)
	return name
}

// asMode sends messages of one mode in another.
func asMode(from, to model.Mode) func(f *faulty) {
	return func(f *faulty) {
		f.isend = func(o *engine.Op) {
			if o.Mode == from {
				o.Mode = to
			}
			f.Engine.Isend(o)
		}
	}
}

// changed changes receives before they are posted.
func changed(change func(o *engine.Op)) func(f *faulty) {
	return func(f *faulty) { f.irecv = func(o *engine.Op) { change(o); f.Engine.Irecv(o) } }
}

var garbage []byte

var faults = []fault{
	{name: "a later message is sent first", law: "messages/messages do not overtake", port: func(f *faultyPort) {
		var kept func()
		f.send = func(dst int, p *device.Packet) {
			if kind(p) == "data" && len(p.Data) == 5000 && kept == nil {
				b := slices.Clone(p.Data)
				kept = func() { f.Port.Send(dst, &device.Packet{Head: p.Head, Data: b}) }
				return
			}
			f.Port.Send(dst, p)
			if kept != nil {
				kept()
				kept = nil
			}
		}
	}},
	{name: "the newest receive matches", law: "messages/receives do not overtake", engine: func(f *faulty) {
		var held []*engine.Op
		f.irecv = func(o *engine.Op) { held = append(held, o) }
		f.progress = func(block bool) bool {
			for _, o := range slices.Backward(held) {
				f.Engine.Irecv(o)
			}
			if n := len(held); n > 0 {
				held = nil
				return true
			}
			return f.Engine.Progress(block)
		}
	}},
	{name: "any source is the first", law: "messages/wildcards", engine: changed(func(o *engine.Op) {
		if o.Peer == engine.AnySourceOrTag {
			o.Peer = 0
		}
	})},
	{name: "any tag is 0", law: "messages/a source or a tag alone may be any", engine: changed(func(o *engine.Op) {
		if o.Tag == engine.AnySourceOrTag {
			o.Tag = 0
		}
	})},
	{name: "every tag matches", law: "messages/a blocked message blocks no other", engine: changed(func(o *engine.Op) { o.Tag = engine.AnySourceOrTag })},
	{name: "contexts are ignored", law: "messages/communicators are separate", engine: func(f *faulty) {
		f.irecv = func(o *engine.Op) { o.Context &= 1; f.Engine.Irecv(o) }
		f.isend = func(o *engine.Op) { o.Context &= 1; f.Engine.Isend(o) }
	}},
	{name: "data is cut", law: "messages/messages do not overtake", port: func(f *faultyPort) {
		f.send = func(dst int, p *device.Packet) {
			q := *p
			q.Data = q.Data[:min(len(q.Data), 10_000)]
			f.Port.Send(dst, &q)
		}
	}},
	{name: "a message comes twice", law: "messages/messages do not overtake", port: func(f *faultyPort) {
		f.send = func(dst int, p *device.Packet) {
			f.Port.Send(dst, p)
			if len(p.Data) == 3000 {
				f.Port.Send(dst, p)
			}
		}
	}},
	{name: "a probe finds what is not there", law: "messages/probe", engine: func(f *faulty) {
		f.probe = func(src int, context uint32, _ int, block bool) (engine.Status, bool) {
			return f.Engine.Probe(src, context, engine.AnySourceOrTag, block)
		}
	}},
	{name: "a probe says another length", law: "messages/probe", engine: func(f *faulty) {
		f.probe = func(src int, context uint32, tag int, block bool) (engine.Status, bool) {
			st, ok := f.Engine.Probe(src, context, tag, block)
			st.Bytes = min(st.Bytes, 4096)
			return st, ok
		}
	}},
	{name: "a buffered send waits for its receive", law: "messages/a buffered send needs no receiver", engine: asMode(model.BufferedMode, model.SynchronousMode)},
	{name: "a message without a receive holds up the next", law: "messages/a blocked message blocks no other", engine: func(f *faulty) {
		f.isend = func(o *engine.Op) {
			f.Engine.Isend(o)
			for o.Mode == model.SynchronousMode && !o.IsFinished() {
				f.rank.WaitUntilFinished(o)
			}
		}
	}},
	{name: "a persistent send is sent once", law: "requests/persistent, in every mode", engine: func(f *faulty) {
		sent := map[*engine.Op]int{}
		f.isend = func(o *engine.Op) {
			if sent[o]++; sent[o] > 1 && o.IsPersistent() {
				f.rank.Complete(o)
				return
			}
			f.Engine.Isend(o)
		}
	}},
	{name: "a freed send is not sent", law: "requests/sends that are freed arrive", engine: func(f *faulty) {
		n := 0
		f.isend = func(o *engine.Op) {
			if n++; n == 7 {
				f.rank.Complete(o)
				return
			}
			f.Engine.Isend(o)
		}
	}},
	{name: "the answer to a cancel is lost", law: "cancel/sends without a receive are cancelled", port: func(f *faultyPort) {
		f.send = func(dst int, p *device.Packet) {
			if kind(p) != "answer" {
				f.Port.Send(dst, p)
			}
		}
	}},
	{name: "every cancel succeeds", law: "cancel/sends with a receive are not cancelled", engine: func(f *faulty) {
		f.cancel = func(o *engine.Op) {
			if o.Receive {
				f.Engine.Cancel(o)
			} else if !o.IsFinished() {
				f.rank.FinishCancelled(o)
			}
		}
	}},
	{name: "no cancel succeeds", law: "cancel/receives that have no message are cancelled", engine: func(f *faulty) { f.cancel = func(*engine.Op) {} }},
	{name: "the end of a rank is not noticed", law: "cancel/messages to a rank that has ended are cancelled", port: func(f *faultyPort) {
		f.send = func(dst int, p *device.Packet) {
			if kind(p) == "cancel" {
				return
			}
			f.Port.Send(dst, p)
		}
	}, engine: func(f *faulty) {
		f.cancel = func(o *engine.Op) {
			if o.Receive {
				f.Engine.Cancel(o)
			}
		}
	}},
	{name: "a synchronous send is complete at once", law: "progress/Ssend waits for its receive", engine: asMode(model.SynchronousMode, model.StandardMode)},
	{name: "a synchronous send is complete when it has arrived", law: "progress/Issend waits for its receive", engine: asMode(model.SynchronousMode, model.StandardMode)},
	{name: "Test makes no progress", law: "progress/in Test", engine: func(f *faulty) {
		f.progress = func(block bool) bool {
			return block && f.Engine.Progress(true)
		}
	}},
	{name: "Iprobe makes no progress", law: "progress/in Iprobe", engine: func(f *faulty) {
		f.probe = func(src int, context uint32, tag int, block bool) (engine.Status, bool) {
			if !block {
				return engine.Status{}, f.idle()
			}
			return f.Engine.Probe(src, context, tag, true)
		}
	}},
	{name: "few messages are kept", law: "progress/a flood of short messages", port: func(f *faultyPort) {
		n := 0
		f.send = func(dst int, p *device.Packet) {
			if n++; n != 1000 {
				f.Port.Send(dst, p)
			}
		}
	}},
	{name: "ready is not checked", law: "wrong/ready without a receive", engine: asMode(model.ReadyMode, model.StandardMode)},
	{name: "lengths are not checked", law: "wrong/truncation of what was expected", engine: changed(func(o *engine.Op) {
		if len(o.Buf) == 1999 {
			o.Buf = make([]byte, 2000)
		}
	})},
	{name: "types are not checked", law: "wrong/elements of another type", engine: func(f *faulty) {
		f.isend = func(o *engine.Op) { o.Signature = 0; f.Engine.Isend(o) }
	}},
	{name: "messages that were not received are not reported", law: "wrong/a message is not received", engine: func(f *faulty) {
		f.arrived = func(uint32) (int, *engine.UnexpectedMessage) { return 0, nil }
	}},
	{name: "a wait names another rank", law: "wrong/a deadlock", engine: func(f *faulty) {
		f.explain = func(o *engine.Op) engine.WaitDescription { w := f.Engine.ExplainWait(o); w.Peer++; return w }
	}},
	{name: "an operation is left", law: "leftovers/after messages", engine: func(f *faulty) {
		n := 0
		f.isend = func(o *engine.Op) {
			if n++; n == 10 {
				f.rank.NewOp()
			}
			f.Engine.Isend(o)
		}
	}},
	{name: "a send allocates", law: "leftovers/no allocation by messages", engine: func(f *faulty) {
		f.isend = func(o *engine.Op) { garbage = make([]byte, 64); f.Engine.Isend(o) }
	}},
	{name: "a persistent receive allocates", law: "leftovers/no allocation by requests", engine: changed(func(*engine.Op) { garbage = make([]byte, 64) })},
	{name: "two receives are swapped now and then", law: "random/programs", engine: func(f *faulty) {
		var held *engine.Op
		n := 0
		f.irecv = func(o *engine.Op) {
			if n++; n%5 == 0 && o.Context%2 == 0 {
				held = o
				return
			}
			f.Engine.Irecv(o)
			if held != nil {
				f.Engine.Irecv(held)
				held = nil
			}
		}
		f.progress = func(block bool) bool {
			if held != nil {
				f.Engine.Irecv(held)
				held = nil
				return true
			}
			return f.Engine.Progress(block)
		}
	}},
	{name: "a byte falls over now and then", law: "random/programs", port: func(f *faultyPort) {
		n := 0
		f.send = func(dst int, p *device.Packet) {
			q := *p
			if n++; n%10 == 0 && len(q.Data) > 0 {
				q.Data = slices.Clone(q.Data)
				q.Data[len(q.Data)-1] ^= 1
			}
			f.Port.Send(dst, &q)
		}
	}},
}

// find returns a law by its group and name.
func find(t *testing.T, name string) law {
	t.Helper()
	for _, g := range laws {
		for _, l := range g.laws {
			if g.group+"/"+l.name == name {
				return l
			}
		}
	}
	t.Fatalf("there is no law %q", name)
	return law{}
}

func TestFaultsAreFound(t *testing.T) {
	defer func(d time.Duration, n int) { maxJobDuration, *randomProgramCount = d, n }(maxJobDuration, *randomProgramCount)
	maxJobDuration = 20 * time.Second
	*randomProgramCount = max(*randomProgramCount, 300) // a few would leave it to chance whether one meets the fault
	for _, x := range faults {
		t.Run(x.name, func(t *testing.T) {
			l := find(t, x.law)
			if RaceDetectorOn && l.name[:2] == "no" {
				t.Skip("allocations are not counted")
			}
			err := l.checkLaw(t, x.subject(), x.world())
			if err == nil {
				t.Errorf("law %q does not notice", x.law)
			}
			t.Log(err)
			if err := l.checkLaw(t, fault{}.subject(), fault{}.world()); err != nil {
				t.Errorf("without the fault: %v", err)
			}
		})
	}
}
