package mpi_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// accessTimes returns the duration of a put with its flush, and of a get, while the target computes
// for busy.
func accessTimes(t *testing.T, w device.World, l *model.Library, bytes int, busy unit.Time) (put, get unit.Time) {
	t.Helper()
	holds(t, mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		w := c.AllocateWindow(bytes, 1, nil)
		data := mpi.Buffer{Bytes: make([]byte, bytes), Count: bytes, Type: mpi.Byte}
		target := c.Size() - 1
		if c.Rank() == 0 {
			w.LockAll(mpi.NoCheck)
		}
		c.Barrier()
		if c.Rank() == target {
			c.Compute(busy)
		}
		if c.Rank() == 0 {
			for range 3 {
				from := c.Wtime()
				w.Put(data, target, 0, bytes, mpi.Byte)
				w.Flush(target)
				put = c.Wtime() - from
				from = c.Wtime()
				w.Get(data, target, 0, bytes, mpi.Byte)
				w.Flush(target)
				get = c.Wtime() - from
			}
			w.UnlockAll()
		}
		w.Free()
		return nil
	}))
	return put, get
}

// With hardware support a put takes about as long as the remote write itself, much less than a
// message, even while the target computes. A remote write of the T3D takes 1 to 2 us (Al-Tawil and
// Moritz, section 2), or 3 us with SHMEM (Dongarra and Dunigan 1995, table 1).
func TestAccessesByTheMachineTakeItsTime(t *testing.T) {
	const us = unit.Microsecond
	for _, x := range []struct {
		platform        string
		bytes           int
		putLow, putHigh unit.Time
		getLow, getHigh unit.Time
		timesFaster     unit.Time
	}{
		{"t3d", 8, us, 3 * us, us, 3 * us, 30},
		{"t3d", 1 << 16, 546 * us, 560 * us, 546 * us, 1100 * us, 1}, // puts 120 MB/s; gets 60 MB/s, or 140 MB/s by the transfer engine
		{"convex", 8, us / 2, 3 * us, us / 2, 3 * us, 5},
	} {
		l := enginetest.LibraryOfProtocol("T")
		open := enginetest.OpenEmulated(x.platform, nil, 0)
		put, get := accessTimes(t, open(t, l, 4), l, x.bytes, 0)
		if put < x.putLow || put > x.putHigh || get < x.getLow || get > x.getHigh {
			t.Errorf("%s, %d bytes: a put takes %v, want %v to %v; a get takes %v, want %v to %v", x.platform, x.bytes, put, x.putLow, x.putHigh, get, x.getLow, x.getHigh)
		}
		if busyPut, busyGet := accessTimes(t, open(t, l, 4), l, x.bytes, unit.Second); busyPut > put+us || busyGet > get+us {
			t.Errorf("%s, %d bytes: while the target computes a put takes %v and a get %v, else %v and %v", x.platform, x.bytes, busyPut, busyGet, put, get)
		}
		byMessagePut, byMessageGet := accessTimes(t, enginetest.HideRemoteMemory(open(t, l, 4)), l, x.bytes, 0)
		if n := x.timesFaster; byMessagePut < n*put || byMessageGet < n*get {
			t.Errorf("%s, %d bytes: by messages a put takes %v and a get %v, by the machine %v and %v", x.platform, x.bytes, byMessagePut, byMessageGet, put, get)
		}
	}
}
