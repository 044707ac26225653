package record

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/hw/core"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// WrapPort implements core.Probe: of what a rank does itself the port of its program tells the
// recorder.
func (r *Recorder) WrapPort(p *core.Port) device.Port { return watched{p, p, r, &r.lanes[p.ID]} }

// watched is a port whose processor's time is recorded. A network tells the probe what it charges
// itself, by the names of the machine's numbers; what one leaves untold is recorded here as what it
// was for.
type watched struct {
	device.Port
	p *core.Port
	r *Recorder
	l *lane
}

// note says what the processor has done until now.
func (w watched) note(name string, a model.Activity, bytes int) {
	w.r.ProcessorUntil(w.p, w.p.Clock, name, a, bytes)
}

// worked adds what the processor has done since a time.
func (w watched) worked(since unit.Time) { w.l.worked += w.p.Clock - since }

// Spend implements device.Port, as do the others.
func (w watched) Spend(x model.CostKey, n int) {
	since := w.p.Clock
	w.p.Spend(x, n)
	w.worked(since)
	name, bytes := "software", 0
	if int(x) < len(w.r.software) {
		if name = w.r.software[x]; w.r.perByte[x] {
			bytes = n
		}
	}
	w.note(name, model.Software, bytes)
}

func (w watched) Now() unit.Time {
	w.l.leave()
	w.p.ElapseCharges()
	defer w.worked(w.p.Clock) // what a loop waits that reads the clock
	now := w.Port.Now()
	w.note("clock", model.Computing, 0)
	return now
}

func (w watched) Delay(d unit.Time) {
	w.l.leave()
	w.p.Clock += d // as a port does; it is noted before what happens meanwhile
	w.l.worked += d
	w.note("compute", model.Computing, 0)
	w.l.computing = true
	w.p.ElapseCharges()
	w.l.computing = false
}

func (w watched) Copy(dst, src []byte) int {
	defer w.worked(w.p.Clock)
	n := w.Port.Copy(dst, src)
	w.note("processor.copy", model.Copying, n)
	return n
}

func (w watched) Operate(n int) {
	defer w.worked(w.p.Clock)
	w.Port.Operate(n)
	w.note("processor.operation", model.Software, 0)
}

func (w watched) Send(dst int, x *device.Packet) {
	w.l.back()
	from := len(w.l.spans)
	w.Port.Send(dst, x)
	w.l.waitedFor("room", from)
	w.note(w.l.rest, model.Sending, 0)
}

func (w watched) Recv(block bool) *device.Packet {
	w.l.back()
	from := len(w.l.spans)
	x := w.Port.Recv(block)
	w.r.waited(w.p)
	w.note("receive", model.Receiving, 0)
	var pk *core.Packet
	if x != nil {
		pk = w.p.LentPacket()
	}
	w.r.took(w.p.ID, pk, from)
	return x
}

// Memory implements device.Port.
func (w watched) Memory() device.Memory {
	if m := w.Port.Memory(); m != nil {
		return watchedMemory{m, w}
	}
	return nil
}

type watchedMemory struct {
	device.Memory
	w watched
}

// MostTaken implements device.Taker: a program behaves alike whether it is recorded or not.
func (m watchedMemory) MostTaken() int { return device.MostTaken(m.Memory) }

func (m watchedMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.Memory.Put(dst, k, off, b, done)
	if m.w.r.spans() {
		m.w.p.AwaitStore()
	}
	m.w.note("put", model.Sending, 0)
}

func (m watchedMemory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	m.Memory.Get(dst, k, off, b, done)
	m.w.note("get", model.Sending, 0)
}

// Counter implements device.Port.
func (w watched) Counter() device.Counter {
	if c := w.Port.Counter(); c != nil {
		return watchedCounter{c, w}
	}
	return nil
}

type watchedCounter struct {
	device.Counter
	w watched
}

func (c watchedCounter) Add(dst, r int, delta int64) int64 {
	old := c.Counter.Add(dst, r, delta)
	c.w.note("counter", model.Waiting, 0)
	return old
}

func (c watchedCounter) Swap(dst, r int, value int64) int64 {
	old := c.Counter.Swap(dst, r, value)
	c.w.note("counter", model.Waiting, 0)
	return old
}

// Watch implements device.Port.
func (w watched) Watch() device.Watch {
	if x := w.Port.Watch(); x != nil {
		return watchedWatch{x, w}
	}
	return nil
}

type watchedWatch struct {
	device.Watch
	w watched
}

func (x watchedWatch) Wait(seen uint64, deadline unit.Time) bool {
	x.w.l.back()
	from := len(x.w.l.spans)
	more := x.Watch.Wait(seen, deadline)
	x.w.l.waitedFor("event", from)
	x.w.note("event", model.Waiting, 0)
	return more
}

// WaitWord implements device.WordWaiter.
func (x watchedWatch) WaitWord(k device.Key, off int, old uint64) uint64 {
	x.w.l.back()
	from := len(x.w.l.spans)
	word := device.WaitWord(x.Watch, k, off, old)
	x.w.l.waitedFor("event", from)
	x.w.note("event", model.Waiting, 0)
	return word
}

func (x watchedWatch) Load(k device.Key, off int) uint64 {
	word := x.Watch.Load(k, off)
	x.w.note("event", model.Waiting, 0)
	return word
}
