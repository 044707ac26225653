// Package trace writes down what passes through ports.
//
// A World wraps another, and a port every port of it; neither the program above nor the world below
// can tell. Each rank notes what it did and from when to when, as its own clock shows it, in a Log.
// The log knows packets, not what they mean: who prints it may say so.
package trace

import (
	"sync"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Kind is what a rank did.
type Kind uint8

// The kinds of events. A look for a packet that found none is no event.
const (
	Send           Kind = iota // a packet was sent
	Recv                       // a packet was taken, after waiting for it or not
	Put                        // a remote write was started
	Get                        // a remote read was started
	Done                       // a remote access, or a send that reports it, was found ended
	FetchAndAdd                // a value was added to a remote counter
	FetchAndStore              // a value was swapped with that of a remote counter
	CompareAndSwap             // a remote word was swapped with a value if it equaled another
	Spend                      // software worked
	Copy                       // the processor copied
	Delay                      // the processor did something else
)

var kindNames = [...]string{"send", "recv", "put", "get", "done", "add", "swap", "compare and swap", "spend", "copy", "delay"}

// String returns the name of the kind, as it is printed.
func (k Kind) String() string { return kindNames[k] }

// Event is one thing that a rank did.
type Event struct {
	Rank     int
	From, To unit.Time // by the rank's clock
	Kind     Kind
	Peer     int         // the other rank, where there is one
	Head     device.Head // of a packet, or of the one that will tell or told of the end of a remote access
	Work     string      // that was spent: the key of its cost in platform files
	Amount   int         // bytes, units of work, or what was added
}

// Log keeps the events of the runs of a world. The zero value is empty. It may be read when a run
// has ended.
type Log struct {
	Engine *model.Engine // of the library that is traced, for the names of its costs; nil: the first of model.Engines

	mutex sync.Mutex
	ranks []*port // by rank
}

// World returns w with ports that note in the log what passes through them. Every run starts the
// log anew.
func World(w device.World, log *Log) device.World { return world{w, log} }

type world struct {
	device.World
	log *Log
}

// Run implements device.World.
func (w world) Run(program func(device.Port) error) error {
	w.log.ranks = nil
	return w.World.Run(func(p device.Port) error { return program(w.log.port(p)) })
}

// port wraps a port and gives it its place.
func (l *Log) port(p device.Port) *port {
	q := &port{Port: p, engine: l.Engine}
	if q.engine == nil {
		q.engine = model.Engines[0]
	}
	q.memory, q.nodeMemory, q.counter = memory{p.Memory(), q}, memory{device.NodeMemoryOf(p), q}, counter{p.Counters(), q}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.ranks == nil {
		l.ranks = make([]*port, p.Size())
	}
	l.ranks[p.Rank()] = q
	return q
}
