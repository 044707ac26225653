package ethernet

import (
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// medium is a medium that stations share: half-duplex, 1-persistent CSMA/CD. It does not know what
// frames carry.
//
// All stations are equally far from each other. A burst of signals is therefore the same for all,
// except that other stations hear its start and its end later by the propagation delay. The medium
// carries either one frame or a collision.
type medium struct {
	*model.Ethernet
	kernel        *sim.Kernel
	transport     frameUser
	interframeGap unit.Time // minimum silence between frames
	preambleTime  unit.Time // a station always completes its preamble
	jamTime       unit.Time
	frameRate     core.CachedRate

	stations        []station
	sendingStations int            // number of stations that are sending
	burstStart      unit.Time      // when the first of them started
	isCollision     bool           // this burst is a collision
	lastEnd         signalEndEvent // the latest end of a signal
	lastEndOfOther  signalEndEvent // the latest end of a signal of another station
	statistics      *Statistics
	probe           core.Probe
	mediumTrack     sim.Server // identifies the medium to the probe
	namePrefix      string     // prefix of the names of its parts
}

// frameCarrier carries frames between stations.
type frameCarrier interface {
	send(f *frame)
	core.ProbeReporter // reports the names of its parts
}

// frameUser is the user of a carrier.
type frameUser interface {
	newFrame() *frame
	frameArrived(f *frame) // the whole frame, at its destination
	frameDropped(f *frame) // lost on the way: after too many collisions, in a full buffer, or by a fault
}

// framePool has unused frames of a transport.
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

// Statistics counts what happened on an Ethernet in a run.
type Statistics struct {
	BusyTime           unit.Time // time in which at least one station sent
	FramesSent         int       // frames sent completely
	PayloadBytes       int       // bytes of their datagrams, without padding
	Collisions         int       // number of collisions
	FramesAbandoned    int       // frames abandoned after too many collisions
	FramesOverflowed   int       // frames dropped in full switch buffers
	FramesLostToFaults int       // frames lost by faults of switches
	LostBytes          int       // bytes of datagrams in all dropped frames

	TCPSegments           int // segments sent, with or without data
	TCPBytesSent          int // bytes sent for the first time
	TCPBytesRetransmitted int // bytes retransmitted
	TCPTimeouts           int // retransmissions after a timeout
	FastRetransmits       int // segments retransmitted before a timeout, with a congestion window
	TCPBytesReceived      int // new bytes received
	MaxReceiveBufferBytes int // maximum bytes in a receive buffer

	UDPDatagramsReceived int // datagrams that arrived at sockets
	UDPDatagramsDropped  int // datagrams dropped for a full socket buffer, a part of these
}

// frame is a frame with the header of TCP, UDP or MBCF.
type frame struct {
	medium           *medium           // carries the frame,
	switchedEthernet *switchedEthernet // or these switches do,
	line             *line             // on this line
	src, dst         int
	payload          int // bytes of the datagram
	switchHops       int // number of switches passed
	segment          segment
	mbcf             packet
	datagram         *datagram // nil: the frame belongs to TCP or MBCF
}

// HandleEvent delivers the frame.
func (f *frame) HandleEvent(uint64) { f.medium.transport.frameArrived(f) }

// station is an interface to the medium. It sends its frames in order.
type station struct {
	*medium
	index        int
	queue        []*frame
	state        stationState
	collisions   int // collisions of the first frame
	sendStart    unit.Time
	sendEnd      unit.Time
	isColliding  bool   // its transmission collides
	eventSerial  uint64 // number of its current event; others are void
	random       core.Noise
	stationTrack sim.Server // identifies it to the probe
}

// stationState is the state of a station with respect to the first frame of its queue.
type stationState uint8

const (
	stationIdle              stationState = iota // no frame
	stationTransmitScheduled                     // a transmission is scheduled
	stationDeferring                             // it hears others and waits for silence
	stationSending
)

// signalEndEvent is the end of a station's signal.
type signalEndEvent struct {
	at      unit.Time
	station int
}

// stationSeed makes the random numbers of stations independent of the noise of processors.
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

// send passes a frame to its station.
func (e *medium) send(f *frame) { e.sendFrom(f.src, f) }

// sendFrom passes a frame to a given station.
func (e *medium) sendFrom(station int, f *frame) {
	f.medium = e
	s := &e.stations[station]
	s.queue = append(s.queue, f)
	if s.state == stationIdle {
		s.sendOrDefer()
	}
}

// burstSilenceStart returns the time since which a station hears nothing of the ended bursts. It
// hears its own signal without propagation delay.
func (s *station) burstSilenceStart() unit.Time {
	if s.lastEnd.station == s.index {
		return max(s.lastEnd.at, s.lastEndOfOther.at+s.Propagation)
	}
	return s.lastEnd.at + s.Propagation
}

// sendOrDefer starts to send if the station has heard nothing for an interframe gap. In the last
// third of the gap it does not listen, so that all stations waiting for the same silence have equal
// chances (IEEE 802.3, 4.2.3.2.2).
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
		s.state = stationDeferring
		return
	}
	s.startFrame()
}

// retryAt schedules the next attempt of the station.
func (s *station) retryAt(at unit.Time) {
	s.state = stationTransmitScheduled
	s.eventSerial++
	s.kernel.Schedule(at, s, s.eventSerial)
}

// HandleEvent handles the station's next event: an attempt, or the end of its transmission.
func (s *station) HandleEvent(use uint64) {
	switch {
	case use != s.eventSerial:
	case s.state == stationSending:
		s.endSignal()
	default:
		s.sendOrDefer()
	}
}

// startFrame starts to send the first frame. Stations that already send have not been heard yet,
// and do not hear this one yet: all collide.
func (s *station) startFrame() {
	now := s.kernel.Now()
	if s.medium.sendingStations == 0 {
		s.burstStart, s.medium.isCollision = now, false
	}
	s.state, s.sendStart, s.isColliding = stationSending, now, false
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
		if o := &s.stations[i]; o != s && o.state == stationSending && !o.isColliding {
			o.detectCollision(now + s.Propagation)
		}
	}
}

// sendUntil schedules the end of the transmission.
func (s *station) sendUntil(t unit.Time) {
	s.sendEnd = t
	s.eventSerial++
	s.kernel.Schedule(t, s, s.eventSerial)
}

// detectCollision makes the station detect a collision at a time: it completes its preamble and
// sends a jam.
func (s *station) detectCollision(t unit.Time) {
	s.isColliding = true
	if t = max(t, s.sendStart+s.preambleTime) + s.jamTime; t < s.sendEnd {
		s.sendUntil(t)
	}
}

// endSignal ends the transmission.
func (s *station) endSignal() {
	e, now := s.medium, s.kernel.Now()
	if e.lastEnd.station != s.index {
		e.lastEndOfOther = e.lastEnd
	}
	e.lastEnd = signalEndEvent{now, s.index}
	s.state = stationIdle
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
	if s.state == stationIdle && len(s.queue) > 0 {
		s.sendOrDefer()
	}
}

// dequeueFrame removes the first frame of the queue. The queue is short: it has what sockets may
// have under way.
func (s *station) dequeueFrame() *frame {
	f := s.queue[0]
	s.queue = s.queue[:copy(s.queue, s.queue[1:])]
	return f
}

// frameSent schedules the arrival of a frame.
func (s *station) frameSent(now unit.Time) {
	s.collisions = 0
	f := s.dequeueFrame()
	s.statistics.FramesSent++
	s.statistics.PayloadBytes += f.payload
	s.kernel.Schedule(now+s.Propagation, f, 0)
}

// backOff waits for a random time from a range that doubles with each collision, or abandons the
// frame.
func (s *station) backOff(now unit.Time) {
	if s.collisions++; s.collisions < s.MaxCollisionsOfFrame {
		slots := s.random.Uint64() & (1<<min(s.collisions, s.MaxBackoffDoublings) - 1)
		s.retryAt(now + s.BackoffSlot*unit.Time(slots))
		s.probe.ServerOccupied(&s.stationTrack, "back-off", model.BackoffActivity, now, s.BackoffSlot*unit.Time(slots), 0)
		return
	}
	s.collisions = 0
	f := s.dequeueFrame()
	s.statistics.FramesAbandoned++
	s.statistics.LostBytes += f.payload
	s.transport.frameDropped(f)
}

// resumeDeferring makes stations that wait for silence try again when they hear it.
func (e *medium) resumeDeferring() {
	for i := range e.stations {
		if s := &e.stations[i]; s.state == stationDeferring {
			s.retryAt(s.burstSilenceStart() + s.interframeGap)
		}
	}
}
