package shm_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/model/unit"
)

// A get or a put in chunks moves the bytes that it says and no others, for lengths around a
// chunk's, whether the other rank waits and helps or is busy.
func TestJointTransferMovesItsBytes(t *testing.T) {
	const chunk, worth = 64 << 10, 256 << 10
	sizes := []int{worth - 1, worth, worth + 1, 5*chunk - 1, 5 * chunk, 5*chunk + 1, 20*chunk + 77}
	err := launchtest.Worlds(t, open, launch.Config{Wait: launch.Spin})(2).Run(func(p device.Port) error {
		m := p.Memory()
		if m == nil {
			return nil // the kernel does not let processes read each other
		}
		for round := range 8 * len(sizes) {
			n, off, put := sizes[round%len(sizes)], round*13, round/len(sizes)%2 == 1
			want := bytePattern(off+n+9, round)
			if put {
				copy(want[off:], bytePattern(n, round+1))
			}
			if p.Rank() == 0 {
				b := bytePattern(off+n+9, round)
				k := m.Expose(b)
				p.Send(1, &device.Packet{Head: device.Head{uint64(k)}})
				if round%3 == 2 {
					p.Delay(200 * unit.Microsecond)
				}
				p.Recv(true)
				m.Withdraw(k)
				if !bytes.Equal(b, want) {
					return fmt.Errorf("round %d: the memory that the other rank has accessed is not as it should be", round)
				}
				continue
			}
			b := append([]byte{0}, bytePattern(n, round+1)...)
			b = append(b, 0)
			if k := device.Key(p.Recv(true).Head[0]); put {
				m.Put(0, k, off, b[1:n+1], device.Head{1})
			} else {
				m.Get(0, k, off, b[1:n+1], device.Head{1})
			}
			p.Recv(true)
			if !bytes.Equal(b[1:n+1], want[off:off+n]) || b[0] != 0 || b[n+1] != 0 {
				return fmt.Errorf("round %d: %d bytes at %d are not as they should be", round, n, off)
			}
			p.Send(0, &device.Packet{})
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// bytePattern returns bytes in which no two chunks, and no two rounds, are alike.
func bytePattern(n, round int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i>>16*31 + i>>8*7 + i + round*101)
	}
	return b
}
