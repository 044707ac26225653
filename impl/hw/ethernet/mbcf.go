package ethernet

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// mbcf is hosts whose systems give their tasks access to each other's memory: model.MBCF. It
// implements core.RemoteNetwork. Everything is messages of a packet each, by a circuit to the other
// host.
type mbcf struct {
	*model.Ethernet
	carrier
	core.Attachment
	j     *core.Job
	count *Statistics
	tasks []task
	frames
	spare *message
}

// task is a rank as MBCF sees it.
type task struct {
	processor
	net      *mbcf
	station  int
	circuits []*circuit // by the other's place among the tasks; nil: there is none yet
}

// circuit is a virtual circuit from one host to another: packets arrive in order, and once.
type circuit struct {
	net      *mbcf
	from, to *task
	back     *circuit // the other way

	// At its sender: acked ≤ sent ≤ given.
	first, last *message // that are not acknowledged
	unsent      *message // the first that is to be sent
	given       uint32   // serial of the last message
	sent        uint32   // of the last that has been sent
	acked       uint32
	blocked     bool // the sender's rank waits for room in the window
	retry       timer
	wait        unit.Time // until a packet is taken for lost

	// At its receiver.
	arrived uint32 // serial of the last message that has come, as have all before it
	owed    int    // packets that are not acknowledged
	delay   timer  // of an acknowledgement
}

// order is what a message asks for, or answers.
type order uint8

const (
	putOrder     order = iota // bytes of a remote write
	readOrder                 // asks for the bytes of a remote read,
	readAnswer                // which these are
	appendOrder               // an entry of a queue
	packetOrder               // bytes of a packet
	signalOrder               // runs a handler
	changeOrder               // changes a register,
	changeAnswer              // and says what was there
	statusAnswer              // says that a remote write has ended, or what became of an entry
)

// message is a packet of MBCF.
type message struct {
	serial uint32
	order  order
	first  bool // of those of one access or packet, and not sent yet
	last   bool // of those of one access or packet
	bytes  int  // of data
	access *core.RemoteAccess
	entry  *core.QueueEntry
	packet *core.Packet // that of an entry, too, or a completion
	head   device.Head  // of a signal
	change *change
	next   *message
}

// change is the change of a register, for which its rank waits.
type change struct {
	register int
	by       core.RegisterUpdate
	was      int64
	done     bool
}

// packet is what a frame carries. A message may be used again when a copy of it is still under way;
// the serial tells that it is one.
type packet struct {
	circuit *circuit
	message *message // nil: nothing but the acknowledgement
	serial  uint32
	ack     uint32 // of the circuit back
}

func newMBCF(j *core.Job, m *model.Ethernet, e core.Attachment) core.Network {
	n := &mbcf{Ethernet: m, Attachment: e, j: j, count: statistics(j), tasks: make([]task, e.Ranks)}
	n.carrier = newCarrier(m, j, e, n, n.count)
	for i := range n.tasks {
		n.tasks[i] = task{processor: processor{Port: &j.Ports[e.FirstRank+i]}, net: n, station: e.InterfaceOf(e.FirstRank + i)}
	}
	j.OfferRemoteQueues()
	return n
}

func (n *mbcf) task(rank int32) *task { return &n.tasks[int(rank)-n.FirstRank] }

// to returns the circuit to another task.
func (t *task) to(rank int32) *circuit {
	i := int(rank) - t.net.FirstRank
	if t.circuits == nil || t.circuits[i] == nil {
		o := &t.net.tasks[i]
		a := &circuit{net: t.net, from: t, to: o, wait: t.net.MBCF.Retransmit}
		b := &circuit{net: t.net, from: o, to: t, wait: t.net.MBCF.Retransmit}
		a.back, b.back = b, a
		t.connect(i, a)
		o.connect(int(t.ID)-t.net.FirstRank, b)
	}
	return t.circuits[i]
}

func (t *task) connect(i int, c *circuit) {
	if t.circuits == nil {
		t.circuits = make([]*circuit, len(t.net.tasks))
	}
	t.circuits[i] = c
}

func (n *mbcf) message(o order) *message {
	m := n.spare
	if m == nil {
		m = new(message)
	} else {
		n.spare = m.next
	}
	*m = message{order: o, first: true, last: true}
	return m
}

// call sends a message in a system call, when there is room in the window. The call takes its data.
func (c *circuit) call(m *message) {
	t, x := c.from, c.net.MBCF
	t.ElapseCharges()
	for c.given-c.acked >= uint32(x.Window) {
		c.blocked = true
		t.ParkAndElapse()
	}
	c.blocked = false
	t.system(x.Call.Start, "ethernet.mbcf.call.start", model.Sending)
	t.system(x.Call.Bandwidth.Time(m.bytes), "ethernet.mbcf.call.bandwidth", model.Sending)
	c.give(m)
	for m := c.next(); m != nil; m = c.next() { // interrupts may have given more
		c.net.send(c.frame(m))
	}
	c.expect()
}

// answer sends a message from an interrupt, when there is room in the window.
func (c *circuit) answer(m *message) {
	c.give(m)
	c.flush()
}

// give appends a message to the queue of the circuit.
func (c *circuit) give(m *message) {
	c.given++
	m.serial = c.given
	if c.first == nil {
		c.first = m
	} else {
		c.last.next = m
	}
	c.last = m
	if c.unsent == nil {
		c.unsent = m
	}
}

// next returns the next message that may be sent, or nil.
func (c *circuit) next() *message {
	m := c.unsent
	if m == nil || m.serial-c.acked > uint32(c.net.MBCF.Window) {
		return nil
	}
	c.unsent = m.next
	if m.serial > c.sent {
		c.sent = m.serial
		c.net.count.Stream += m.bytes
	} else {
		c.net.count.Again += m.bytes
	}
	return m
}

// flush sends what may be sent from an interrupt.
func (c *circuit) flush() {
	x := &c.net.MBCF.Output
	for m := c.next(); m != nil; m = c.next() {
		c.later(c.frame(m), x.Time(m.bytes))
	}
	c.expect()
}

// later sends a frame when an interrupt has made it.
func (c *circuit) later(f *frame, d unit.Time) {
	c.from.Kernel.Schedule(c.from.interrupt(d, "ethernet.mbcf.output"), (*made)(f), 0)
}

// made is the event of a frame that an interrupt has made.
type made frame

// Act gives it to the station.
func (x *made) Act(uint64) {
	f := (*frame)(x)
	f.mbcf.circuit.net.send(f)
}

// frame returns a frame for a message, or without one. It acknowledges everything received from the
// other side.
func (c *circuit) frame(m *message) *frame {
	n, b := c.net, c.back
	f := n.newFrame()
	f.src, f.dst, f.payload = c.from.station, c.to.station, n.MBCF.Header
	f.mbcf = packet{circuit: c, message: m, ack: b.arrived}
	if m != nil {
		f.mbcf.serial = m.serial
		f.payload += m.bytes
	}
	b.owed = 0
	b.delay.set(&n.j.Kernel, b, delayAlarm, 0)
	n.count.Segments++
	return f
}

// expect sets the alarm that rings if nothing is heard of what was sent, unless it is set.
func (c *circuit) expect() {
	if c.retry.at == 0 && c.first != nil {
		c.retry.set(&c.net.j.Kernel, c, retryAlarm, c.net.j.Kernel.Now()+c.wait)
	}
}

// Act is the event of an alarm: an acknowledgement has waited for long enough, or a packet is taken
// for lost, and all that are not acknowledged are sent again.
func (c *circuit) Act(alarm uint64) {
	k := &c.net.j.Kernel
	switch {
	case alarm == delayAlarm && c.delay.rings(k, c, alarm):
		c.acknowledge()
	case alarm == retryAlarm && c.retry.rings(k, c, alarm):
		c.wait = min(2*c.wait, longestWait*c.net.MBCF.Retransmit)
		c.retry.set(k, c, retryAlarm, k.Now()+c.wait)
		c.unsent = c.first
		c.flush()
	}
}

// acknowledge tells the sender, from an interrupt, what has arrived.
func (c *circuit) acknowledge() {
	c.back.later(c.back.frame(nil), c.net.MBCF.Output.Start)
}

// dropped implements transport.
func (n *mbcf) dropped(f *frame) { n.release(f) }

// arrived implements transport: the frame interrupts its host. If the host handles another one, it
// goes on with this one before it returns from the interrupt.
func (n *mbcf) arrived(f *frame) {
	d := n.MBCF.Ack
	if m := f.mbcf.message; m != nil {
		d = n.MBCF.Input.Time(f.payload - n.MBCF.Header)
	}
	to := f.mbcf.circuit.to
	if to.busy > n.j.Kernel.Now() {
		d = max(d-n.MBCF.Trap, 0)
	}
	n.j.Kernel.Schedule(to.interrupt(d, "ethernet.mbcf.input"), (*taken)(f), 0)
}

// taken is the event of a frame that its host has taken in.
type taken frame

// Act does what its message asks for, if it is the next one.
func (x *taken) Act(uint64) {
	f := (*frame)(x)
	p := f.mbcf
	c := p.circuit
	c.net.release(f)
	c.back.confirm(p.ack)
	if p.message == nil {
		return
	}
	c.owed++
	if p.serial == c.arrived+1 {
		c.arrived++
		c.net.count.Taken += p.message.bytes
		c.net.do(c, p.message)
	} else { // one before it was lost, or this one has come already
		c.owed = c.net.MBCF.AckEvery
	}
	switch {
	case c.owed >= c.net.MBCF.AckEvery:
		c.acknowledge()
	case c.owed > 0 && c.delay.at == 0:
		c.delay.set(&c.net.j.Kernel, c, delayAlarm, c.net.j.Kernel.Now()+c.net.MBCF.AckDelay)
	}
}

// confirm notes that messages have arrived.
func (c *circuit) confirm(ack uint32) {
	if ack <= c.acked {
		return
	}
	for c.acked < ack {
		m := c.first
		if c.unsent == m {
			c.unsent = m.next
		}
		c.first = m.next
		c.acked = m.serial
		m.next, c.net.spare = c.net.spare, m
	}
	c.wait = c.net.MBCF.Retransmit
	c.retry.set(&c.net.j.Kernel, c, retryAlarm, 0)
	c.flush()
	if c.blocked {
		c.from.Wake()
	}
}

// do does what a message asks for, at the rank that it is for.
func (n *mbcf) do(c *circuit, m *message) {
	switch m.order {
	case putOrder:
		if !m.last {
			return
		}
		n.j.Probe.Arrives(m.access, n.j.Kernel.Now())
		if m.access.CopyData(); m.access.IsUnawaited() {
			m.access.Complete()
			return
		}
		answer := n.message(statusAnswer)
		answer.access = m.access
		c.back.answer(answer)
	case readOrder:
		n.parts(len(m.access.Data), func(bytes int, first, last bool) {
			answer := n.message(readAnswer)
			answer.access, answer.bytes, answer.first, answer.last = m.access, bytes, first, last
			c.back.answer(answer)
		})
	case readAnswer:
		if m.last {
			n.j.Probe.Arrives(m.access, n.j.Kernel.Now())
			m.access.CopyData()
			m.access.Complete()
		}
	case appendOrder:
		n.j.Probe.Arrives(m.packet, n.j.Kernel.Now())
		if m.entry.Append() {
			answer := n.message(statusAnswer)
			answer.packet = m.entry.NewCompletion()
			c.back.answer(answer)
		}
	case packetOrder:
		if m.last {
			n.j.Probe.Arrives(m.packet, n.j.Kernel.Now())
			n.land(m.packet)
		}
	case signalOrder:
		c.to.DeliverSignal(c.from.ID, m.head)
	case changeOrder:
		m.change.was = c.to.UpdateRegister(int(c.to.ID), m.change.register, m.change.by)
		answer := n.message(changeAnswer)
		answer.change = m.change
		c.back.answer(answer)
	case changeAnswer:
		m.change.done = true
		c.to.Wake()
	case statusAnswer:
		if m.access != nil {
			m.access.Complete()
		} else {
			n.land(m.packet)
		}
	}
}

// land puts a packet into the inbox of its rank, unless the rank's program has ended.
func (n *mbcf) land(pk *core.Packet) {
	if n.j.Ports[pk.Dst].ProgramEnded() {
		n.j.ReleasePacket(pk)
		return
	}
	pk.Arrive()
}

// parts yields the lengths of the packets for so many bytes. For none there is one as well.
func (n *mbcf) parts(bytes int, yield func(bytes int, first, last bool)) {
	first := true
	for ; bytes > n.MBCF.Limit; bytes -= n.MBCF.Limit {
		yield(n.MBCF.Limit, first, false)
		first = false
	}
	yield(bytes, first, true)
}

// Send sends a packet, in as many of MBCF as it needs. One to the rank itself goes through memory.
func (n *mbcf) Send(p *core.Port, pk *core.Packet) {
	if pk.Dst == p.ID {
		p.Charge(p.CopyTime(len(pk.Data)))
		p.AppendToInbox(pk)
		return
	}
	p.ElapseCharges()
	p.Probe.PacketSent(p, pk, "send")
	c := n.task(p.ID).to(pk.Dst)
	n.parts(8*device.HeadWords+len(pk.Data), func(bytes int, first, last bool) {
		m := n.message(packetOrder)
		m.packet, m.bytes, m.first, m.last = pk, bytes, first, last
		c.call(m)
	})
}

// Receive takes a packet out of the system's queue.
func (n *mbcf) Receive(p *core.Port, pk *core.Packet) {
	if pk.Src != int(p.ID) {
		n.ChargeDequeue(p)
	}
}

// MaxEntry implements core.RemoteNetwork, as do the others.
func (n *mbcf) MaxEntry() int { return n.MBCF.Limit }

func (n *mbcf) ChargeDequeue(p *core.Port) {
	n.task(p.ID).system(n.MBCF.Dequeue, "ethernet.mbcf.dequeue", model.Receiving)
}

func (n *mbcf) ChargeHandlerCall(p *core.Port) {
	n.task(p.ID).system(n.MBCF.Upcall, "ethernet.mbcf.upcall", model.Interrupt)
}

// local charges a call that concerns the rank's own memory.
func (n *mbcf) local(p *core.Port, bytes int) {
	p.ElapseCharges()
	t := n.task(p.ID)
	t.system(n.MBCF.Call.Time(bytes), "ethernet.mbcf.call.start", model.Sending)
}

// StartAccess writes or reads memory.
func (n *mbcf) StartAccess(p *core.Port, x *core.RemoteAccess) {
	p.ElapseCharges()
	p.Probe.AccessStarted(p, x)
	if x.Dst == x.Src {
		n.local(p, len(x.Data))
		x.CopyData()
		x.Complete()
		return
	}
	c := n.task(p.ID).to(x.Dst)
	if x.IsGet {
		m := n.message(readOrder)
		m.access = x
		c.call(m)
		return
	}
	n.parts(len(x.Data), func(bytes int, first, last bool) {
		m := n.message(putOrder)
		m.access, m.bytes, m.first, m.last = x, bytes, first, last
		c.call(m)
	})
}

// SendEntry appends to a queue.
func (n *mbcf) SendEntry(p *core.Port, x *core.QueueEntry) {
	p.ElapseCharges()
	p.Probe.PacketSent(p, x.Packet, "enqueue")
	if x.Dst == p.ID {
		n.local(p, len(x.Data))
		if x.Append() {
			n.land(x.NewCompletion())
		}
		return
	}
	m := n.message(appendOrder)
	m.entry, m.packet, m.bytes = x, x.Packet, len(x.Data)
	n.task(p.ID).to(x.Dst).call(m)
}

// SendSignal runs a handler.
func (n *mbcf) SendSignal(p *core.Port, dst int, head device.Head) {
	if dst == int(p.ID) {
		n.local(p, 0)
		p.DeliverSignal(p.ID, head)
		return
	}
	m := n.message(signalOrder)
	m.head, m.bytes = head, 8*device.HeadWords
	n.task(p.ID).to(int32(dst)).call(m)
}

// UpdateRegister changes a register and waits for the answer.
func (n *mbcf) UpdateRegister(p *core.Port, dst, r int, by core.RegisterUpdate) int64 {
	if dst == int(p.ID) {
		n.local(p, 0)
		return p.UpdateRegister(dst, r, by)
	}
	x := &change{register: r, by: by}
	m := n.message(changeOrder)
	m.change, m.bytes = x, 8
	n.task(p.ID).to(int32(dst)).call(m)
	for !x.done {
		p.ParkAndElapse()
	}
	return x.was
}

// content says what a frame carries.
func (p *packet) content() any {
	m := p.message
	switch {
	case m == nil || m.serial != p.serial:
		return "ack"
	case m.order == putOrder || m.order == readAnswer:
		return m.access
	case m.order == appendOrder || m.order == packetOrder:
		return m.packet
	}
	return "control"
}

// departed says when the first part of an access or packet has left for the first time.
func (p *packet) departed(began unit.Time) {
	m := p.message
	if m == nil || m.serial != p.serial || !m.first {
		return
	}
	m.first = false
	if x := p.content(); x != "control" {
		p.circuit.net.j.Probe.Departs(x, began)
	}
}
