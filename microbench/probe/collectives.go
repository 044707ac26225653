package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
)

// Vendor is what stands for the algorithm of a collective operation: the library takes one of its own, and does not say which.
const Vendor = "vendor"

// chosen are the algorithms of that name, by operation.
var chosen = func() []*collective.Algorithm {
	var all []*collective.Algorithm
	for _, o := range collective.Operations() {
		all = append(all, collective.Unknown(o, Vendor))
	}
	return all
}()

// Algorithm returns the one of that name.
func Algorithm(o collective.Operation) *collective.Algorithm { return chosen[o] }

// MeasureCollectives measures collective operations as Measure does messages, between as many ranks as their jobs have. All are of Algorithm. c says
// then how many repetitions began too late.
func MeasureCollectives(ctx context.Context, c *microbench.Collectives, s Settings, progress func(part float64)) (*sample.Set, *microbench.Outcome, error) {
	if err := checkCollectives(c); err != nil {
		return nil, nil, err
	}
	m := &measurement{campaign: &c.Campaign, collectives: c}
	return m.measure(ctx, c.Of[0].Ranks, s, Vendor, progress)
}

// checkCollectives says what cannot be measured here.
func checkCollectives(c *microbench.Collectives) error {
	if err := c.Check(); err != nil {
		return err
	}
	for _, x := range c.Of {
		if x.Name != Vendor {
			return fmt.Errorf("%v: the vendor's MPI takes algorithms of its own", x.Algorithm)
		}
	}
	const timers = 4
	if rows := timers * len(c.Of) * c.Reps * c.LeastLaunches(); rows > sample.MaxRows {
		return fmt.Errorf("this makes %d samples, and at most %d can be kept: take fewer repetitions, sizes, operations or launches", rows, sample.MaxRows)
	}
	return nil
}

// perform measures what a launch is to.
func (m *measurement) perform(ctx context.Context, l microbench.Launch) ([]sample.Series, error) {
	begin := time.Now()
	s, err := m.session(ctx, l.Number)
	if err != nil {
		return nil, err
	}
	p := m.planOfAll(l)
	p.time = left(&l, begin, 1)
	r, err := s.measure(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := m.rest(ctx, l.Number); err != nil {
		return nil, err
	}
	m.collectives.Began(r.late, r.tried)
	series := inOrder(r.series, m.operations())
	r.series = nil
	m.results = append(m.results, r)
	return series, ctx.Err()
}

// operations returns the names of those that are measured, in their order.
func (m *measurement) operations() []string {
	var names []string
	for _, x := range m.collectives.Of {
		names = append(names, x.Operation.String())
	}
	return names
}

// Samples of a timer: so many there are even if there is no time for them, since so many have an interval, and a launch takes no more.
const (
	leastRounds = 8
	mostRounds  = 500
)

// planOfAll returns the plan of a launch, with its cells in random order.
func (m *measurement) planOfAll(l microbench.Launch) *plan {
	c := m.campaign
	p := &plan{
		ranks: m.ranks, collective: true, barriers: m.places[l.Number].clocksApart() != "",
		reps: c.Reps, least: leastRounds, precision: c.Wanted(), warmup: c.Warmup, seed: l.Seed >> 1,
	}
	for _, x := range m.collectives.Of {
		p.cells = append(p.cells, microbench.Cell{Mode: x.Operation.String(), Bytes: x.Bytes})
	}
	random := rand.New(rand.NewPCG(l.Seed, 1))
	random.Shuffle(len(p.cells), func(i, j int) { p.cells[i], p.cells[j] = p.cells[j], p.cells[i] })
	timers := 0
	for _, x := range p.cells {
		timers += len(p.timers(x))
	}
	p.most = min(mostRounds, l.Rows/timers)
	return p
}

// clocksApart says why ranks cannot begin at the same time by their clocks, or returns "".
func (p *places) clocksApart() string {
	switch {
	case p.hosts > 1 || len(p.distinct(rank.hosted)) > 1:
		return "hosts have clocks of their own"
	case p.usable > 0 && p.usable < len(p.ranks):
		return fmt.Sprintf("%d ranks have %d processors, and cannot all begin at once", len(p.ranks), p.usable)
	}
	return ""
}

// ofAll says what is known of all ranks, and of how they were measured.
func (m *measurement) ofAll() []sample.Fact {
	const long = 10_000
	r := m.results[0]
	bound := func(p *places) string {
		var of []string
		for _, r := range p.ranks {
			of = append(of, r.bound)
		}
		return start(strings.Join(of, "; "), long/len(m.places))
	}
	return []sample.Fact{
		{Key: "processor", Value: start(strings.Join(r.distinct(func(r rank) string { return r.processor }), "; "), long)},
		{Key: "bound_to", Value: each(m.places, bound)},
		{Key: "algorithms", Value: Vendor + ": the library's own, one of which it chooses by length and ranks, and does not say which"},
		{Key: "elements", Value: "MPI_DOUBLE and MPI_SUM, or MPI_UNSIGNED_CHAR where bytes are no multiple of 8"},
		{Key: "root", Value: "0"},
		m.collectives.Start(r.clocksApart()),
		{Key: "timer", Value: "clock_gettime(CLOCK_MONOTONIC)"},
	}
}
