package hw

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// watched is a port whose processor's time is written down. What a network charges it notes itself, by the names of the machine's
// numbers; what one leaves unnoted is noted here as what it was for.
type watched struct {
	device.Port
	p *port
}

// Spend implements device.Port, as do the others.
func (w watched) Spend(x model.Work, n int) {
	w.Port.Spend(x, n)
	bytes := 0
	if x == model.WorkPack || x == model.WorkUnpack {
		bytes = n
	}
	w.p.lane.until(w.p.clock, softwareNames[x], model.Software, bytes)
}

// softwareNames are the names of software's costs in platform files.
var softwareNames = func() (names [model.NumWork]string) {
	for w := range model.NumWork {
		names[w] = "software." + w.String()
	}
	return names
}()

func (w watched) Now() unit.Time {
	w.p.lane.leave()
	now := w.Port.Now()
	w.p.note("clock", model.Computing)
	return now
}

func (w watched) Delay(d unit.Time) {
	w.p.lane.leave()
	w.p.clock += d // as a port does; it is noted before what happens meanwhile
	w.p.note("compute", model.Computing)
	w.p.pay()
}

func (w watched) Copy(dst, src []byte) int {
	n := w.Port.Copy(dst, src)
	w.p.lane.until(w.p.clock, "processor.copy", model.Copying, n)
	return n
}

func (w watched) Send(dst int, x *device.Packet) {
	from := len(w.p.lane.spans)
	w.Port.Send(dst, x)
	w.p.lane.waitedFor("room", from)
	w.p.note(w.p.lane.storing, model.Sending)
}

func (w watched) Recv(block bool) *device.Packet {
	from := len(w.p.lane.spans)
	x := w.Port.Recv(block)
	w.p.lane.waited()
	w.p.note(w.p.lane.taking, model.Receiving)
	var pk *packet
	if x != nil {
		pk = w.p.held
	}
	w.p.lane.takes(pk, from)
	return x
}

// Memory implements device.Port.
func (w watched) Memory() device.Memory {
	if m := w.Port.Memory(); m != nil {
		return watchedMemory{m, w.p}
	}
	return nil
}

type watchedMemory struct {
	device.Memory
	p *port
}

func (w watchedMemory) Put(dst int, k device.Key, off int, b []byte, done device.Head) {
	w.Memory.Put(dst, k, off, b, done)
	w.p.note("put", model.Sending)
}

func (w watchedMemory) Get(dst int, k device.Key, off int, b []byte, done device.Head) {
	w.Memory.Get(dst, k, off, b, done)
	w.p.note("get", model.Sending)
}

// Counter implements device.Port.
func (w watched) Counter() device.Counter {
	if c := w.Port.Counter(); c != nil {
		return watchedCounter{c, w.p}
	}
	return nil
}

type watchedCounter struct {
	device.Counter
	p *port
}

func (w watchedCounter) Swap(dst, r int, value int64) int64 {
	old := w.Counter.Swap(dst, r, value)
	w.p.note("counter", model.Waiting)
	return old
}

func (w watchedCounter) Add(dst, r int, delta int64) int64 {
	old := w.Counter.Add(dst, r, delta)
	w.p.note("counter", model.Waiting)
	return old
}
