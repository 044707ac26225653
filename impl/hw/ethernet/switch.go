package ethernet

import (
	"fmt"

	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/impl/hw/sim"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// switchedEthernet is stations that are linked to switches, with uplinks between switches. Switches
// store and forward: a switch forwards a frame one latency after the whole frame has arrived.
// Frames that wait for a link occupy the buffer of its switch. A frame that finds the buffer full
// is lost.
type switchedEthernet struct {
	*model.Ethernet
	job        *core.Job
	transport  frameUser
	statistics *Statistics
	namePrefix string
	links      []link // of stations
	faults     core.Noise
	// Lines to and from the first switch, by switch. The first one has none.
	uplinks, downlinks []line
	waitingBytes       []int // waiting bytes by switch
}

// line is one direction of a full-duplex link.
type line struct {
	ethernet      *switchedEthernet
	rate          core.CachedRate
	interframeGap unit.Time
	maxWaiting    int  // limit on waiting bytes; 0: none
	switchWaiting *int // bytes that wait in its switch; nil: unlimited
	waitingBytes  int  // bytes that wait for this line
	queue         []*frame
	frameStart    unit.Time // when the first frame of the queue started
	lastFrame     *frame    // the last frame that has left
	name          string
	server        sim.Server // identifies it to the probe
	forward       func(f *frame)
}

// link connects a station: by two lines, or by a medium that the station shares with its switch.
type link struct {
	ethernet             *switchedEthernet
	toSwitch, fromSwitch line // to the switch, from it
	shared               *medium
	waitingBytes         int // bytes that wait in the switch for the medium
}

// Stations on the medium of a shared link.
const (
	stationEnd = iota
	switchEnd
)

func newSwitchedEthernet(m *model.Ethernet, j *core.Job, e core.AttachedRanks, up frameUser, count *Statistics) *switchedEthernet {
	w := m.Switches
	s := &switchedEthernet{Ethernet: m, job: j, transport: up, statistics: count, namePrefix: e.NamePrefix, links: make([]link, e.InterfaceCount), faults: core.NewNoise(j.Seed^stationSeed, -1, 0)}
	s.waitingBytes = make([]int, w.SwitchOf(e.InterfaceCount-1)+1)
	for i := range s.links {
		l := &s.links[i]
		l.ethernet = s
		if w.IsFullDuplex {
			l.toSwitch = s.newLine(m.Rate, 0, fmt.Sprintf("station %d out", i), s.receiveAtSwitch)
			l.fromSwitch = s.newSwitchLine(m.Rate, w.SwitchOf(i), fmt.Sprintf("station %d in", i), s.transport.frameArrived)
			continue
		}
		l.shared = newMedium(m, &j.Kernel, 2, j.Seed+uint64(i)<<32, j.Probe)
		l.shared.transport, l.shared.statistics, l.shared.namePrefix = l, count, fmt.Sprintf("%slink %d ", e.NamePrefix, i)
	}
	for i := range w.SwitchOf(e.InterfaceCount-1) + 1 {
		s.uplinks = append(s.uplinks, s.newSwitchLine(w.Uplink, i, fmt.Sprintf("uplink of switch %d up", i), s.receiveAtSwitch))
		s.downlinks = append(s.downlinks, s.newSwitchLine(w.Uplink, 0, fmt.Sprintf("uplink of switch %d down", i), s.receiveAtSwitch))
	}
	return s
}

func (s *switchedEthernet) newLine(rate unit.Rate, room int, name string, forward func(*frame)) line {
	return line{ethernet: s, rate: core.CachedRate{Rate: rate}, interframeGap: rate.Time(s.InterframeGapBytes), maxWaiting: room, name: name, forward: forward}
}

// newSwitchLine returns a line from a switch. It shares the switch's memory with other lines.
func (s *switchedEthernet) newSwitchLine(rate unit.Rate, from int, name string, forward func(*frame)) line {
	l := s.newLine(rate, s.Switches.LinkBufferBytes, name, forward)
	if s.Switches.SharedBufferBytes > 0 {
		l.switchWaiting = &s.waitingBytes[from]
	}
	return l
}

// frameBytes returns the bytes of a frame on a link.
func (s *switchedEthernet) frameBytes(f *frame) int {
	return s.Preamble + s.Header + max(f.payload, s.MinPayload) + s.FCS
}

// send passes a frame to its station, which queues as many frames as its system allows.
func (s *switchedEthernet) send(f *frame) {
	l := &s.links[f.src]
	f.switchedEthernet, f.switchHops = s, 0
	if l.shared != nil {
		l.shared.sendFrom(stationEnd, f)
		return
	}
	l.toSwitch.send(f)
}

// receiveAtSwitch forwards a frame whose last byte has arrived at a switch. A fault may lose it, or
// delay it by the time of some other frames.
func (s *switchedEthernet) receiveAtSwitch(f *frame) {
	w := s.Switches
	if s.drawFault(w.LossProbability) {
		s.statistics.FramesLostToFaults++
		s.statistics.LostBytes += f.payload
		s.transport.frameDropped(f)
		return
	}
	t := s.job.Kernel.Now() + w.Latency
	if s.drawFault(w.ReorderProbability) {
		t += s.Rate.Time(s.Preamble+s.Header+s.MTU+s.FCS+s.InterframeGapBytes) * unit.Time(1+s.faults.Uint64()%maxReorderFrames)
	}
	s.job.Kernel.Schedule(t, (*forwardEvent)(f), 0)
}

// maxReorderFrames is the largest delay of a frame by a fault, in frames of maximum length.
const maxReorderFrames = 8

// drawFault reports whether a fault occurs, with a given probability.
func (s *switchedEthernet) drawFault(probability float64) bool {
	return probability > 0 && float64(s.faults.Uint64()>>11)/(1<<53) < probability
}

// forwardEvent is the event that a switch has determined the output of a frame.
type forwardEvent frame

// HandleEvent passes the frame to the next link.
func (x *forwardEvent) HandleEvent(uint64) {
	f := (*frame)(x)
	s := f.switchedEthernet
	f.switchHops++
	if f.dst < 0 {
		s.floodFrame(f)
		return
	}
	from, to := s.Switches.SwitchOf(f.src), s.Switches.SwitchOf(f.dst)
	switch {
	case from != to && f.switchHops == 1 && from != 0:
		s.uplinks[from].send(f)
	case from != to && to != 0 && f.switchHops <= 2 && (from == 0) == (f.switchHops == 1):
		s.downlinks[to].send(f)
	default:
		s.links[f.dst].sendToStation(f)
	}
}

// floodFrame forwards copies of a frame to all stations of a switch except its source, and to the
// other switches. A copy on the way to another switch has that switch as its destination.
func (s *switchedEthernet) floodFrame(f *frame) {
	w := s.Switches
	from := w.SwitchOf(f.src)
	at := from
	if f.switchHops > 1 {
		at = multicastDestination - 1 - f.dst
	}
	if at != 0 && f.switchHops == 1 {
		s.uplinks[at].send(s.copyFrame(f, multicastDestination-1))
	}
	if at == 0 {
		for k := range s.downlinks[1:] {
			if k++; k != from {
				s.downlinks[k].send(s.copyFrame(f, multicastDestination-1-k))
			}
		}
	}
	for i := at * w.StationsPerSwitch; i < min((at+1)*w.StationsPerSwitch, len(s.links)); i++ {
		if i != f.src {
			s.links[i].sendToStation(s.copyFrame(f, i))
		}
	}
	s.transport.frameDropped(f)
}

// copyFrame returns a copy of a multicast frame for a destination.
func (s *switchedEthernet) copyFrame(f *frame, dst int) *frame {
	c := s.transport.newFrame()
	c.switchedEthernet, c.src, c.dst, c.payload, c.switchHops, c.datagram = s, f.src, dst, f.payload, f.switchHops, f.datagram
	c.datagram.references++
	return c
}

// sendToStation sends a frame from the switch to the station.
func (l *link) sendToStation(f *frame) {
	if l.shared == nil {
		l.fromSwitch.send(f)
		return
	}
	n := l.ethernet.frameBytes(f)
	if l.waitingBytes+n > l.ethernet.Switches.LinkBufferBytes {
		l.ethernet.dropOverflow(f)
		return
	}
	l.waitingBytes += n
	l.shared.sendFrom(switchEnd, f)
}

// frameArrived implements transport for frames on a shared link, at either end.
func (l *link) frameArrived(f *frame) {
	if f.switchHops == 0 {
		l.ethernet.receiveAtSwitch(f)
		return
	}
	l.waitingBytes -= l.ethernet.frameBytes(f)
	l.ethernet.transport.frameArrived(f)
}

// newFrame and the methods below implement transport.
func (l *link) newFrame() *frame { return l.ethernet.transport.newFrame() }

func (l *link) frameDropped(f *frame) {
	if f.switchHops > 0 {
		l.waitingBytes -= l.ethernet.frameBytes(f)
	}
	l.ethernet.transport.frameDropped(f)
}

// dropOverflow drops a frame that has found the buffer full.
func (s *switchedEthernet) dropOverflow(f *frame) {
	s.statistics.FramesOverflowed++
	s.statistics.LostBytes += f.payload
	s.transport.frameDropped(f)
}

// send transmits a frame over the line, after those that wait for it.
func (l *line) send(f *frame) {
	n := l.ethernet.frameBytes(f)
	if l.maxWaiting > 0 && l.waitingBytes+n > l.maxWaiting || l.switchWaiting != nil && *l.switchWaiting+n > l.ethernet.Switches.SharedBufferBytes {
		l.ethernet.dropOverflow(f)
		return
	}
	l.waitingBytes += n
	if l.switchWaiting != nil {
		*l.switchWaiting += n
	}
	if l.queue = append(l.queue, f); len(l.queue) == 1 {
		l.startFrame()
	}
}

// startFrame starts to send the first frame of the queue. It arrives when its last byte does.
func (l *line) startFrame() {
	k := &l.ethernet.job.Kernel
	l.frameStart = max(k.Now(), l.server.FreeAt())
	long := l.rate.Time(l.ethernet.frameBytes(l.queue[0]))
	l.server.Reserve(l.frameStart, long+l.interframeGap)
	k.Schedule(l.frameStart+long, l, 0)
}

// HandleEvent ends the transmission of a frame.
func (l *line) HandleEvent(uint64) {
	f := l.queue[0]
	l.queue = l.queue[:copy(l.queue, l.queue[1:])]
	l.waitingBytes -= l.ethernet.frameBytes(f)
	if l.switchWaiting != nil {
		*l.switchWaiting -= l.ethernet.frameBytes(f)
	}
	l.ethernet.statistics.FramesSent++
	l.ethernet.statistics.PayloadBytes += f.payload
	f.line, l.lastFrame = l, f
	l.ethernet.job.Probe.ReportIfObserved((*lineReport)(l), 0)
	l.ethernet.job.Kernel.Schedule(l.ethernet.job.Kernel.Now()+l.ethernet.Propagation, (*lineEndEvent)(f), 0)
	if len(l.queue) > 0 {
		l.startFrame()
	}
}

// lineEndEvent is the event that a frame has reached the end of a line.
type lineEndEvent frame

// HandleEvent forwards the frame.
func (x *lineEndEvent) HandleEvent(uint64) {
	f := (*frame)(x)
	f.line.forward(f)
}
