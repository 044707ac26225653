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
	kernel        *sim.Kernel
	transport     transport
	interframeGap unit.Time // of silence between frames
	preambleTime  unit.Time // a preamble, which a station sends to its end
	jamTime       unit.Time
	frameRate     core.CachedRate

	stations        []station
	sendingStations int            // stations that send
	burstStart      unit.Time      // when the first of them began
	isCollision     bool           // this burst is a collision
	lastEnd         signalEndEvent // the latest end of a station's signal
	lastEndOfOther  signalEndEvent // the latest end of another's
	statistics      *Statistics
	probe           core.Probe
	track           sim.Server // names it to the probe
	namePrefix      string     // of the names of its parts
}

// carrier carries frames from station to station.
type carrier interface {
	send(f *frame)
	core.ProbeReporter // names its parts
}

// transport is the user of a carrier.
type transport interface {
	newFrame() *frame
	frameArrived(f *frame) // all of it, at its destination
	frameDropped(f *frame) // on the way: after too many collisions, for want of room, or by a fault
}

// framePool are those that a transport may use again.
type framePool []*frame

func (x *framePool) newFrame() *frame {
	last := len(*x) - 1
	if last < 0 {
		return new(frame)
	}
	f := (*x)[last]
	*x = (*x)[:last]
	return f
}

func (x *framePool) releaseFrame(f *frame) { *x = append(*x, f) }

// Statistics is what was on an Ethernet in a run.
type Statistics struct {
	BusyTime           unit.Time // some station sent
	FramesSent         int       // that were sent whole
	PayloadBytes       int       // bytes of datagrams in them, without padding
	Collisions         int       // times at which stations sent at once
	FramesAbandoned    int       // frames that were given up after too many collisions
	FramesOverflowed   int       // frames for which a switch had no room
	FramesLostToFaults int       // frames that a fault of a switch lost
	LostBytes          int       // bytes of datagrams in those that were dropped, overflowed or faulty

	TCPSegments           int // that TCP gave to the stations, with data or without
	TCPBytesSent          int // bytes of packets that it sent for the first time
	TCPBytesRetransmitted int // bytes that it sent again
	TCPTimeouts           int // times at which it did as nothing was acknowledged for long
	FastRetransmits       int // segments that it resent before a timeout, if it has a congestion window
	TCPBytesReceived      int // bytes that segments brought and that were not there yet
	MaxReceiveBufferBytes int // most bytes that a receive buffer held

	UDPDatagramsReceived int // that came to sockets
	UDPDatagramsDropped  int // of them those for which a socket had no room
}

// frame is a frame with what TCP, UDP or MBCF says in it.
type frame struct {
	medium           *medium           // that has it,
	switchedEthernet *switchedEthernet // or switches
	line             *line             // and line
	src, dst         int
	payload          int // bytes of the datagram
	switchHops       int // of its way through switches
	segment          segment
	mbcf             packet
	datagram         *datagram // nil: it is TCP's or MBCF's
}

// HandleEvent lets the frame arrive.
func (f *frame) HandleEvent(uint64) { f.medium.transport.frameArrived(f) }

// station is an interface to the medium. It sends its frames in their order.
type station struct {
	*medium
	index       int
	queue       []*frame
	state       stationState
	collisions  int // collisions of the first frame
	sendStart   unit.Time
	sendEnd     unit.Time
	isColliding bool   // what it sends collides
	eventSerial uint64 // of its events, which are void when it has changed
	random      core.Noise
	track       sim.Server // names it to the probe
}

// stationState is what a station does with the first frame of its queue.
type stationState uint8

const (
	idle      stationState = iota // there is none
	pending                       // it will try at a time that is known
	deferring                     // it hears others and waits
	sending
)

// signalEndEvent is when a station's signal ended.
type signalEndEvent struct {
	at      unit.Time
	station int
}

// stationSeed keeps the random numbers of stations from those of processors' noise.
const stationSeed = 0x6574686572

func newMedium(m *model.Ethernet, kernel *sim.Kernel, stations int, seed uint64, probe core.Probe) *medium {
	e := &medium{Ethernet: m, kernel: kernel, interframeGap: m.Rate.Time(m.InterframeGapBytes), preambleTime: m.Rate.Time(m.Preamble), jamTime: m.Rate.Time(m.JamBytes),
		frameRate: core.CachedRate{Rate: m.Rate}, stations: make([]station, stations), statistics: new(Statistics), probe: probe}
	e.lastEnd, e.lastEndOfOther = signalEndEvent{-e.interframeGap - m.Propagation, -1}, signalEndEvent{-e.interframeGap - m.Propagation, -1}
	for i := range e.stations {
		e.stations[i] = station{medium: e, index: i, random: core.NewNoise(seed^stationSeed, i, 0)}
	}
	return e
}

// send gives a frame to its station.
func (e *medium) send(f *frame) { e.sendFrom(f.src, f) }

// sendFrom gives a frame to a station.
func (e *medium) sendFrom(station int, f *frame) {
	f.medium = e
	s := &e.stations[station]
	s.queue = append(s.queue, f)
	if s.state == idle {
		s.sendOrDefer()
	}
}

// burstSilenceStart returns since when a station hears nothing of the bursts that have ended. It is
// the station itself that it hears first.
func (s *station) burstSilenceStart() unit.Time {
	if s.lastEnd.station == s.index {
		return max(s.lastEnd.at, s.lastEndOfOther.at+s.Propagation)
	}
	return s.lastEnd.at + s.Propagation
}

// sendOrDefer begins to send if the station may: when it has heard nothing for a gap. In the last
// third of the gap it does not listen any more, so that stations that wait for the same silence are
// equal (IEEE 802.3, 4.2.3.2.2).
func (s *station) sendOrDefer() {
	now, free := s.kernel.Now(), s.burstSilenceStart()+s.interframeGap
	if free > now {
		s.retryAt(free)
		return
	}
	heard := s.burstStart + s.Propagation
	if free == now {
		heard += s.interframeGap / 3
	}
	if s.sendingStations > 0 && now >= heard {
		s.state = deferring
		return
	}
	s.startFrame()
}

// retryAt lets the station try at a time.
func (s *station) retryAt(at unit.Time) {
	s.state = pending
	s.eventSerial++
	s.kernel.Schedule(at, s, s.eventSerial)
}

// HandleEvent is the station's next event: to try, or the end of what it sends.
func (s *station) HandleEvent(use uint64) {
	switch {
	case use != s.eventSerial:
	case s.state == sending:
		s.endSignal()
	default:
		s.sendOrDefer()
	}
}

// startFrame lets the station send its first frame. Stations that send already do not hear of it
// yet, nor it of them: all collide.
func (s *station) startFrame() {
	now := s.kernel.Now()
	if s.medium.sendingStations == 0 {
		s.burstStart, s.medium.isCollision = now, false
	}
	s.state, s.sendStart, s.isColliding = sending, now, false
	f := s.queue[0]
	s.sendUntil(now + s.frameRate.Time(s.Preamble+s.Header+max(f.payload, s.MinPayload)+s.FCS))
	if s.medium.sendingStations++; s.medium.sendingStations == 1 {
		return
	}
	if !s.medium.isCollision {
		s.medium.isCollision = true
		s.statistics.Collisions++
	}
	s.detectCollision(max(now, s.burstStart+s.Propagation))
	for i := range s.stations {
		if o := &s.stations[i]; o != s && o.state == sending && !o.isColliding {
			o.detectCollision(now + s.Propagation)
		}
	}
}

// sendUntil lets the station send until a time.
func (s *station) sendUntil(t unit.Time) {
	s.sendEnd = t
	s.eventSerial++
	s.kernel.Schedule(t, s, s.eventSerial)
}

// detectCollision lets the station hear a collision at a time: it sends its preamble to the end,
// then the jam.
func (s *station) detectCollision(t unit.Time) {
	s.isColliding = true
	if t = max(t, s.sendStart+s.preambleTime) + s.jamTime; t < s.sendEnd {
		s.sendUntil(t)
	}
}

// endSignal is the end of what the station sends.
func (s *station) endSignal() {
	e, now := s.medium, s.kernel.Now()
	if e.lastEnd.station != s.index {
		e.lastEndOfOther = e.lastEnd
	}
	e.lastEnd = signalEndEvent{now, s.index}
	s.state = idle
	e.probe.ReportIfObserved((*stationReport)(s), uint64(e.sendingStations))
	if e.sendingStations--; e.sendingStations == 0 {
		e.statistics.BusyTime += now - e.burstStart
		e.resumeDeferring()
	}
	if s.isColliding {
		s.backOff(now)
	} else {
		s.frameSent(now)
	}
	if s.state == idle && len(s.queue) > 0 {
		s.sendOrDefer()
	}
}

// dequeueFrame takes the first frame from the queue. There are a few: what sockets may have under
// way.
func (s *station) dequeueFrame() *frame {
	f := s.queue[0]
	s.queue = s.queue[:copy(s.queue, s.queue[1:])]
	return f
}

// frameSent lets a frame arrive.
func (s *station) frameSent(now unit.Time) {
	s.collisions = 0
	f := s.dequeueFrame()
	s.statistics.FramesSent++
	s.statistics.PayloadBytes += f.payload
	s.kernel.Schedule(now+s.Propagation, f, 0)
}

// backOff lets the station wait for a while that is drawn from a range that doubles with each
// collision, or give up.
func (s *station) backOff(now unit.Time) {
	if s.collisions++; s.collisions < s.MaxCollisionsOfFrame {
		slots := s.random.Uint64() & (1<<min(s.collisions, s.MaxBackoffDoublings) - 1)
		s.retryAt(now + s.BackoffSlot*unit.Time(slots))
		s.probe.ServerOccupied(&s.track, "back-off", model.BackoffActivity, now, s.BackoffSlot*unit.Time(slots), 0)
		return
	}
	s.collisions = 0
	f := s.dequeueFrame()
	s.statistics.FramesAbandoned++
	s.statistics.LostBytes += f.payload
	s.transport.frameDropped(f)
}

// resumeDeferring lets stations that wait for silence try again, when they hear it.
func (e *medium) resumeDeferring() {
	for i := range e.stations {
		if s := &e.stations[i]; s.state == deferring {
			s.retryAt(s.burstSilenceStart() + s.interframeGap)
		}
	}
}
