package shm

import (
	"math/rand/v2"
	"os"
	"time"
	"unsafe"

	"github.com/loggp/loggp/impl/device"
)

// node is a process's place in a job. It implements launch.Node.
type node struct {
	*segment
	rank     int
	port     *port
	mapped   []byte
	probe    *uint64 // what others try to read, in the memory of rank 0
	transfer bool    // remote memory is wanted
}

// offer lets other ranks try to read the memory of rank 0. It is called before they are started.
func (n *node) offer() {
	n.probe = new(uint64)
	*n.probe = rand.Uint64()
	n.segment.probe = *n.probe
	n.where.Store(uint64(uintptr(unsafe.Pointer(n.probe))))
	n.port.me.pid.Store(int32(os.Getpid()))
}

func (n *node) Port() device.Port { return n.port }
func (n *node) Failure() error    { return nil }

// Start waits until all ranks have started, so that none is measured while another's process
// begins. Either all ranks have remote memory, or none.
func (n *node) Start() {
	n.port.me.pid.Store(int32(os.Getpid()))
	allowOthers()
	reached := n.transfer
	if reached && n.rank != 0 { // try to read the memory of rank 0
		var there [8]byte
		err := readFrom(int(n.members[0].pid.Load()), uintptr(n.where.Load()), there[:])
		reached = err == nil && there == *(*[8]byte)(unsafe.Pointer(&n.segment.probe))
	}
	if !reached {
		n.apart.Store(true)
	}
	n.port.me.ready.Store(true)
	for r := range n.members {
		for !n.members[r].ready.Load() {
			n.port.Leave()
			time.Sleep(50 * time.Microsecond)
		}
	}
	if !n.apart.Load() {
		n.port.memory = &memory{port: n.port}
	}
}

// End marks the rank as ended, and wakes ranks that wait for room to send to it.
func (n *node) End() {
	n.port.publishProgress()
	n.port.me.ended.Store(true)
	n.wakeAll()
}

func (n *node) Stop() {
	n.stop.Store(true)
	n.wakeAll()
}

func (n *node) wakeAll() {
	for r := range n.members {
		n.members[r].wake()
	}
}

func (n *node) Stuck() []int { return n.deadlock() }

func (n *node) Close() {
	denyOthers()
	unmap(n.mapped)
}
