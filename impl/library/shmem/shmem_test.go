package shmem

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/loop"
)

// floodedPort has a request whenever it is polled.
type floodedPort struct {
	device.Port
	request device.Packet
	polls   int
}

func (p *floodedPort) Memory() device.Memory { return nil }

func (p *floodedPort) Recv(bool) *device.Packet {
	const limit = 100_000
	if p.polls++; p.polls > limit {
		panic("polled without end")
	}
	return &p.request
}

// A call that does not wait ends while requests come without end.
func TestPollPacketsEndsInAFlood(t *testing.T) {
	err := loop.New(1).Run(func(p device.Port) error {
		flooded := &floodedPort{Port: p}
		e := NewPE(flooded, 0)
		flooded.request = device.Packet{Head: device.Head{kindPut, uint64(e.symmetric)}, Data: make([]byte, 8)}
		e.PollPackets()
		if flooded.polls == 0 {
			t.Error("no packet was taken in")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
