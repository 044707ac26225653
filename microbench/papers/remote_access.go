package papers

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
)

// remoteAccessBenchmark times remote writes (write) and entries of a queue (fifo) at the interface,
// without a library: one_way(subject, write or fifo, size), and stream in MB/s.
var remoteAccessBenchmark = Benchmark{
	Numbers: map[string]int{"one_way": 3, "stream": 3},
	Parts:   func(_ *Site, e *Experiment) int { return 2 * len(e.Sizes) },
	Run: func(ctx context.Context, s *Site, e *Experiment, seed uint64, out *Results, done func(int)) error {
		for i, bytes := range e.Sizes {
			for j, kind := range []string{"write", "fifo"} {
				a := accessTiming{fifo: kind == "fifo", bytes: bytes, rounds: max(e.Reps, 1)}
				for k := range a.rounds {
					w, err := s.Job.World(ctx, seed+uint64((2*i+j)*a.rounds+k))
					if err != nil {
						return err
					}
					if err := w.Run(a.runRank); err != nil {
						return fmt.Errorf("%s, %s of %d bytes: %w", s.Name, kind, bytes, err)
					}
				}
				slices.Sort(a.oneWay)
				of := []string{s.ID, kind, strconv.Itoa(bytes)}
				out.Numbers[Key("one_way", of...)] = quantile.UpperMedian(a.oneWay).Micros()
				out.Numbers[Key("stream", of...)] = float64(a.rounds*bytes*a.streamAccesses()) / a.streamTime.Micros()
				done(2*i + j + 1)
			}
		}
		return nil
	},
}

// accessTiming times remote accesses of one kind and length. It needs an emulated machine, on which
// all ranks read the same clock.
type accessTiming struct {
	fifo          bool
	bytes, rounds int // of one way, and streams

	start      unit.Time // of the access at hand
	oneWay     []unit.Time
	streamTime unit.Time // of all streams
}

// streamLength is the number of messages in a stream.
const streamLength = 500

// streamAccesses is the number of accesses in a stream. With the ten rounds of a paper neither the
// time of the last completion matters, nor the chance by which stations of a hub get it.
func (a *accessTiming) streamAccesses() int { return 4 * streamLength * a.rounds }

// runRank is the program of ranks 0 and 1; others do nothing. The receiver polls until it has the
// data.
func (a *accessTiming) runRank(p device.Port) error {
	const pause = 2 * unit.Millisecond // longer than a round
	if p.Rank() > 1 {
		return nil
	}
	b := make([]byte, a.bytes)
	key, queue := p.Memory().Expose(make([]byte, a.bytes)), p.Queues().Create((a.streamAccesses()+1)*(a.bytes+device.EntryOverhead))
	send := func() {
		if a.fifo {
			p.Queues().Enqueue(1, queue, b, device.CompleteOnlyIfRefused, device.Head{})
		} else {
			p.Memory().Put(1, key, 0, b, device.NoCompletion)
		}
	}
	if p.Rank() == 1 {
		for range a.rounds {
			for seen := p.Watch().EventCount(); ; seen = p.Watch().EventCount() {
				if a.fifo && p.Queues().First(queue) != nil {
					break
				}
				if p.Watch().WaitForEvent(seen, device.Forever); !a.fifo {
					break
				}
			}
			if a.fifo {
				p.Copy(b, p.Queues().First(queue).Data)
			}
			a.oneWay = append(a.oneWay, p.Now()-a.start)
			if a.fifo {
				p.Queues().RemoveFirst(queue)
			}
		}
		p.Recv(true) // the end of the stream
		return nil
	}
	p.Delay(pause) // until the receiver has its queue
	for range a.rounds {
		a.start = p.Now()
		send()
		p.Delay(pause)
	}
	begin := p.Now()
	for range a.streamAccesses() {
		send()
	}
	p.Memory().Put(1, key, 0, nil, device.Head{1}) // completes after all of them
	p.Recv(true)
	a.streamTime += p.Now() - begin
	p.Send(1, &device.Packet{})
	return nil
}
