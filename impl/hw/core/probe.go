package core

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Probe observes a run. It is called where clocks and servers advance. It must not change times.
// The argument x is the *Packet or *RemoteAccess concerned.
type Probe interface {
	BeginRun(j *Job) // a run begins

	// WrapPort returns the port that a rank's program gets: p itself, or a wrapper of it.
	WrapPort(p *Port) device.Port

	// SetServerName names a part of the network.
	SetServerName(s *sim.Server, format string, args ...any)

	// ProcessorActivityUntil says what the processor of a rank did until t. Consecutive parts of a
	// transfer under the same name are one span.
	ProcessorActivityUntil(p *Port, t unit.Time, name string, a model.Activity, bytes int)

	// ProcessorDelayed says that the processor was delayed for the duration long at a time that its
	// clock had already passed: while it stored x, or, if x is nil, in whatever it did then.
	ProcessorDelayed(p *Port, x any, at, long unit.Time, name string, a model.Activity)

	// StoreActivity says what the processor does for an access that it has started, from time at
	// for the duration long. Its rank may already have run ahead.
	StoreActivity(p *Port, at, long unit.Time, name string, a model.Activity, bytes int)

	// PacketSent and AccessStarted say that the processor now starts to send a packet, or starts a
	// remote access. rest names the part of the send call that is not reported by
	// ProcessorActivityUntil.
	PacketSent(p *Port, pk *Packet, rest string)
	AccessStarted(p *Port, x *RemoteAccess)

	// FirstByteDeparted and LastByteArrived say when the first byte of x's data enters the network,
	// and when the last arrives at the other side.
	FirstByteDeparted(x any, t unit.Time)
	LastByteArrived(x any, t unit.Time)

	// AccessRequestOrConfirmationSent says that the network hardware requests the data of an
	// access, or confirms its arrival.
	AccessRequestOrConfirmationSent(x *RemoteAccess, name string, from, to int32, depart, arrive unit.Time)

	// CompletionReported says which packet reports the completion of an access; nil: none. x is nil
	// if the packet reports the acceptance of a queue entry.
	CompletionReported(x *RemoteAccess, pk *Packet)

	// ServerOccupied says that x, which may also be a name, occupies a part of the network for a
	// time.
	ServerOccupied(s *sim.Server, x any, a model.Activity, from, long unit.Time, bytes int)

	// ReportIfObserved calls r.Report(arg) if the parts of the network are observed. Use it for
	// what they do and are called, where that is expensive to compute.
	ReportIfObserved(r ProbeReporter, arg uint64)
}

// StreamByteRange stands for bytes of a stream that occupy a part of the network, starting with
// those of a packet.
type StreamByteRange struct {
	FirstPacket      *Packet
	FromByte, ToByte int
}

// ProbeReporter reports a requested value to a probe.
type ProbeReporter interface{ Report(arg uint64) }

// NullProbe is the probe of a run that is not observed.
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
