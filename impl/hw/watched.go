package hw

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// watched is a port whose processor's time is written down. What a network charges it notes itself, by the names of the machine's
// numbers; what one leaves unnoted is noted here as what it was for.
type watched struct{ *port }

// Spend implements device.Port, as do the others.
func (p watched) Spend(w model.Work, n int) {
	p.port.Spend(w, n)
	bytes := 0
	if w == model.WorkPack || w == model.WorkUnpack {
		bytes = n
	}
	p.lane.until(p.clock, softwareNames[w], model.Software, bytes)
}

// softwareNames are the names of software's costs in platform files.
var softwareNames = func() (names [model.NumWork]string) {
	for w := range model.NumWork {
		names[w] = "software." + w.String()
	}
	return names
}()

func (p watched) Now() unit.Time {
	p.lane.leave()
	now := p.port.Now()
	p.note("clock", model.Computing)
	return now
}

func (p watched) Delay(d unit.Time) {
	p.lane.leave()
	p.port.Delay(d)
	p.note("compute", model.Computing)
}

func (p watched) Copy(dst, src []byte) int {
	n := p.port.Copy(dst, src)
	p.lane.until(p.clock, "processor.copy", model.Copying, n)
	return n
}

func (p watched) Send(dst int, x *device.Packet) {
	p.port.Send(dst, x)
	p.note(p.lane.storing, model.Sending)
}

func (p watched) Recv(block bool) *device.Packet {
	from := len(p.lane.spans)
	x := p.port.Recv(block)
	p.lane.waited()
	p.note(p.lane.taking, model.Receiving)
	var pk *packet
	if x != nil {
		pk = p.held
	}
	p.lane.takes(pk, from)
	return x
}

// Memory implements device.Port.
func (p watched) Memory() device.Memory {
	if p.port.Memory() == nil {
		return nil
	}
	return p
}

// Counter implements device.Port.
func (p watched) Counter() device.Counter {
	if p.port.Counter() == nil {
		return nil
	}
	return p
}

func (p watched) Put(dst int, k device.Key, off int, b []byte, done [device.Words]uint64) {
	p.port.Put(dst, k, off, b, done)
	p.note("put", model.Sending)
}

func (p watched) Get(dst int, k device.Key, off int, b []byte, done [device.Words]uint64) {
	p.port.Get(dst, k, off, b, done)
	p.note("get", model.Sending)
}

func (p watched) Add(dst, r int, delta int64) int64 {
	old := p.port.Add(dst, r, delta)
	p.note("counter", model.Waiting)
	return old
}
