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

// datagramPort is the port of a rank that also sends datagrams, by UDP and IP multicast
// (Config.Datagrams). A rank has one socket for unicast and one for its groups, whose port number
// is the same at all ranks. Datagrams are received when the rank polls for events. They are lost if
// its sockets or its queue are full.
type datagramPort struct {
	*port
	sockets   datagramSockets
	jobNumber uint64 // a random number of the job, at the beginning of each datagram
	addresses []udpAddress
	groupPort uint16 // port number of groups
	maxSize   int

	joinedGroups    map[uint32]bool
	groupsByAddress map[[4]byte]int // number of joined groups by address

	eventCount       uint64
	receiveQueue     []datagram // the queue of received datagrams
	lentDatagram     datagram   // lent to the rank
	spareBuffers     []datagram
	receivedDatagram device.Packet
	sendBuffer       []byte
	lossSource       *rand.Rand // nil: no datagram is dropped on purpose
	lossRate         float64
}

// udpAddress is the address of a rank's unicast socket.
type udpAddress struct {
	IP   [4]byte
	Port uint16
}

// datagram is a received datagram with its header.
type datagram struct {
	bytes []byte
	size  int
}

// The header of a datagram: the number of the job, the sender, whether it is for a group, and the
// group.
const datagramHeaderSize = 8 + 4 + 4 + 4

// Limits of datagrams. Linux lets a socket be a member of 20 groups (igmp_max_memberships), as did
// the network interfaces of CC-MPI's machine.
const (
	maxGroups           = 20
	maxLoopbackDatagram = 8 << 10 // bytes, by the loopback interface
	maxEthernetDatagram = 1400    // in one frame of an Ethernet
	maxQueuedDatagrams  = 256     // length of the queue
	socketBuffer        = 1 << 20 // bytes, less if the kernel allows less
)

// Datagram implements device.Port, as does Watch.
func (d *datagramPort) Datagram() device.Datagram { return datagramCapability{d} }

// Watch implements device.Port.
func (d *datagramPort) Watch() device.Watch { return eventWatch{d} }

// eventWatch implements device.Watch.
type eventWatch struct{ *datagramPort }

// EventCount receives what has arrived.
func (e eventWatch) EventCount() uint64 {
	e.ExitIfJobFailed()
	if e.pollArrivals() {
		e.eventCount++
	} else {
		e.YieldWhenIdle()
	}
	return e.datagramPort.eventCount
}

// LoadWord panics: there is no remote memory.
func (e eventWatch) LoadWord(device.Key, int) uint64 {
	panic("tcp: a word that is not exposed: there is no remote memory")
}

// pollArrivals receives packets and datagrams, and reports whether any had arrived.
func (d *datagramPort) pollArrivals() bool {
	before := d.enqueuedCount
	d.drainLinks()
	return d.receiveDatagrams() || d.enqueuedCount != before
}

// WaitForEvent waits for events. A rank that waits without a deadline reports that it is blocked,
// as one that waits for a packet does, and withdraws the report if a datagram arrives.
func (e eventWatch) WaitForEvent(seen uint64, deadline unit.Time) bool {
	d := e.datagramPort
	reported := false
	began := time.Duration(0)
	for w := (backoff{isReported: true}); ; {
		d.ExitIfJobFailed()
		before := d.enqueuedCount
		d.drainLinks()
		datagrams := d.receiveDatagrams()
		if datagrams || d.enqueuedCount != before {
			d.eventCount++
		}
		if d.eventCount > seen {
			if reported && datagrams {
				d.withdrawWaitReport()
			}
			return true
		}
		now := d.Now()
		if now >= deadline {
			return false
		}
		limit := peerCheckInterval
		if deadline != device.Forever {
			limit = min(limit, time.Duration((deadline-now)/unit.Nanosecond))
		} else if !reported {
			if clock := time.Duration(host.Now()); began == 0 {
				began = clock
			} else if clock-began > longWaitTime {
				reported = true
				d.sendReport(waitFrame, d.links[0])
			}
			limit = longWaitTime
		}
		if d.IsBlocking {
			w.readClock(d.port)
			own, groups := d.Size()+1, d.Size()+2
			d.sleeper.watch(own, d.sockets.unicast)
			d.sleeper.watch(groups, d.sockets.multicast)
			d.sleeper.sleep(max(limit, time.Microsecond))
			d.sleeper.unwatch(own) // in other waits they are not read
			d.sleeper.unwatch(groups)
		} else {
			w.pause(d.port)
		}
	}
}

// withdrawWaitReport withdraws the report that this rank is blocked.
func (d *datagramPort) withdrawWaitReport() {
	d.reportsActivity = true
	d.sendReport(waitFrame, d.links[0])
	d.reportsActivity = false
}

// receiveDatagrams receives datagrams into the queue, and reports whether any had arrived.
func (d *datagramPort) receiveDatagrams() bool {
	came := false
	for _, fd := range []int{d.sockets.unicast, d.sockets.multicast} {
		for {
			x := d.takeBuffer()
			n, e := receive(fd, x.bytes)
			if e != 0 {
				d.spareBuffers = append(d.spareBuffers, x)
				break // EAGAIN, or an ICMP error because a rank has ended
			}
			if x.size = n; !d.isWanted(x.bytes[:n]) || len(d.receiveQueue) >= maxQueuedDatagrams || d.lossSource != nil && d.lossSource.Float64() < d.lossRate {
				d.spareBuffers = append(d.spareBuffers, x)
				continue
			}
			d.receiveQueue = append(d.receiveQueue, x)
			came = true
		}
	}
	return came
}

func (d *datagramPort) takeBuffer() datagram {
	if n := len(d.spareBuffers); n > 0 {
		x := d.spareBuffers[n-1]
		d.spareBuffers = d.spareBuffers[:n-1]
		return x
	}
	return datagram{bytes: make([]byte, datagramHeaderSize+d.maxSize)}
}

// isWanted reports whether a datagram belongs to this job and is for this rank.
func (d *datagramPort) isWanted(b []byte) bool {
	if len(b) < datagramHeaderSize || binary.LittleEndian.Uint64(b) != d.jobNumber {
		return false
	}
	src, toGroup, group := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint32(b[16:])
	return src < uint32(d.Size()) && (toGroup == 0 || int(src) != d.Rank() && d.joinedGroups[group])
}

// datagramCapability implements device.Datagram.
type datagramCapability struct{ d *datagramPort }

func (c datagramCapability) MaxDatagramBytes() int { return c.d.maxSize }
func (c datagramCapability) MaxGroups() int        { return maxGroups }

func (c datagramCapability) Send(dst int, b []byte) {
	c.d.CheckRank(dst)
	c.d.sendDatagram(c.d.addresses[dst], false, 0, b)
}

func (c datagramCapability) Multicast(group uint32, b []byte) {
	c.d.sendDatagram(udpAddress{groupAddress(group), c.d.groupPort}, true, group, b)
}

// sendDatagram sends a datagram. It is lost if the kernel has no room for it.
func (d *datagramPort) sendDatagram(to udpAddress, many bool, group uint32, b []byte) {
	d.ExitIfJobFailed()
	if len(b) > d.maxSize {
		panic(fmt.Sprintf("tcp: datagram of %d bytes, longer than the limit of %d", len(b), d.maxSize))
	}
	binary.LittleEndian.PutUint64(d.sendBuffer, d.jobNumber)
	binary.LittleEndian.PutUint32(d.sendBuffer[8:], uint32(d.Rank()))
	binary.LittleEndian.PutUint32(d.sendBuffer[12:], 0)
	if many {
		binary.LittleEndian.PutUint32(d.sendBuffer[12:], 1)
	}
	binary.LittleEndian.PutUint32(d.sendBuffer[16:], group)
	d.sockets.send(to, d.sendBuffer[:datagramHeaderSize+copy(d.sendBuffer[datagramHeaderSize:], b)])
}

// groupAddress returns the address of a group, in the organization-local scope (RFC 2365). Groups
// may share an address, so a datagram names its group.
func groupAddress(group uint32) [4]byte {
	return [4]byte{239, byte(group>>16) ^ byte(group>>24), byte(group >> 8), byte(group)}
}

func (c datagramCapability) Join(group uint32) bool {
	d := c.d
	a := groupAddress(group)
	switch {
	case d.joinedGroups[group]:
		return true
	case len(d.joinedGroups) == maxGroups:
		return false
	case d.groupsByAddress[a] == 0 && !d.sockets.joinGroup(a, d.addresses[d.Rank()].IP):
		return false
	}
	d.joinedGroups[group] = true
	d.groupsByAddress[a]++
	return true
}

func (c datagramCapability) Leave(group uint32) {
	d := c.d
	if !d.joinedGroups[group] {
		return
	}
	delete(d.joinedGroups, group)
	a := groupAddress(group)
	if d.groupsByAddress[a]--; d.groupsByAddress[a] == 0 {
		d.sockets.leaveGroup(a, d.addresses[d.Rank()].IP)
	}
	kept := d.receiveQueue[:0]
	for _, x := range d.receiveQueue {
		if d.isWanted(x.bytes[:x.size]) {
			kept = append(kept, x)
		} else {
			d.spareBuffers = append(d.spareBuffers, x)
		}
	}
	d.receiveQueue = kept
}

func (c datagramCapability) Recv(deadline unit.Time) *device.Packet {
	d := c.d
	if d.lentDatagram.bytes != nil {
		d.spareBuffers = append(d.spareBuffers, d.lentDatagram)
		d.lentDatagram = datagram{}
	}
	for {
		d.ExitIfJobFailed()
		if len(d.receiveQueue) == 0 {
			seen := d.eventCount
			if d.receiveDatagrams() {
				d.eventCount++
			} else if d.Now() >= deadline {
				d.YieldWhenIdle()
				return nil
			} else {
				eventWatch{d}.WaitForEvent(seen, deadline)
			}
			continue
		}
		d.lentDatagram = d.receiveQueue[0]
		d.receiveQueue = append(d.receiveQueue[:0], d.receiveQueue[1:]...)
		b := d.lentDatagram.bytes[:d.lentDatagram.size]
		d.receivedDatagram = device.Packet{Src: int(binary.LittleEndian.Uint32(b[8:])), Data: b[datagramHeaderSize:]}
		return &d.receivedDatagram
	}
}

// datagramSetup is sent by each rank to all others: the address of its unicast socket, and from
// rank 0 also the port number of groups and the number of the job.
type datagramSetup struct {
	Address   udpAddress
	GroupPort uint16
	JobNumber uint64
}

// exchangeAddresses creates the sockets of a rank and exchanges their addresses over the TCP
// connections.
func (d *datagramPort) exchangeAddresses(w *wireup) error {
	var err error
	ip := net.IPv4(127, 0, 0, 1)
	for _, c := range w.conns {
		if c != nil {
			ip = c.LocalAddr().(*net.TCPAddr).IP
		}
	}
	mine := datagramSetup{JobNumber: rand.Uint64()}
	four := ip.To4()
	if four == nil {
		return fmt.Errorf("multicast by %v: it needs IPv4", ip)
	}
	mine.Address.IP = [4]byte(four)
	d.maxSize = maxEthernetDatagram
	if ip.IsLoopback() {
		d.maxSize = maxLoopbackDatagram
	}
	d.sendBuffer = make([]byte, datagramHeaderSize+d.maxSize)
	if d.sockets, mine.Address.Port, err = newDatagramSockets(mine.Address.IP, ip.IsLoopback()); err != nil {
		return fmt.Errorf("datagrams: %w", err)
	}
	all := make([]datagramSetup, len(w.conns))
	if w.rank == 0 {
		if mine.GroupPort, err = d.sockets.openMulticast(0); err != nil {
			return fmt.Errorf("multicast: %w", err)
		}
		all[0] = mine
		if err := w.forEachOther(func(r int) error { return w.receiveValue(r, &all[r], replyTimeout) }); err != nil {
			return err
		}
		if err := w.forEachOther(func(r int) error { return w.sendValue(r, all) }); err != nil {
			return err
		}
	} else {
		if err := w.sendValue(0, mine); err != nil {
			return err
		}
		if err := w.receiveValue(0, &all, joinTimeout); err != nil {
			return err
		}
		if len(all) != len(w.conns) {
			return fmt.Errorf("rank 0 has a job of %d ranks, and this one is of %d", len(all), len(w.conns))
		}
		if _, err := d.sockets.openMulticast(all[0].GroupPort); err != nil {
			return fmt.Errorf("multicast: %w", err)
		}
	}
	d.jobNumber, d.groupPort = all[0].JobNumber, all[0].GroupPort
	for _, m := range all {
		d.addresses = append(d.addresses, m.Address)
	}
	return nil
}
