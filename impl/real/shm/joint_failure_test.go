package shm

import (
	"bytes"
	"os"
	"testing"
	"unsafe"

	"github.com/loggp/loggp/impl/real/host"
)

// If the owner of the memory cannot move its chunks, the rank that asked for help transfers
// everything itself. Both ranks are in this process here, and the owner does not know the key.
func TestFailedHelpIsRepaired(t *testing.T) {
	if err := host.TryProcessCopy(); err != nil {
		t.Skip(err)
	}
	const ranks, size = 2, 32 << 20
	words := make([]uint64, segmentSize(ranks)/8+8)
	s := segmentAt(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), segmentSize(ranks)), ranks)
	asking, owner := &memory{port: newPort(s, 0, false)}, &memory{port: newPort(s, 1, false)}
	for _, m := range []*memory{asking, owner} {
		m.state.pid.Store(int32(os.Getpid()))
	}
	from, to := bytes.Repeat([]byte{7}, size), make([]byte, size)
	helped := make(chan struct{})
	go func() {
		defer close(helped)
		for owner.state.helpRequester.Load() == 0 {
			host.PauseProcessor()
		}
		owner.helpTransfer(1)
	}()
	err := asking.transferJointly(1, 3, 0, bufferAddress(from), to, false)
	<-helped
	if err != nil || !bytes.Equal(from, to) {
		t.Errorf("not all bytes were transferred: %v", err)
	}
}
