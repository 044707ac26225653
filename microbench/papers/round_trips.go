package papers

import (
	"context"
	"slices"
	"strconv"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// postedReceivesBenchmark times round_trip(subject, size) with receives that are posted before,
// bandwidth in MB/s of a stream of messages that ends with a barrier, and exchange of messages in
// both directions at once.
var postedReceivesBenchmark = pairBenchmark(map[string]int{"round_trip": 2, "bandwidth": 2, "exchange": 2}, func(ctx context.Context, s *Site, e *Experiment, pair *platform.Platform, bytes int, seed uint64, out *Results) error {
	var trips []unit.Time
	var stream, exchange unit.Time
	n := min(max(4<<20/max(bytes, 1), 16), streamLength)
	_, err := s.sumEngineCounters(ctx, seed, pair, 2, nil, func(c *mpi.Comm) {
		t, m, x := timePostedTrips(c, bytes, max(e.Reps, 1)), timeStream(c, bytes, n), timeExchange(c, bytes)
		if c.Rank() == 0 {
			trips, stream, exchange = t, m, x
		}
	})
	if err != nil {
		return err
	}
	trip := slices.Min(trips)
	if !s.Job.Library.CarriedBy().UsesMBCF { // then the mean of all trips
		trip = 0
		for _, t := range trips {
			trip += t / unit.Time(len(trips))
		}
	}
	of := []string{s.ID, strconv.Itoa(bytes)}
	out.Numbers[Key("round_trip", of...)] = trip.Micros()
	out.Numbers[Key("exchange", of...)] = exchange.Micros()
	if bytes > 0 {
		out.Numbers[Key("bandwidth", of...)] = float64(n*bytes) / stream.Micros()
	}
	return nil
})

// timePostedTrips times round trips. Both ranks post their receives before the clock is read.
func timePostedTrips(c *mpi.Comm, bytes, rounds int) (trips []unit.Time) {
	out, in := make([]byte, bytes), make([]byte, bytes)
	for range rounds {
		r := mpi.Irecv(c, in, 1-c.Rank(), 0)
		c.Barrier()
		begin := c.Wtime()
		if c.Rank() == 0 {
			mpi.Send(c, out, 1, 0)
			r.Wait()
		} else {
			r.Wait()
			mpi.Send(c, out, 0, 0)
		}
		trips = append(trips, c.Wtime()-begin)
	}
	return trips
}

// timeExchange times an exchange: both ranks send and receive at once, without blocking.
func timeExchange(c *mpi.Comm, bytes int) unit.Time {
	c.Barrier()
	begin := c.Wtime()
	s := mpi.Isend(c, make([]byte, bytes), 1-c.Rank(), 0)
	r := mpi.Irecv(c, make([]byte, bytes), 1-c.Rank(), 0)
	s.Wait()
	r.Wait()
	return c.Wtime() - begin
}

// timeStream times n messages from rank 0 to rank 1, one after the other, and a barrier.
func timeStream(c *mpi.Comm, bytes, n int) unit.Time {
	b := make([]byte, bytes)
	c.Barrier()
	begin := c.Wtime()
	for range n {
		if c.Rank() == 0 {
			mpi.Send(c, b, 1, 0)
		} else {
			mpi.Recv(c, b, 0, 0)
		}
	}
	c.Barrier()
	return c.Wtime() - begin
}

// pingPongBenchmark sends messages back and forth: ping_pong(subject, bytes) is half of a round
// trip in microseconds.
var pingPongBenchmark = pairBenchmark(map[string]int{"ping_pong": 2}, func(ctx context.Context, s *Site, e *Experiment, pair *platform.Platform, bytes int, seed uint64, out *Results) error {
	half, err := s.timePingPong(ctx, seed, pair, bytes, e.Reps)
	out.Numbers[Key("ping_pong", s.ID, strconv.Itoa(bytes))] = half.Micros()
	return err
})

// timePingPong returns half of a round trip, the mean of some.
func (s *Site) timePingPong(ctx context.Context, seed uint64, pair *platform.Platform, bytes, rounds int) (half unit.Time, err error) {
	rounds = max(rounds, 1)
	_, err = s.sumEngineCounters(ctx, seed, pair, 2, nil, func(c *mpi.Comm) {
		b := make([]byte, bytes)
		c.Barrier()
		begin := c.Wtime()
		for range rounds {
			if c.Rank() == 0 {
				mpi.Send(c, b, 1, 0)
				mpi.Recv(c, b, 1, 0)
			} else {
				mpi.Recv(c, b, 0, 0)
				mpi.Send(c, b, 0, 0)
			}
		}
		if c.Rank() == 0 {
			half = (c.Wtime() - begin) / unit.Time(2*rounds)
		}
	})
	return half, err
}
