package microbench

import (
	"math"
	"math/rand/v2"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// conductor is rank 0 of an ensemble.
type conductor struct {
	*ensemble
	watch
	launch Launch

	random   *rand.Rand
	windows  []window // of each cell that was met
	passages []*passage
	visits   int
	scratch  []unit.Time
}

// window is how far ahead a start is agreed on, and may be.
type window struct{ ahead, widest unit.Time }

// passage is a cell and a way to begin: what is repeated as often as it needs.
type passage struct {
	cell, way int
	cost      unit.Time     // of a round, by the last visit
	tried     int           // rounds
	times     [][]unit.Time // samples, by timer
}

// samples returns how many there are of each timer.
func (p *passage) samples() int { return len(p.times[0]) }

// conduct measures what the launch is to measure.
func (c *conductor) conduct() []sample.Series {
	c.watch = c.launch.started(c.c)
	c.random = rand.New(rand.NewPCG(c.launch.Seed, 1))
	c.windows = make([]window, len(c.Of))
	if c.Shared {
		c.steady()
	}
	c.look()
	for left := passes; c.pass(max(left, 1)); left-- {
	}
	c.give(cue{end: true})
	return c.series()
}

// steady lets all ranks warm up, by barriers.
func (c *conductor) steady() {
	end := c.now() + longest
	if c.end > 0 {
		end = c.begin + c.share(forWarmth)
	}
	var medians []float64
	for rounds := 8; !settled(medians) && c.now() < end; {
		begin := c.now()
		c.together(cue{cell: resting, rounds: rounds})
		if c.now()-begin < spell && rounds < mostRounds {
			rounds *= 2
			continue
		}
		c.scratch = c.scratch[:0]
		for _, s := range ways[0].rounds(c.all, c.c.Size()) {
			c.scratch = append(c.scratch, s[0])
		}
		medians = append(medians, median(c.scratch).value)
	}
}

// together does what all ranks do.
func (c *conductor) together(q cue) {
	c.give(q)
	c.play(q)
}

// look visits all passages for the first time.
func (c *conductor) look() {
	for cell := range c.Of {
		for w := range ways {
			if ways[w].serves(c.ensemble) {
				c.passages = append(c.passages, &passage{cell: cell, way: w, times: make([][]unit.Time, len(ways[w].timers))})
			}
		}
	}
	c.shuffle(c.passages)
	slice := c.share(forAll) / unit.Time(len(c.passages))
	for _, p := range c.passages {
		c.meet(p)
		c.visit(p, max(c.least(p), min(c.most(p, slice), glimpse)))
	}
}

func (c *conductor) shuffle(ps []*passage) {
	c.random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
}

// glimpse is how many rounds of a passage the first look takes at most.
const glimpse = 40

// ahead is how many rounds from barrier to barrier a window is, by which an agreed start is ahead: interfaces are free by then, and all ranks know of it.
const ahead = 2

// meet finds out how long a round of the passage's cell takes, from barrier to barrier.
func (c *conductor) meet(p *passage) {
	w := &c.windows[p.cell]
	if w.ahead == 0 {
		warm := max(c.Warmup, 1)
		if c.Shared {
			warm = max(warm, meeting)
		}
		c.together(cue{cell: p.cell, warm: warm})
		w.ahead = max(1, ahead*c.round)
		w.widest = widest * w.ahead
	}
	p.cost = w.ahead
}

// mostRounds are the most of a visit.
const mostRounds = 4096

// visit goes through rounds of a passage.
func (c *conductor) visit(p *passage, rounds int) {
	rounds = min(rounds, mostRounds)
	begin := c.now()
	c.together(cue{cell: p.cell, way: p.way, warm: warming, rounds: rounds, window: c.windows[p.cell].ahead})
	p.cost = max(1, (c.now()-begin)/unit.Time(rounds+warming))
	p.tried += rounds
	good := ways[p.way].rounds(c.all, c.c.Size())
	for _, s := range good {
		for t := range p.times {
			p.times[t] = append(p.times[t], s[t])
		}
	}
	if p.way == starting {
		c.count(p, rounds, rounds-len(good))
	}
	if c.visits++; c.launch.Progress != nil {
		c.launch.Progress(c.done())
	}
}

// Starts that were agreed on too late.
const (
	starting = 1  // the way of them
	fewLate  = 4  // of so many rounds one may be, or the start is farther ahead from then on,
	widest   = 16 // but not so many times: ranks that are late for another reason stay late, and all would wait for them
)

// count counts rounds of which some began too late.
func (c *conductor) count(p *passage, rounds, late int) {
	c.tried.Add(int64(rounds))
	c.late.Add(int64(late))
	if late*fewLate > rounds {
		w := &c.windows[p.cell]
		w.ahead = min(2*w.ahead, w.widest)
	}
}

// done returns what part of the launch is over.
func (c *conductor) done() float64 {
	if c.end > 0 {
		return min(1, float64(c.now()-c.begin)/float64(c.end-c.begin))
	}
	return min(1, float64(c.visits)/float64((passes+2)*len(c.passages)))
}

// limit returns how many samples of a passage there may be.
func (c *conductor) limit(p *passage) int {
	if c.Reps > 0 {
		return c.Reps
	}
	return max(c.least(p), c.launch.Rows/len(c.passages)/len(p.times))
}

// least returns how many rounds of a passage there are at least.
func (c *conductor) least(p *passage) int {
	if c.Reps > 0 {
		return max(1, c.Reps/(passes+1))
	}
	return max(seen, (enough+c.LeastLaunches()-1)/c.LeastLaunches())
}

// most returns how many rounds of a passage fit into some time.
func (c *conductor) most(p *passage, slice unit.Time) int {
	left := c.limit(p) - p.samples()
	if c.Reps > 0 {
		return max(1, min(left, c.Reps/(passes+1)))
	}
	return min(left, int(slice/p.cost))
}

// pass visits what is not known yet, as leader.pass does.
func (c *conductor) pass(left int) bool {
	var todo []*passage
	for _, p := range c.passages {
		if !c.known(p) {
			todo = append(todo, p)
		}
	}
	if len(todo) == 0 || c.over(1) {
		return false
	}
	c.shuffle(todo)
	rounds, any := c.rounds(todo, left), false
	for i, p := range todo {
		if rounds[i] == 0 {
			continue
		}
		c.visit(p, rounds[i])
		if any = true; c.over(1) {
			return false
		}
	}
	return any
}

// rounds returns how many rounds of each passage a pass goes through if so many are to come.
func (c *conductor) rounds(todo []*passage, left int) []int {
	rounds := make([]int, len(todo))
	if c.Reps == 0 {
		needs := make([]need, len(todo))
		for i, p := range todo {
			needs[i] = c.need(p)
		}
		for i, share := range allot(needs, c.left()/unit.Time(left)) {
			rounds[i] = int(share)
		}
		return rounds
	}
	for i, p := range todo {
		rounds[i] = c.most(p, 0)
	}
	return rounds
}

// hopeless is how many times as many rounds as are wanted may be gone through for them.
const hopeless = 5

// known says whether the passage has been repeated enough.
func (c *conductor) known(p *passage) bool {
	switch {
	case p.samples() >= c.limit(p):
		return true
	case c.Reps > 0:
		return p.tried >= hopeless*c.Reps
	}
	for _, times := range p.times {
		if !c.estimate(times).within(c.Wanted(), c.Step) {
			return false
		}
	}
	return true
}

func (c *conductor) estimate(times []unit.Time) estimate {
	c.scratch = append(c.scratch[:0], times...)
	return median(c.scratch)
}

// need returns what a passage lacks.
func (c *conductor) need(p *passage) need {
	n := need{cost: p.cost, had: p.samples(), most: c.limit(p)}
	for _, times := range p.times {
		away, of := c.estimate(times).away(c.Wanted(), c.Step), len(times)
		if math.IsInf(away, 1) {
			away, of = blind, seen
		}
		n.scatter = math.Max(n.scatter, away*math.Sqrt(float64(of)))
	}
	return n
}

// series returns all samples, in the order of the cells. A timer without any has none.
func (c *conductor) series() []sample.Series {
	by := make([][]sample.Series, len(c.Of)*len(ways))
	for _, p := range c.passages {
		x := c.Of[p.cell]
		for t, timer := range ways[p.way].timers {
			if len(p.times[t]) == 0 {
				continue
			}
			of := &by[p.cell*len(ways)+p.way]
			*of = append(*of, sample.Series{
				Key:   sample.Key{Mode: x.Operation.String(), Protocol: x.Name, Timer: timer, Bytes: x.Bytes},
				Times: p.times[t],
			})
		}
	}
	var all []sample.Series
	for _, s := range by {
		all = append(all, s...)
	}
	return all
}
