package shm_test

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/launch"
)

// openPinned opens a world of two pinned ranks that spin.
func openPinned(args []string) device.World {
	w, err := open(launch.Config{Ranks: 2, Wait: launch.Spin, Pin: true, Args: args})
	if err != nil {
		panic(err)
	}
	return w
}

// pingPongProgram is the ping-pong of the full library; rank 0 goes on as long as again says.
func pingPongProgram(n int, again func() bool) func(c *mpi.Comm) error {
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
	j, err := job.NewLocal("", 2, job.LocalOptions{WaitPolicy: "spin"})
	if err != nil {
		return err
	}
	return mpi.Run(openPinned(args), j.MPIOptions(""), pingPongProgram(n, again))
}

const pingPongJob = "ping-pong"

// pingPongRank is what a rank of the benchmark does: it comes to runs until it comes to its own.
func pingPongRank() error {
	n, err := strconv.Atoi(os.Args[2])
	for err == nil {
		err = pingPong(n, nil, nil)
	}
	return err
}

// roundTripsPerBatch is over how many round trips the best are sought: on a machine that others
// use, too, that is what can be compared.
const roundTripsPerBatch = 32

// BenchmarkPingPong shows half of a round trip, on average and at best, and the bandwidth of one
// way.
func BenchmarkPingPong(b *testing.B) {
	for _, n := range []int{8, 64, 1 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 4 << 20} {
		b.Run(fmt.Sprint("bytes", n), func(b *testing.B) {
			b.ReportAllocs()
			best, begin, i := time.Duration(math.MaxInt64), time.Now(), 0
			again := func() bool {
				if i++; i%roundTripsPerBatch == 0 {
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
			half = float64(best.Nanoseconds()) / roundTripsPerBatch / 2
			b.ReportMetric(half, "best-ns/half")
			b.ReportMetric(float64(n)/half*1e3, "best-MB/s")
		})
	}
}

// postedPingPong is a ping-pong in which a batch of receives is posted, and their requests have
// arrived, before the first message leaves. It returns the time of half of a round trip in the best
// batch.
func postedPingPong(library string, n int, args []string) (best time.Duration, err error) {
	j, err := job.NewLocal(library, 2, job.LocalOptions{WaitPolicy: "spin"})
	if err != nil {
		return 0, err
	}
	best = math.MaxInt64
	err = mpi.Run(openPinned(args), j.MPIOptions(""), func(c *mpi.Comm) error {
		out, in, peer := make([]byte, n), make([]byte, n), 1-c.Rank()
		var all [roundTripsPerBatch]mpi.Request
		for range 200 {
			for i := range all {
				all[i] = mpi.Irecv(c, in, peer, 0)
			}
			c.Barrier()
			begin := time.Now()
			for i := range all {
				if c.Rank() == 0 {
					mpi.Send(c, out, peer, 0)
				}
				all[i].Wait()
				if c.Rank() == 1 {
					mpi.Send(c, out, peer, 0)
				}
			}
			best = min(best, time.Since(begin)/roundTripsPerBatch/2)
		}
		return nil
	})
	return best, err
}

const postedJob = "posted"

// comparedLibraries are the libraries of BenchmarkPosted.
var comparedLibraries = [2]string{"sr", "loggp"}

// postedPingPongRank is what a rank of the benchmark does: see pingPongRank.
func postedPingPongRank() error {
	n, err := strconv.Atoi(os.Args[2])
	for i := 0; err == nil; i++ {
		_, err = postedPingPong(comparedLibraries[i%2], n, nil)
	}
	return err
}

// BenchmarkPosted compares MPI/MBCF, whose receivers post requests, with eager and rendezvous
// protocols if all receives are posted first. The libraries take turns.
func BenchmarkPosted(b *testing.B) {
	for _, n := range []int{8, 1 << 10, 4 << 10, 16 << 10, 256 << 10} {
		b.Run(fmt.Sprint("bytes", n), func(b *testing.B) {
			best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
			for range b.N {
				for i, l := range comparedLibraries {
					t, err := postedPingPong(l, n, []string{postedJob, strconv.Itoa(n)})
					if err != nil {
						b.Fatal(err)
					}
					best[i] = min(best[i], t)
				}
			}
			b.ReportMetric(float64(best[0]), "sr-ns/half")
			b.ReportMetric(float64(best[1]), "loggp-ns/half")
			b.ReportMetric(float64(best[0])/float64(best[1]), "ratio")
		})
	}
}
