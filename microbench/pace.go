package microbench

import (
	"runtime"
	"slices"

	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// While something else runs on another thread of a rank's core, what the rank does alone takes up to twice as long. So both ranks look before and after each
// visit how quickly their processors work: see machine.PaceWork.

// look does the work, and returns how long it took; 0 where time is not that of this machine.
func look(c *mpi.Comm) unit.Time {
	begin := c.Wtime()
	runtime.KeepAlive(machine.PaceWork())
	return c.Wtime() - begin
}

// looks are what looks of P1 and P2 took.
type looks [2]unit.Time

// longer returns the longer ones of two.
func (a looks) longer(b looks) looks { return looks{max(a[0], b[0]), max(a[1], b[1])} }

// pace is what P1 knows of the two processors.
type pace struct {
	least   [2][256]unit.Time // the shortest looks of the launch, in order
	seen    int
	earlier looks // the best of earlier launches, and at the end of all
	last    looks
}

// see takes notice of looks.
func (p *pace) see(l looks) {
	for r, t := range l {
		least := p.least[r][:min(p.seen, len(p.least[r]))]
		n, _ := slices.BinarySearch(least, t)
		if n < len(p.least[r]) {
			copy(p.least[r][n+1:], least[n:])
			p.least[r][n] = t
		}
	}
	p.seen++
	p.last = l
}

// here returns how long the work takes at the best moments of the launch.
func (p *pace) here() looks {
	if p.seen == 0 {
		return looks{}
	}
	n := min(machine.BestIndex(p.seen), len(p.least[0])-1)
	return looks{p.least[0][n], p.least[1][n]}
}

// best returns how long it takes at the best moments of the campaign.
func (p *pace) best() looks {
	b := p.here()
	for r, t := range p.earlier {
		if t > 0 {
			b[r] = min(b[r], t)
		}
	}
	return b
}

// looked says whether anybody could.
func (p *pace) looked() bool {
	b := p.here()
	return b[0] > 0 && b[1] > 0
}

// state says which of the two processors is slowed.
type state uint8

const (
	slowedP1 state = 1 << iota
	slowedP2

	quick state = 0
)

const states = 4

// of returns the part of a state that a timer depends on, which is P1's if it is of what P1 does alone.
func (s state) of(alone bool) state {
	if alone {
		return s & slowedP1
	}
	return s
}

// state returns that in which looks were.
func (p *pace) state(l looks) state {
	s, best := quick, p.best()
	for r, slowed := range [2]state{slowedP1, slowedP2} {
		if float64(l[r]) > machine.PaceTolerance*float64(best[r]) {
			s |= slowed
		}
	}
	return s
}

// alone says whether a timer of the mode is of what P1 does by itself, and takes as long whatever P2 does.
func (m *mode) alone(timer string) bool {
	switch timer {
	case sample.Timer12:
		return true
	case sample.Timer11, sample.Idle, sample.Train:
		return !(m.synchronous && m.blocking)
	}
	return false
}

// Alone says whether a timer is of what P1 does by itself in the mode: its pace is P1's, and is never one in which P2 is slowed.
func Alone(mode, timer string) bool { return find(mode).alone(timer) }

// at returns the samples of a timer with a root of the barrier that are of visits in a state, as far as the timer depends on it. They are valid until the next call.
func (l *leader) at(i *item, t *timer, root int, in state) []unit.Time {
	l.scratch = l.scratch[:0]
	alone, from := i.alone(t), 0
	for _, v := range i.visits {
		if l.state(v.looks).of(alone) == in.of(alone) {
			l.scratch = append(l.scratch, t.times[root][from:v.end]...)
		}
		from = v.end
	}
	return l.scratch
}

// alone says whether a timer of the item is of what P1 does alone.
func (i *item) alone(t *timer) bool { return find(i.cell.Mode).alone(t.name) }

// parts returns the samples of a timer, undisturbed and disturbed, as series without the rest of their keys.
func (l *leader) parts(i *item, t *timer) []sample.Series {
	var all []sample.Series
	for s := range states {
		if state(s) != state(s).of(i.alone(t)) {
			continue
		}
		var times []unit.Time
		for root := range t.times {
			times = append(times, l.at(i, t, root, state(s))...)
		}
		if len(times) > 0 {
			all = append(all, sample.Series{Key: sample.Key{Mode: i.cell.Mode, Bytes: i.cell.Bytes, Timer: t.name, Disturbed: l.looked() && s > 0}, Times: times})
		}
	}
	return sample.Joined(all)
}

// errand is a visit that is to be made.
type errand struct {
	*item
	samples     int
	alone, both bool // something is not known yet of what P1 does alone, or of the rest
}

// errand returns one to an item.
func (l *leader) errand(i *item, samples int) errand {
	e := errand{item: i, samples: samples, both: i.rounds == 0}
	for _, t := range l.timers(i) {
		switch {
		case !judged(t.name) || l.settled(i, t):
		case i.alone(t):
			e.alone = true
		default:
			e.both = true
		}
	}
	return e
}

// next returns the number of the errand that is to be done now, in the state of the processors that was seen last. Moments of the state that is aimed at
// are for what depends on both, where there are more in which P1's processor alone is as it is to be. It is -1 if now is the time for none.
func (l *leader) next(todo []errand) int {
	now := l.state(l.last)
	switch {
	case now == l.aim && !l.scarce:
		return 0
	case now == l.aim:
		return max(0, slices.IndexFunc(todo, func(e errand) bool { return e.both }))
	case now.of(true) == l.aim.of(true):
		return slices.IndexFunc(todo, func(e errand) bool { return e.alone })
	}
	return -1
}

// rare is the part of visits below which a state is not worth waiting for.
const rare = 0.03

// choose says what state to aim at: that of full pace, unless it is rare; then the most frequent.
func (l *leader) choose() {
	var visits [states]int
	all := 0
	for _, i := range l.items {
		for _, v := range i.visits {
			visits[l.state(v.looks)]++
			all++
		}
	}
	if all == 0 { // as in the launch before
		return
	}
	l.aim = quick
	if float64(visits[quick]) < rare*float64(all) {
		for s, n := range visits {
			if n > visits[l.aim] {
				l.aim = state(s)
			}
		}
	}
	l.scarce = visits[l.aim] < visits[l.aim^slowedP2]
}
