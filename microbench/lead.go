package microbench

import (
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// leader is P1 in a launch of a campaign.
type leader struct {
	*crew
	*Campaign
	watch
	pace
	launch Launch

	random  *rand.Rand
	items   []*item
	visits  int
	scratch []unit.Time
	aim     state // of the processors, in which all is to be known
	scarce  bool  // there are more moments in which P1's processor alone is in that state
}

// item is a stage of a cell: what is repeated as often as it needs.
type item struct {
	cell   Cell
	stage  int
	delta  unit.Time
	batch  int
	cost   unit.Time // of a sample with each root, by the last visit
	rounds int       // with each root, so far: samples of each timer
	visits []visit

	// Of earlier launches:
	scatter float64 // as in need; 0: nobody knows
	had     int     // samples with each root in the state that is aimed at
}

// visit is what is known of one: how many samples with each root there were when it ended, and the longer one of each rank's looks before and after it.
type visit struct {
	end   int
	looks looks
}

// Parts of a launch's time.
const (
	forWarmth = 0.1  // until times are stable, at most
	forAll    = 0.25 // for the first look at everything, if there is to be time for more
	forBreaks = 0.6  // until no size is added any more
	passes    = 4    // over what is not known after that
)

// lead measures what the launch is to measure.
func (l *leader) lead() []sample.Series {
	l.watch = l.launch.started(l.roots[0])
	l.random = rand.New(rand.NewPCG(l.launch.Seed, 1))
	l.steady()
	items := l.all(l.launch.Cells)
	if l.acquainted() {
		l.recall(items)
	} else {
		l.look(items)
	}
	if l.launch.Refine {
		l.refine()
	}
	for left := passes; l.pass(max(left, 1)); left-- {
	}
	l.sweep()
	l.give(order{end: true})
	l.remember()
	return l.series()
}

// all adds the items of cells in a random order, and returns them.
func (l *leader) all(cells []Cell) []*item {
	var items []*item
	for _, c := range cells {
		b := l.bench(c)
		for i, s := range campaigned {
			if s.serves(b) && l.measures(c, s) {
				items = append(items, &item{cell: c, stage: i})
			}
		}
	}
	l.shuffle(items)
	l.items = append(l.items, items...)
	return items
}

// measures says whether a stage of a cell is measured, where the cell has it.
func (l *leader) measures(c Cell, s *stage) bool {
	switch {
	case l.OnlyTrips(c.Bytes):
		return s.has(sample.RTT)
	case s.has(sample.Idle):
		return !l.spares(c)
	case s.has(sample.Train) || s.has(sample.PRTT(Carriages)) || s.has(sample.PRTTWaiting(Carriages)):
		return l.Trains == 0 || c.Bytes <= l.Trains
	}
	return true
}

// spares says whether idle sends of a cell need not be measured: those of short messages, or the shortest, tell whether sends behind a barrier are hindered, and others matter only if they are.
func (l *leader) spares(c Cell) bool {
	return l.Reps == 0 && c.Bytes > max(short, slices.Min(l.Sizes)) && !l.hindered[c.Mode]
}

// hinders says whether sends of the shortest message behind a barrier take longer in a mode than after a wait.
func (l *leader) hinders(mode string) bool {
	var sends, idle estimate
	for _, i := range l.items {
		if i.cell.Mode != mode || i.cell.Bytes != slices.Min(l.Sizes) {
			continue
		}
		for _, t := range l.timers(i) {
			switch t.name {
			case sample.Timer11:
				sends = l.estimate(i, t)
			case sample.Idle:
				idle = l.estimate(i, t)
			}
		}
	}
	return sends.value-sends.half > idle.value+idle.half
}

// acquainted says whether earlier launches know what everything needs. Then nothing need be gone through first, in whatever state the processors are, but all can wait for that which is aimed at.
func (l *leader) acquainted() bool { return l.met != nil && l.Reps == 0 }

// recall lets the leader know of items what earlier launches found out.
func (l *leader) recall(items []*item) {
	l.aim = l.sought
	for _, i := range items {
		l.meet(i)
		l.forget(i)
	}
}

// sweep visits what no pass came to.
func (l *leader) sweep() {
	for _, i := range l.items {
		if i.rounds == 0 {
			l.visit(i, l.least(i))
		}
	}
}

// shuffle puts items in a random order in which those of a mode stay together: processors foresee best which way a program goes where it has just gone.
func (l *leader) shuffle(items []*item) {
	l.random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	turn := l.random.Perm(len(modes) + 1)
	slices.SortStableFunc(items, func(a, b *item) int { return turn[modeNumber(a.cell.Mode)] - turn[modeNumber(b.cell.Mode)] })
}

// look visits items for the first time.
func (l *leader) look(items []*item) {
	slice := l.share(forAll) / unit.Time(len(l.items))
	for _, i := range items {
		l.meet(i)
		if i.batch > 1 || l.Reps > 0 || l.most(i, slice) > l.least(i) {
			l.forget(i)
		}
		if n := l.least(i) - i.rounds; n > 0 {
			l.visit(i, n)
		}
	}
}

// Rounds that are not timed.
const (
	meeting = 4  // when a cell is met,
	trying  = 2  // with each root, when a stage of it is,
	warming = 40 // with the first root at each visit, or as many as there is time for, but some at least,
	some    = 3  // or one, of what takes so long that it warms up by itself,
	warmth  = 100 * unit.Microsecond

	rewarming = 3 // with the other, no more than with the first, nor than half of those that count
)

// met is what is known of an item that was met, as in item.
type met struct {
	delta, cost unit.Time
	batch       int
	scatter     float64
	had         int
}

// name tells an item from all others.
func (i *item) name() Cell {
	return Cell{i.cell.Mode + " " + campaigned[i.stage].timers[0], i.cell.Bytes}
}

// meet finds out what a sample of the item takes, how long P1 has to wait in it, and how many operations make one; where an earlier launch has, it is that.
func (l *leader) meet(i *item) {
	if m, ok := l.met[i.name()]; ok {
		i.delta, i.cost, i.batch, i.scatter, i.had = m.delta, m.cost, m.batch, m.scatter, m.had
		return
	}
	b := l.bench(i.cell)
	if b.round == 0 {
		l.together(order{cell: i.cell, warm: meeting})
	}
	if i.delta = l.Delta; i.delta == 0 {
		i.delta = max(1, b.round/2) // a barrier and a message
	}
	i.batch = 1
	l.visit(i, trying)
	i.batch = l.batch(i)
	l.note(i)
	i.cost *= unit.Time(i.batch)
}

// remember writes down what is known of all items, for later launches.
func (l *leader) remember() {
	if l.met == nil {
		l.met, l.hindered = make(map[Cell]met), make(map[string]bool)
	}
	for _, m := range l.Modes {
		l.hindered[m] = l.hindered[m] || l.hinders(m)
	}
	for _, i := range l.items {
		l.met[i.name()] = met{i.delta, i.cost, i.batch, l.lacks(i), i.had + l.counted(i)}
	}
	l.sought = l.aim
}

// forget drops the samples of an item, which are those of meeting it. Only where there is no time for more than it needs are they kept.
func (l *leader) forget(i *item) {
	i.rounds, i.visits = 0, i.visits[:0]
	for _, t := range l.timers(i) {
		t.times = [2][]unit.Time{t.times[0][:0], t.times[1][:0]}
	}
}

// together does what both ranks do. It returns what both saw before and after.
func (l *leader) together(o order) (before, after looks) {
	l.give(o)
	l.do(o)
	before, after = l.saw()
	l.see(before)
	l.see(after)
	return before, after
}

// visit makes samples of an item.
func (l *leader) visit(i *item, samples int) {
	begin := l.now()
	each := i.sampleRounds()
	o := order{cell: i.cell, stage: i.stage, warm: i.warm(), rounds: samples * each, batch: i.batch, delta: i.delta}
	before, after := l.together(o)
	i.rounds += samples
	i.visits = append(i.visits, visit{i.rounds, before.longer(after)})
	i.cost = max(1, (l.now()-begin)*unit.Time(2*each)/unit.Time(2*o.rounds+o.warm+o.rewarm()))
	if l.visits++; l.launch.Progress != nil {
		l.launch.Progress(l.done())
	}
}

// warm returns how many rounds of a visit do not count first.
func (i *item) warm() int {
	if i.cost == 0 { // nobody knows yet
		return 1
	}
	least := some
	if i.cost > stay {
		least = 1
	}
	return max(least, int(min(warming, 2*warmth*unit.Time(i.sampleRounds())/i.cost)))
}

// sampleRounds returns how many rounds of its stage make a sample.
func (i *item) sampleRounds() int {
	if campaigned[i.stage].batches {
		return 1
	}
	return i.batch
}

// done returns what part of the launch is over.
func (l *leader) done() float64 {
	if l.end > 0 {
		return min(1, float64(l.now()-l.begin)/float64(l.end-l.begin))
	}
	return min(1, float64(l.visits)/float64((passes+2)*len(l.items)))
}

// limit returns how many samples of an item there may be with each root.
func (l *leader) limit(i *item) int {
	s := campaigned[i.stage]
	if l.Reps > 0 {
		return s.rounds(l.Reps)
	}
	return max(l.least(i), l.launch.Rows/len(l.items)/len(s.timers)/2)
}

// Samples of a timer.
const (
	enough = 20 // that all launches shall have together, at least
	seen   = 8  // with each root, without which there is no interval that would tell a break from noise
)

// worth returns how many samples with each root are worth a visit, which begins with rounds that do not count: four, or as many as fit into a stay; but two, if one does.
func (i *item) worth() int {
	if i.cost > stay {
		return 1
	}
	return int(max(2, min(4, stay/max(1, i.cost))))
}

// stay is how long a visit lasts at most, or for one sample with each root: there are moments of some milliseconds in which everything takes longer, as something
// else runs on the core that a processor is a part of, so that an item is to be visited at many times.
const stay = unit.Millisecond

// least returns how many samples of an item there are to be with each root.
func (l *leader) least(i *item) int {
	if l.Reps > 0 {
		return max(1, l.limit(i)/(passes+1))
	}
	n := (enough + 2*l.LeastLaunches() - 1) / (2 * l.LeastLaunches())
	if l.launch.Refine && !l.over(forBreaks) && slices.ContainsFunc(campaigned[i.stage].timers, shows) {
		return max(n, seen)
	}
	return n
}

// most returns how many samples of an item fit into some time.
func (l *leader) most(i *item, slice unit.Time) int {
	left := l.limit(i) - i.rounds
	if l.Reps > 0 {
		return max(1, min(left, l.limit(i)/(passes+1)))
	}
	return min(left, int(slice/i.cost))
}

// pass visits in a random order what is not known yet, as if so many passes were to come, for as long as serves all of it best. It returns whether there
// may be another. In another state of the processors than that aimed at it does first what does not depend on that, and then looks again and again, for half of
// its time.
func (l *leader) pass(left int) bool {
	l.choose()
	var items []*item
	for _, i := range l.items {
		if !l.known(i) {
			items = append(items, i)
		}
	}
	if len(items) == 0 || l.over(1) {
		return false
	}
	l.shuffle(items)
	samples := l.samples(items, left)
	var todo []errand
	for n, i := range items {
		if samples[n] > 0 {
			todo = append(todo, l.errand(i, samples[n]))
		}
	}
	any, patience := false, l.now()
	if l.end > 0 {
		patience += l.left() / unit.Time(2*left)
	}
	for len(todo) > 0 && !(any && l.over(1)) {
		n, patient := l.next(todo), l.now() < patience
		if n < 0 && patient {
			l.together(order{look: true})
			continue
		}
		e := &todo[max(n, 0)]
		l.visit(e.item, e.samples)
		any = true
		if was := l.state(e.visits[len(e.visits)-1].looks); patient && e.both && was != l.aim {
			e.alone = e.alone && was.of(true) != l.aim.of(true) // what depends on both stays
			continue
		}
		todo = slices.Delete(todo, max(n, 0), max(n, 0)+1)
	}
	return any && !l.over(1)
}

// samples returns how many samples of each item a pass makes if so many are to come: of all of them, where none lacks any but visits.
func (l *leader) samples(todo []*item, left int) []int {
	needs, samples := make([]need, len(todo)), make([]int, len(todo))
	for n, i := range todo {
		needs[n] = l.need(i)
	}
	if l.Reps == 0 {
		shares := allot(needs, l.left()/unit.Time(left))
		for n, i := range todo {
			samples[n] = l.portion(i, shares[n])
		}
		if slices.Max(samples) == 0 {
			for n, i := range todo {
				samples[n] = i.worth()
			}
		}
		return samples
	}
	for n, i := range todo {
		samples[n] = l.most(i, 0)
	}
	return samples
}

// portion returns how many samples a visit makes of an item whose share in a pass is so many, but no fewer in all passes than the least: no more than it may stay, and if the share is less than is worth
// a visit, as many as are, but in that part of the cases only. What starves is always visited.
func (l *leader) portion(i *item, share float64) int {
	worth := i.worth()
	share = max(share, float64(l.least(i)-i.rounds))
	if share = min(share, max(float64(stay/i.cost), float64(worth))); share >= float64(worth) {
		return int(share)
	}
	if l.starves(i) || l.random.Float64()*float64(worth) < share {
		return worth
	}
	return 0
}

// starves says whether all launches together have hardly any samples of an item in the state that is aimed at, where they had time for some.
func (l *leader) starves(i *item) bool { return l.acquainted() && i.had+l.counted(i) < seen }

// counted returns how many samples with each root an item has in the state that is aimed at.
func (l *leader) counted(i *item) int {
	n := i.rounds
	for _, t := range l.timers(i) {
		if judged(t.name) {
			_, have := l.aimed(i, t)
			n = min(n, have)
		}
	}
	return n
}

// known says whether the item has been repeated enough.
func (l *leader) known(i *item) bool {
	switch {
	case i.rounds >= l.limit(i):
		return true
	case l.Reps > 0 || i.rounds == 0:
		return false
	}
	for _, t := range l.timers(i) {
		if judged(t.name) && !l.settled(i, t) {
			return false
		}
	}
	return true
}

// settled says whether a timer of the item is known, in the state that is aimed at.
func (l *leader) settled(i *item, t *timer) bool {
	e, _ := l.aimed(i, t)
	return e.within(l.wanted(i), l.Step) && l.visited(i, t).within(l.wanted(i), l.Step)
}

// Parameters are from short messages above all, and L is a small difference of what they take; and G is from the longest: so these are to be known so many times as well.
const (
	short    = 64 // bytes
	long     = 8  // times shorter than the longest, or longer
	headline = 3
)

// wanted returns the precision at which an item is known.
func (l *leader) wanted(i *item) float64 {
	if i.cell.Bytes <= short || i.cell.Bytes*long >= slices.Max(l.Sizes) && i.ofBytes() {
		return l.Wanted() / headline
	}
	return l.Wanted()
}

// ofBytes says whether the item shows what a byte costs on its way, and not only what it costs the sender.
func (i *item) ofBytes() bool {
	s := campaigned[i.stage]
	return !s.has(sample.Idle) && !s.has(sample.PRTTWaiting(Carriages)) && (!s.has(sample.Timer21) || find(i.cell.Mode).blocking)
}

// visited returns the median of the medians of all visits in the state that is aimed at, and how far apart these are.
func (l *leader) visited(i *item, t *timer) estimate {
	var medians []unit.Time
	alone, from := i.alone(t), 0
	for _, v := range i.visits {
		if l.state(v.looks).of(alone) == l.aim.of(alone) {
			l.scratch = append(append(l.scratch[:0], t.times[0][from:v.end]...), t.times[1][from:v.end]...)
			medians = append(medians, unit.Time(median(l.scratch).value))
		}
		from = v.end
	}
	return median(medians)
}

// timers returns the timers of an item.
func (l *leader) timers(i *item) []*timer {
	var of []*timer
	for _, t := range l.bench(i.cell).timers {
		if slices.Contains(campaigned[i.stage].timers, t.name) {
			of = append(of, t)
		}
	}
	return of
}

// estimate returns what is known of a timer: by samples in the state that is aimed at, if there are enough of them.
func (l *leader) estimate(i *item, t *timer) estimate {
	if e, n := l.aimed(i, t); n >= seen {
		return e
	}
	return l.estimateOf(t.times)
}

// aimed returns what samples in the state that is aimed at say of a timer, and how many there are with each root.
func (l *leader) aimed(i *item, t *timer) (e estimate, samples int) {
	var of [2]estimate
	for root := range of {
		times := l.at(i, t, root, l.aim)
		of[root], samples = median(times), len(times)
	}
	return meanOf(of), samples
}

// estimateOf returns the mean of the medians with the two roots, so that it holds for those that are combined in that way, too.
func (l *leader) estimateOf(times [2][]unit.Time) estimate {
	var of [2]estimate
	for i := range of {
		l.scratch = append(l.scratch[:0], times[i]...)
		of[i] = median(l.scratch)
	}
	return meanOf(of)
}

// refine adds sizes where curves break.
func (l *leader) refine() {
	for left := moreSizes; left > 0 && !l.over(forBreaks); {
		sizes := slices.DeleteFunc(breaks(l.curves(), left), l.OnlyTrips)
		if len(sizes) == 0 {
			return
		}
		left -= len(sizes)
		var cells []Cell
		for _, m := range l.Modes {
			for _, k := range sizes {
				cells = append(cells, Cell{m, k})
			}
		}
		l.look(l.all(cells))
	}
}

// shows says whether protocols show in a timer: the send call and the round trip.
func shows(timer string) bool { return timer == sample.Timer11 || timer == sample.RTT }

// curves returns what is known of the timers in which protocols show, of each mode, at the sizes at which all are measured: a gap is the same for all.
func (l *leader) curves() [][]point {
	var names []Cell // of curves: a mode and the number of a stage
	curves := make(map[Cell][]point)
	for _, i := range l.items {
		if l.OnlyTrips(i.cell.Bytes) {
			continue
		}
		for _, t := range l.timers(i) {
			if !shows(t.name) {
				continue
			}
			name := Cell{i.cell.Mode, i.stage}
			if curves[name] == nil {
				names = append(names, name)
			}
			curves[name] = append(curves[name], point{i.cell.Bytes, l.estimate(i, t)})
		}
	}
	var all [][]point
	for _, n := range names {
		all = append(all, curves[n])
	}
	return all
}

// series returns all samples, by mode, size, timer and pace.
func (l *leader) series() []sample.Series {
	var sizes []int
	of := make(map[Cell][]*item)
	for _, i := range l.items {
		sizes = append(sizes, i.cell.Bytes)
		of[i.cell] = append(of[i.cell], i)
	}
	slices.Sort(sizes)
	p := Plan{Modes: l.Modes, Sizes: slices.Compact(sizes)}
	var all []sample.Series
	for _, c := range p.Cells() {
		slices.SortFunc(of[c], func(a, b *item) int { return a.place() - b.place() })
		for _, i := range of[c] {
			for _, t := range l.timers(i) {
				all = append(all, l.parts(i, t)...)
			}
		}
	}
	return all
}

// place returns where the timers of an item stand among all.
func (i *item) place() int {
	first := campaigned[i.stage].timers[0]
	return slices.IndexFunc(campaigned, func(s *stage) bool { return slices.Contains(s.timers, first) })
}
