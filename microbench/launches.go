package microbench

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/loggp/loggp/microbench/sample"
)

// Launch is what one launch of a campaign is to do.
type Launch struct {
	Number int           // from 0
	Cells  []Cell        // in the order in which to go through them first
	Begin  time.Time     // now
	Share  time.Duration // what it may take from then on, but that all cells are gone through once; 0: no limit
	Seed   uint64        // of all other order
	Rows   int           // samples that it may bring at most, but that all cells are gone through once
	Refine bool          // sizes are to be added where curves break: their cells are those of all later launches too

	Progress func(part float64) // may be told what part of the launch is over, from 0 to 1; nil: nobody asks
}

// Outcome is what a campaign brought.
type Outcome struct {
	Series   []sample.Series
	Launches int
	Begun    time.Time
	Took     time.Duration
	Added    []int // sizes
	Known    int   // medians that are known to the precision that was wanted, with what differs between launches,
	Medians  int   // of so many
}

// Run goes through the launches of a campaign, each of which one measures. It returns the series of the launch, whose keys have their launch set by Run.
// After some time progress is called with what part is over, from 0 to 1; it may be nil.
//
// Where ranks are processes that come to the same campaign, one returns nothing in those that do not hold the series, and they go on to their launch: whether
// there is another depends on what was measured, and on the time, in the process that has it.
func (c *Campaign) Run(ctx context.Context, one func(context.Context, Launch) ([]sample.Series, error), progress func(part float64)) (*Outcome, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return c.run(ctx, one, progress)
}

func (c *Campaign) run(ctx context.Context, one func(context.Context, Launch) ([]sample.Series, error), progress func(part float64)) (*Outcome, error) {
	begin := time.Now()
	out := &Outcome{Begun: begin}
	now := *c
	for ; now.another(out, time.Since(begin)); out.Launches++ {
		l := now.launch(out.Launches, time.Since(begin))
		l.Progress = now.within(progress, out.Launches, time.Since(begin), l.Share)
		series, err := one(ctx, l)
		if err != nil {
			return nil, err
		}
		for i := range series {
			series[i].Launch = l.Number
		}
		out.Series = append(out.Series, series...)
		if l.Refine {
			out.Added = now.adopt(series)
		}
	}
	c.label(out)
	out.Took = time.Since(begin)
	v := c.judge(out.Series)
	out.Known, out.Medians = v.known, v.of
	return out, nil
}

// label says anew at which pace samples were made, now that the best moments of all launches are known: a launch may have had none.
func (c *Campaign) label(out *Outcome) {
	if len(c.leads) == 0 {
		return
	}
	out.Series = nil
	for _, l := range c.leads {
		l.earlier = c.best
		for _, s := range l.series() {
			s.Launch = l.launch.Number
			out.Series = append(out.Series, s)
		}
	}
	c.leads = nil
}

// rows returns how many samples there are.
func (o *Outcome) rows() int {
	set := sample.Set{Series: o.Series}
	return set.Rows()
}

// another says whether there is to be a launch after those that were, which took so long. One that there is no time for half of is none, but where so
// many were asked for.
func (c *Campaign) another(so *Outcome, took time.Duration) bool {
	n := so.Launches
	switch {
	case c.Launches > 0 || n == 0:
		return n < c.LeastLaunches()
	case n >= MaxLaunches:
		return false
	case so.Series == nil: // another process decides
		return true
	case so.rows() > sample.MaxRows/(n+1)*n:
		return false
	case c.Time() > 0 && c.Time()-took < took/time.Duration(2*n):
		return false
	case n < c.LeastLaunches():
		return true
	case c.Time() == 0:
		return false
	}
	v := c.judge(so.Series)
	return v.known < v.of
}

// launch returns what the launch of that number is to do, after so much time.
func (c *Campaign) launch(n int, after time.Duration) Launch {
	l := Launch{Number: n, Begin: time.Now(), Cells: c.All(), Rows: sample.MaxRows / max(c.LeastLaunches(), n+1), Refine: c.Refine && n == 0}
	random := rand.New(rand.NewPCG(c.Seed, uint64(n)))
	random.Shuffle(len(l.Cells), func(i, j int) { l.Cells[i], l.Cells[j] = l.Cells[j], l.Cells[i] })
	l.Seed = random.Uint64()
	if c.Time() > 0 {
		l.Share = max((c.Time()-after)/time.Duration(max(1, c.LeastLaunches()-n)), 1)
	}
	return l
}

// adopt makes the sizes of a launch those of the campaign, and returns those that are new.
func (c *Campaign) adopt(series []sample.Series) []int {
	var added []int
	for i := range series {
		if k := series[i].Bytes; !slices.Contains(c.Sizes, k) && !slices.Contains(c.Trips, k) && !slices.Contains(added, k) {
			added = append(added, k)
		}
	}
	slices.Sort(added)
	c.Sizes = slices.Sorted(slices.Values(slices.Concat(c.Sizes, added)))
	return added
}

// within returns what is told of the progress of a launch of that number, which begins after so much time.
func (c *Campaign) within(progress func(float64), n int, after, share time.Duration) func(float64) {
	if progress == nil {
		return nil
	}
	from, to := float64(n)/float64(c.LeastLaunches()), float64(n+1)/float64(c.LeastLaunches())
	if all := c.Time(); all > 0 {
		from, to = float64(after)/float64(all), float64(after+share)/float64(all)
	}
	return func(part float64) { progress(min(1, from+part*(to-from))) }
}
