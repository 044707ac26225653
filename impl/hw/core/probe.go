package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Probe observes a run. It is called where clocks and servers advance, and changes nothing: a run
// has the same times with any probe. A packet or remote access is given as x, which is a *Packet or
// an *RemoteAccess.
type Probe interface {
	BeginRun(j *Job) // a run begins

	// WrapPort returns the port of a rank as its program gets it: the port itself, or one that
	// wraps it.
	WrapPort(p *Port) device.Port

	// SetServerName gives a name to a part of the network.
	SetServerName(s *sim.Server, format string, args ...any)

	// ProcessorActivityUntil says how the processor of a rank has spent its time until t. Bytes
	// that it moved in parts by one name are one span.
	ProcessorActivityUntil(p *Port, t unit.Time, name string, a model.Activity, bytes int)

	// ProcessorDelayed says that the processor was delayed for long at a time that it had believed
	// to have passed: while it stored x, or where x is nil whatever it did then.
	ProcessorDelayed(p *Port, x any, at, long unit.Time, name string, a model.Activity)

	// StoreActivity says what the processor of a rank does for long from a time on for an access
	// that it has begun, while its rank may have run ahead of that.
	StoreActivity(p *Port, at, long unit.Time, name string, a model.Activity, bytes int)

	// PacketSent and AccessStarted say that what the processor does next sends a packet, or starts
	// a remote access. rest names the part of the sending call that ProcessorActivityUntil is not
	// told.
	PacketSent(p *Port, pk *Packet, rest string)
	AccessStarted(p *Port, x *RemoteAccess)

	// FirstByteDeparted and LastByteArrived say when the first byte of x, or of its data, enters
	// the network, and when its last is at the other side.
	FirstByteDeparted(x any, t unit.Time)
	LastByteArrived(x any, t unit.Time)

	// AccessRequestOrConfirmationSent says that the network hardware asks for the data of an
	// access, or confirms them.
	AccessRequestOrConfirmationSent(x *RemoteAccess, name string, from, to int32, depart, arrive unit.Time)

	// CompletionReported says which packet reports the completion of an access; nil: none does. The
	// access is nil if the packet reports that of an entry.
	CompletionReported(x *RemoteAccess, pk *Packet)

	// ServerOccupied says that x, or what has a name, takes a part of the network for a time.
	ServerOccupied(s *sim.Server, x any, a model.Activity, from, long unit.Time, bytes int)

	// ReportIfObserved calls r.Report(arg) if the run is observed: use it for values that are
	// costly to compute.
	ReportIfObserved(r ProbeReporter, arg uint64)
}

// StreamByteRange is bytes of a stream, beginning with those of a packet. It stands for x where
// they take a part of the network.
type StreamByteRange struct {
	FirstPacket      *Packet
	FromByte, ToByte int
}

// ProbeReporter tells a probe what it is asked for.
type ProbeReporter interface{ Report(arg uint64) }

// NullProbe is the probe of a run that nothing observes.
var NullProbe Probe = nullProbe{}

type nullProbe struct{}

func (nullProbe) BeginRun(*Job)                                                             {}
func (nullProbe) WrapPort(p *Port) device.Port                                              { return p }
func (nullProbe) SetServerName(*sim.Server, string, ...any)                                 {}
func (nullProbe) ProcessorActivityUntil(*Port, unit.Time, string, model.Activity, int)      {}
func (nullProbe) ProcessorDelayed(*Port, any, unit.Time, unit.Time, string, model.Activity) {}
func (nullProbe) StoreActivity(*Port, unit.Time, unit.Time, string, model.Activity, int)    {}
func (nullProbe) PacketSent(*Port, *Packet, string)                                         {}
func (nullProbe) AccessStarted(*Port, *RemoteAccess)                                        {}
func (nullProbe) FirstByteDeparted(any, unit.Time)                                          {}
func (nullProbe) LastByteArrived(any, unit.Time)                                            {}
func (nullProbe) AccessRequestOrConfirmationSent(*RemoteAccess, string, int32, int32, unit.Time, unit.Time) {
}
func (nullProbe) CompletionReported(*RemoteAccess, *Packet)                                  {}
func (nullProbe) ServerOccupied(*sim.Server, any, model.Activity, unit.Time, unit.Time, int) {}
func (nullProbe) ReportIfObserved(ProbeReporter, uint64)                                     {}
