package proto

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// End ends the use of the engine: a call with it is an error from now on. Nothing is under way.
func (e *Engine) End() {
	e.gone = gone{e.port, e}
	e.port, e.memory, e.unpriced = &e.gone, nil, false
}

// gone is the port of a rank whose program has ended.
type gone struct {
	device.Port
	e *Engine
}

func (g *gone) fail() {
	g.e.Fail(ErrOther, "the program of this rank has ended, and calls are made within it")
}

func (g *gone) Now() unit.Time              { g.fail(); return 0 }
func (g *gone) Delay(unit.Time)             { g.fail() }
func (g *gone) Spend(model.Work, int)       { g.fail() }
func (g *gone) Copy(_, _ []byte) int        { g.fail(); return 0 }
func (g *gone) Send(int, *device.Packet)    { g.fail() }
func (g *gone) NotifyExit(int, device.Head) { g.fail() }
func (g *gone) Recv(bool) *device.Packet    { g.fail(); return nil }
