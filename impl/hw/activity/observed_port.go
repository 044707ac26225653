package activity

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// WrapPort implements core.Probe. The program's port then reports to the log what its rank does.
func (r *Log) WrapPort(p *core.Port) device.Port {
	return &observedPort{Port: p, emulated: p, log: r, processor: &r.processors[p.ID]}
}

// observedPort is a port whose processor time is logged. Networks report the time that they charge,
// under the names of the machine's parameters. The rest is logged here under the name of the port's
// method.
type observedPort struct {
	device.Port
	emulated  *core.Port
	log       *Log
	processor *processorLog

	packetHandler device.PacketHandler // of AwaitPackets
	waitFirstSpan int                  // index of the first span of a wait in AwaitPackets
	hasWaitFirst  bool                 // waitFirstSpan belongs to the next packet
}

// noteActivity records what the processor has done until now.
func (w *observedPort) noteActivity(name string, a model.Activity, bytes int) {
	w.log.ProcessorActivityUntil(w.emulated, w.emulated.Clock, name, a, bytes)
}

// addSoftwareTime adds the processor time since a given time.
func (w *observedPort) addSoftwareTime(since unit.Time) {
	w.processor.softwareTime += w.emulated.Clock - since
}

// Spend and the methods below implement device.Port.
func (w *observedPort) Spend(x model.CostKey, n int) {
	since := w.emulated.Clock
	w.emulated.Spend(x, n)
	w.addSoftwareTime(since)
	name, bytes := "software", 0
	if int(x) < len(w.log.softwareNames) {
		if name = w.log.softwareNames[x]; w.log.isPerByte[x] {
			bytes = n
		}
	}
	w.noteActivity(name, model.SoftwareActivity, bytes)
}

func (w *observedPort) Now() unit.Time {
	w.log.leaveCall(w.emulated.ID)
	w.emulated.ElapseCharges()
	defer w.addSoftwareTime(w.emulated.Clock) // waits of loops that read the clock
	now := w.Port.Now()
	w.noteActivity("clock", model.ComputeActivity, 0)
	return now
}

func (w *observedPort) Delay(d unit.Time) {
	w.log.leaveCall(w.emulated.ID)
	w.emulated.AddDelay(d) // as a port does; recorded before what happens meanwhile
	w.processor.softwareTime += d
	w.noteActivity("compute", model.ComputeActivity, 0)
	w.processor.isComputing = true
	w.emulated.ElapseCharges()
	w.processor.isComputing = false
}

func (w *observedPort) Copy(dst, src []byte) int {
	defer w.addSoftwareTime(w.emulated.Clock)
	n := w.Port.Copy(dst, src)
	w.noteActivity("processor.copy", model.CopyActivity, n)
	return n
}

func (w *observedPort) ChargeOperations(n int) {
	defer w.addSoftwareTime(w.emulated.Clock)
	w.Port.ChargeOperations(n)
	w.noteActivity("processor.operation", model.SoftwareActivity, 0)
}

func (w *observedPort) Send(dst int, x *device.Packet) {
	w.observeSend(func() { w.Port.Send(dst, x) })
}

func (w *observedPort) observeSend(send func()) {
	w.log.reenterCall(w.emulated.ID)
	from := len(w.processor.spans)
	send()
	w.processor.nameWaits("room", from)
	w.noteActivity(w.processor.pendingSendName, model.SendActivity, 0)
}

// CompletesSends and SendWithCompletion implement device.SendCompleter.
func (w *observedPort) CompletesSends(dst, n int) bool { return w.emulated.CompletesSends(dst, n) }

func (w *observedPort) SendWithCompletion(dst int, x *device.Packet, done device.Head) {
	w.observeSend(func() { w.emulated.SendWithCompletion(dst, x, done) })
}

// RanksAreSerialized implements device.SerializedPort.
func (w *observedPort) RanksAreSerialized() bool { return w.emulated.RanksAreSerialized() }

// BuffersSends and Flush implement device.BufferedSender, so that sends return at the same times as
// without a log.
func (w *observedPort) BuffersSends() bool { return w.emulated.BuffersSends() }

func (w *observedPort) Flush() bool {
	w.log.reenterCall(w.emulated.ID)
	from := len(w.processor.spans)
	done := w.emulated.Flush()
	w.processor.nameWaits("room", from)
	w.noteActivity(w.processor.pendingSendName, model.SendActivity, 0)
	return done
}

func (w *observedPort) Recv(block bool) *device.Packet {
	w.log.reenterCall(w.emulated.ID)
	from := len(w.processor.spans)
	if w.hasWaitFirst {
		from, w.hasWaitFirst = w.waitFirstSpan, false
	}
	x := w.Port.Recv(block)
	w.log.noteWait(w.emulated)
	w.noteActivity("receive", model.ReceiveActivity, 0)
	var pk *core.Packet
	if x != nil {
		pk = w.emulated.LastReceived()
	}
	w.log.notePacketReceived(w.emulated.ID, pk, from)
	return x
}

// AwaitPacket implements device.TimedWaiter.
func (w *observedPort) AwaitPacket(deadline unit.Time) {
	w.log.reenterCall(w.emulated.ID)
	from := len(w.processor.spans)
	w.emulated.AwaitPacket(deadline)
	w.processor.nameWaits("event", from)
	w.noteActivity("event", model.WaitActivity, 0)
}

// CanAwaitPackets and the methods below implement device.PacketWaiter.
func (w *observedPort) CanAwaitPackets() bool { return w.emulated.CanAwaitPackets() }

func (w *observedPort) HasPacket() bool { return w.emulated.HasPacket() }

func (w *observedPort) AwaitPackets(h device.PacketHandler) {
	w.packetHandler = h
	w.emulated.AwaitPackets(w)
	w.packetHandler = nil
}

// HandlePackets implements device.PacketHandler. A wait begins when it returns false, and is part
// of the next call of Recv.
func (w *observedPort) HandlePackets() (done bool) {
	if done = w.packetHandler.HandlePackets(); !done && !w.hasWaitFirst {
		w.log.reenterCall(w.emulated.ID)
		w.waitFirstSpan, w.hasWaitFirst = len(w.processor.spans), true
	}
	return done
}

// Memory implements device.Port.
func (w *observedPort) Memory() device.Memory {
	if m := w.Port.Memory(); m != nil {
		return observedMemory{m, w}
	}
	return nil
}

// NodeMemory implements device.NodeMemoryPort.
func (w *observedPort) NodeMemory() device.Memory {
	if m := w.emulated.NodeMemory(); m != nil {
		return observedMemory{m, w}
	}
	return nil
}

type observedMemory struct {
	device.Memory
	port *observedPort
}

// MaxPutWithoutCompletion implements device.PutWithoutCompletionLimiter, so that a program behaves
// the same whether it is observed or not.
func (m observedMemory) MaxPutWithoutCompletion() int {
	return device.MaxPutWithoutCompletion(m.Memory)
}

func (m observedMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.Memory.Put(dst, k, off, b, done)
	if m.port.log.keepsSpans() {
		m.port.emulated.AwaitStore()
	}
	m.port.noteActivity("put", model.SendActivity, 0)
}

func (m observedMemory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.Memory.Get(dst, k, off, b, done)
	m.port.noteActivity("get", model.SendActivity, 0)
}

// HasAtomics implements device.AtomicMemory, as do the methods below.
func (m observedMemory) HasAtomics() bool { return device.Atomics(m.Memory) != nil }

// FetchAndAddWord implements device.AtomicMemory.
func (m observedMemory) FetchAndAddWord(dst int, k device.Key, off int, delta uint64) (uint64, bool) {
	old, refused := device.Atomics(m.Memory).FetchAndAddWord(dst, k, off, delta)
	m.port.noteActivity("atomic", model.WaitActivity, 0)
	return old, refused
}

// CompareAndSwapWord implements device.AtomicMemory.
func (m observedMemory) CompareAndSwapWord(dst int, k device.Key, off int, compare, value uint64) (uint64, bool) {
	old, refused := device.Atomics(m.Memory).CompareAndSwapWord(dst, k, off, compare, value)
	m.port.noteActivity("atomic", model.WaitActivity, 0)
	return old, refused
}

// Counters implements device.Port.
func (w *observedPort) Counters() device.Counters {
	if c := w.Port.Counters(); c != nil {
		return observedCounter{c, w}
	}
	return nil
}

type observedCounter struct {
	device.Counters
	port *observedPort
}

func (c observedCounter) FetchAndAddRegister(dst, r int, delta int64) int64 {
	old := c.Counters.FetchAndAddRegister(dst, r, delta)
	c.port.noteActivity("counter", model.WaitActivity, 0)
	return old
}

func (c observedCounter) FetchAndStoreRegister(dst, r int, value int64) int64 {
	old := c.Counters.FetchAndStoreRegister(dst, r, value)
	c.port.noteActivity("counter", model.WaitActivity, 0)
	return old
}

// Watch implements device.Port.
func (w *observedPort) Watch() device.Watch {
	if x := w.Port.Watch(); x != nil {
		return observedWatch{x, w}
	}
	return nil
}

type observedWatch struct {
	device.Watch
	port *observedPort
}

func (x observedWatch) WaitForEvent(seen uint64, deadline unit.Time) bool {
	x.port.log.reenterCall(x.port.emulated.ID)
	from := len(x.port.processor.spans)
	more := x.Watch.WaitForEvent(seen, deadline)
	x.port.processor.nameWaits("event", from)
	x.port.noteActivity("event", model.WaitActivity, 0)
	return more
}

var _ device.WordWaiter = observedWatch{}

// WaitForWordChange implements device.WordWaiter.
func (x observedWatch) WaitForWordChange(k device.Key, off int, old uint64) uint64 {
	x.port.log.reenterCall(x.port.emulated.ID)
	from := len(x.port.processor.spans)
	word := device.WaitForWordChange(x.Watch, k, off, old)
	x.port.processor.nameWaits("event", from)
	x.port.noteActivity("event", model.WaitActivity, 0)
	return word
}

func (x observedWatch) LoadWord(k device.Key, off int) uint64 {
	word := x.Watch.LoadWord(k, off)
	x.port.noteActivity("event", model.WaitActivity, 0)
	return word
}
