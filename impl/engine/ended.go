package engine

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// End ends the use of the rank: a call with it is an error from now on. Nothing is under way.
func (r *Rank) End() {
	r.engine = endedEngine{r.engine, r}
	r.port, r.unpriced = endedPort{r.port, r}, false
}

func (r *Rank) failEnded() {
	r.Fail(ErrOther, "the program of this rank has ended, and calls are made within it")
}

// endedEngine is the engine of a rank whose program has ended: calls that would use the port fail.
type endedEngine struct {
	Engine
	r *Rank
}

func (e endedEngine) Send(model.Mode, []byte, Signature, int, uint32, int) { e.r.failEnded() }
func (e endedEngine) Isend(*Op)                                            { e.r.failEnded() }
func (e endedEngine) Irecv(*Op)                                            { e.r.failEnded() }
func (e endedEngine) Recv(*Op)                                             { e.r.failEnded() }
func (e endedEngine) Progress(bool) bool                                   { e.r.failEnded(); return false }
func (e endedEngine) Looked(bool)                                          { e.r.failEnded() }
func (e endedEngine) Cancel(*Op)                                           { e.r.failEnded() }
func (e endedEngine) Direct() Direct                                       { e.r.failEnded(); return nil }

func (e endedEngine) Probe(int, uint32, int, bool) (Status, bool) {
	e.r.failEnded()
	return Status{}, false
}

// endedPort is its port.
type endedPort struct {
	device.Port
	r *Rank
}

func (p endedPort) Now() unit.Time       { p.r.failEnded(); return 0 }
func (p endedPort) Delay(unit.Time)      { p.r.failEnded() }
func (p endedPort) Copy(_, _ []byte) int { p.r.failEnded(); return 0 }
func (p endedPort) Operate(int)          { p.r.failEnded() }
