package model

import "github.com/loggp/loggp/model/unit"

// hardware is a kind of network: all that models ask of one. A new kind is a file, a field of Machine and a line of its hardware.
type hardware interface {
	Node(rank int) int            // the node of a rank; where ranks have no near ones, each is its own
	way(ranks, from, to int) Path // between two different nodes of a job
	on(p Path) network            // what a transfer goes through, with nothing under way
	String() string               // what it is, in a few words

	// view fills in what LogGP sees of low-level messages on a way, see MessageView. control is what the library spends to send one,
	// and RecvO has already what it spends to take one in.
	view(x *Parameters, control unit.Time, p Path)
}

// hardware returns the network of the machine.
func (m *Machine) hardware() hardware {
	switch {
	case m.Torus != nil:
		return m.Torus
	case m.Hypernodes != nil:
		return m.Hypernodes
	case m.Ethernet != nil:
		return m.Ethernet
	case m.LogGP != nil:
		return m.LogGP
	}
	panic("model: machine " + m.Name + " has no network")
}

// Network says what the machine's network is: torus of links of 300 MB/s.
func (m *Machine) Network() string { return m.hardware().String() }

// network is hardware with a transfer on it. Each method lets time pass on the lanes.
type network interface {
	send(w *walk, from Where, bytes int) mail
	receive(w *walk, who Where, bytes int)
}

// memory is what a network is as well if processors can access each other's memory through it.
type memory interface {
	get(w *walk, who Where, bytes int) // until the bytes are there and known to be
	put(w *walk, who Where, bytes int) // likewise
}

// chunks returns how much longer than at their own rate so many bytes take to leave, and to be there, because something that they pass is
// slower. They go in chunks; one of c bytes is through when it has come at the rate and the slow one has passed on the one before it,
//
//	max{c / rate, c / slow}
//
// later. The last has left when it has come, and is there when the slow one has passed it on.
func chunks(bytes, chunk int, rate, slow unit.Rate) (left, there unit.Time) {
	last := max(bytes-1, 0) / chunk * chunk // where the last chunk begins
	hold := slow.Time(chunk)
	if hold >= rate.Time(chunk) {
		for pos := 0; pos < last; pos += chunk {
			left += max(0, hold-(rate.Time(pos+chunk)-rate.Time(pos)))
		}
	}
	return left, left + max(0, slow.Time(bytes-last)-(rate.Time(bytes)-rate.Time(last)))
}
