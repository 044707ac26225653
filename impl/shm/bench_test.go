package shm_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/shm"
	"github.com/loggp/loggp/impl/world"
)

// half is the ping-pong of the full library; rank 0 goes on as long as again says.
func half(n int, again func() bool) func(c *mpi.Comm) error {
	return func(c *mpi.Comm) error {
		out, in := make([]byte, n), make([]byte, n)
		if c.Rank() == 1 {
			for mpi.Recv(c, in, 0, mpi.AnyTag).Tag == 0 {
				mpi.Send(c, out, 0, 0)
			}
			return nil
		}
		for again() {
			mpi.Send(c, out, 1, 0)
			mpi.Recv(c, in, 1, 0)
		}
		mpi.Send(c, out, 1, 1)
		return nil
	}
}

// pingPong is half's job.
func pingPong(n int, args []string, again func() bool) error {
	j, err := world.NewHere("", 2, world.Placement{Wait: "spin"})
	if err != nil {
		return err
	}
	return mpi.Run(open(shm.Config{Wait: launch.Spin, Pin: true, Args: args}, 2), j.Options(""), half(n, again))
}

const pingPongJob = "ping-pong"

// pingPongs is what a rank of the benchmark does: it comes to runs until it comes to its own.
func pingPongs() error {
	n, err := strconv.Atoi(os.Args[2])
	for err == nil {
		err = pingPong(n, nil, nil)
	}
	return err
}

// batch is over how many round trips the best are sought: on a machine that others use, too, that
// is what can be compared.
const batch = 32

// BenchmarkPingPong shows half of a round trip, on average and at best, and the bandwidth of one
// way.
func BenchmarkPingPong(b *testing.B) {
	for _, n := range []int{8, 64, 1 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 4 << 20} {
		b.Run(fmt.Sprint("bytes", n), func(b *testing.B) {
			b.ReportAllocs()
			best, begin, i := time.Duration(math.MaxInt64), time.Now(), 0
			again := func() bool {
				if i++; i%batch == 0 {
					now := time.Now()
					best, begin = min(best, now.Sub(begin)), now
				}
				return b.Loop()
			}
			if err := pingPong(n, []string{pingPongJob, strconv.Itoa(n)}, again); err != nil {
				b.Fatal(err)
			}
			half := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / 2
			b.ReportMetric(half, "ns/half")
			half = float64(best.Nanoseconds()) / batch / 2
			b.ReportMetric(half, "best-ns/half")
			b.ReportMetric(float64(n)/half*1e3, "best-MB/s")
		})
	}
}
