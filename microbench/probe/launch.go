package probe

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
)

// measurement is a campaign under way.
type measurement struct {
	*fleet
	campaign    *microbench.Campaign
	collectives *microbench.Collectives // nil: a pair is measured
	results     []*result               // of each launch, without their series
	used        []looks                 // the best when each launch was over
	best        looks                   // of all launches so far
}

// launch measures what a launch of the campaign is to.
func (m *measurement) launch(ctx context.Context, l microbench.Launch) ([]sample.Series, error) {
	begin := time.Now()
	s, err := m.session(ctx, l.Number)
	if err != nil {
		return nil, err
	}
	cells := l.Cells
	if l.Refine {
		if cells, err = m.scout(ctx, s, &l, begin); err != nil {
			return nil, err
		}
	}
	p := planOf(m.campaign, cells, l.Seed, l.Rows, left(&l, begin, 1))
	p.looks = m.best
	r, err := s.measure(ctx, p)
	if err != nil {
		return nil, err
	}
	m.best = m.best.better(r.looks)
	m.used = append(m.used, m.best)
	if err := m.rest(ctx, l.Number); err != nil {
		return nil, err
	}
	series := inOrder(r.series, m.campaign.Modes)
	r.series = nil
	m.results = append(m.results, r)
	return series, ctx.Err()
}

// left returns how much of a part of a launch's time is left; 0 if it has no end.
func left(l *microbench.Launch, begin time.Time, part float64) time.Duration {
	if l.Share == 0 {
		return 0
	}
	return max(1, time.Duration(part*float64(l.Share))-time.Since(begin))
}

// Parts of a launch's time that scouting takes: its first look, and each of those that follow, of which there may be so many.
const (
	firstLook = 0.15
	nextLook  = 0.04
	mostLooks = 8
	scouting  = 50 * time.Millisecond // for the first look where a launch has no end
)

// scout finds the sizes at which the protocol changes, by a short look at the timers of one mode in which that shows, and returns the cells of the launch with
// the sizes around them.
func (m *measurement) scout(ctx context.Context, s *session, l *microbench.Launch, begin time.Time) ([]microbench.Cell, error) {
	mode := telling(m.campaign.Modes)
	var series []sample.Series
	var added []int
	share := l.Share
	if share == 0 {
		share = scouting * 100 / 15
	}
	sizes := slices.Clone(m.campaign.Sizes)
	part := firstLook
	for range mostLooks {
		p := planOf(m.campaign, cellsOf([]string{mode}, sizes), l.Seed, l.Rows, max(1, time.Duration(part*float64(share)))) // 0 were without end
		p.brief, p.reps, p.looks = true, 0, m.best
		r, err := s.measure(ctx, p)
		if err != nil {
			return nil, err
		}
		series = append(series, atOnePace(r.series)...)
		if sizes = slices.DeleteFunc(microbench.Breaks(series, len(added)), m.campaign.OnlyTrips); len(sizes) == 0 {
			break
		}
		added = append(added, sizes...)
		part = nextLook
	}
	cells := slices.Concat(l.Cells, cellsOf(m.campaign.Modes, added))
	random := rand.New(rand.NewPCG(l.Seed, 1))
	random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	return cells, nil
}

// telling returns the mode that tells most of protocols: of a synchronous or a buffered send they are not those of others.
func telling(modes []string) string {
	for _, m := range []string{"send", "isend", "rsend", "irsend"} {
		if slices.Contains(modes, m) {
			return m
		}
	}
	return modes[0]
}

func cellsOf(modes []string, sizes []int) []microbench.Cell {
	p := microbench.Plan{Modes: modes, Sizes: sizes}
	return p.Cells()
}

// inOrder puts series into the order of modes and sizes; the timers of a cell stay in theirs.
func inOrder(series []sample.Series, modes []string) []sample.Series {
	slices.SortStableFunc(series, func(a, b sample.Series) int {
		if a.Mode != b.Mode {
			return slices.Index(modes, a.Mode) - slices.Index(modes, b.Mode)
		}
		return a.Bytes - b.Bytes
	})
	return series
}

// bound returns the processors to which the first two ranks are bound, if each rank is to one of its own.
func (p *places) bound() (a, b int, ok bool) {
	a, errA := strconv.Atoi(p.ranks[0].bound)
	b, errB := strconv.Atoi(p.ranks[1].bound)
	return a, b, errA == nil && errB == nil && p.apart()
}

// apart says whether each rank is bound to a processor of its own.
func (p *places) apart() bool {
	taken := p.distinct(func(r rank) string {
		if _, err := strconv.Atoi(r.bound); err != nil {
			return ""
		}
		return r.host + " " + r.bound
	})
	return !slices.Contains(taken, "") && (len(taken) == len(p.ranks) || p.hosts == len(p.ranks))
}
