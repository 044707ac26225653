package shm_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
)

// A program may have more long messages under way than a rank has entries for exposed memory in the
// shared memory.
func TestMoreSendsThanSharedRegions(t *testing.T) {
	const sends, size = 10_000, 8 << 10
	j, err := job.NewLocal("", 2, job.LocalOptions{WaitPolicy: "block"})
	if err != nil {
		t.Fatal(err)
	}
	w := launchtest.Worlds(t, open, launch.Config{Wait: launch.Block})(2)
	err = mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
		if c.Rank() == 1 {
			b := make([]byte, size)
			mpi.Recv(c, b[:0], 0, sends) // behind all others
			for i := range sends {
				mpi.Recv(c, b, 0, i)
				if want := bytePattern(size, i%7); !bytes.Equal(b, want) {
					return fmt.Errorf("message %d is another than was sent", i)
				}
			}
			return nil
		}
		var reqs []mpi.Request
		for i := range sends {
			reqs = append(reqs, mpi.Isend(c, bytePattern(size, i%7), 1, i))
		}
		mpi.Send(c, []byte{}, 1, sends)
		mpi.WaitAll(reqs, nil)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A rank may expose more regions than have an entry in the shared memory, withdraw some of them and
// expose others in their place.
func TestMoreRegionsThanShared(t *testing.T) {
	const regions, size = 20_000, 48
	err := launchtest.Worlds(t, open, launch.Config{Wait: launch.Block})(2).Run(func(p device.Port) error {
		m := p.Memory()
		if m == nil {
			return nil // the kernel does not let processes read each other
		}
		if p.Rank() == 1 {
			for {
				q := p.Recv(true)
				if len(q.Data) == 0 {
					return nil
				}
				i, keys := q.Head[0], bytes.Clone(q.Data)
				for n := 0; n < len(keys); n += 8 {
					b := make([]byte, size)
					m.Get(0, device.Key(binary.LittleEndian.Uint64(keys[n:])), 0, b, device.Head{})
					p.Recv(true)
					if want := bytePattern(size, int(i)+n/8); !bytes.Equal(b, want) {
						return fmt.Errorf("region %d: got %x, want %x", int(i)+n/8, b, want)
					}
				}
				p.Send(0, &device.Packet{})
			}
		}
		var keys []device.Key
		for range 2 {
			for i := len(keys); i < regions; i++ {
				keys = append(keys, m.Expose(bytePattern(size, i)))
			}
			const step = 1000
			for i := 0; i < regions; i += step {
				q := &device.Packet{Head: device.Head{uint64(i)}}
				for _, k := range keys[i : i+step] {
					q.Data = binary.LittleEndian.AppendUint64(q.Data, uint64(k))
				}
				p.Send(1, q)
				p.Recv(true)
			}
			for len(keys) > regions/3 {
				m.Withdraw(keys[len(keys)-1])
				keys = keys[:len(keys)-1]
			}
		}
		p.Send(1, &device.Packet{})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
