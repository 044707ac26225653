package paper

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/aclmpl"
	"github.com/loggp/loggp/model/unit"
)

// aclmplBenchmark runs calls of ACLMPL with its packets recorded: what a message consists of, how
// the pool fills up, and what a reduction takes by each algorithm.
var aclmplBenchmark = benchmark{
	gives: map[string]int{"puts": 3, "put_bytes": 3, "copies": 3, "refusals": 1, "in_order": 1, "senders": 3, "path": 2, "reduction": 4},
	cells: func(_ *run, e *Experiment) int { return 5 },
	run:   runACLMPL,
}

// runACLMPL needs two processors for messages, and the largest of the experiment's numbers of ranks
// for collective operations. The one size is in bytes for messages, and all are elements of 8 bytes
// for reductions.
func runACLMPL(ctx context.Context, x *run, e *Experiment, _ uint64, done func(int)) error {
	r := aclmplRun{x, x.sites[e.Subject], ctx, e.Sizes.values[0]}
	if err := r.messages("sync", false); err != nil {
		return err
	}
	done(1)
	if err := r.messages("async", false); err != nil {
		return err
	}
	if err := r.messages("async", true); err != nil {
		return err
	}
	done(2)
	if err := r.pool(); err != nil {
		return err
	}
	done(3)
	if err := r.broadcast(e.Ranks.values[len(e.Ranks.values)-1]); err != nil {
		return err
	}
	done(4)
	for _, n := range e.Ranks.values {
		for _, elements := range e.Sizes.values {
			for algorithm, from := range map[string]int{"swap": 1, "tree": elements + 1} {
				if err := r.reduction(algorithm, from, n, elements); err != nil {
					return err
				}
			}
		}
	}
	done(5)
	return nil
}

type aclmplRun struct {
	*run
	s     *site
	ctx   context.Context
	bytes int
}

// traced runs a program of ACLMPL and returns what its ranks did from begin on.
func (r *aclmplRun) traced(ranks int, o aclmpl.Options, program func(*aclmpl.PE)) ([]trace.Event, error) {
	const begin = unit.Millisecond // the library has started by then
	j, err := job.NewAny(r.s.job.Platform, r.s.Library, ranks, 0)
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

// messages counts the puts of a message with their bytes, and its copies: in the pool, or through
// the list of one that has been drained.
func (r *aclmplRun) messages(mode string, list bool) error {
	o := aclmpl.Options{}
	if list {
		o.Slots = 1
	}
	events, err := r.traced(2, o, func(p *aclmpl.PE) {
		b := make([]byte, r.bytes)
		switch {
		case mode == "sync" && p.Rank() == 0:
			p.Send(1, b)
		case mode == "sync":
			p.Receive(0, b)
		case p.Rank() == 0:
			p.SendAsync(1, 0, b)
		default:
			p.Compute(unit.Millisecond) // until it is there
			p.ReceiveAsync(0, 0, b)
		}
	})
	if err != nil {
		return err
	}
	of := []string{r.s.ID, mode, "pool"}
	if list {
		of[2] = "list"
	}
	puts, bytes, copies := 0.0, 0.0, 0.0
	for _, e := range events {
		switch e.Kind {
		case trace.Put:
			puts++
			bytes += float64(e.N)
		case trace.Copy:
			copies++
		}
	}
	for name, v := range map[string]float64{"puts": puts, "put_bytes": bytes, "copies": copies} {
		r.measured[expr.Key(name, of...)] = expr.Exactly(v)
	}
	return nil
}

// pool sends more messages than there are slots before the first is received: how often a pool was
// full, and whether all came in their order.
func (r *aclmplRun) pool() error {
	const messages = 100
	refusals, ordered := 0, 1.0
	_, err := r.traced(2, aclmpl.Options{Slots: 8}, func(p *aclmpl.PE) {
		b := make([]byte, 8)
		if p.Rank() == 0 {
			for i := range messages {
				b[0] = byte(i)
				p.SendAsync(1, 0, b)
			}
			refusals = p.Statistics().Full
			return
		}
		p.Compute(unit.Millisecond)
		for i := range messages {
			if p.ReceiveAsync(0, 0, b); b[0] != byte(i) {
				ordered = 0
			}
		}
	})
	r.measured[expr.Key("refusals", r.s.ID)] = expr.Exactly(float64(refusals))
	r.measured[expr.Key("in_order", r.s.ID)] = expr.Exactly(ordered)
	return err
}

// broadcast counts the senders of each phase of a broadcast, and the sends one after the other on
// the longest path. The put of the data from a to b is in the phase behind those by which a got the
// data, and behind those of a's own.
func (r *aclmplRun) broadcast(n int) error {
	events, err := r.traced(n, aclmpl.Options{}, func(p *aclmpl.PE) { p.Broadcast(make([]byte, r.bytes)) })
	if err != nil {
		return err
	}
	phase, senders, longest := make([]int, n), map[int]int{}, 0
	for _, e := range events {
		if e.Kind == trace.Put && e.N == r.bytes {
			phase[e.Rank]++
			phase[e.Peer] = phase[e.Rank]
			senders[phase[e.Rank]]++
			longest = max(longest, phase[e.Rank])
		}
	}
	for i, k := range senders {
		r.measured[expr.Key("senders", r.s.ID, strconv.Itoa(n), strconv.Itoa(i))] = expr.Exactly(float64(k))
	}
	r.measured[expr.Key("path", r.s.ID, strconv.Itoa(n))] = expr.Exactly(float64(longest))
	return nil
}

// reduction times a sum of arrays of numbers by an algorithm, which counts from so many elements.
func (r *aclmplRun) reduction(algorithm string, from, n, elements int) error {
	var begin, end unit.Time
	_, err := r.traced(n, aclmpl.Options{SwapFrom: from}, func(p *aclmpl.PE) {
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
	r.measured[expr.Key("reduction", r.s.ID, algorithm, strconv.Itoa(n), strconv.Itoa(elements))] = micros(end - begin)
	if err != nil {
		return fmt.Errorf("reduction by %s, %d ranks, %d elements: %w", algorithm, n, elements, err)
	}
	return nil
}
