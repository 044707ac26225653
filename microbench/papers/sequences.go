package papers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// sequencesBenchmark runs short programs and reads the counters of the engine of MPI/MBCF: a number
// count(subject, program, event). It also counts completions(subject, quiet or all) of entries of a
// queue, and prefix(subject), those in a full queue if they are the first ones in their order.
var sequencesBenchmark = Benchmark{
	Numbers: map[string]int{"count": 3, "completions": 2, "prefix": 1},
	Parts:   func(_ *Site, e *Experiment) int { return 2 },
	Run: func(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
		for _, name := range slices.Sorted(maps.Keys(sequences)) {
			q := sequences[name]
			if q.recorded {
				if err := recordSequence(ctx, s, seed, name, q.program, out); err != nil {
					return fmt.Errorf("%s, %s: %w", s.Name, name, err)
				}
			}
			counts, err := s.sumEngineCounters(ctx, seed, s.Job.Platform, q.ranks, nil, q.program)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.Name, name, err)
			}
			for counter, n := range counts {
				if event := sequenceEvents[counter]; event != "" {
					out.Numbers[Key("count", s.ID, name, event)] = float64(n)
				}
			}
		}
		done(1)
		w, err := s.Job.World(ctx, seed)
		if err != nil {
			return err
		}
		var f queueCompletions
		if err := w.Run(f.runRank); err != nil {
			return err
		}
		out.Numbers[Key("completions", s.ID, "quiet")] = float64(f.quiet)
		out.Numbers[Key("completions", s.ID, "all")] = float64(f.all)
		out.Numbers[Key("prefix", s.ID)] = float64(f.prefix)
		done(2)
		return nil
	},
}

// barrierFunction is the call before the recorded part of a sequence.
var barrierFunction = mpi.FunctionName("Barrier")

// IsRecorded reports whether the benchmark of sequences records the program of a name.
func IsRecorded(sequence string) bool { return sequences[sequence].recorded }

// recordSequence records the two ranks of a short program from the end of its barrier on, and
// counts how often the library copies the data of a message.
func recordSequence(ctx context.Context, s *Site, seed uint64, name string, program func(c *mpi.Comm), out *Results) error {
	j, err := job.New(s.Job.Platform, s.Library, 2, s.Job.Noise)
	if err != nil {
		return err
	}
	r, err := j.RecordProgram(ctx, seed, "", 0, func(c *mpi.Comm) error {
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
			if c.Name == barrierFunction {
				begin = max(begin, c.To)
			}
		}
	}
	r = r.Window(begin, r.End())
	r.Resources = nil
	copies := 0
	for i := range r.Ranks {
		t := &r.Ranks[i]
		t.Calls = slices.DeleteFunc(t.Calls, func(c model.Span) bool {
			return c.Name == mpi.FunctionName(mpi.FinalizeCall) || c.Name == barrierFunction
		})
		for _, span := range t.Spans {
			if span.Activity == model.CopyActivity && span.Bytes >= sequenceBytes {
				copies++
			}
		}
	}
	r.Flights = slices.DeleteFunc(r.Flights, func(f model.Flight) bool { return f.Depart < 0 }) // of the barrier
	for i := range r.Flights {
		f := &r.Flights[i]
		f.Name = strings.TrimSpace(fmt.Sprintf("%s of %d bytes", f.Name, f.Bytes))
	}
	out.Recordings[Key(name, s.ID)] = r
	out.Numbers[Key("count", s.ID, name, "copies")] = float64(copies)
	return nil
}

// sequenceEvents are the names that papers have for counters of the engine.
var sequenceEvents = map[string]string{"messages by remote write": "written", "messages by FIFO": "queued", "requests posted": "requests", "requests dropped": "stale",
	"requests lost": "lost", "temporary buffers used": "temporary"}

// sequenceBytes is the length of the messages in sequences.
const sequenceBytes = 1000

// sequences are the programs by name: a message whose send comes first, whose receive comes first,
// or whose send and receive cross, followed by another message; more receives than a request FIFO
// holds; round trips with posted receives; and collective operations alone.
var sequences = map[string]struct {
	ranks    int
	recorded bool
	program  func(c *mpi.Comm)
}{
	"send":    {2, true, func(c *mpi.Comm) { sendSequence(c, 1, 0, 500*unit.Microsecond) }},
	"receive": {2, true, func(c *mpi.Comm) { sendSequence(c, 1, 500*unit.Microsecond, 0) }},
	"cross": {2, true, func(c *mpi.Comm) {
		sendSequence(c, 1, 0, 0)
		if c.Rank() == 0 {
			c.Compute(500 * unit.Microsecond)
			mpi.Send(c, make([]byte, sequenceBytes), 1, 0)
		} else {
			mpi.Recv(c, make([]byte, sequenceBytes), 0, 0)
		}
	}},
	"many":  {2, false, func(c *mpi.Comm) { sendSequence(c, 2*model.DefaultRequestFIFOEntries, 50*unit.Millisecond, 0) }},
	"trips": {2, false, func(c *mpi.Comm) { timePostedTrips(c, sequenceBytes, 10) }},
	"collectives": {8, false, func(c *mpi.Comm) {
		mine, all := []int64{int64(c.Rank())}, make([]int64, 8)
		for range 3 {
			c.Bcast(mpi.BufferOf(all), 0)
			c.Allreduce(mpi.BufferOf(all), mpi.BufferOf(make([]int64, 8)), mpi.Sum)
			mpi.Allgather(c, mine, all)
			mpi.Alltoall(c, all, make([]int64, 8))
			c.Reduce(mpi.BufferOf(all), mpi.BufferOf(make([]int64, 8)), mpi.Sum, 0)
		}
	}},
}

// sendSequence sends n messages after sendDelay and receives them after receiveDelay. It posts all
// receives before it waits for the first. The barrier of this engine uses no messages.
func sendSequence(c *mpi.Comm, n int, sendDelay, receiveDelay unit.Time) {
	c.Barrier()
	c.Compute(100 * unit.Microsecond) // until all ranks have left it
	if c.Rank() == 0 {
		c.Compute(sendDelay)
		for range n {
			mpi.Send(c, make([]byte, sequenceBytes), 1, 0)
		}
		return
	}
	c.Compute(receiveDelay)
	var all []mpi.Request
	for range n {
		all = append(all, mpi.Irecv(c, make([]byte, sequenceBytes), 0, 0))
	}
	for _, r := range all {
		r.Wait()
	}
}

// queueCompletions counts what happens to the entries that a rank appends to a queue of another
// rank, even after the queue refuses them.
type queueCompletions struct {
	quiet  int // completions of entries that, except for the last one, ask for none
	all    int // completions of entries that ask for one
	prefix int // entries in a full queue, if they are the first ones in their order; else 0
}

// runRank is the program of ranks 0 and 1.
func (f *queueCompletions) runRank(p device.Port) error {
	const entries, entryBytes, narrowEntries = 40, 100, 10
	if p.Rank() > 1 {
		return nil
	}
	q := p.Queues()
	wide, narrow := q.Create(2*entries*(entryBytes+device.EntryOverhead)), q.Create(narrowEntries*(entryBytes+device.EntryOverhead))
	if p.Rank() == 1 {
		p.Recv(true)
		for i := 0; ; i++ {
			e := q.First(narrow)
			if e == nil {
				break
			}
			if f.prefix++; int(e.Data[0]) != i {
				f.prefix = 0
				break
			}
			q.RemoveFirst(narrow)
		}
		return nil
	}
	p.Delay(unit.Millisecond) // until the receiver has its queues
	b := make([]byte, entryBytes)
	fill := func(k device.Key, flags device.EnqueueFlags) (completions int) {
		for i := range entries {
			if b[0] = byte(i); i == entries-1 {
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
	f.quiet, f.all = fill(wide, device.CompleteOnlyIfRefused), fill(wide, 0)
	fill(narrow, device.CompleteOnlyIfRefused)
	p.Send(1, &device.Packet{})
	return nil
}
