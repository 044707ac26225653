package tcp

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model/unit"
)

// datagrams is the port of a rank that also sends datagrams, by UDP and IP multicast
// (Config.Datagrams). A rank has one socket for unicast and one for its groups, whose port number
// is the same at all ranks. Datagrams are received when the rank looks for events. They are lost if
// its sockets or its queue are full.
type datagrams struct {
	*port
	sockets sockets
	job     uint64 // a random number of the job, at the beginning of each datagram
	places  []address
	port16  uint16 // port number of groups
	limit   int

	joined map[uint32]bool
	uses   map[[4]byte]int // number of joined groups by address

	events   uint64
	arrived  []datagram // the queue of received datagrams
	last     datagram   // lent to the rank
	spare    []datagram
	packet   device.Packet
	out      []byte
	loss     *rand.Rand // nil: no datagram is dropped on purpose
	lossRate float64
}

// address is the address of a rank's unicast socket.
type address struct {
	IP   [4]byte
	Port uint16
}

// datagram is a received datagram with its header.
type datagram struct {
	bytes []byte
	n     int
}

// The header of a datagram: the number of the job, the sender, whether it is for a group, and the
// group.
const datagramHead = 8 + 4 + 4 + 4

// Limits of datagrams. Linux lets a socket be a member of 20 groups (igmp_max_memberships), as did
// the network interfaces of CC-MPI's machine.
const (
	mostGroups   = 20
	nearLimit    = 8 << 10 // bytes, by the loopback interface
	farLimit     = 1400    // in one frame of an Ethernet
	mostArrived  = 256     // length of the queue
	socketBuffer = 1 << 20 // bytes, less if the kernel allows less
)

// Datagram implements device.Port, as does Watch.
func (d *datagrams) Datagram() device.Datagram { return datagramCalls{d} }

// Watch implements device.Port.
func (d *datagrams) Watch() device.Watch { return events{d} }

// events implements device.Watch.
type events struct{ *datagrams }

// Events receives what has arrived.
func (e events) Events() uint64 {
	e.Leave()
	if e.look() {
		e.events++
	} else {
		e.Idle()
	}
	return e.datagrams.events
}

// Load panics: there is no remote memory.
func (e events) Load(device.Key, int) uint64 {
	panic("tcp: a word that is not exposed: there is no remote memory")
}

// look receives packets and datagrams, and reports whether any had arrived.
func (d *datagrams) look() bool {
	before := d.setBy
	d.drain()
	return d.receive() || d.setBy != before
}

// Wait waits for events. A rank that waits without a deadline reports that it is blocked, as one
// that waits for a packet does, and withdraws the report if a datagram arrives.
func (e events) Wait(seen uint64, deadline unit.Time) bool {
	d := e.datagrams
	reported := false
	began := time.Duration(0)
	for w := (backoff{reported: true}); ; {
		d.Leave()
		before := d.setBy
		d.drain()
		datagrams := d.receive()
		if datagrams || d.setBy != before {
			d.events++
		}
		if d.events > seen {
			if reported && datagrams {
				d.goesOn()
			}
			return true
		}
		now := d.Now()
		if now >= deadline {
			return false
		}
		limit := checkTime
		if deadline != device.Forever {
			limit = min(limit, time.Duration((deadline-now)/unit.Nanosecond))
		} else if !reported {
			if clock := time.Duration(host.Now()); began == 0 {
				began = clock
			} else if clock-began > longWait {
				reported = true
				d.report(waits, d.links[0])
			}
			limit = longWait
		}
		if d.Blocks {
			w.clock(d.port)
			own, groups := d.Size()+1, d.Size()+2
			d.sleeper.add(own, d.sockets.own)
			d.sleeper.add(groups, d.sockets.groups)
			d.sleeper.sleep(max(limit, time.Microsecond))
			d.sleeper.remove(own) // in other waits they are not read
			d.sleeper.remove(groups)
		} else {
			w.rest(d.port)
		}
	}
}

// goesOn withdraws the report that this rank is blocked.
func (d *datagrams) goesOn() {
	d.active = true
	d.report(waits, d.links[0])
	d.active = false
}

// receive receives datagrams into the queue, and reports whether any had arrived.
func (d *datagrams) receive() bool {
	came := false
	for _, fd := range []int{d.sockets.own, d.sockets.groups} {
		for {
			x := d.buffer()
			n, e := receive(fd, x.bytes)
			if e != 0 {
				d.spare = append(d.spare, x)
				break // EAGAIN, or an ICMP error because a rank has ended
			}
			if x.n = n; !d.wanted(x.bytes[:n]) || len(d.arrived) >= mostArrived || d.loss != nil && d.loss.Float64() < d.lossRate {
				d.spare = append(d.spare, x)
				continue
			}
			d.arrived = append(d.arrived, x)
			came = true
		}
	}
	return came
}

func (d *datagrams) buffer() datagram {
	if n := len(d.spare); n > 0 {
		x := d.spare[n-1]
		d.spare = d.spare[:n-1]
		return x
	}
	return datagram{bytes: make([]byte, datagramHead+d.limit)}
}

// wanted reports whether a datagram is of this job and for this rank.
func (d *datagrams) wanted(b []byte) bool {
	if len(b) < datagramHead || binary.LittleEndian.Uint64(b) != d.job {
		return false
	}
	src, toGroup, group := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	return src < uint32(d.Size()) && (toGroup == 0 || int(src) != d.Rank() && d.joined[group])
}

// datagramCalls implements device.Datagram.
type datagramCalls struct{ d *datagrams }

func (c datagramCalls) Limit() int  { return c.d.limit }
func (c datagramCalls) Groups() int { return mostGroups }

func (c datagramCalls) Send(dst int, b []byte) {
	c.d.Check(dst)
	c.d.transmit(c.d.places[dst], false, 0, b)
}

func (c datagramCalls) Multicast(group uint32, b []byte) {
	c.d.transmit(address{groupAddress(group), c.d.port16}, true, group, b)
}

// transmit sends a datagram. It is lost if the kernel has no room for it.
func (d *datagrams) transmit(to address, many bool, group uint32, b []byte) {
	d.Leave()
	if len(b) > d.limit {
		panic(fmt.Sprintf("tcp: datagram of %d bytes, longer than the limit of %d", len(b), d.limit))
	}
	binary.LittleEndian.PutUint64(d.out, d.job)
	binary.LittleEndian.PutUint32(d.out[8:], uint32(d.Rank()))
	binary.LittleEndian.PutUint32(d.out[12:], 0)
	if many {
		binary.LittleEndian.PutUint32(d.out[12:], 1)
	}
	binary.LittleEndian.PutUint32(d.out[16:], group)
	d.sockets.send(to, d.out[:datagramHead+copy(d.out[datagramHead:], b)])
}

// groupAddress returns the address of a group, in the organization-local scope (RFC 2365). Groups
// may share an address, so a datagram names its group.
func groupAddress(group uint32) [4]byte {
	return [4]byte{239, byte(group>>16) ^ byte(group>>24), byte(group >> 8), byte(group)}
}

func (c datagramCalls) Join(group uint32) bool {
	d := c.d
	a := groupAddress(group)
	switch {
	case d.joined[group]:
		return true
	case len(d.joined) == mostGroups:
		return false
	case d.uses[a] == 0 && !d.sockets.join(a, d.places[d.Rank()].IP):
		return false
	}
	d.joined[group] = true
	d.uses[a]++
	return true
}

func (c datagramCalls) Leave(group uint32) {
	d := c.d
	if !d.joined[group] {
		return
	}
	delete(d.joined, group)
	a := groupAddress(group)
	if d.uses[a]--; d.uses[a] == 0 {
		d.sockets.leave(a, d.places[d.Rank()].IP)
	}
	kept := d.arrived[:0]
	for _, x := range d.arrived {
		if d.wanted(x.bytes[:x.n]) {
			kept = append(kept, x)
		} else {
			d.spare = append(d.spare, x)
		}
	}
	d.arrived = kept
}

func (c datagramCalls) Recv(deadline unit.Time) *device.Packet {
	d := c.d
	if d.last.bytes != nil {
		d.spare = append(d.spare, d.last)
		d.last = datagram{}
	}
	for {
		d.Leave()
		if len(d.arrived) == 0 {
			seen := d.events
			if d.receive() {
				d.events++
			} else if d.Now() >= deadline {
				d.Idle()
				return nil
			} else {
				events{d}.Wait(seen, deadline)
			}
			continue
		}
		d.last = d.arrived[0]
		d.arrived = append(d.arrived[:0], d.arrived[1:]...)
		b := d.last.bytes[:d.last.n]
		d.packet = device.Packet{Src: int(binary.LittleEndian.Uint32(b[8:])), Data: b[datagramHead:]}
		return &d.packet
	}
}

// meeting is what a rank tells all others: the address of its unicast socket, and from rank 0 the
// port number of groups and the number of the job.
type meeting struct {
	Place  address
	Groups uint16
	Job    uint64
}

// meet creates the sockets of a rank and exchanges their addresses over the TCP connections.
func (d *datagrams) meet(w *wireup) error {
	var err error
	ip := net.IPv4(127, 0, 0, 1)
	for _, c := range w.conns {
		if c != nil {
			ip = c.LocalAddr().(*net.TCPAddr).IP
		}
	}
	mine := meeting{Job: rand.Uint64()}
	four := ip.To4()
	if four == nil {
		return fmt.Errorf("multicast by %v: it needs IPv4", ip)
	}
	mine.Place.IP = [4]byte(four)
	d.limit = farLimit
	if ip.IsLoopback() {
		d.limit = nearLimit
	}
	d.out = make([]byte, datagramHead+d.limit)
	if d.sockets, mine.Place.Port, err = newSockets(mine.Place.IP, ip.IsLoopback()); err != nil {
		return fmt.Errorf("datagrams: %w", err)
	}
	all := make([]meeting, len(w.conns))
	if w.rank == 0 {
		if mine.Groups, err = d.sockets.openGroups(0); err != nil {
			return fmt.Errorf("multicast: %w", err)
		}
		all[0] = mine
		if err := w.all(func(r int) error { return w.read(r, &all[r], replyTimeout) }); err != nil {
			return err
		}
		if err := w.all(func(r int) error { return w.write(r, all) }); err != nil {
			return err
		}
	} else {
		if err := w.write(0, mine); err != nil {
			return err
		}
		if err := w.read(0, &all, joinTimeout); err != nil {
			return err
		}
		if len(all) != len(w.conns) {
			return fmt.Errorf("rank 0 has a job of %d ranks, and this one is of %d", len(all), len(w.conns))
		}
		if _, err := d.sockets.openGroups(all[0].Groups); err != nil {
			return fmt.Errorf("multicast: %w", err)
		}
	}
	d.job, d.port16 = all[0].Job, all[0].Groups
	for _, m := range all {
		d.places = append(d.places, m.Place)
	}
	return nil
}
