package ethernet

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// mbcf connects hosts whose systems let tasks access each other's memory: model.MBCF. It implements
// core.RemoteNetwork. Every operation is messages of one packet each, on a circuit to the other
// host.
type mbcf struct {
	*model.Ethernet
	frameCarrier
	core.AttachedRanks
	job        *core.Job
	statistics *Statistics
	tasks      []task
	framePool
	freeMessages *message
}

// task is a rank as seen by MBCF.
type task struct {
	hostProcessor
	network  *mbcf
	station  int
	circuits []*circuit // by number of the other task; nil: not used yet
}

// circuit is a virtual circuit from one host to another. Packets arrive in order and exactly once.
type circuit struct {
	network         *mbcf
	from, to        *task
	oppositeCircuit *circuit // the circuit in the other direction

	// Sender: acknowledged ≤ sent ≤ submitted.
	firstUnacked, lastUnacked *message // queue of unacknowledged messages
	nextUnsent                *message // the first message to send
	lastSubmitted             uint32   // number of the last submitted message
	lastSent                  uint32   // number of the last sent message
	lastAcked                 uint32
	senderBlocked             bool // the sending rank waits for space in the window
	retryTimer                timer
	retryTime                 unit.Time // retransmission timeout

	// Receiver.
	lastArrived           uint32 // number of the last message received in order
	unacknowledgedPackets int    // number of unacknowledged packets
	ackDelayTimer         timer  // delays acknowledgements
}

// messageType says what a message requests or answers.
type messageType uint8

const (
	putData         messageType = iota // data of a remote write
	readRequest                        // requests the data of a remote read
	readData                           // data of a remote read
	queueEntry                         // a queue entry
	packetData                         // data of a packet
	signalRequest                      // runs a handler
	registerRequest                    // changes a register
	registerReply                      // the register's previous value
	statusReply                        // a remote write has ended, or whether a queue entry was accepted
)

// message is a packet of MBCF.
type message struct {
	serial         uint32
	messageType    messageType
	isFirstPart    bool // first message of an access or packet, not sent yet
	isLastPart     bool // last message of an access or packet
	bytes          int  // data bytes
	access         *core.RemoteAccess
	entry          *core.QueueEntry
	packet         *core.Packet // the packet, queue entry or completion
	head           device.Head  // for a signal
	registerUpdate *pendingRegisterUpdate
	next           *message
}

// pendingRegisterUpdate is a change of a register for which its rank waits.
type pendingRegisterUpdate struct {
	register int
	update   core.RegisterUpdate
	oldValue int64
	isDone   bool
}

// packet is the content of a frame. A message may be reused while a copy of it is still under way;
// its serial number identifies copies.
type packet struct {
	circuit *circuit
	message *message // nil: only an acknowledgement
	serial  uint32
	ack     uint32 // for the opposite circuit
}

func newMBCF(j *core.Job, m *model.Ethernet, e core.AttachedRanks) core.Network {
	n := &mbcf{Ethernet: m, AttachedRanks: e, job: j, statistics: statisticsOf(j), tasks: make([]task, e.RankCount)}
	n.frameCarrier = newCarrier(m, j, e, n, n.statistics)
	for i := range n.tasks {
		n.tasks[i] = task{hostProcessor: hostProcessor{Port: &j.Ports[e.FirstRank+i]}, network: n, station: e.InterfaceOf(e.FirstRank + i)}
	}
	j.EnableMemoryCountersQueuesAndSignals()
	return n
}

func (n *mbcf) taskOf(rank int32) *task { return &n.tasks[int(rank)-n.FirstRank] }

// circuitTo returns the circuit to another task.
func (t *task) circuitTo(rank int32) *circuit {
	i := int(rank) - t.network.FirstRank
	if t.circuits == nil || t.circuits[i] == nil {
		o := &t.network.tasks[i]
		a := &circuit{network: t.network, from: t, to: o, retryTime: t.network.MBCF.Retransmit}
		b := &circuit{network: t.network, from: o, to: t, retryTime: t.network.MBCF.Retransmit}
		a.oppositeCircuit, b.oppositeCircuit = b, a
		t.addCircuit(i, a)
		o.addCircuit(int(t.ID)-t.network.FirstRank, b)
	}
	return t.circuits[i]
}

func (t *task) addCircuit(i int, c *circuit) {
	if t.circuits == nil {
		t.circuits = make([]*circuit, len(t.network.tasks))
	}
	t.circuits[i] = c
}

func (n *mbcf) newMessage(o messageType) *message {
	m := n.freeMessages
	if m == nil {
		m = new(message)
	} else {
		n.freeMessages = m.next
	}
	*m = message{messageType: o, isFirstPart: true, isLastPart: true}
	return m
}

// sendFromCall sends a message in a system call, when the window has space. The call copies its
// data.
func (c *circuit) sendFromCall(m *message) {
	t, x := c.from, c.network.MBCF
	t.ElapseCharges()
	for c.lastSubmitted-c.lastAcked >= uint32(x.Window) {
		c.senderBlocked = true
		t.ParkAndElapseCharges()
	}
	c.senderBlocked = false
	t.spendInSystem(x.Call.Start, "ethernet.mbcf.call.start", model.SendActivity)
	t.spendInSystem(x.Call.Bandwidth.Time(m.bytes), "ethernet.mbcf.call.bandwidth", model.SendActivity)
	c.appendMessage(m)
	for m := c.nextMessage(); m != nil; m = c.nextMessage() { // interrupts may have added messages
		c.network.send(c.newFrame(m))
	}
	c.startRetryTimer()
}

// sendFromInterrupt sends a message from an interrupt, when the window has space.
func (c *circuit) sendFromInterrupt(m *message) {
	c.appendMessage(m)
	c.sendAllowed()
}

// appendMessage appends a message to the queue of the circuit.
func (c *circuit) appendMessage(m *message) {
	c.lastSubmitted++
	m.serial = c.lastSubmitted
	if c.firstUnacked == nil {
		c.firstUnacked = m
	} else {
		c.lastUnacked.next = m
	}
	c.lastUnacked = m
	if c.nextUnsent == nil {
		c.nextUnsent = m
	}
}

// nextMessage returns the next message that may be sent, or nil.
func (c *circuit) nextMessage() *message {
	m := c.nextUnsent
	if m == nil || m.serial-c.lastAcked > uint32(c.network.MBCF.Window) {
		return nil
	}
	c.nextUnsent = m.next
	if m.serial > c.lastSent {
		c.lastSent = m.serial
		c.network.statistics.TCPBytesSent += m.bytes
	} else {
		c.network.statistics.TCPBytesRetransmitted += m.bytes
	}
	return m
}

// sendAllowed sends, from an interrupt, all messages that the window allows.
func (c *circuit) sendAllowed() {
	x := &c.network.MBCF.Output
	for m := c.nextMessage(); m != nil; m = c.nextMessage() {
		c.sendFrameLater(c.newFrame(m), x.Time(m.bytes))
	}
	c.startRetryTimer()
}

// sendFrameLater sends a frame after an interrupt has prepared it.
func (c *circuit) sendFrameLater(f *frame, d unit.Time) {
	c.from.Kernel.Schedule(c.from.interrupt(d, "ethernet.mbcf.output"), (*outputEvent)(f), 0)
}

// outputEvent is the event that an interrupt has prepared a frame.
type outputEvent frame

// HandleEvent passes the frame to the station.
func (x *outputEvent) HandleEvent(uint64) {
	f := (*frame)(x)
	f.mbcf.circuit.network.send(f)
}

// newFrame returns a frame with a message, or without one if m is nil. It acknowledges all messages
// received from the other host.
func (c *circuit) newFrame(m *message) *frame {
	n, b := c.network, c.oppositeCircuit
	f := n.newFrame()
	f.src, f.dst, f.payload = c.from.station, c.to.station, n.MBCF.Header
	f.mbcf = packet{circuit: c, message: m, ack: b.lastArrived}
	if m != nil {
		f.mbcf.serial = m.serial
		f.payload += m.bytes
	}
	b.unacknowledgedPackets = 0
	b.ackDelayTimer.set(&n.job.Kernel, b, ackTimer, 0)
	n.statistics.TCPSegments++
	return f
}

// startRetryTimer starts the retransmission timer unless it is running.
func (c *circuit) startRetryTimer() {
	if c.retryTimer.expiry == 0 && c.firstUnacked != nil {
		c.retryTimer.set(&c.network.job.Kernel, c, retryTimer, c.network.job.Kernel.Now()+c.retryTime)
	}
}

// HandleEvent handles an expired timer: it sends a delayed acknowledgement, or retransmits all
// unacknowledged packets.
func (c *circuit) HandleEvent(alarm uint64) {
	k := &c.network.job.Kernel
	switch {
	case alarm == ackTimer && c.ackDelayTimer.hasExpired(k, c, alarm):
		c.sendAcknowledgement()
	case alarm == retryTimer && c.retryTimer.hasExpired(k, c, alarm):
		c.retryTime = min(2*c.retryTime, maxRetryFactor*c.network.MBCF.Retransmit)
		c.retryTimer.set(k, c, retryTimer, k.Now()+c.retryTime)
		c.nextUnsent = c.firstUnacked
		c.sendAllowed()
	}
}

// sendAcknowledgement sends an acknowledgement from an interrupt.
func (c *circuit) sendAcknowledgement() {
	c.oppositeCircuit.sendFrameLater(c.oppositeCircuit.newFrame(nil), c.network.MBCF.Output.Start)
}

// frameDropped implements transport.
func (n *mbcf) frameDropped(f *frame) { n.releaseFrame(f) }

// frameArrived implements transport: the frame interrupts its host. If the host is already in an
// interrupt, it handles the frame before it returns.
func (n *mbcf) frameArrived(f *frame) {
	d := n.MBCF.Ack
	if m := f.mbcf.message; m != nil {
		d = n.MBCF.Input.Time(f.payload - n.MBCF.Header)
	}
	to := f.mbcf.circuit.to
	if to.interruptedUntil > n.job.Kernel.Now() {
		d = max(d-n.MBCF.InterruptEntryAndExit, 0)
	}
	n.job.Kernel.Schedule(to.interrupt(d, "ethernet.mbcf.input"), (*inputEvent)(f), 0)
}

// inputEvent is the event that a host has taken in a frame.
type inputEvent frame

// HandleEvent carries out the frame's message if it is the next one in order.
func (x *inputEvent) HandleEvent(uint64) {
	f := (*frame)(x)
	p := f.mbcf
	c := p.circuit
	c.network.releaseFrame(f)
	c.oppositeCircuit.messagesAcknowledged(p.ack)
	if p.message == nil {
		return
	}
	c.unacknowledgedPackets++
	if p.serial == c.lastArrived+1 {
		c.lastArrived++
		c.network.statistics.TCPBytesReceived += p.message.bytes
		c.network.executeMessage(c, p.message)
	} else { // an earlier one was lost, or this is a duplicate
		c.unacknowledgedPackets = c.network.MBCF.AckEvery
	}
	switch {
	case c.unacknowledgedPackets >= c.network.MBCF.AckEvery:
		c.sendAcknowledgement()
	case c.unacknowledgedPackets > 0 && c.ackDelayTimer.expiry == 0:
		c.ackDelayTimer.set(&c.network.job.Kernel, c, ackTimer, c.network.job.Kernel.Now()+c.network.MBCF.AckDelay)
	}
}

// messagesAcknowledged removes acknowledged messages.
func (c *circuit) messagesAcknowledged(ack uint32) {
	if ack <= c.lastAcked {
		return
	}
	for c.lastAcked < ack {
		m := c.firstUnacked
		if c.nextUnsent == m {
			c.nextUnsent = m.next
		}
		c.firstUnacked = m.next
		c.lastAcked = m.serial
		m.next, c.network.freeMessages = c.network.freeMessages, m
	}
	c.retryTime = c.network.MBCF.Retransmit
	c.retryTimer.set(&c.network.job.Kernel, c, retryTimer, 0)
	c.sendAllowed()
	if c.senderBlocked {
		c.from.Wake()
	}
}

// executeMessage carries out a message at its destination.
func (n *mbcf) executeMessage(c *circuit, m *message) {
	switch m.messageType {
	case putData:
		if !m.isLastPart {
			return
		}
		n.job.Probe.LastByteArrived(m.access, n.job.Kernel.Now())
		if m.access.CopyData(); m.access.EndsWithoutCompletion() {
			m.access.Complete()
			return
		}
		answer := n.newMessage(statusReply)
		answer.access = m.access
		c.oppositeCircuit.sendFromInterrupt(answer)
	case readRequest:
		n.splitIntoPackets(len(m.access.Data), func(bytes int, first, last bool) {
			answer := n.newMessage(readData)
			answer.access, answer.bytes, answer.isFirstPart, answer.isLastPart = m.access, bytes, first, last
			c.oppositeCircuit.sendFromInterrupt(answer)
		})
	case readData:
		if m.isLastPart {
			n.job.Probe.LastByteArrived(m.access, n.job.Kernel.Now())
			m.access.CopyData()
			m.access.Complete()
		}
	case queueEntry:
		n.job.Probe.LastByteArrived(m.packet, n.job.Kernel.Now())
		if m.entry.AppendToQueue() {
			answer := n.newMessage(statusReply)
			answer.packet = m.entry.NewCompletion()
			c.oppositeCircuit.sendFromInterrupt(answer)
		}
	case packetData:
		if m.isLastPart {
			n.job.Probe.LastByteArrived(m.packet, n.job.Kernel.Now())
			n.deliverPacket(m.packet)
		}
	case signalRequest:
		c.to.DeliverSignal(c.from.ID, m.head)
	case registerRequest:
		m.registerUpdate.oldValue = c.to.UpdateRegisterOf(int(c.to.ID), m.registerUpdate.register, m.registerUpdate.update)
		answer := n.newMessage(registerReply)
		answer.registerUpdate = m.registerUpdate
		c.oppositeCircuit.sendFromInterrupt(answer)
	case registerReply:
		m.registerUpdate.isDone = true
		c.to.Wake()
	case statusReply:
		if m.access != nil {
			m.access.Complete()
		} else {
			n.deliverPacket(m.packet)
		}
	}
}

// deliverPacket puts a packet into the inbox of its rank, unless the program has ended.
func (n *mbcf) deliverPacket(pk *core.Packet) {
	if n.job.Ports[pk.Dst].HasProgramEnded() {
		n.job.ReleasePacket(pk)
		return
	}
	pk.Arrive()
}

// splitIntoPackets yields the data lengths of the packets for a number of bytes. 0 bytes also need
// a packet.
func (n *mbcf) splitIntoPackets(bytes int, yield func(bytes int, first, last bool)) {
	first := true
	for ; bytes > n.MBCF.MaxDataBytes; bytes -= n.MBCF.MaxDataBytes {
		yield(n.MBCF.MaxDataBytes, first, false)
		first = false
	}
	yield(bytes, first, true)
}

// Send sends a packet as one or more messages. A packet to the rank itself is copied in memory.
func (n *mbcf) Send(p *core.Port, pk *core.Packet) {
	if pk.Dst == p.ID {
		p.Charge(p.CopyTime(len(pk.Data)))
		p.AppendToInbox(pk)
		return
	}
	p.ElapseCharges()
	p.Probe.PacketSent(p, pk, "send")
	c := n.taskOf(p.ID).circuitTo(pk.Dst)
	n.splitIntoPackets(8*device.HeadWords+len(pk.Data), func(bytes int, first, last bool) {
		m := n.newMessage(packetData)
		m.packet, m.bytes, m.isFirstPart, m.isLastPart = pk, bytes, first, last
		c.sendFromCall(m)
	})
}

// Receive charges taking the packet from the system's queue.
func (n *mbcf) Receive(p *core.Port, pk *core.Packet) {
	if pk.Src != int(p.ID) {
		n.ChargeDequeue(p)
	}
}

// MaxEntryBytes and the methods below implement core.RemoteNetwork.
func (n *mbcf) MaxEntryBytes() int { return n.MBCF.MaxDataBytes }

func (n *mbcf) ChargeDequeue(p *core.Port) {
	n.taskOf(p.ID).spendInSystem(n.MBCF.Dequeue, "ethernet.mbcf.dequeue", model.ReceiveActivity)
}

func (n *mbcf) ChargeSignalHandler(p *core.Port) {
	n.taskOf(p.ID).spendInSystem(n.MBCF.Upcall, "ethernet.mbcf.upcall", model.InterruptActivity)
}

// chargeLocalCall charges a system call that accesses the rank's own memory.
func (n *mbcf) chargeLocalCall(p *core.Port, bytes int) {
	p.ElapseCharges()
	t := n.taskOf(p.ID)
	t.spendInSystem(n.MBCF.Call.Time(bytes), "ethernet.mbcf.call.start", model.SendActivity)
}

// StartAccess starts a remote write or read.
func (n *mbcf) StartAccess(p *core.Port, x *core.RemoteAccess) {
	p.ElapseCharges()
	p.Probe.AccessStarted(p, x)
	if x.Dst == x.Src {
		n.chargeLocalCall(p, len(x.Data))
		x.CopyData()
		x.Complete()
		return
	}
	c := n.taskOf(p.ID).circuitTo(x.Dst)
	if x.IsGet {
		m := n.newMessage(readRequest)
		m.access = x
		c.sendFromCall(m)
		return
	}
	n.splitIntoPackets(len(x.Data), func(bytes int, first, last bool) {
		m := n.newMessage(putData)
		m.access, m.bytes, m.isFirstPart, m.isLastPart = x, bytes, first, last
		c.sendFromCall(m)
	})
}

// SendEntry appends an entry to a queue.
func (n *mbcf) SendEntry(p *core.Port, x *core.QueueEntry) {
	p.ElapseCharges()
	p.Probe.PacketSent(p, x.Packet, "enqueue")
	if x.Dst == p.ID {
		n.chargeLocalCall(p, len(x.Data))
		if x.AppendToQueue() {
			n.deliverPacket(x.NewCompletion())
		}
		return
	}
	m := n.newMessage(queueEntry)
	m.entry, m.packet, m.bytes = x, x.Packet, len(x.Data)
	n.taskOf(p.ID).circuitTo(x.Dst).sendFromCall(m)
}

// SendSignal runs a handler at another rank.
func (n *mbcf) SendSignal(p *core.Port, dst int, head device.Head) {
	if dst == int(p.ID) {
		n.chargeLocalCall(p, 0)
		p.DeliverSignal(p.ID, head)
		return
	}
	m := n.newMessage(signalRequest)
	m.head, m.bytes = head, 8*device.HeadWords
	n.taskOf(p.ID).circuitTo(int32(dst)).sendFromCall(m)
}

// UpdateRegister updates a register and waits for the previous value.
func (n *mbcf) UpdateRegister(p *core.Port, dst, r int, by core.RegisterUpdate) int64 {
	if dst == int(p.ID) {
		n.chargeLocalCall(p, 0)
		return p.UpdateRegisterOf(dst, r, by)
	}
	x := &pendingRegisterUpdate{register: r, update: by}
	m := n.newMessage(registerRequest)
	m.registerUpdate, m.bytes = x, 8
	n.taskOf(p.ID).circuitTo(int32(dst)).sendFromCall(m)
	for !x.isDone {
		p.ParkAndElapseCharges()
	}
	return x.oldValue
}

// content returns what a frame carries, for the probe.
func (p *packet) content() any {
	m := p.message
	switch {
	case m == nil || m.serial != p.serial:
		return "ack"
	case m.messageType == putData || m.messageType == readData:
		return m.access
	case m.messageType == queueEntry || m.messageType == packetData:
		return m.packet
	}
	return "control"
}

// noteDeparture reports the first departure of an access or packet.
func (p *packet) noteDeparture(began unit.Time) {
	m := p.message
	if m == nil || m.serial != p.serial || !m.isFirstPart {
		return
	}
	m.isFirstPart = false
	if x := p.content(); x != "control" {
		p.circuit.network.job.Probe.FirstByteDeparted(x, began)
	}
}
