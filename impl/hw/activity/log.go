// Package activity observes an emulated machine. A Log is a core.Probe that records what each
// processor and each part of the network did, and when. Timeline converts the record to a
// model.Timeline.
//
// Processors run ahead of the kernel, and the network may later delay a processor at a time that
// its clock has already passed. A Log therefore keeps a processor's spans as consecutive durations,
// and Timeline inserts the delays between them. Logging does not change the times of a run. The Log
// does not know programs: the library reports their calls (EnterCall), and Log.Describe names
// packets.
package activity

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Log is a probe that records the activities of a run. The record of a run is kept until the next
// run starts.
type Log struct {
	// Describe returns a name for a packet, given its head, and further details; nil: all are named
	// "packet".
	Describe func(head device.Head) (name, detail string)

	// MaxEntries is the number of spans, calls and messages to keep; 0: 250,000; negative: none.
	// After that the run continues, and the timeline says how many are missing. Total times per
	// activity, processor and network part, and the numbers of calls, stay exact.
	MaxEntries int

	// ProcessorsOnly excludes the parts of the network.
	ProcessorsOnly bool

	kernel        *sim.Kernel
	entriesLeft   int // until MaxEntries
	omitted       int
	omittedSince  unit.Time // when MaxEntries was reached
	profile       *profile
	softwareNames []string // names of the engine's kinds of work
	isPerByte     []bool   // whether that kind is counted in bytes
	processors    []processorLog
	resources     []model.Track
	flights       []flight
	flightOf      map[any]int // flights by packet or access under way
}

const defaultMaxEntries = 250_000

// processorLog is what a processor did.
type processorLog struct {
	clock            unit.Time // the end of the last span, including known delays
	totals           [model.NumActivities]unit.Time
	spans            []span
	delays           []delay
	calls            []call
	firstOfCall      int  // first span of the last call
	lastCallOpen     bool // the last call has not ended
	callMayHaveEnded bool // the last call may have ended: the rank has computed since

	isComputing  bool // the program is in Delay
	softwareTime unit.Time

	pendingSendName   string // name of the time of a send call that is not reported otherwise
	transferFirstSpan int    // index of the first span of the last packet or access
}

type span struct {
	name     string
	activity model.Activity
	bytes    int
	duration unit.Time
}

// delay is a time that is inserted into a processor's lane: before a given span, or at a given
// time.
type delay struct {
	span
	spanIndex int
	at        unit.Time
}

// noSpanIndex is the spanIndex of a delay that is added to the span at its time.
const noSpanIndex = -1

// call is a library call, with the indices of the spans at its start and its end.
type call struct {
	name             string
	fromSpan, toSpan int
}

// flight is a packet or access under way. sentSpan and receivedSpan are span indices in the lanes
// of the two ranks. For a remote access both are the same rank.
type flight struct {
	model.Flight
	senderRank, receiverRank int32
	sentSpan, receivedSpan   int // negative: none
}

// BeginRun implements core.Probe. It clears the log.
func (r *Log) BeginRun(j *core.Job) {
	*r = Log{Describe: r.Describe, MaxEntries: r.MaxEntries, ProcessorsOnly: r.ProcessorsOnly, kernel: &j.Kernel, entriesLeft: r.MaxEntries, processors: make([]processorLog, len(j.Ports)),
		flightOf: map[any]int{}, profile: newProfile(len(j.Ports))}
	switch {
	case r.entriesLeft == 0:
		r.entriesLeft = defaultMaxEntries
	case r.entriesLeft < 0:
		r.entriesLeft = 0
	}
	for _, c := range j.Library.CarriedBy().Costs {
		r.softwareNames, r.isPerByte = append(r.softwareNames, "software."+c.Key), append(r.isPerByte, c.PerByte)
	}
	for i := range r.processors {
		r.processors[i].pendingSendName = "send"
	}
}

// reserveEntry reports whether one more span, call or message can be kept.
func (r *Log) reserveEntry() bool {
	if r.entriesLeft > 0 {
		r.entriesLeft--
		return true
	}
	if r.omitted == 0 {
		r.omittedSince = r.kernel.Now()
	}
	r.omitted++
	return false
}

// SetServerName implements core.Probe.
func (r *Log) SetServerName(s *sim.Server, format string, args ...any) {
	if r.ProcessorsOnly {
		return
	}
	s.TrackID = len(r.resources) + 1
	r.resources = append(r.resources, model.Track{Name: fmt.Sprintf(format, args...)})
}

// ProcessorActivityUntil implements core.Probe.
func (r *Log) ProcessorActivityUntil(p *core.Port, t unit.Time, name string, a model.Activity, bytes int) {
	l := &r.processors[p.ID]
	if a == model.ReceiveActivity {
		r.noteWait(p)
	}
	n := len(l.spans)
	if t > l.clock {
		l.totals[a] += t - l.clock
		if r.keepsSpans() {
			r.profile.addActivity(int(p.ID), a, l.clock, t)
		}
	}
	switch {
	case t <= l.clock:
	case bytes > 0 && n > l.transferFirstSpan && l.spans[n-1].name == name && a == model.SendActivity: // continues the last part without interruption
		s := &l.spans[n-1]
		s.duration, s.bytes, l.clock = s.duration+t-l.clock, s.bytes+bytes, t
	case (a == model.CopyActivity || a == model.ComputeActivity) && n > l.firstOfCall && n > l.transferFirstSpan && l.spans[n-1].activity == a && l.spans[n-1].name == name: // the parts of a derived datatype are one copy, and a loop that reads the clock is one computation
		s := &l.spans[n-1]
		s.duration, s.bytes, l.clock = s.duration+t-l.clock, s.bytes+bytes, t
	default:
		if r.reserveEntry() {
			l.spans = append(l.spans, span{name, a, bytes, t - l.clock})
		}
		l.clock = t
	}
}

// noteWait records that a processor may have waited until now. If it has, it continues at the
// kernel's time. The reason is added later.
func (r *Log) noteWait(p *core.Port) {
	r.ProcessorActivityUntil(p, r.kernel.Now(), "", model.WaitActivity, 0)
}

// ProcessorDelayed implements core.Probe.
func (r *Log) ProcessorDelayed(p *core.Port, x any, at, long unit.Time, name string, a model.Activity) {
	l, into := &r.processors[p.ID], noSpanIndex
	if x != nil {
		if i, ok := r.flightOf[x]; ok {
			into = r.flights[i].sentSpan
		}
	} else if l.clock <= at { // the processor waits
		r.ProcessorActivityUntil(p, at, "", model.WaitActivity, 0)
		r.ProcessorActivityUntil(p, at+long, name, a, 0)
		return
	}
	if long > 0 {
		if r.reserveEntry() {
			l.delays = append(l.delays, delay{span{name, a, 0, long}, into, at})
		}
		l.totals[a] += long
		if r.keepsSpans() {
			r.profile.addActivity(int(p.ID), a, l.clock, l.clock+long)
		}
		l.clock += long
	}
}

// StoreActivity implements core.Probe. If spans are kept, the rank waits for the end of its access,
// so that they are in order.
func (r *Log) StoreActivity(p *core.Port, at, long unit.Time, name string, a model.Activity, bytes int) {
	l := &r.processors[p.ID]
	if r.keepsSpans() {
		r.ProcessorActivityUntil(p, at+long, name, a, bytes)
		return
	}
	l.totals[a] += long
	l.clock += long
}

// keepsSpans reports whether the log keeps spans, not only total times.
func (r *Log) keepsSpans() bool { return r.MaxEntries >= 0 }

// EnterCall records which library call a rank's program makes; "" ends the last call. Pass it to
// mpi.Options.OnFunction.
//
// A call lasts until the next one, or until the program computes: nothing else in a program takes
// time. If the rank communicates after computing, the computing was part of the call.
func (r *Log) EnterCall(rank int, name string) {
	l := &r.processors[rank]
	r.leaveCall(int32(rank))
	l.callMayHaveEnded = false
	r.profile.enterCall(rank, name, l.clock)
	if name == "" {
		return
	}
	l.firstOfCall = len(l.spans)
	if r.reserveEntry() {
		l.calls = append(l.calls, call{name, len(l.spans), 0})
		l.lastCallOpen = true
	}
}

// SoftwareTime returns the processor time that the software of a rank has been charged so far,
// including waits of loops that read the clock. It excludes delays by the network. Unlike reading
// the clock, it takes no virtual time.
func (r *Log) SoftwareTime(rank int) unit.Time { return r.processors[rank].softwareTime }

// leaveCall ends the current call of a rank.
func (r *Log) leaveCall(rank int32) {
	l := &r.processors[rank]
	r.profile.leaveCall(int(rank), l.clock)
	if l.lastCallOpen {
		l.calls[len(l.calls)-1].toSpan = len(l.spans)
		l.lastCallOpen, l.callMayHaveEnded = false, true
	}
}

// reenterCall records that a rank communicates, so it has not left its call. Handlers that run
// while the program computes do not call it.
func (r *Log) reenterCall(rank int32) {
	l := &r.processors[rank]
	if l.isComputing {
		return
	}
	r.profile.ranks[rank].hasLeft = false
	if l.callMayHaveEnded {
		l.lastCallOpen, l.callMayHaveEnded = true, false
	}
}

// beginTransfer records that x is under way, starting with the next activity of a rank. It reports
// whether to call startFlight.
func (r *Log) beginTransfer(x any, rank int32) bool {
	l := &r.processors[rank]
	l.transferFirstSpan = len(l.spans)
	if len(r.flightOf) > 0 {
		delete(r.flightOf, x) // packets are reused
	}
	return r.reserveEntry()
}

// startFlight records a transfer for which beginTransfer has reserved an entry.
func (r *Log) startFlight(x any, rank int32, f *flight, head *device.Head) {
	l := &r.processors[rank]
	f.Name, f.Detail = "packet", ""
	if r.Describe != nil {
		f.Name, f.Detail = r.Describe(*head)
	}
	f.senderRank, f.sentSpan, f.receivedSpan, f.Arrive = rank, len(l.spans), -1, -1
	r.flightOf[x] = len(r.flights)
	r.flights = append(r.flights, *f)
}

// PacketSent implements core.Probe.
func (r *Log) PacketSent(p *core.Port, pk *core.Packet, rest string) {
	r.processors[p.ID].pendingSendName = rest
	if r.keepsSpans() {
		r.profile.send(pk, int(p.ID), r.processors[p.ID].clock)
		r.profile.addTraffic(int(p.ID), int(p.ID), int(pk.Dst), len(pk.Data))
	}
	if r.beginTransfer(pk, p.ID) {
		r.startPacketFlight(p, pk)
	}
}

func (r *Log) startPacketFlight(p *core.Port, pk *core.Packet) {
	r.startFlight(pk, p.ID, &flight{receiverRank: pk.Dst, Flight: model.Flight{From: int(p.ID), To: int(pk.Dst), Bytes: len(pk.Data), Depart: p.Clock}}, &pk.Head)
}

// AccessStarted implements core.Probe.
func (r *Log) AccessStarted(p *core.Port, x *core.RemoteAccess) {
	if !r.keepsSpans() {
		r.omitted++
		return
	}
	f := flight{receiverRank: x.Src, Flight: model.Flight{From: int(x.Src), To: int(x.Dst), Bytes: len(x.Data), IsRemoteAccess: true}}
	if x.IsGet {
		f.From, f.To = f.To, f.From
	}
	r.profile.send(x, int(p.ID), r.processors[p.ID].clock)
	r.profile.addTraffic(int(p.ID), f.From, f.To, f.Bytes)
	if r.beginTransfer(x, p.ID) {
		r.startFlight(x, p.ID, &f, &x.CompletionPacketHead)
	}
}

// FirstByteDeparted implements core.Probe.
func (r *Log) FirstByteDeparted(x any, t unit.Time) {
	if i, ok := r.flightOf[x]; ok {
		r.flights[i].Depart = t
	}
}

// LastByteArrived implements core.Probe.
func (r *Log) LastByteArrived(x any, t unit.Time) {
	if i, ok := r.flightOf[x]; ok {
		r.flights[i].Arrive = t
	}
}

// AccessRequestOrConfirmationSent implements core.Probe.
func (r *Log) AccessRequestOrConfirmationSent(x *core.RemoteAccess, name string, from, to int32, depart, arrive unit.Time) {
	if i, ok := r.flightOf[x]; ok && r.reserveEntry() {
		f := flight{senderRank: x.Src, receiverRank: x.Src, sentSpan: r.flights[i].sentSpan, receivedSpan: -1}
		f.Name, f.From, f.To, f.Depart, f.Arrive, f.IsRemoteAccess = name, int(from), int(to), depart, arrive, true
		r.flights = append(r.flights, f)
	}
}

// CompletionReported implements core.Probe.
func (r *Log) CompletionReported(x *core.RemoteAccess, pk *core.Packet) {
	delete(r.flightOf, pk) // packets are used again
	r.profile.reportCompletion(x, pk)
	if i, ok := r.flightOf[x]; ok {
		if pk != nil {
			r.flightOf[pk] = i
		}
		delete(r.flightOf, x)
	}
}

// ServerOccupied implements core.Probe.
func (r *Log) ServerOccupied(s *sim.Server, x any, a model.Activity, from, long unit.Time, bytes int) {
	if long <= 0 || s.TrackID == 0 {
		return
	}
	t := &r.resources[s.TrackID-1]
	t.Totals[a] += long
	t.Bytes += bytes
	if r.reserveEntry() {
		t.Spans = append(t.Spans, model.Span{Name: r.transferName(x), Activity: a, From: from, To: from + long, Bytes: bytes})
	}
}

// transferName returns the name of a transfer that occupies a part of the network.
func (r *Log) transferName(x any) string {
	switch x := x.(type) {
	case string:
		return x
	case core.StreamByteRange:
		name := "data"
		if i, ok := r.flightOf[x.FirstPacket]; ok {
			name = r.flights[i].Name
		}
		return fmt.Sprintf("%s %d-%d", name, x.FromByte, x.ToByte)
	}
	if i, ok := r.flightOf[x]; ok {
		return r.flights[i].Name
	}
	return ""
}

// ReportIfObserved implements core.Probe.
func (r *Log) ReportIfObserved(x core.ProbeReporter, arg uint64) {
	if !r.ProcessorsOnly {
		x.Report(arg)
	}
}

// notePacketReceived records that a rank received pk, or that its wait ended without a packet if pk
// is nil. from is the index of the first span.
func (r *Log) notePacketReceived(rank int32, pk *core.Packet, from int) {
	name, l := "poll", &r.processors[rank]
	if pk != nil && r.keepsSpans() {
		isReady := false
		if r.Describe != nil && r.profile.ranks[rank].wait > 0 {
			name, _ := r.Describe(pk.Head)
			isReady = slices.Contains(receiverReadyPackets, name)
		}
		r.profile.receive(int(rank), pk, isReady)
	}
	if from == len(l.spans) && len(r.flightOf) == 0 {
		return // none of it was kept
	}
	if pk != nil {
		name = "packet"
		if r.Describe != nil {
			name, _ = r.Describe(pk.Head)
		}
	}
	l.nameWaits(name, from)
	for i := from; i < len(l.spans); i++ {
		if a := l.spans[i].activity; a == model.WaitActivity || a == model.InterruptActivity {
			from = i + 1
		}
	}
	if i, ok := r.flightOf[pk]; ok {
		if r.omitted == 0 {
			r.flights[i].receivedSpan = from
		}
		delete(r.flightOf, pk)
	}
}

// nameWaits sets the name of the waits among the spans from an index on.
func (l *processorLog) nameWaits(name string, from int) {
	for i := from; i < len(l.spans); i++ {
		if s := &l.spans[i]; s.activity == model.WaitActivity && s.name == "" {
			s.name = name
		}
	}
}
