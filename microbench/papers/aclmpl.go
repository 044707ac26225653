package papers

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/aclmpl"
	"github.com/loggp/loggp/model/unit"
)

// aclmplBenchmark records the packets of ACLMPL's calls. Of a message it counts puts, put_bytes and
// copies, all of (subject, sync or async, pool or list). It fills up the pool: refusals(subject),
// and whether messages arrive in_order(subject). Of a broadcast it counts senders(subject, ranks,
// phase) and the longest path(subject, ranks), and it times reduction(subject, tree or swap, ranks,
// elements).
var aclmplBenchmark = Benchmark{
	Numbers: map[string]int{"puts": 3, "put_bytes": 3, "copies": 3, "refusals": 1, "in_order": 1, "senders": 3, "path": 2, "reduction": 4},
	Parts:   func(_ *Site, e *Experiment) int { return 5 },
	Run:     runACLMPL,
}

// runACLMPL sends messages of the first size, in bytes, between two ranks, broadcasts them to the
// last number of ranks, and reduces arrays of each size, in elements of 8 bytes, on each number of
// ranks.
func runACLMPL(ctx context.Context, s *Site, e *Experiment, _ uint64, out *Results, done func(int)) error {
	r := aclmplTracer{ctx, s, e.Sizes[0], out}
	if err := r.countMessageSteps("sync", false); err != nil {
		return err
	}
	done(1)
	if err := r.countMessageSteps("async", false); err != nil {
		return err
	}
	if err := r.countMessageSteps("async", true); err != nil {
		return err
	}
	done(2)
	if err := r.overflowPool(); err != nil {
		return err
	}
	done(3)
	if err := r.countBroadcastPhases(e.Ranks[len(e.Ranks)-1]); err != nil {
		return err
	}
	done(4)
	for _, n := range e.Ranks {
		for _, elements := range e.Sizes {
			for algorithm, swapFrom := range map[string]int{"swap": 1, "tree": elements + 1} {
				if err := r.timeReduction(algorithm, swapFrom, n, elements); err != nil {
					return err
				}
			}
		}
	}
	done(5)
	return nil
}

// aclmplTracer runs programs of ACLMPL and records their packets.
type aclmplTracer struct {
	ctx   context.Context
	site  *Site
	bytes int // of a message
	out   *Results
}

// trace runs a program and returns the events from its begin to its end.
func (r *aclmplTracer) trace(ranks int, o aclmpl.Options, program func(*aclmpl.PE)) ([]trace.Event, error) {
	const begin = unit.Millisecond // until the library has started
	j, err := job.NewForAnyLibrary(r.site.Job.Platform, r.site.Library, ranks, 0)
	if err != nil {
		return nil, err
	}
	w, err := j.World(r.ctx, 1)
	if err != nil {
		return nil, err
	}
	log := trace.Log{Engine: j.Library.CarriedBy()}
	var end unit.Time
	err = aclmpl.Run(trace.World(w, &log), o, func(p *aclmpl.PE) error {
		p.Compute(begin - p.Now())
		program(p)
		end = max(end, p.Now())
		p.Compute(end + unit.Second - p.Now()) // the library ends later
		return nil
	})
	var during []trace.Event
	for _, e := range log.Events() {
		if e.From >= begin && e.From <= end {
			during = append(during, e)
		}
	}
	return during, err
}

// countMessageSteps counts the puts of a message with their bytes, and its copies: in the pool, or
// through the list to which a full pool is emptied.
func (r *aclmplTracer) countMessageSteps(mode string, list bool) error {
	o := aclmpl.Options{}
	if list {
		o.PoolSlots = 1
	}
	events, err := r.trace(2, o, func(p *aclmpl.PE) {
		b := make([]byte, r.bytes)
		switch {
		case mode == "sync" && p.Rank() == 0:
			p.Send(1, b)
		case mode == "sync":
			p.Receive(0, b)
		case p.Rank() == 0:
			p.SendAsync(1, 0, b)
		default:
			p.Compute(unit.Millisecond) // until the message has arrived
			p.ReceiveAsync(0, 0, b)
		}
	})
	if err != nil {
		return err
	}
	of := []string{r.site.ID, mode, "pool"}
	if list {
		of[2] = "list"
	}
	puts, bytes, copies := 0.0, 0.0, 0.0
	for _, e := range events {
		switch e.Kind {
		case trace.Put:
			puts++
			bytes += float64(e.Amount)
		case trace.Copy:
			copies++
		}
	}
	for name, v := range map[string]float64{"puts": puts, "put_bytes": bytes, "copies": copies} {
		r.out.Numbers[Key(name, of...)] = v
	}
	return nil
}

// overflowPool sends more messages than there are slots before the first is received. It counts how
// often the pool was full, and checks the order of the messages.
func (r *aclmplTracer) overflowPool() error {
	const messages = 100
	refusals, ordered := 0, 1.0
	_, err := r.trace(2, aclmpl.Options{PoolSlots: 8}, func(p *aclmpl.PE) {
		b := make([]byte, 8)
		if p.Rank() == 0 {
			for i := range messages {
				b[0] = byte(i)
				p.SendAsync(1, 0, b)
			}
			refusals = p.Statistics().FullPoolEncounters
			return
		}
		p.Compute(unit.Millisecond)
		for i := range messages {
			if p.ReceiveAsync(0, 0, b); b[0] != byte(i) {
				ordered = 0
			}
		}
	})
	r.out.Numbers[Key("refusals", r.site.ID)] = float64(refusals)
	r.out.Numbers[Key("in_order", r.site.ID)] = ordered
	return err
}

// countBroadcastPhases counts the senders in each phase of a broadcast, and the consecutive sends
// on the longest path. A put from a to b is one phase after the put that brought the data to a, and
// after the earlier puts of a.
func (r *aclmplTracer) countBroadcastPhases(n int) error {
	events, err := r.trace(n, aclmpl.Options{}, func(p *aclmpl.PE) { p.Broadcast(make([]byte, r.bytes)) })
	if err != nil {
		return err
	}
	phase, senders, longest := make([]int, n), map[int]int{}, 0
	for _, e := range events {
		if e.Kind == trace.Put && e.Amount == r.bytes {
			phase[e.Rank]++
			phase[e.Peer] = phase[e.Rank]
			senders[phase[e.Rank]]++
			longest = max(longest, phase[e.Rank])
		}
	}
	for i, k := range senders {
		r.out.Numbers[Key("senders", r.site.ID, strconv.Itoa(n), strconv.Itoa(i))] = float64(k)
	}
	r.out.Numbers[Key("path", r.site.ID, strconv.Itoa(n))] = float64(longest)
	return nil
}

// timeReduction times a sum of arrays by an algorithm. Arrays of swapFrom elements or more are
// reduced by binary swap, shorter ones by a tree.
func (r *aclmplTracer) timeReduction(algorithm string, swapFrom, n, elements int) error {
	var begin, end unit.Time
	_, err := r.trace(n, aclmpl.Options{MinBinarySwapElements: swapFrom}, func(p *aclmpl.PE) {
		x := make([]float64, elements)
		p.Barrier()
		begin = max(begin, p.Now())
		aclmpl.Reduce(p, x, func(lower, higher, result []float64) {
			for i := range result {
				result[i] = lower[i] + higher[i]
			}
		})
		end = max(end, p.Now())
	})
	r.out.Numbers[Key("reduction", r.site.ID, algorithm, strconv.Itoa(n), strconv.Itoa(elements))] = (end - begin).Micros()
	if err != nil {
		return fmt.Errorf("reduction by %s, %d ranks, %d elements: %w", algorithm, n, elements, err)
	}
	return nil
}
