package microbench

import (
	"slices"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// task is a stage of a cell: what is repeated as often as it needs.
type task struct {
	Command   // what each visit does, with as many rounds as it says
	cell      Cell
	stage     int
	algorithm string

	met    bool
	cost   unit.Time // of a sample with each root
	widest unit.Time // Command.Wait of collective operations may grow to this
	visits []visit
	judged struct { // when it was last seen whether the task is known
		launch, samples int
		known           bool
	}
}

// visit is a command that was done.
type visit struct {
	launch  int
	samples [][2][]unit.Time // by timer and root
	work    []unit.Time      // by rank, of the command before and after
}

// tasks returns all tasks of the experiment.
func (e *Experiment) tasks() []*task {
	var all []*task
	for _, x := range e.Collectives {
		for _, s := range []int{behindBarrierStage, atOnceStage} {
			if s == behindBarrierStage || e.Common {
				all = append(all, &task{stage: s, cell: Cell{x.Operation.String(), x.Bytes}, algorithm: x.Name,
					Command: Command{Stage: s, Mode: int(x.Operation), Algorithm: x.number(), Bytes: x.Bytes, Batch: 1}})
			}
		}
	}
	if len(e.Collectives) > 0 {
		return all
	}
	for _, m := range e.Modes {
		for _, k := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(e.Sizes, e.Trips)))) {
			all = append(all, e.tasksOf(Cell{m, k})...)
		}
	}
	if len(e.Pairs) == 0 {
		return all
	}
	var of []*task
	for _, p := range e.Pairs {
		for _, t := range all {
			one := *t
			one.Pair = p
			of = append(of, &one)
		}
	}
	return of
}

// tasksOf returns those of a mode and a length.
func (e *Experiment) tasksOf(c Cell) []*task {
	var all []*task
	for _, i := range e.stagesOf(find(c.Mode)) {
		switch s := stages[i]; {
		case e.OnlyTrips(c.Bytes) && !s.has(sample.RTT):
		case e.Trains > 0 && c.Bytes > e.Trains && streams(find(c.Mode), &e.Plan) && s.rounds(1000) == rarely(1000):
		default:
			all = append(all, &task{stage: i, cell: c, Command: Command{Stage: i, Mode: modeNumber(c.Mode), Bytes: c.Bytes, Batch: 1}})
		}
	}
	return all
}

// collective says whether the task is of a collective operation.
func (t *task) collective() bool { return stages[t.stage].collective() }

// roots returns with how many roots of the barrier there are samples.
func (t *task) roots() int {
	if t.collective() {
		return 1
	}
	return 2
}

// add adds what a command brought. It returns how many rounds of a collective operation began too
// late.
func (t *task) add(launch int, r Result) (late int) {
	v := visit{launch: launch, work: r.Work}
	if !t.collective() {
		for i := 0; i+1 < len(r.Times); i += 2 {
			v.samples = append(v.samples, [2][]unit.Time{r.Times[i], r.Times[i+1]})
		}
		t.visits = append(t.visits, v)
		return 0
	}
	s := stages[t.stage]
	v.samples = make([][2][]unit.Time, len(s.timers))
	ranks := make([]unit.Time, len(r.Times))
	for i := range r.Times[0] {
		for rank := range ranks {
			ranks[rank] = r.Times[rank][i]
		}
		slices.Sort(ranks)
		sums := s.sum(ranks)
		if sums == nil {
			late++
		}
		for timer, x := range sums {
			v.samples[timer][0] = append(v.samples[timer][0], x)
		}
	}
	t.visits = append(t.visits, v)
	return late
}

// samples returns how many samples of each timer with each root there are of a launch, and how many
// of them are undisturbed by what is known of the health of ranks.
func (t *task) samples(launch int, h health) (all, undisturbed int) {
	for _, v := range t.visits {
		if v.launch != launch || len(v.samples) == 0 {
			continue
		}
		n := len(v.samples[0][0])
		all += n
		if !h.disturbed(t.Command, v.work) {
			undisturbed += n
		}
	}
	return all, undisturbed
}

// estimates returns what undisturbed samples of a launch say of each timer that is judged: the mean
// of the medians with the two roots, so that it holds for those that are combined in that way, too.
func (t *task) estimates(launch int, h health) []estimate {
	var all []estimate
	for i, name := range stages[t.stage].timers {
		if name == sample.Timer22 { // there is no parameter of it
			continue
		}
		var of [2]estimate
		for root := range t.roots() {
			var times []unit.Time
			for _, v := range t.visits {
				if v.launch == launch && i < len(v.samples) && !h.disturbed(t.Command, v.work) {
					times = append(times, v.samples[i][root]...)
				}
			}
			of[root] = median(times)
		}
		if t.roots() == 1 {
			all = append(all, of[0])
		} else {
			all = append(all, meanOf(of))
		}
	}
	return all
}

// series returns the samples of all launches, by launch and timer. Those with the barrier's root at
// P1 are the first half of each.
func (t *task) series(h health) []sample.Series {
	var all []sample.Series
	at := make(map[sample.Key]int)
	for timer, name := range stages[t.stage].timers {
		for root := range t.roots() {
			for _, v := range t.visits {
				if timer >= len(v.samples) || len(v.samples[timer][root]) == 0 {
					continue
				}
				k := sample.Key{Mode: t.cell.Mode, Bytes: t.cell.Bytes, Protocol: t.algorithm, Timer: name, Launch: v.launch, Disturbed: h.disturbed(t.Command, v.work)}
				if t.Pair[0] != t.Pair[1] {
					k.Place = sample.PlaceOf(t.Pair[0], t.Pair[1])
				}
				i, ok := at[k]
				if !ok {
					i, at[k] = len(all), len(all)
					all = append(all, sample.Series{Key: k})
				}
				all[i].Times = append(all[i].Times, v.samples[timer][root]...)
			}
		}
	}
	return all
}

// health is what is known of the processors of the ranks, from the fixed piece of work that each
// does before and after each command: by rank its shortest times, in order.
type health struct {
	shortest [][]unit.Time
	seen     []int
}

// see takes notice of what the work took at a command.
func (h *health) see(c Command, work []unit.Time) {
	const kept = 256
	for i, t := range work {
		rank := c.rank(i)
		for len(h.shortest) <= rank {
			h.shortest, h.seen = append(h.shortest, nil), append(h.seen, 0)
		}
		h.seen[rank]++
		n, _ := slices.BinarySearch(h.shortest[rank], t)
		if n < kept {
			h.shortest[rank] = slices.Insert(h.shortest[rank], n, t)
			h.shortest[rank] = h.shortest[rank][:min(kept, len(h.shortest[rank]))]
		}
	}
}

// disturbed says whether the work took some rank longer than at its best moments: something else
// ran on its core, or its clock was lower.
func (h health) disturbed(c Command, work []unit.Time) bool {
	for i, t := range work {
		rank := c.rank(i)
		if rank >= len(h.shortest) {
			continue
		}
		best := h.shortest[rank][min(host.BestTimeIndex(h.seen[rank]), len(h.shortest[rank])-1)]
		if float64(t) > host.PaceTolerance*float64(best) {
			return true
		}
	}
	return false
}
