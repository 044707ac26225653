package microbench

import (
	"slices"

	"github.com/loggp/loggp/impl/mpi"
)

// mode is a kind of send with the receive that goes with it.
type mode struct {
	name        string
	blocking    bool
	synchronous bool
	ready       bool
	buffered    bool
	send        func(c *mpi.Comm, b []byte, dst, tag int)             // blocking
	start       func(c *mpi.Comm, b []byte, dst, tag int) mpi.Request // non-blocking
}

// modes are MPI's eight sends and the low-level message, which has the shape of a blocking send.
var modes = []mode{
	{name: "send", blocking: true, send: mpi.Send[byte]},
	{name: "ssend", blocking: true, synchronous: true, send: mpi.Ssend[byte]},
	{name: "rsend", blocking: true, ready: true, send: mpi.Rsend[byte]},
	{name: "bsend", blocking: true, buffered: true, send: mpi.Bsend[byte]},
	{name: "isend", start: mpi.Isend[byte]},
	{name: "issend", synchronous: true, start: mpi.Issend[byte]},
	{name: "irsend", ready: true, start: mpi.Irsend[byte]},
	{name: "ibsend", buffered: true, start: mpi.Ibsend[byte]},
}

var message = mode{name: Message, blocking: true,
	send: func(c *mpi.Comm, b []byte, dst, _ int) { c.Messages().Send(b, dst) }}

// Modes returns the names of the eight sends.
func Modes() []string {
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
	}
	return names
}

func find(name string) *mode {
	if name == Message {
		return &message
	}
	i := slices.IndexFunc(modes, func(m mode) bool { return m.name == name })
	if i < 0 {
		panic("microbench: no mode " + name)
	}
	return &modes[i]
}
