package ethernet

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// medium is one medium that stations share: half-duplex, 1-persistent CSMA/CD. It does not know
// what frames carry.
//
// All stations are equally far from each other, so one burst of signals is the same for all but for
// when it begins and ends: a station hears the others later by the propagation. At any time the
// medium has either one frame or a collision.
type medium struct {
	*model.Ethernet
	kernel *sim.Kernel
	up     transport
	gap    unit.Time // of silence between frames
	begin  unit.Time // a preamble, which a station sends to its end
	jam    unit.Time
	length core.CachedRate

	stations []station
	sending  int       // stations that send
	since    unit.Time // when the first of them began
	crash    bool      // this burst is a collision
	last     ending    // the latest end of a station's signal
	before   ending    // the latest end of another's
	count    *Statistics
	probe    core.Probe
	name     sim.Server // names it to the probe
	prefix   string     // of the names of its parts
}

// carrier carries frames from station to station.
type carrier interface {
	send(f *frame)
	core.Reporter // names its parts
}

// transport is the user of a carrier.
type transport interface {
	newFrame() *frame
	arrived(f *frame) // all of it, at its destination
	dropped(f *frame) // on the way: after too many collisions, for want of room, or by a fault
}

// frames are those that a transport may use again.
type frames []*frame

func (x *frames) newFrame() *frame {
	last := len(*x) - 1
	if last < 0 {
		return new(frame)
	}
	f := (*x)[last]
	*x = (*x)[:last]
	return f
}

func (x *frames) release(f *frame) { *x = append(*x, f) }

// Statistics is what was on an Ethernet in a run.
type Statistics struct {
	Busy       unit.Time // some station sent
	Frames     int       // that were sent whole
	Payload    int       // bytes of datagrams in them, without padding
	Collisions int       // times at which stations sent at once
	Dropped    int       // frames that were given up after too many collisions
	Overflowed int       // frames for which a switch had no room
	Faulty     int       // frames that a fault of a switch lost
	Lost       int       // bytes of datagrams in those that were dropped, overflowed or faulty

	Segments int // that TCP gave to the stations, with data or without
	Stream   int // bytes of packets that it sent for the first time
	Again    int // bytes that it sent again
	Timeouts int // times at which it did as nothing was acknowledged for long
	Fast     int // segments that it sent again at once, where there is a congestion window
	Taken    int // bytes that segments brought and that were not there yet
	Fullest  int // most bytes that a receive buffer held

	Datagrams int // that came to sockets
	Unheard   int // of them those for which a socket had no room
}

// frame is a frame with what TCP, UDP or MBCF says in it.
type frame struct {
	e        *medium   // that has it,
	s        *switched // or switches
	at       *line     // and line
	src, dst int
	payload  int // bytes of the datagram
	hop      int // of its way through switches
	segment  segment
	mbcf     packet
	datagram *datagram // nil: it is TCP's or MBCF's
}

// Act lets the frame arrive.
func (f *frame) Act(uint64) { f.e.up.arrived(f) }

// station is an interface to the medium. It sends its frames in their order.
type station struct {
	*medium
	id    int
	queue []*frame
	state stationState
	tries int // collisions of the first frame
	began unit.Time
	ends  unit.Time
	crash bool   // what it sends collides
	use   uint64 // of its events, which are void when it has changed
	rand  core.Noise
	name  sim.Server // names it to the probe
}

// stationState is what a station does with the first frame of its queue.
type stationState uint8

const (
	silent    stationState = iota // there is none
	pending                       // it will try at a time that is known
	deferring                     // it hears others and waits
	sending
)

// ending is when a station's signal ended.
type ending struct {
	at      unit.Time
	station int
}

// apart keeps the random numbers of stations from those of processors' noise.
const apart = 0x6574686572

func newMedium(m *model.Ethernet, kernel *sim.Kernel, stations int, seed uint64, probe core.Probe) *medium {
	e := &medium{Ethernet: m, kernel: kernel, gap: m.Rate.Time(m.Gap), begin: m.Rate.Time(m.Preamble), jam: m.Rate.Time(m.Jam),
		length: core.CachedRate{Rate: m.Rate}, stations: make([]station, stations), count: new(Statistics), probe: probe}
	e.last, e.before = ending{-e.gap - m.Propagation, -1}, ending{-e.gap - m.Propagation, -1}
	for i := range e.stations {
		e.stations[i] = station{medium: e, id: i, rand: core.NewNoise(seed^apart, i, 0)}
	}
	return e
}

// send gives a frame to its station.
func (e *medium) send(f *frame) { e.sendFrom(f.src, f) }

// sendFrom gives a frame to a station.
func (e *medium) sendFrom(station int, f *frame) {
	f.e = e
	s := &e.stations[station]
	s.queue = append(s.queue, f)
	if s.state == silent {
		s.try()
	}
}

// quiet returns since when a station hears nothing of the bursts that have ended. It is the station
// itself that it hears first.
func (s *station) quiet() unit.Time {
	if s.last.station == s.id {
		return max(s.last.at, s.before.at+s.Propagation)
	}
	return s.last.at + s.Propagation
}

// try begins to send if the station may: when it has heard nothing for a gap. In the last third of
// the gap it does not listen any more, so that stations that wait for the same silence are equal
// (IEEE 802.3, 4.2.3.2.2).
func (s *station) try() {
	now, free := s.kernel.Now(), s.quiet()+s.gap
	if free > now {
		s.plan(free)
		return
	}
	heard := s.since + s.Propagation
	if free == now {
		heard += s.gap / 3
	}
	if s.sending > 0 && now >= heard {
		s.state = deferring
		return
	}
	s.start()
}

// plan lets the station try at a time.
func (s *station) plan(at unit.Time) {
	s.state = pending
	s.use++
	s.kernel.Schedule(at, s, s.use)
}

// Act is the station's next event: to try, or the end of what it sends.
func (s *station) Act(use uint64) {
	switch {
	case use != s.use:
	case s.state == sending:
		s.stop()
	default:
		s.try()
	}
}

// start lets the station send its first frame. Stations that send already do not hear of it yet,
// nor it of them: all collide.
func (s *station) start() {
	now := s.kernel.Now()
	if s.medium.sending == 0 {
		s.since, s.medium.crash = now, false
	}
	s.state, s.began, s.crash = sending, now, false
	f := s.queue[0]
	s.until(now + s.length.Time(s.Preamble+s.Header+max(f.payload, s.MinPayload)+s.FCS))
	if s.medium.sending++; s.medium.sending == 1 {
		return
	}
	if !s.medium.crash {
		s.medium.crash = true
		s.count.Collisions++
	}
	s.hear(max(now, s.since+s.Propagation))
	for i := range s.stations {
		if o := &s.stations[i]; o != s && o.state == sending && !o.crash {
			o.hear(now + s.Propagation)
		}
	}
}

// until lets the station send until a time.
func (s *station) until(t unit.Time) {
	s.ends = t
	s.use++
	s.kernel.Schedule(t, s, s.use)
}

// hear lets the station hear a collision at a time: it sends its preamble to the end, then the jam.
func (s *station) hear(t unit.Time) {
	s.crash = true
	if t = max(t, s.began+s.begin) + s.jam; t < s.ends {
		s.until(t)
	}
}

// stop is the end of what the station sends.
func (s *station) stop() {
	e, now := s.medium, s.kernel.Now()
	if e.last.station != s.id {
		e.before = e.last
	}
	e.last = ending{now, s.id}
	s.state = silent
	e.probe.RequestReport((*signal)(s), uint64(e.sending))
	if e.sending--; e.sending == 0 {
		e.count.Busy += now - e.since
		e.release()
	}
	if s.crash {
		s.backOff(now)
	} else {
		s.sent(now)
	}
	if s.state == silent && len(s.queue) > 0 {
		s.try()
	}
}

// next takes the first frame from the queue. There are a few: what sockets may have under way.
func (s *station) next() *frame {
	f := s.queue[0]
	s.queue = s.queue[:copy(s.queue, s.queue[1:])]
	return f
}

// sent lets a frame arrive.
func (s *station) sent(now unit.Time) {
	s.tries = 0
	f := s.next()
	s.count.Frames++
	s.count.Payload += f.payload
	s.kernel.Schedule(now+s.Propagation, f, 0)
}

// backOff lets the station wait for a while that is drawn from a range that doubles with each
// collision, or give up.
func (s *station) backOff(now unit.Time) {
	if s.tries++; s.tries < s.Attempts {
		slots := s.rand.Uint64() & (1<<min(s.tries, s.Backoff) - 1)
		s.plan(now + s.Slot*unit.Time(slots))
		s.probe.ServerTaken(&s.name, "back-off", model.Silent, now, s.Slot*unit.Time(slots), 0)
		return
	}
	s.tries = 0
	f := s.next()
	s.count.Dropped++
	s.count.Lost += f.payload
	s.up.dropped(f)
}

// release lets stations that wait for silence try again, when they hear it.
func (e *medium) release() {
	for i := range e.stations {
		if s := &e.stations[i]; s.state == deferring {
			s.plan(s.quiet() + s.gap)
		}
	}
}
