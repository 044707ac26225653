package core

import "github.com/loggp/loggp/impl/device"

// Datagrams is a Network by which ranks send datagrams. Datagram returns nil if its systems do not.
type Datagrams interface {
	Network
	Datagram(p *Port) device.Datagram
}

// Datagram implements device.Port.
func (p *Port) Datagram() device.Datagram {
	if d, ok := p.far.(Datagrams); ok {
		return d.Datagram(p)
	}
	return nil
}

// OfferEvents lets the ranks of the job wait for events (device.Watch) where nobody writes their memory.
func (j *Job) OfferEvents() { j.watched = true }

// Happened counts an event of the rank, and wakes it if it waits.
func (p *Port) Happened() {
	p.events++
	p.Wake()
}
