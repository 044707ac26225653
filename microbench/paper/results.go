package paper

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Results are what the experiments showed, or what algebra says that they should show.
type Results struct {
	values map[quantity]Value
	absent []string // what was asked for and is not there

	// What is noted while a claim is decided.
	asked     map[quantity]bool // for what was asked
	otherwise []Subject         // on which the claim would be decided the other way
	nearest   float64           // how near a value is to the edge of what the claim is read as, relative to it
	edges     []string          // in words
}

// quantity names a value: what a timer shows of a mode at a size, or a parameter of a mode, of which the size is -1. Times are
// microseconds.
type quantity struct {
	Subject
	mode, protocol, name string
	bytes                int
}

func (q quantity) String() string {
	text := fmt.Sprintf("%s of %s on %s", q.name, q.mode, cmp.Or(q.Subject.String(), q.Platform))
	if q.protocol != auto {
		text += " by " + q.protocol
	}
	if q.bytes >= 0 {
		text += fmt.Sprintf(" at %d B", q.bytes)
	}
	return text
}

// resultsOf fits each subject's samples and keeps medians and parameters.
func resultsOf(series []sample.Series, sites []*site) (*Results, error) {
	r := &Results{values: map[quantity]Value{}}
	for _, s := range sites {
		set := &sample.Set{Facts: s.facts()}
		for _, x := range series {
			if (Subject{x.Platform, x.Library, x.Place}) == s.Subject {
				set.Series = append(set.Series, x)
			}
		}
		found, err := fit.Fit(set, clean.Options{})
		if err != nil {
			return nil, err
		}
		r.keep(s.Subject, set, found)
	}
	return r, nil
}

// keep takes over the medians of the timers, curves that are differences of timers, and the gaps.
func (r *Results) keep(s Subject, set *sample.Set, found *fit.Result) {
	for _, c := range found.Curves {
		for _, p := range c.Points {
			r.values[quantity{s, c.Mode, c.Protocol, c.Timer, p.Bytes}] = Value{V: p.Value, Low: p.Low, High: p.High}
		}
	}
	for _, p := range found.Parameters {
		q := quantity{s, p.Mode, auto, p.Name, -1}
		wanted := p.Name == "G" || p.Name == "L" && p.Method == params.ByRoundTrip
		if _, ok := r.values[q]; wanted && !ok && !math.IsNaN(p.Value) {
			r.values[q] = Value{V: p.Value, Low: p.Low, High: p.High}
		}
	}
	for _, x := range set.Series {
		q := quantity{s, x.Mode, x.Protocol, x.Timer, x.Bytes}
		if v, ok := r.values[q]; ok {
			v.Spread = spread(x.Times)
			r.values[q] = v
		}
	}
}

// spread is half the width of the range that holds 95 % of the times, in microseconds.
func spread(times []unit.Time) float64 {
	sorted := slices.Sorted(slices.Values(times))
	n := len(sorted) - 1
	return (sorted[n-n/40] - sorted[n/40]).Micros() / 2
}

// get returns a value. Where there is none that is noted.
func (r *Results) get(q quantity) Value {
	if r.asked != nil {
		r.asked[q] = true
	}
	if v, ok := r.values[q]; ok {
		return v
	}
	r.absent = append(r.absent, q.String())
	return none()
}

// noting returns results with the same values that nothing is noted in.
func (r *Results) noting() *Results { return &Results{values: r.values, asked: map[quantity]bool{}} }

// timer returns what a timer shows where the library chose the protocol.
func (r *Results) timer(s Subject, mode, timer string, k int) Value {
	return r.get(quantity{s, mode, auto, timer, k})
}

// What the paper reads off the timers (sections 3.1 and 4). Overheads are medians over both roots of the barrier.

// send is o_s: timer11.
func (r *Results) send(s Subject, mode string, k int) Value {
	return r.timer(s, mode, sample.Timer11, k)
}

// receive is o_r: of a blocking receive timer12, when the message is there already; of one that does not block timer21.
func (r *Results) receive(s Subject, mode string, k int) Value {
	if mode[0] == 'i' {
		return r.timer(s, mode, sample.Timer21, k)
	}
	return r.timer(s, mode, sample.Timer12, k)
}

// latency is L: timer21 − timer12 of the blocking synchronous send of a small message, the mean over both roots. It is an upper bound.
func (r *Results) latency(s Subject) Value {
	return r.timer(s, "ssend", sample.Timer21, small).minus(r.timer(s, "ssend", sample.Timer12, small))
}

// small is the length of the small message, in bytes: that at which table 3 prints overheads.
const small = 16

// gap is G of whole messages: the slope of the blocking receive less that which does not block, of the longest messages.
func (r *Results) gap(s Subject) Value { return r.get(quantity{s, "send", auto, "G", -1}) }

// bandwidth is 1/G at a size, in MB/s: what a blocking receive of a standard send takes longer than one that does not block, over the
// bytes after the first. It is none where it takes no longer.
func (r *Results) bandwidth(s Subject, k int) Value {
	return r.timer(s, "send", params.ByBlocking, k).inverse(float64(k - 1))
}

// burst is the mean interval between the sends of a burst.
func (r *Results) burst(s Subject, mode string, k int) Value {
	return r.timer(s, mode, sample.Train, k)
}

// messageLatency is L of low-level messages.
func (r *Results) messageLatency(s Subject) Value {
	return r.get(quantity{s, microbench.Message, auto, "L", -1})
}

// What is not measured by the benchmark goes by names of its own.
const (
	wire          = "way of a first byte"      // as the model has it, from the platform's file
	afterProtocol = "call after the protocol"  // what a call that waits does at the sender longer than at the receiver
	callReturns   = "return with an idle peer" // when a call returns whose peer does nothing for so long
)

func (r *Results) wire(s Subject) Value { return r.get(quantity{s, "any mode", auto, wire, -1}) }

// returns is when a call of table 1 returns, in microseconds.
func (r *Results) returns(s Subject, call string, k int) Value {
	return r.get(quantity{s, call, auto, callReturns, k})
}
