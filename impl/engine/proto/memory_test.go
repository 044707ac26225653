package proto

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
)

// meet runs an engine in each of two ranks without remote memory.
func meet(t *testing.T, program func(e tested, rank int) error) error {
	j := job(t, quiet("RTA"), "")
	return enginetest.HideRemoteMemory(loop.New(2)).Run(func(p device.Port) error { return program(open(p, j), p.Rank()) })
}

// Low-level accesses reach the memory that they name, whatever else is exposed, and the engine
// still says that the machine has no memory.
func TestMessagesReach(t *testing.T) {
	keys := make(chan device.Key, 1)
	err := meet(t, func(e tested, rank int) error {
		if e.LowLevelPort().HasRemoteMemory() {
			return fmt.Errorf("the machine has remote memory")
		}
		if rank == 1 {
			b := []byte("abcdef")
			e.LowLevelPort().Withdraw(e.LowLevelPort().Expose(make([]byte, 6)))
			e.LowLevelPort().Expose(make([]byte, 6))
			keys <- e.LowLevelPort().Expose(b)
			e.Recv(nil, 0, 0, 0, 1)
			if string(b) != "XYcdef" {
				return fmt.Errorf("memory is %q after a put", b)
			}
			return nil
		}
		k, got := <-keys, make([]byte, 3)
		e.e.memory.Get(1, k, 2, got, lowLevelDoneHead())
		e.e.awaitLowLevelAccess()
		if !bytes.Equal(got, []byte("cde")) {
			return fmt.Errorf("got %q", got)
		}
		e.LowLevelPort().Put(1, k, []byte("XY"))
		e.Send(model.StandardMode, nil, 0, 1, 0, 1)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// An access outside of what is exposed ends the job, and a key names nothing after its Withdraw,
// though its place is used again.
func TestMessagesOutside(t *testing.T) {
	for name, access := range map[string]func(e tested, stale, k device.Key){
		"beyond":    func(e tested, _, k device.Key) { e.e.memory.Get(1, k, 4, make([]byte, 3), lowLevelDoneHead()) },
		"before":    func(e tested, _, k device.Key) { e.e.memory.Put(1, k, -1, make([]byte, 3), lowLevelDoneHead()) },
		"stale":     func(e tested, stale, _ device.Key) { e.e.memory.Get(1, stale, 0, make([]byte, 3), lowLevelDoneHead()) },
		"never was": func(e tested, _, _ device.Key) { e.e.memory.Put(1, 7, 0, nil, lowLevelDoneHead()) },
	} {
		keys := make(chan device.Key, 2)
		err := meet(t, func(e tested, rank int) error {
			if rank == 1 {
				stale := e.LowLevelPort().Expose(make([]byte, 6))
				e.LowLevelPort().Withdraw(stale)
				keys <- stale
				keys <- e.LowLevelPort().Expose(make([]byte, 6))
			} else {
				access(e, <-keys, <-keys)
			}
			e.Recv(nil, 0, 1-rank, 0, 1)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "of rank 1, which is not exposed") {
			t.Errorf("%s: Run returned %v", name, err)
		}
	}
	err := meet(t, func(e tested, rank int) error {
		k := e.LowLevelPort().Expose(nil)
		e.LowLevelPort().Withdraw(k)
		e.LowLevelPort().Withdraw(k)
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "does not expose") {
		t.Errorf("a second withdraw: Run returned %v", err)
	}
}
