package hw

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// probe observes a run. It is told at the places where clocks and servers move, and moves nothing: a run has the same times
// whatever observes it. A packet or remote access is given as x, which is a *packet or an *access.
type probe interface {
	// view returns the port of a rank as its program gets it: the port itself, or one that wraps it.
	view(p *port) device.Port

	// names gives a name to a part of the network.
	names(s *sim.Server, format string, args ...any)

	// until says how the processor of a rank has spent its time until t. Bytes that it moved in parts by one name are one span.
	until(p *port, t unit.Time, name string, a model.Activity, bytes int)

	// delays says that the processor was delayed for long at a time that it had believed to have passed: while it stored x, or
	// where x is nil whatever it did then.
	delays(p *port, x any, at, long unit.Time, name string, a model.Activity)

	// sends and starts say that what the processor does next sends a packet, or starts a remote access. rest is the name of what
	// the call that sends it does and until is not told.
	sends(p *port, pk *packet, rest string)
	starts(p *port, x *access)

	// departs and lands say when the first byte of x, or of its data, enters the network, and when its last is at the other side.
	departs(x any, t unit.Time)
	lands(x any, t unit.Time)

	// signals says that the hardware asks for the data of an access, or confirms them.
	signals(x *access, name string, from, to int32, depart, arrive unit.Time)

	// finishes says which packet tells of the end of an access.
	finishes(x *access, pk *packet)

	// takes says that x, or what has a name, takes a part of the network for a time.
	takes(s *sim.Server, x any, a model.Activity, from, long unit.Time, bytes int)

	// ask calls r.report(arg) if the run is observed: for what it takes work to find out.
	ask(r reporter, arg uint64)
}

// part is bytes of a stream, the first of which are of a packet. It stands for x where they take a part of the network.
type part struct {
	of       *packet
	from, to int
}

// reporter tells a probe what it is asked for.
type reporter interface{ report(arg uint64) }

// unobserved is the probe of a run that nothing observes.
type unobserved struct{}

func (unobserved) view(p *port) device.Port                                          { return p.end }
func (unobserved) names(*sim.Server, string, ...any)                                 {}
func (unobserved) until(*port, unit.Time, string, model.Activity, int)               {}
func (unobserved) delays(*port, any, unit.Time, unit.Time, string, model.Activity)   {}
func (unobserved) sends(*port, *packet, string)                                      {}
func (unobserved) starts(*port, *access)                                             {}
func (unobserved) departs(any, unit.Time)                                            {}
func (unobserved) lands(any, unit.Time)                                              {}
func (unobserved) signals(*access, string, int32, int32, unit.Time, unit.Time)       {}
func (unobserved) finishes(*access, *packet)                                         {}
func (unobserved) takes(*sim.Server, any, model.Activity, unit.Time, unit.Time, int) {}
func (unobserved) ask(reporter, uint64)                                              {}
