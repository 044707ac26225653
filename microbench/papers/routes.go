package papers

import (
	"context"
	"strconv"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
)

// routesBenchmark sends messages both as short messages and by rendezvous, regardless of the size
// limits of the library, which must have engine start. It also lets several nodes send to one at
// the same time.
var routesBenchmark = Benchmark{
	Numbers: map[string]int{"by_short": 2, "by_rendezvous": 2, "received": 3},
	Parts:   func(_ *Site, e *Experiment) int { return len(e.Sizes) + 2 },
	Run:     runRoutes,
}

// maxSenders is the largest number of nodes that send to one.
const maxSenders = 2

// runRoutes measures, in microseconds, half of a round trip, by_short(subject, bytes) and
// by_rendezvous; and received(subject, senders, i), the time until the i-th message of the largest
// size has arrived, if each sender has its own node.
func runRoutes(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
	pair, err := s.pairPlatform()
	if err != nil {
		return err
	}
	for i, bytes := range e.Sizes {
		for name, limit := range map[string]int{"by_short": 1 << 30, "by_rendezvous": 0} {
			limited := withLibrary(pair, s.Library, func(l *model.Library) {
				for i := range l.Start.ShortBytes {
					l.Start.ShortBytes[i] = limit
				}
			})
			half, err := s.timePingPong(ctx, seed, limited, bytes, e.Reps)
			if err != nil {
				return err
			}
			out.Numbers[Key(name, s.ID, strconv.Itoa(bytes))] = half.Micros()
		}
		done(i + 1)
	}
	bytes := e.Sizes[len(e.Sizes)-1]
	for n := 1; n <= maxSenders; n++ {
		if err := runSenders(ctx, s, n, bytes, seed, out); err != nil {
			return err
		}
		done(len(e.Sizes) + n)
	}
	return nil
}

// runSenders lets n nodes send to one more node.
func runSenders(ctx context.Context, s *Site, n, bytes int, seed uint64, out *Results) error {
	placement := "1"
	for range n {
		placement += "+1"
	}
	on, ranks, err := s.placeRanks(placement)
	if err != nil {
		return err
	}
	_, err = s.sumEngineCounters(ctx, seed, on, ranks, nil, func(c *mpi.Comm) {
		b := make([]byte, bytes)
		if c.Rank() > 0 {
			c.Barrier()
			mpi.Send(c, b, 0, 0)
			return
		}
		var all []mpi.Request
		for from := 1; from <= n; from++ {
			all = append(all, mpi.Irecv(c, make([]byte, bytes), from, 0))
		}
		c.Barrier()
		begin := c.Wtime()
		for i := range n {
			mpi.WaitAny(all)
			out.Numbers[Key("received", s.ID, strconv.Itoa(n), strconv.Itoa(i+1))] = (c.Wtime() - begin).Micros()
		}
	})
	return err
}
