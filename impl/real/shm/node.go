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
	rank              int
	port              *port
	mapped            []byte
	probeWord         *uint64 // what others try to read, in the memory of rank 0
	wantsRemoteMemory bool    // remote memory is wanted
}

// publishProbe lets other ranks try to read the memory of rank 0. It is called before they are
// started.
func (n *node) publishProbe() {
	n.probeWord = new(uint64)
	*n.probeWord = rand.Uint64()
	n.segment.probeValue = *n.probeWord
	n.probeAddress.Store(uint64(uintptr(unsafe.Pointer(n.probeWord))))
	n.port.state.pid.Store(int32(os.Getpid()))
}

func (n *node) Port() device.Port { return n.port }
func (n *node) Failure() error    { return nil }

// Connect waits until all ranks have started, so that none is measured while another's process
// begins. Either all ranks have remote memory, or none.
func (n *node) Connect() {
	n.port.state.pid.Store(int32(os.Getpid()))
	allowMemoryAccess()
	reached := n.wantsRemoteMemory
	if reached && n.rank != 0 { // try to read the memory of rank 0
		var there [8]byte
		err := readProcessMemory(int(n.ranks[0].pid.Load()), uintptr(n.probeAddress.Load()), there[:])
		reached = err == nil && there == *(*[8]byte)(unsafe.Pointer(&n.segment.probeValue))
	}
	if !reached {
		n.noRemoteMemory.Store(true)
	}
	n.port.state.isConnected.Store(true)
	for r := range n.ranks {
		for !n.ranks[r].isConnected.Load() {
			n.port.ExitIfJobFailed()
			time.Sleep(50 * time.Microsecond)
		}
	}
	if !n.noRemoteMemory.Load() {
		n.port.memory = &memory{port: n.port}
	}
}

// Finish marks the rank as ended, and wakes ranks that wait for room to send to it.
func (n *node) Finish() {
	n.port.publishProgress()
	n.port.state.hasEnded.Store(true)
	n.wakeAllRanks()
}

func (n *node) Stop() {
	n.failed.Store(true)
	n.wakeAllRanks()
}

func (n *node) wakeAllRanks() {
	for r := range n.ranks {
		n.ranks[r].wake()
	}
}

func (n *node) DeadlockedRanks() []int { return n.deadlockedRanks() }

func (n *node) Close() {
	denyMemoryAccess()
	unmapFile(n.mapped)
}
