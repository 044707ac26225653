package proto

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/loop"
	"github.com/loggp/loggp/model"
)

// exposing is a port that counts what is exposed, or has no memory to expose.
// Where it has none, what counts is put around that of the engine.
type exposing struct {
	device.Port
	none      bool
	now, ever int
}

func (p *exposing) Memory() device.Memory {
	if p.none {
		return nil
	}
	return counted{p.Port.Memory(), p}
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

// When all messages are through, nothing is left: no operation, no exposed memory, no room in the attached buffer, and no more memory to
// stage in than was in use at once.
func TestNothingLeft(t *testing.T) {
	const at, rounds = 5, 40 // messages at once, and how often
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
				j := job(t, Config{Library: l})
				if err := loop.New(2).Run(func(port device.Port) error {
					return nothingLeft(&exposing{Port: port, none: none}, j, mode, at, rounds)
				}); err != nil {
					t.Errorf("%s, %v, without memory %v: %v", p.Name, mode, none, err)
				}
			}
		}
	}
}

// nothingLeft exchanges messages, so many at once and so often, and looks at what is left then.
func nothingLeft(port *exposing, j *Job, mode model.Mode, at, rounds int) error {
	e := New(port, j)
	if port.none {
		e.memory = counted{e.memory, port}
	}
	peer := 1 - port.Rank()
	b := make([]byte, 300)
	into := make([][300]byte, at)
	e.Attach(make([]byte, at*(len(b)+Overhead)))
	for range rounds {
		var ops []*Op
		for i := range at {
			ops = append(ops, e.Irecv(into[i][:], 0, peer, 0, i))
		}
		ops = append(ops, e.Isend(model.Standard, nil, 0, peer, 1, 0)) // the receives are posted, for ready sends
		e.Recv(nil, 0, peer, 1, 0)
		for i := range at {
			ops = append(ops, e.Isend(mode, b, 0, peer, 0, i))
		}
		for _, o := range ops {
			e.Wait(o)
			e.Release(o)
		}
		e.drain()
	}
	switch m := e.messages; {
	case e.Open() != 0:
		return fmt.Errorf("%d operations are open", e.Open())
	case port.now != 0:
		return fmt.Errorf("%d of %d pieces of memory are exposed", port.now, port.ever)
	case m != nil && (len(m.asked) != len(m.idle) || len(m.asked) > 2*at):
		return fmt.Errorf("%d of %d places for gets are free", len(m.idle), len(m.asked))
	case len(e.buffer.used) != 0 || e.buffer.pending != 0:
		return fmt.Errorf("%d messages are in the buffer", len(e.buffer.used))
	case len(e.stages) > 2*at:
		return fmt.Errorf("memory for %d stages is kept", len(e.stages))
	case e.posted.Len() != 0 || e.early.Len() != 0:
		return fmt.Errorf("%d receives and %d messages wait", e.posted.Len(), e.early.Len())
	}
	return nil
}
