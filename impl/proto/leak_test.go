package proto

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// exposing is a port that counts what is exposed, or has no memory to expose.
// Where it has none, what counts is put around that of the engine.
type exposing struct {
	device.Port
	none      bool
	now, ever int
}

func (p *exposing) Memory() device.Memory {
	m := p.Port.Memory()
	if p.none || m == nil {
		return nil
	}
	return counted{m, p}
}

type counted struct {
	device.Memory
	p *exposing
}

func (c counted) Expose(b []byte) device.Key {
	c.p.now++
	c.p.ever++
	return c.Memory.Expose(b)
}

func (c counted) Withdraw(k device.Key) {
	c.p.now--
	c.Memory.Withdraw(k)
}

// worlds are where ranks run.
var worlds = []struct {
	name string
	open func(t *testing.T, l *model.Library) device.World
}{
	{"loop", func(*testing.T, *model.Library) device.World { return loop.New(2) }},
	{"t3d", emulated("t3d")},
	{"convex", emulated("convex")},
	{"now", emulated("now")},
	{"loggp", emulated("loggp")},
}

// emulated opens a machine of the catalogue.
func emulated(name string) func(*testing.T, *model.Library) device.World {
	load := sync.OnceValues(func() (*platform.Platform, error) { return platform.Load(name) })
	return func(t *testing.T, l *model.Library) device.World {
		p, err := load()
		if err != nil {
			t.Fatal(err)
		}
		l.Software = p.Libraries[0].Software
		m := *p.Machine
		m.Ranks.Min = 2
		w, err := hw.New(hw.Config{Machine: &m, Library: l, Ranks: 2, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
}

// When all messages are through and the ranks have ended, nothing is left: no operation, no exposed memory, no room in the attached buffer, no more memory to
// stage in than was in use at once, and no coroutine.
func TestNothingLeft(t *testing.T) {
	const at, rounds = 5, 20 // messages at once, and how often
	before := runtime.NumGoroutine()
	for _, w := range worlds {
		for _, p := range Protocols {
			for mode := range model.NumModes {
				for _, none := range []bool{false, true} {
					l := quiet("RTA")
					l.Long, l.Window, l.First = model.EveryTier(model.Long{Stage: true, Bounce: 64}), 1000, 100
					for i := range l.Rules {
						if l.Rules[i].Protocol = p.Name; p == T && l.Rules[i].Mode == model.Synchronous {
							l.Rules[i].Protocol = TA.Name
						}
					}
					j := job(t, l, "")
					for _, way := range []func(tested, model.Mode, int) error{once, again, up, alone} {
						if err := w.open(t, l).Run(func(port device.Port) error {
							return nothingLeft(&exposing{Port: port, none: none}, j, mode, at, rounds, way)
						}); err != nil {
							t.Errorf("%s, %s, %v, without memory %v: %v", w.name, p.Name, mode, none, err)
						}
					}
				}
			}
		}
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) { // those that have ended may still be counted for a moment
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// nothingLeft exchanges messages in some way, so many at once and so often, and looks at what is left then.
func nothingLeft(port *exposing, j *Job, mode model.Mode, at, rounds int, way func(tested, model.Mode, int) error) error {
	e := open(port, j)
	if e.e.messages != nil {
		e.e.memory = counted{e.e.memory, port}
	}
	e.Attach(make([]byte, 2*at*(300+engine.Overhead)))
	for range rounds {
		if err := way(e, mode, at); err != nil {
			return err
		}
	}
	if n, first := e.Unfinished(); n > 0 {
		return fmt.Errorf("%d operations are unfinished, the first of kind %d", n, first.For)
	}
	if n, _ := e.Finalize(); n > 0 {
		return fmt.Errorf("%d messages were not received", n)
	}
	switch m := e.e.messages; {
	case port.now != 0:
		return fmt.Errorf("%d of %d pieces of memory are exposed", port.now, port.ever)
	case m != nil && (len(m.asked) != len(m.idle) || len(m.asked) > 3*at):
		return fmt.Errorf("%d of %d places for gets are free", len(m.idle), len(m.asked))
	case e.e.posted.Len() != 0 || e.e.early.Len() != 0:
		return fmt.Errorf("%d receives and %d messages wait", e.e.posted.Len(), e.e.early.Len())
	}
	return e.Idle()
}

// Once all is there, nothing that a request does takes memory: persistent ones, those that are freed and those that are cancelled, with gaps or without.
func TestNoAllocation(t *testing.T) {
	if racing {
		t.Skip("sync.Pool makes garbage on purpose where the race detector is at work")
	}
	const rounds = 100
	for _, p := range Protocols[1:] {
		for _, none := range []bool{false, true} {
			l := quiet("RTA")
			l.Long, l.First = model.EveryTier(model.Long{Stage: true, Bounce: 300}), 100
			for i := range l.Rules {
				l.Rules[i].Protocol = p.Name
			}
			j := job(t, l, "")
			if err := loop.New(1).Run(func(port device.Port) error {
				e := open(&exposing{Port: port, none: none}, j)
				var layouts [4]engine.Layout // to pass one takes no memory then
				for i := range layouts {
					layouts[i] = gaps(make([]byte, 600))
				}
				receive, send := e.Init(engine.Template{Receive: true, Layout: layouts[0]}), e.Init(engine.Template{Mode: model.Synchronous, Layout: layouts[1]})
				buffered := e.Init(engine.Template{Mode: model.Buffered, Layout: layouts[1]})
				e.Attach(make([]byte, 1000))
				end := func(o *engine.Op) { e.Wait(o); e.Release(o) }
				round := func() {
					e.Start(receive)
					e.Cancel(receive)
					end(receive)
					e.Start(send)
					e.Cancel(send)
					end(send)
					e.Start(receive)
					e.Start(send)
					end(receive)
					end(send)
					e.Start(receive)
					e.Start(buffered)
					end(receive)
					end(buffered)
					e.Drain()
					e.Free(e.IrecvLayout(layouts[2], 0, 0, 1))
					e.Free(e.IsendLayout(model.Synchronous, layouts[3], 0, 0, 1))
					for e.Open() > 3 { // the persistent ones
						e.e.Progress(true)
					}
				}
				for range rounds {
					round()
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for range rounds {
					round()
				}
				if runtime.ReadMemStats(&after); after.Mallocs-before.Mallocs >= rounds/2 { // some are others'
					t.Errorf("%s, without memory %v: %d allocations in %d rounds", p.Name, none, after.Mallocs-before.Mallocs, rounds)
				}
				return nil
			}); err != nil {
				t.Errorf("%s, without memory %v: %v", p.Name, none, err)
			}
		}
	}
}

// settle exchanges messages without data with the other rank: its receives are posted then, and what it had sent has come.
func settle(e tested) {
	peer := 1 - e.Port().Rank()
	s := e.Isend(model.Standard, nil, 0, peer, 2, 0)
	e.Recv(nil, 0, peer, 2, 0)
	e.Wait(s)
	e.Release(s)
}

// once exchanges messages.
func once(e tested, mode model.Mode, at int) error {
	peer := 1 - e.Port().Rank()
	var ops []*engine.Op
	for i := range at {
		ops = append(ops, e.Irecv(make([]byte, 300), 0, peer, 0, i))
	}
	settle(e)
	for i := range at {
		ops = append(ops, e.Isend(mode, make([]byte, 300), 0, peer, 0, i))
	}
	for _, o := range ops {
		e.Wait(o)
		e.Release(o)
	}
	e.Drain()
	return nil
}

// again exchanges messages of persistent operations, of which some are cancelled on the way.
func again(e tested, mode model.Mode, at int) error {
	peer := 1 - e.Port().Rank()
	var receives, sends []*engine.Op
	for i := range at {
		receives = append(receives, e.Init(engine.Template{Receive: true, Layout: gaps(make([]byte, 600)), Peer: peer, Tag: i}))
		sends = append(sends, e.Init(engine.Template{Mode: mode, Layout: gaps(make([]byte, 600)), Peer: peer, Tag: i}))
	}
	for range 3 {
		for _, r := range receives {
			e.Start(r)
			e.Cancel(r)
			e.Wait(r)
			if !r.Cancelled() {
				return fmt.Errorf("a receive is not cancelled")
			}
			e.Release(r)
			e.Start(r)
		}
		settle(e)
		for _, s := range sends {
			e.Start(s)
			e.Cancel(s)
		}
		for _, o := range slices.Concat(receives, sends) {
			e.Wait(o)
			if o.Cancelled() {
				return fmt.Errorf("a message that has a receive is cancelled")
			}
			e.Release(o)
		}
		e.Drain()
	}
	for _, o := range slices.Concat(receives, sends) {
		e.Free(o)
	}
	return nil
}

// up gives up what is under way, freed or cancelled.
func up(e tested, mode model.Mode, at int) error {
	peer := 1 - e.Port().Rank()
	for i := range at {
		e.Free(e.IrecvLayout(gaps(make([]byte, 600)), peer, 0, i))
	}
	settle(e)
	for i := range at {
		e.Free(e.IsendLayout(mode, gaps(make([]byte, 600)), peer, 0, i))
	}
	var ops []*engine.Op
	for i := range at {
		s := e.IsendLayout(model.Synchronous, gaps(make([]byte, 600)), peer, 4, i)
		if e.Cancel(s); i%2 == 0 {
			ops = append(ops, s)
			continue
		}
		e.Free(s)
	}
	for _, s := range ops {
		e.Wait(s)
		if !s.Cancelled() {
			return fmt.Errorf("a send is not cancelled")
		}
		e.Release(s)
	}
	settle(e)
	for _, o := range []*engine.Op{e.Finish(true, engine.Status{}), e.Init(engine.Template{Null: true})} {
		e.Free(o)
	}
	return nil
}

// alone gives up what is sent to a rank that does nothing and ends.
func alone(e tested, _ model.Mode, at int) error {
	if e.Port().Rank() == 1 {
		return nil
	}
	var ops []*engine.Op
	for i := range at {
		s := e.IsendLayout(model.Synchronous, gaps(make([]byte, 600)), 1, 0, i)
		if e.Cancel(s); i%3 == 0 {
			e.Free(s)
			continue
		}
		ops = append(ops, s)
	}
	for _, s := range ops {
		e.Wait(s)
		if !s.Cancelled() {
			return fmt.Errorf("a send to a rank that has ended is not cancelled")
		}
		e.Release(s)
	}
	return nil
}

// gaps are bytes of which every other one is data.
type gaps []byte

func (g gaps) Len() int                       { return len(g) / 2 }
func (g gaps) Flat() ([]byte, bool)           { return nil, false }
func (g gaps) Signature(int) engine.Signature { return 0 }
func (g gaps) Runs(yield func([]byte)) {
	for i := 0; i < len(g); i += 2 {
		yield(g[i : i+1])
	}
}

func (g gaps) Gather(to []byte) {
	for i := range to {
		to[i] = g[2*i]
	}
}

func (g gaps) Scatter(from []byte) {
	for i, x := range from {
		g[2*i] = x
	}
}
