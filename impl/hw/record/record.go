// Package record is a probe that records what an emulated machine does.
package record

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Recorder is a probe that records what a world does. One that has been given to a world holds its
// last run, when that has ended.
//
// Processors run ahead of the kernel, and the network may delay one at a time that it believed to
// have passed. So spans are kept as durations, one behind the other, and delays between them are
// added when the recording is read.
type Recorder struct {
	// Tell names a packet by its head, and says what else there is to say of it; nil: packet.
	Tell func(head device.Head) (name, detail string)

	// Limit is how many spans, calls and messages are recorded; 0: a quarter of a million;
	// negative: none. The run goes on without being recorded beyond it, and the recording says what
	// it left out. How long each processor and each part of the network did what, and how often
	// each call was made, is exact all the same.
	Limit int

	// Processors excludes the parts of the network from what is recorded.
	Processors bool

	kernel    *sim.Kernel
	room      int // for so many things more
	omitted   int
	cut       unit.Time // when there was no room any more
	called    map[string]int
	software  []string // names of the engine's work
	perByte   []bool   // whether that is counted in bytes
	lanes     []lane
	resources []model.Track
	flights   []flight
	under     map[any]int // packets and accesses under way, to flights
}

const defaultLimit = 250_000

// lane is what a processor did.
type lane struct {
	clock  unit.Time // the end of the last span, with the delays that are known
	totals [model.NumActivities]unit.Time
	spans  []span
	delays []delay
	calls  []call
	inside bool // the last call has not ended
	left   bool // it has, as far as is known: the rank has computed since

	computing bool // the program does
	worked    unit.Time

	rest  string // what a call that sends does where it does not say
	start int    // from which span on bytes are of the last packet or access
}

type span struct {
	name     string
	activity model.Activity
	bytes    int
	long     unit.Time
}

// delay is a time that was added to a lane: to a span, or to whichever there is then, at a time.
type delay struct {
	span
	into int
	at   unit.Time
}

// anywhere is a delay's place where its time decides.
const anywhere = -1

// call is a call of the library with the places among the spans where it begins and ends.
type call struct {
	name     string
	from, to int
}

// flight has the span that sent it and the one that took it as places in the lanes of two ranks. A
// remote access has but one rank.
type flight struct {
	model.Flight
	by, of      int32
	sent, taken int // negative: never
}

// BeginRun implements core.Probe: it starts the recording anew.
func (r *Recorder) BeginRun(j *core.Job) {
	*r = Recorder{Tell: r.Tell, Limit: r.Limit, Processors: r.Processors, kernel: &j.Kernel, room: r.Limit, lanes: make([]lane, len(j.Ports)),
		under: map[any]int{}, called: map[string]int{}}
	switch {
	case r.room == 0:
		r.room = defaultLimit
	case r.room < 0:
		r.room = 0
	}
	for _, c := range j.Library.CarriedBy().Costs {
		r.software, r.perByte = append(r.software, "software."+c.Key), append(r.perByte, c.PerByte)
	}
	for i := range r.lanes {
		r.lanes[i].rest = "send"
	}
}

// fits reports whether one thing more is recorded.
func (r *Recorder) fits() bool {
	if r.room > 0 {
		r.room--
		return true
	}
	if r.omitted == 0 {
		r.cut = r.kernel.Now()
	}
	r.omitted++
	return false
}

// NameServer implements core.Probe.
func (r *Recorder) NameServer(s *sim.Server, format string, args ...any) {
	if r.Processors {
		return
	}
	s.TrackID = len(r.resources) + 1
	r.resources = append(r.resources, model.Track{Name: fmt.Sprintf(format, args...)})
}

// ProcessorUntil implements core.Probe.
func (r *Recorder) ProcessorUntil(p *core.Port, t unit.Time, name string, a model.Activity, bytes int) {
	l := &r.lanes[p.ID]
	if a == model.Receiving {
		r.waited(p)
	}
	n := len(l.spans)
	if t > l.clock {
		l.totals[a] += t - l.clock
	}
	switch {
	case t <= l.clock:
	case bytes > 0 && n > l.start && l.spans[n-1].name == name && a == model.Sending: // nothing came between it and the last part
		s := &l.spans[n-1]
		s.long, s.bytes, l.clock = s.long+t-l.clock, s.bytes+bytes, t
	default:
		if r.fits() {
			l.spans = append(l.spans, span{name, a, bytes, t - l.clock})
		}
		l.clock = t
	}
}

// waited says that a processor may have waited until now: if so, it continues at the kernel's time.
// The reason is known later.
func (r *Recorder) waited(p *core.Port) { r.ProcessorUntil(p, r.kernel.Now(), "", model.Waiting, 0) }

// ProcessorDelayed implements core.Probe.
func (r *Recorder) ProcessorDelayed(p *core.Port, x any, at, long unit.Time, name string, a model.Activity) {
	l, into := &r.lanes[p.ID], anywhere
	if x != nil {
		if i, ok := r.under[x]; ok {
			into = r.flights[i].sent
		}
	} else if l.clock <= at { // it waits
		r.ProcessorUntil(p, at, "", model.Waiting, 0)
		r.ProcessorUntil(p, at+long, name, a, 0)
		return
	}
	if long > 0 {
		if r.fits() {
			l.delays = append(l.delays, delay{span{name, a, 0, long}, into, at})
		}
		l.totals[a] += long
		l.clock += long
	}
}

// StoreContinues implements core.Probe. Where spans are recorded the rank waits for the end of its
// access, so that they are in order.
func (r *Recorder) StoreContinues(p *core.Port, at, long unit.Time, name string, a model.Activity, bytes int) {
	l := &r.lanes[p.ID]
	if r.spans() {
		r.ProcessorUntil(p, at+long, name, a, bytes)
		return
	}
	l.totals[a] += long
	l.clock += long
}

// spans reports whether spans are recorded, and not only how long they are in all.
func (r *Recorder) spans() bool { return r.Limit >= 0 }

// Enter says which call of the library a rank's program makes; "" ends the last. It is for
// mpi.Options.
//
// A call lasts until the next, or until the program computes: nothing else of a program takes time.
// If the rank communicates after that, it was the call that computed.
func (r *Recorder) Enter(rank int, name string) {
	l := &r.lanes[rank]
	l.leave()
	l.left = false
	if name == "" {
		return
	}
	r.called[name]++
	if r.fits() {
		l.calls = append(l.calls, call{name, len(l.spans), 0})
		l.inside = true
	}
}

// Work returns what the software of a rank has charged to its processor so far, and how long its
// loops that read the clock have waited. Unlike a reading of the clock this takes no time, and what
// the network delays the processor by is not in it.
func (r *Recorder) Work(rank int) unit.Time { return r.lanes[rank].worked }

// leave ends the call that the program is in.
func (l *lane) leave() {
	if l.inside {
		l.calls[len(l.calls)-1].to = len(l.spans)
		l.inside, l.left = false, true
	}
}

// back says that the rank communicates, so that it has not left its call. Handlers that run while
// the program computes say nothing.
func (l *lane) back() {
	if l.left && !l.computing {
		l.inside, l.left = true, false
	}
}

// fly records that x is in flight, starting with the next activity of a rank.
func (r *Recorder) fly(x any, rank int32, f flight, head *device.Head) {
	l := &r.lanes[rank]
	l.start = len(l.spans)
	delete(r.under, x) // packets are used again
	if !r.fits() {
		return
	}
	f.Name, f.Detail = "packet", ""
	if r.Tell != nil {
		f.Name, f.Detail = r.Tell(*head)
	}
	f.by, f.sent, f.taken, f.Arrive = rank, len(l.spans), -1, -1
	r.under[x] = len(r.flights)
	r.flights = append(r.flights, f)
}

// PacketSent implements core.Probe.
func (r *Recorder) PacketSent(p *core.Port, pk *core.Packet, rest string) {
	r.lanes[p.ID].rest = rest
	r.fly(pk, p.ID, flight{of: pk.Dst, Flight: model.Flight{From: int(p.ID), To: int(pk.Dst), Bytes: len(pk.Data), Depart: p.Clock}}, &pk.Head)
}

// AccessStarted implements core.Probe.
func (r *Recorder) AccessStarted(p *core.Port, x *core.RemoteAccess) {
	if !r.spans() {
		r.omitted++
		return
	}
	f := flight{of: x.Src, Flight: model.Flight{From: int(x.Src), To: int(x.Dst), Bytes: len(x.Data), Hardware: true}}
	if x.IsGet {
		f.From, f.To = f.To, f.From
	}
	r.fly(x, p.ID, f, &x.Completion)
}

// Departs implements core.Probe.
func (r *Recorder) Departs(x any, t unit.Time) {
	if i, ok := r.under[x]; ok {
		r.flights[i].Depart = t
	}
}

// Arrives implements core.Probe.
func (r *Recorder) Arrives(x any, t unit.Time) {
	if i, ok := r.under[x]; ok {
		r.flights[i].Arrive = t
	}
}

// ControlSignal implements core.Probe.
func (r *Recorder) ControlSignal(x *core.RemoteAccess, name string, from, to int32, depart, arrive unit.Time) {
	if i, ok := r.under[x]; ok && r.fits() {
		f := flight{by: x.Src, of: x.Src, sent: r.flights[i].sent, taken: -1}
		f.Name, f.From, f.To, f.Depart, f.Arrive, f.Hardware = name, int(from), int(to), depart, arrive, true
		r.flights = append(r.flights, f)
	}
}

// Completed implements core.Probe.
func (r *Recorder) Completed(x *core.RemoteAccess, pk *core.Packet) {
	delete(r.under, pk) // packets are used again
	if i, ok := r.under[x]; ok {
		if pk != nil {
			r.under[pk] = i
		}
		delete(r.under, x)
	}
}

// ServerTaken implements core.Probe.
func (r *Recorder) ServerTaken(s *sim.Server, x any, a model.Activity, from, long unit.Time, bytes int) {
	if long <= 0 || s.TrackID == 0 {
		return
	}
	t := &r.resources[s.TrackID-1]
	t.Totals[a] += long
	t.Bytes += bytes
	if r.fits() {
		t.Spans = append(t.Spans, model.Span{Name: r.nameOf(x), Activity: a, From: from, To: from + long, Bytes: bytes})
	}
}

// nameOf says what takes a part of the network.
func (r *Recorder) nameOf(x any) string {
	switch x := x.(type) {
	case string:
		return x
	case core.StreamPart:
		name := "data"
		if i, ok := r.under[x.First]; ok {
			name = r.flights[i].Name
		}
		return fmt.Sprintf("%s %d-%d", name, x.FromByte, x.ToByte)
	}
	if i, ok := r.under[x]; ok {
		return r.flights[i].Name
	}
	return ""
}

// RequestReport implements core.Probe.
func (r *Recorder) RequestReport(x core.Reporter, arg uint64) { x.Report(arg) }

// took records that a rank took a packet, or that its wait ended without one if that is nil, with
// the spans from an index on.
func (r *Recorder) took(rank int32, pk *core.Packet, from int) {
	name, l := "poll", &r.lanes[rank]
	if from == len(l.spans) && len(r.under) == 0 {
		return // nothing of it is recorded
	}
	if pk != nil {
		name = "packet"
		if r.Tell != nil {
			name, _ = r.Tell(pk.Head)
		}
	}
	l.waitedFor(name, from)
	for i := from; i < len(l.spans); i++ {
		if a := l.spans[i].activity; a == model.Waiting || a == model.Interrupt {
			from = i + 1
		}
	}
	if i, ok := r.under[pk]; ok {
		if r.omitted == 0 {
			r.flights[i].taken = from
		}
		delete(r.under, pk)
	}
}

// waitedFor says what the waits among the spans from a place on were for.
func (l *lane) waitedFor(name string, from int) {
	for i := from; i < len(l.spans); i++ {
		if s := &l.spans[i]; s.activity == model.Waiting && s.name == "" {
			s.name = name
		}
	}
}
