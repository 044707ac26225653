package hw

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Recorder writes down what a world does. It changes nothing: what is recorded happens at the same times as without. One that has been
// given to a world holds its last run, when that has ended.
//
// Processors run ahead of the kernel, and the network may hold one up at a time that it believed to have passed. So spans are kept
// as durations, one behind the other, and what was pushed in between them later is added when the run is read.
type Recorder struct {
	// Tell names a packet by its head, and says what else there is to say of it; nil: packet.
	Tell  func(head device.Head) (name, detail string)
	Limit int // how much is written down before the run is ended with an error; 0: a quarter of a million things

	kernel    *sim.Kernel
	room      int // for so many things more
	lanes     []lane
	resources []resource
	servers   map[*sim.Server]int // to resources
	flights   []flight
	under     map[any]int // packets and accesses under way, to flights
	carried   string      // what moves through the network now
}

const defaultLimit = 250_000

// lane is what a processor did.
type lane struct {
	*Recorder
	clock   unit.Time // the end of the last span, when all that is known is counted
	spans   []span
	pushed  []push
	leaving []int // of packets that leave, in order: the spans in which the processor stores them
	calls   []call
	inside  bool // the last call has not ended

	storing, taking string // by which names the processor brings packets onto this network, and takes them off
	moved, mover    string // what it moves itself, and by which name
	start, chunk    int    // from which span on, and how many bytes of it now

	frames []unit.Time // when frames came that have not been taken in
	frame  unit.Time   // when that came that was taken in last
}

type span struct {
	name     string
	activity model.Activity
	bytes    int
	long     unit.Time
}

// push is a time that was pushed into a lane: into a span, or into whichever there is then, at a time.
type push struct {
	span
	into int
	at   unit.Time
}

// anywhere is a push's place where its time decides.
const anywhere = -1

// call is a call of the library with the places among the spans where it begins and ends.
type call struct {
	name     string
	from, to int
}

// flight has the span that sent it and the one that took it as places in the lanes of two ranks. A remote access has but one rank.
type flight struct {
	model.Flight
	by, of      int32
	sent, taken int  // negative: never
	gone        bool // its first byte has departed
}

type resource struct {
	name  string
	spans []model.Span
}

// begin starts the recording anew.
func (r *Recorder) begin(j *job) {
	*r = Recorder{Tell: r.Tell, Limit: r.Limit, kernel: &j.kernel, room: r.Limit, servers: map[*sim.Server]int{}, under: map[any]int{}}
	if r.room == 0 {
		r.room = defaultLimit
	}
	r.lanes = make([]lane, len(j.ports))
	for i := range r.lanes {
		r.lanes[i] = lane{Recorder: r, storing: "send", taking: "receive"}
		j.ports[i].lane = &r.lanes[i]
	}
}

// fits reports whether one thing more may be written down. It ends the run where not.
func (r *Recorder) fits() bool {
	if r.room--; r.room < 0 {
		limit := r.Limit
		if limit == 0 {
			limit = defaultLimit
		}
		r.kernel.Fail(fmt.Errorf("the run does more than the %d things that are written down: let it do less, in fewer rounds, with shorter messages or among fewer ranks", limit))
	}
	return r.room >= 0
}

// called says by which names processors bring packets onto the network, and take them off.
func (r *Recorder) called(storing, taking string) {
	for i := range r.lanes {
		r.lanes[i].storing, r.lanes[i].taking = storing, taking
	}
}

// until says what the processor has done until its clock.
func (l *lane) until(clock unit.Time, name string, a model.Activity, bytes int) {
	if clock > l.clock && l.fits() {
		l.spans = append(l.spans, span{name, a, bytes, clock - l.clock})
		l.clock = clock
	}
}

// note says what a port's processor has done until now.
func (p *port) note(name string, a model.Activity) { p.lane.until(p.clock, name, a, 0) }

// waited says that the processor may have waited until now: who has, goes on at the kernel's time. For what is known later.
func (l *lane) waited() { l.until(l.kernel.Now(), "", model.Waiting, 0) }

// Enter says which call of the library a rank's program makes; "" ends the last. It is for mpi.Options.
//
// A call lasts until the next, or until the program computes: nothing else of a program takes time.
func (r *Recorder) Enter(rank int, name string) {
	l := &r.lanes[rank]
	l.leave()
	if name != "" && l.fits() {
		l.calls = append(l.calls, call{name, len(l.spans), 0})
		l.inside = true
	}
}

// leave ends the call that the program is in.
func (l *lane) leave() {
	if l.inside {
		l.calls[len(l.calls)-1].to = len(l.spans)
		l.inside = false
	}
}

// sends says that a packet is sent by what the processor does next.
func (l *lane) sends(p *port, pk *packet) {
	if l.fits() {
		f := flight{by: p.rank, of: pk.dst, sent: len(l.spans), taken: -1}
		f.Name, f.Detail = l.tell(&pk.Head)
		f.From, f.To, f.Bytes, f.Depart, f.Arrive = int(p.rank), int(pk.dst), len(pk.Data), p.clock, -1
		l.under[pk] = len(l.flights)
		l.flights = append(l.flights, f)
	}
}

// stores says likewise, that the network may hold up the processor while it does so, and what the processor has done for it until now.
func (l *lane) stores(p *port, pk *packet, until string) {
	p.note(until, model.Sending)
	l.sends(p, pk)
	l.leaving = append(l.leaving, len(l.spans))
}

// moving says that what the network carries now belongs to a packet or a remote access.
func (r *Recorder) moving(x any) {
	r.carried = ""
	if i, ok := r.under[x]; ok {
		r.carried = r.flights[i].Name
	}
}

// departs and lands say when the first byte of a packet, or of an access's data, enters the network, and when its last is at the other side.
func (r *Recorder) departs(x any, t unit.Time) {
	if i, ok := r.under[x]; ok {
		r.flights[i].Depart = t
	}
}

func (r *Recorder) lands(x any, t unit.Time) {
	if i, ok := r.under[x]; ok {
		r.flights[i].Arrive = t
	}
}

// left says that a part of the oldest packet that leaves has entered the network at a time, how late that was, and whether it was the last.
func (l *lane) left(entered, late unit.Time, last bool) {
	if late > 0 && l.fits() {
		l.pushed = append(l.pushed, push{span{"network", model.Blocked, 0, late}, l.leaving[0], entered - late})
		l.clock += late
	}
	if last {
		l.leaving = l.leaving[1:]
	}
}

// takes says that a rank took a packet, or waited in vain if that is nil, with the spans from a place on.
func (l *lane) takes(pk *packet, from int) {
	name := "poll"
	if pk != nil {
		name, _ = l.tell(&pk.Head)
	}
	l.waitedFor(name, from)
	for i := from; i < len(l.spans); i++ {
		if a := l.spans[i].activity; a == model.Waiting || a == model.Interrupt {
			from = i + 1
		}
	}
	if i, ok := l.under[pk]; ok {
		l.flights[i].taken = from
		delete(l.under, pk)
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

// hold says that a part of the network is taken for a time.
func (r *Recorder) hold(s *sim.Server, from, long unit.Time, bytes int) {
	r.use(s, model.Carrying, from, long, bytes)
}

// use says likewise by what.
func (r *Recorder) use(s *sim.Server, a model.Activity, from, long unit.Time, bytes int) {
	if i, ok := r.servers[s]; ok && long > 0 && r.fits() {
		x := &r.resources[i]
		x.spans = append(x.spans, model.Span{Name: r.carried, Activity: a, From: from, To: from + long, Bytes: bytes})
	}
}

// names gives a name to a part of the network.
func (r *Recorder) names(s *sim.Server, format string, args ...any) {
	r.servers[s] = len(r.resources)
	r.resources = append(r.resources, resource{name: fmt.Sprintf(format, args...)})
}

// starts says that a remote access is started by what the processor does next.
func (l *lane) starts(x *access) {
	if !l.fits() {
		return
	}
	f := flight{by: x.src, of: x.src, sent: len(l.spans), taken: -1}
	f.Name, f.Detail = l.tell(&x.done)
	f.From, f.To, f.Bytes, f.Hardware, f.Arrive = int(x.src), int(x.dst), len(x.b), true, -1
	if x.get {
		f.From, f.To = f.To, f.From
	}
	l.under[x] = len(l.flights)
	l.flights = append(l.flights, f)
}

// counts says that a counter register is taken for a time.
func (r *Recorder) counts(s *sim.Server, from, long unit.Time) {
	r.carried = "counter"
	r.hold(s, from, long, 0)
}

// signals says that the hardware asks for an access's data, or confirms it.
func (r *Recorder) signals(x *access, name string, from, to int32, depart, arrive unit.Time) {
	if i, ok := r.under[x]; ok && r.fits() {
		f := flight{by: x.src, of: x.src, sent: r.flights[i].sent, taken: -1}
		f.Name, f.From, f.To, f.Depart, f.Arrive, f.Hardware = name, int(from), int(to), depart, arrive, true
		r.flights = append(r.flights, f)
	}
}

// finishes says which packet tells of the end of an access.
func (r *Recorder) finishes(x *access, pk *packet) {
	if i, ok := r.under[x]; ok {
		r.under[pk] = i
		delete(r.under, x)
	}
}

// tell says what a head says.
func (r *Recorder) tell(head *device.Head) (name, detail string) {
	if r.Tell == nil {
		return "packet", ""
	}
	return r.Tell(*head)
}

// Recording returns what was written down of the last run.
func (r *Recorder) Recording() *model.Recording {
	out := &model.Recording{Ranks: make([]model.Track, len(r.lanes))}
	places := make([][]unit.Time, len(r.lanes))
	for i := range r.lanes {
		out.Ranks[i], places[i] = r.lanes[i].track()
		out.Ranks[i].Name = fmt.Sprintf("rank %d", i)
	}
	for _, x := range r.resources {
		if len(x.spans) > 0 {
			out.Resources = append(out.Resources, model.Track{Name: x.name, Spans: x.spans})
		}
	}
	for _, f := range r.flights {
		f.By, f.Sent, f.Taken = int(f.by), places[f.by][f.sent], -1
		if f.taken >= 0 {
			f.Taken = max(places[f.of][f.taken], f.Arrive) // the end of a long one comes while it is taken
		}
		out.Flights = append(out.Flights, f.Flight)
	}
	slices.SortStableFunc(out.Flights, func(a, b model.Flight) int { return cmp.Compare(a.Depart, b.Depart) })
	return out
}

// track puts the spans at their times, with what was pushed in, and returns when each begins, and when the last ends.
func (l *lane) track() (t model.Track, places []unit.Time) {
	var now unit.Time
	put := func(s *span, long unit.Time) {
		if long > 0 {
			if s.name == "" {
				s.name = "the end" // of the others: the program has ended
			}
			t.Spans = append(t.Spans, model.Span{Name: s.name, Activity: s.activity, From: now, To: now + long, Bytes: s.bytes})
			now += long
			s.bytes = 0 // of its parts the first has them
		}
	}
	rest := l.pushed
	for i, s := range append(slices.Clone(l.spans), span{}) {
		places = append(places, now)
		long := s.long
		for len(rest) > 0 && (rest[0].into == i || rest[0].into == anywhere && (rest[0].at < now+long || i == len(l.spans))) {
			x := rest[0]
			before := min(max(x.at-now, 0), long)
			put(&s, before)
			put(&x.span, x.long)
			long -= before
			rest = rest[1:]
		}
		put(&s, long)
	}
	for _, c := range l.calls {
		to := c.to
		if l.inside && to == 0 {
			to = len(l.spans)
		}
		t.Calls = append(t.Calls, model.Span{Name: c.name, From: places[c.from], To: places[to]})
	}
	return t, places
}
