package hw

import (
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// network is what joins the processors of a job.
type network interface {
	// open returns the end of a rank: its processor's own port, or one of the network's kind that uses the processor.
	open(p *port) end
}

// end is a port that hears when the program of its rank has ended.
type end interface {
	device.Port
	close()
}

// builder returns what builds the network of a machine for a job. Where there is none it returns nil.
func builder(m *model.Machine) func(*job) network {
	switch m.Network.(type) {
	case *model.Torus:
		return newTorus
	case *model.Hypernodes:
		return newHypernodes
	case *model.Ethernet:
		return newLAN
	case *model.LogGP:
		return newLogGP
	}
	return nil
}

// fabric is a network whose ends are the processors' own ports: it says what they pay for it. Its methods are called while the port's rank
// runs. What happens on the way are events of its own, at times that it chooses: a packet ends with arrive, or with the event of it, and an access
// with move and finish.
type fabric interface {
	send(p *port, pk *packet)                  // charges the sender and schedules the packet's first move
	receive(p *port, pk *packet)               // charges the taking of a packet off the network
	start(p *port, x *access)                  // charges the start of a remote access and schedules its first move
	count(p *port, dst, r int, c change) int64 // changes a register of another rank
}

// on returns the port as the end of a fabric.
func (p *port) on(f fabric) end {
	p.net = f
	return p
}

// wire is where a packet or an access is on its way. What it means is the network's.
type wire struct {
	step int8
	pos  int
	at   unit.Time
	late unit.Time // how long the network had held up the sender before
	long unit.Time // how long all of it takes at the rate of its source
}

// pace is a rate that remembers how long the last length took. Messages of one length follow each other, and a division takes
// longer than all else that a link does.
type pace struct {
	rate unit.Rate
	n    int
	last unit.Time
}

// time returns how long n bytes take.
func (p *pace) time(n int) unit.Time {
	if n != p.n {
		p.n, p.last = n, p.rate.Time(n)
	}
	return p.last
}
