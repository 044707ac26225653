package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Probe observes a run. It is called where clocks and servers advance, and changes nothing: a run
// has the same times with any probe. A packet or remote access is given as x, which is a *Packet or
// an *Access.
type Probe interface {
	Begin(j *Job) // a run begins

	// View returns the port of a rank as its program gets it: the port itself, or one that wraps
	// it.
	View(p *Port) device.Port

	// Names gives a name to a part of the network.
	Names(s *sim.Server, format string, args ...any)

	// Until says how the processor of a rank has spent its time until t. Bytes that it moved in
	// parts by one name are one span.
	Until(p *Port, t unit.Time, name string, a model.Activity, bytes int)

	// Delays says that the processor was delayed for long at a time that it had believed to have
	// passed: while it stored x, or where x is nil whatever it did then.
	Delays(p *Port, x any, at, long unit.Time, name string, a model.Activity)

	// Continues says what the processor of a rank does for long from a time on for an access that
	// it has begun, while its rank may have run ahead of that.
	Continues(p *Port, at, long unit.Time, name string, a model.Activity, bytes int)

	// Sends and Starts say that what the processor does next sends a packet, or starts a remote
	// access. rest is the name of what the call that sends it does and Until is not told.
	Sends(p *Port, pk *Packet, rest string)
	Starts(p *Port, x *Access)

	// Departs and Lands say when the first byte of x, or of its data, enters the network, and when
	// its last is at the other side.
	Departs(x any, t unit.Time)
	Lands(x any, t unit.Time)

	// Signals says that the hardware asks for the data of an access, or confirms them.
	Signals(x *Access, name string, from, to int32, depart, arrive unit.Time)

	// Finishes says which packet reports the completion of an access; nil: none does. The access is
	// nil if the packet reports that of an entry.
	Finishes(x *Access, pk *Packet)

	// Takes says that x, or what has a name, takes a part of the network for a time.
	Takes(s *sim.Server, x any, a model.Activity, from, long unit.Time, bytes int)

	// Ask calls r.Report(arg) if the run is observed: use it for values that are costly to compute.
	Ask(r Reporter, arg uint64)
}

// Part is bytes of a stream, beginning with those of a packet. It stands for x where they take a
// part of the network.
type Part struct {
	Of       *Packet
	From, To int
}

// Reporter tells a probe what it is asked for.
type Reporter interface{ Report(arg uint64) }

// Unobserved is the probe of a run that nothing observes.
var Unobserved Probe = unobserved{}

type unobserved struct{}

func (unobserved) Begin(*Job)                                                         {}
func (unobserved) View(p *Port) device.Port                                           { return p }
func (unobserved) Names(*sim.Server, string, ...any)                                  {}
func (unobserved) Until(*Port, unit.Time, string, model.Activity, int)                {}
func (unobserved) Delays(*Port, any, unit.Time, unit.Time, string, model.Activity)    {}
func (unobserved) Continues(*Port, unit.Time, unit.Time, string, model.Activity, int) {}
func (unobserved) Sends(*Port, *Packet, string)                                       {}
func (unobserved) Starts(*Port, *Access)                                              {}
func (unobserved) Departs(any, unit.Time)                                             {}
func (unobserved) Lands(any, unit.Time)                                               {}
func (unobserved) Signals(*Access, string, int32, int32, unit.Time, unit.Time)        {}
func (unobserved) Finishes(*Access, *Packet)                                          {}
func (unobserved) Takes(*sim.Server, any, model.Activity, unit.Time, unit.Time, int)  {}
func (unobserved) Ask(Reporter, uint64)                                               {}
