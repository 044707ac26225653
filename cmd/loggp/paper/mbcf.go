package paper

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// accessBenchmark times remote writes (write) and entries of a queue (fifo) by the port alone: one
// way, and one behind the other.
var accessBenchmark = benchmark{
	gives: map[string]int{"one_way": 3, "stream": 3},
	cells: func(_ *run, e *Experiment) int { return 2 * len(e.Sizes.values) },
	run: func(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
		s := x.sites[e.Subject]
		for i, bytes := range e.Sizes.values {
			for j, way := range []string{"write", "fifo"} {
				a := access{fifo: way == "fifo", bytes: bytes, rounds: max(e.Reps, 1)}
				w, err := s.job.World(ctx, seed+uint64(2*i+j))
				if err != nil {
					return err
				}
				if err := w.Run(a.run); err != nil {
					return fmt.Errorf("%s, %s of %d bytes: %w", s.Name, way, bytes, err)
				}
				slices.Sort(a.took)
				of := []string{s.ID, way, strconv.Itoa(bytes)}
				x.measured[expr.Key("one_way", of...)] = micros(a.took[len(a.took)/2])
				x.measured[expr.Key("stream", of...)] = expr.Exactly(float64(bytes*streamed) / a.streamTime.Micros())
				done(2*i + j + 1)
			}
		}
		return nil
	},
}

// streamed is how many accesses follow each other: enough for how the last one ends not to matter.
const streamed = 500

// access is remote accesses of one length. The clocks of an emulated machine show the same.
type access struct {
	fifo          bool
	bytes, rounds int

	begun      unit.Time
	took       []unit.Time // one way
	streamTime unit.Time
}

// run is the program of both ranks; others do nothing. The receiver looks until it has the data.
func (a *access) run(p device.Port) error {
	const pause = 2 * unit.Millisecond // longer than a round
	if p.Rank() > 1 {
		return nil
	}
	b := make([]byte, a.bytes)
	key, queue := p.Memory().Expose(make([]byte, a.bytes)), p.Queue().Create(2*streamed*(a.bytes+device.EntryOverhead))
	send := func() {
		if a.fifo {
			p.Queue().Enqueue(1, queue, b, device.Quiet, device.Head{})
		} else {
			p.Memory().Put(1, key, 0, b, device.NoCompletion)
		}
	}
	if p.Rank() == 1 {
		for range a.rounds {
			for seen := p.Watch().Events(); ; seen = p.Watch().Events() {
				if a.fifo && p.Queue().First(queue) != nil {
					break
				}
				if p.Watch().Wait(seen, device.Forever); !a.fifo {
					break
				}
			}
			if a.fifo {
				p.Copy(b, p.Queue().First(queue).Data)
			}
			a.took = append(a.took, p.Now()-a.begun)
			if a.fifo {
				p.Queue().Drop(queue)
			}
		}
		p.Recv(true) // the end of the stream
		return nil
	}
	p.Delay(pause) // until the other has its queue
	for range a.rounds {
		a.begun = p.Now()
		send()
		p.Delay(pause)
	}
	begin := p.Now()
	for range streamed {
		send()
	}
	p.Memory().Put(1, key, 0, nil, device.Head{1}) // ends behind all of them
	p.Recv(true)
	a.streamTime = p.Now() - begin
	p.Send(1, &device.Packet{})
	return nil
}

// postedBenchmark times round trips with receives that are posted first, and messages one behind
// the other until a barrier.
var postedBenchmark = ofTwo(map[string]int{"round_trip": 2, "bandwidth": 2, "exchange": 2}, func(ctx context.Context, x *run, e *Experiment, s *site, on *platform.Platform, bytes int, seed uint64) error {
	var trips []unit.Time
	var stream, crossing unit.Time
	n := min(max(4<<20/max(bytes, 1), 16), streamed)
	_, err := s.counted(ctx, seed, on, 2, func(c *mpi.Comm) {
		t, m, b := posted(c, bytes, max(e.Reps, 1)), follow(c, bytes, n), crossed(c, bytes)
		if c.Rank() == 0 {
			trips, stream, crossing = t, m, b
		}
	})
	if err != nil {
		return err
	}
	trip := slices.Min(trips)
	if !s.job.Library.CarriedBy().Accesses { // the mean of all trips
		trip = 0
		for _, t := range trips {
			trip += t / unit.Time(len(trips))
		}
	}
	of := []string{s.ID, strconv.Itoa(bytes)}
	x.measured[expr.Key("round_trip", of...)] = micros(trip)
	x.measured[expr.Key("exchange", of...)] = micros(crossing)
	if bytes > 0 {
		x.measured[expr.Key("bandwidth", of...)] = expr.Exactly(float64(n*bytes) / stream.Micros())
	}
	return nil
})

// posted times round trips of rank 0: both ranks post their receives, outside of the time.
func posted(c *mpi.Comm, bytes, rounds int) (trips []unit.Time) {
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

// crossed times an exchange: both ranks send and receive at once, without blocking.
func crossed(c *mpi.Comm, bytes int) unit.Time {
	c.Barrier()
	begin := c.Wtime()
	s := mpi.Isend(c, make([]byte, bytes), 1-c.Rank(), 0)
	r := mpi.Irecv(c, make([]byte, bytes), 1-c.Rank(), 0)
	s.Wait()
	r.Wait()
	return c.Wtime() - begin
}

// follow times messages from rank 0 to rank 1 that follow each other, until a barrier.
func follow(c *mpi.Comm, bytes, n int) unit.Time {
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

// sequencesBenchmark runs short programs and counts what the engine of MPI/MBCF does in them.
var sequencesBenchmark = benchmark{
	gives: map[string]int{"count": 3, "completions": 2, "prefix": 1},
	cells: func(_ *run, e *Experiment) int { return 2 },
	run: func(ctx context.Context, x *run, e *Experiment, seed uint64, done func(int)) error {
		s := x.sites[e.Subject]
		for _, name := range slices.Sorted(maps.Keys(sequences)) {
			q := sequences[name]
			if q.drawn {
				if err := s.draw(ctx, x, seed, name, q.program); err != nil {
					return fmt.Errorf("%s, %s: %w", s.Name, name, err)
				}
			}
			counts, err := s.counted(ctx, seed, s.job.Platform, q.ranks, q.program)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, name, err)
			}
			for what, n := range counts {
				if short := counted[what]; short != "" {
					x.measured[expr.Key("count", s.ID, name, short)] = expr.Exactly(float64(n))
				}
			}
		}
		done(1)
		w, err := s.job.World(ctx, seed)
		if err != nil {
			return err
		}
		var f flood
		if err := w.Run(f.run); err != nil {
			return err
		}
		x.measured[expr.Key("completions", s.ID, "quiet")] = expr.Exactly(float64(f.quiet))
		x.measured[expr.Key("completions", s.ID, "all")] = expr.Exactly(float64(f.all))
		x.measured[expr.Key("prefix", s.ID)] = expr.Exactly(float64(f.prefix))
		done(2)
		return nil
	},
}

// draw records the two ranks of a short program from the end of its barrier on, and counts how
// often the library copies the data of a message.
func (s *site) draw(ctx context.Context, x *run, seed uint64, name string, program func(c *mpi.Comm)) error {
	j, err := job.New(s.job.Platform, s.Library, 2, s.job.Noise)
	if err != nil {
		return err
	}
	r, err := j.Record(ctx, seed, "", 0, func(c *mpi.Comm) error {
		program(c)
		c.Compute(0) // ends the last call
		return nil
	})
	if err != nil {
		return err
	}
	var begin unit.Time
	for _, t := range r.Ranks {
		for _, c := range t.Calls {
			if c.Name == "Barrier" {
				begin = max(begin, c.To)
			}
		}
	}
	r = r.Window(begin, r.End())
	r.Resources = nil
	copies := 0
	for i := range r.Ranks {
		t := &r.Ranks[i]
		t.Calls = slices.DeleteFunc(t.Calls, func(c model.Span) bool { return c.Name == mpi.Finalize || c.Name == "Barrier" })
		for _, y := range t.Spans {
			if y.Activity == model.Copying && y.Bytes >= sequenceBytes {
				copies++
			}
		}
	}
	r.Flights = slices.DeleteFunc(r.Flights, func(f model.Flight) bool { return f.Depart < 0 }) // the barrier's
	for i := range r.Flights {
		f := &r.Flights[i]
		f.Name = strings.TrimSpace(fmt.Sprintf("%s of %d bytes", f.Name, f.Bytes))
	}
	x.recorded[expr.Key(name, s.ID)] = r
	x.measured[expr.Key("count", s.ID, name, "copies")] = expr.Exactly(float64(copies))
	return nil
}

// counted are the names that expressions have for what an engine counts.
var counted = map[string]string{"messages by remote write": "written", "messages by FIFO": "queued", "requests posted": "requests", "requests dropped": "stale",
	"requests lost": "lost", "temporary buffers used": "temporary"}

// counted runs a program on a platform, which is that of the subject but for a placement, and
// returns what all engines count.
func (s *site) counted(ctx context.Context, seed uint64, on *platform.Platform, ranks int, program func(c *mpi.Comm)) (map[string]int64, error) {
	return s.profiled(ctx, seed, on, ranks, nil, program)
}

// profiled is counted with a function that is told of broadcasts; nil: none.
func (s *site) profiled(ctx context.Context, seed uint64, on *platform.Platform, ranks int, broadcast func(bytes int), program func(c *mpi.Comm)) (map[string]int64, error) {
	j, err := job.New(on, s.Library, ranks, s.job.Noise)
	if err != nil {
		return nil, err
	}
	w, err := j.World(ctx, seed)
	if err != nil {
		return nil, err
	}
	counts, options := map[string]int64{}, j.Options("")
	options.Broadcast = broadcast
	return counts, mpi.Run(w, options, func(c *mpi.Comm) error {
		program(c)
		for name, n := range c.Counts {
			counts[name] += n
		}
		return nil
	})
}

// sequenceBytes is the length of their messages.
const sequenceBytes = 1000

// sequences are what is counted, by name: a message whose send comes first, whose receive comes
// first, or whose send and receive cross, followed by another one; more receives than a request
// FIFO holds; round trips with receives that are posted first; and collective operations alone.
var sequences = map[string]struct {
	ranks   int
	drawn   bool // it is recorded
	program func(c *mpi.Comm)
}{
	"send":    {2, true, func(c *mpi.Comm) { message(c, 1, 0, 500*unit.Microsecond) }},
	"receive": {2, true, func(c *mpi.Comm) { message(c, 1, 500*unit.Microsecond, 0) }},
	"cross": {2, true, func(c *mpi.Comm) {
		message(c, 1, 0, 0)
		if c.Rank() == 0 {
			c.Compute(500 * unit.Microsecond)
			mpi.Send(c, make([]byte, sequenceBytes), 1, 0)
		} else {
			mpi.Recv(c, make([]byte, sequenceBytes), 0, 0)
		}
	}},
	"many":  {2, false, func(c *mpi.Comm) { message(c, 2*model.DefaultRequests, 50*unit.Millisecond, 0) }},
	"trips": {2, false, func(c *mpi.Comm) { posted(c, sequenceBytes, 10) }},
	"collectives": {8, false, func(c *mpi.Comm) {
		mine, all := []int64{int64(c.Rank())}, make([]int64, 8)
		for range 3 {
			c.Bcast(mpi.Of(all), 0)
			c.Allreduce(mpi.Of(all), mpi.Of(make([]int64, 8)), mpi.Sum)
			mpi.Allgather(c, mine, all)
			mpi.Alltoall(c, all, make([]int64, 8))
			c.Reduce(mpi.Of(all), mpi.Of(make([]int64, 8)), mpi.Sum, 0)
		}
	}},
}

// message sends n messages, after a time, and receives them, after a time. Receives are
// all posted before the first is waited for. The barrier of this engine takes no messages.
func message(c *mpi.Comm, n int, sends, receives unit.Time) {
	c.Barrier()
	c.Compute(100 * unit.Microsecond) // until all have left it
	if c.Rank() == 0 {
		c.Compute(sends)
		for range n {
			mpi.Send(c, make([]byte, sequenceBytes), 1, 0)
		}
		return
	}
	c.Compute(receives)
	var all []mpi.Request
	for range n {
		all = append(all, mpi.Irecv(c, make([]byte, sequenceBytes), 0, 0))
	}
	for _, r := range all {
		r.Wait()
	}
}

// flood is a rank that appends to a queue until it refuses, and on.
type flood struct {
	quiet, all int // completions of entries that are quiet but for the last, and of others
	prefix     int // entries in a full queue that are the first, in their order; 0: others are there
}

// run is the program of both ranks.
func (f *flood) run(p device.Port) error {
	const n, entry, room = 40, 100, 10
	if p.Rank() > 1 {
		return nil
	}
	q := p.Queue()
	wide, narrow := q.Create(2*n*(entry+device.EntryOverhead)), q.Create(room*(entry+device.EntryOverhead))
	if p.Rank() == 1 {
		p.Recv(true)
		for i := 0; ; i++ {
			x := q.First(narrow)
			if x == nil {
				break
			}
			if f.prefix++; int(x.Data[0]) != i {
				f.prefix = 0
				break
			}
			q.Drop(narrow)
		}
		return nil
	}
	p.Delay(unit.Millisecond) // until the other has its queues
	b := make([]byte, entry)
	fill := func(k device.Key, flags device.EnqueueFlags) (completions int) {
		for i := range n {
			if b[0] = byte(i); i == n-1 {
				flags = 0
			}
			q.Enqueue(1, k, b, flags, device.Head{})
		}
		p.Delay(10 * unit.Millisecond)
		for p.Recv(false) != nil {
			completions++
		}
		return completions
	}
	f.quiet, f.all = fill(wide, device.Quiet), fill(wide, 0)
	fill(narrow, device.Quiet)
	p.Send(1, &device.Packet{})
	return nil
}
