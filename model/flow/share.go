package flow

import (
	"math"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// activity is a message or a collective operation that has begun and not ended.
type activity struct {
	*demand
	done      float64   // part of it that is done at updated
	rate      float64   // part of it that is done in a picosecond
	share     float64   // the rate that filling found
	updated   unit.Time // when done was computed
	version   uint32    // of its end in the queue
	mark      int32     // of the last search that found it
	saturated bool      // during filling

	kind      activityKind
	channel   channel    // of a message
	gathering *gathering // the members, or the send
}

// sharing divides the parts of a machine among running activities.
type sharing struct {
	users [][]*activity // of each part
	left  []float64     // of each part, during filling
	load  []float64     // of each part, of activities that are not saturated
	marks []int32       // of each part, of the last search that found it
	mark  int32
	full  []*activity // during filling: those that the last level saturated
}

// add makes room for the parts of an activity and adds it to them.
func (s *sharing) add(a *activity) {
	for _, u := range a.uses {
		for int(u.part) >= len(s.users) {
			s.users = append(s.users, nil)
			s.left = append(s.left, 0)
			s.load = append(s.load, 0)
			s.marks = append(s.marks, 0)
		}
		s.users[u.part] = append(s.users[u.part], a)
	}
}

func (s *sharing) remove(a *activity) {
	for _, u := range a.uses {
		users := s.users[u.part]
		i := slices.Index(users, a)
		users[i] = users[len(users)-1]
		s.users[u.part] = users[:len(users)-1]
	}
}

// connected returns the activities that share parts with the given ones, directly or through
// others, and the parts.
func (s *sharing) connected(from []*activity) (activities []*activity, parts []int32) {
	s.mark++
	for _, a := range from {
		if a.mark != s.mark {
			a.mark = s.mark
			activities = append(activities, a)
		}
	}
	for next := 0; next < len(activities); next++ {
		for _, u := range activities[next].uses {
			if s.marks[u.part] == s.mark {
				continue
			}
			s.marks[u.part] = s.mark
			parts = append(parts, u.part)
			for _, a := range s.users[u.part] {
				if a.mark != s.mark {
					a.mark = s.mark
					activities = append(activities, a)
				}
			}
		}
	}
	return activities, parts
}

// fill sets the shares of activities that share parts with no others, by max-min fairness of their
// progress. The progress of all rises together, up to that of an activity alone. Where a part is
// used up, its activities stay as they are.
func (s *sharing) fill(activities []*activity, parts []int32) {
	for _, p := range parts {
		s.left[p], s.load[p] = 1, 0
	}
	for _, a := range activities {
		a.saturated = false
		for _, u := range a.uses {
			s.load[u.part] += u.load
		}
	}
	const slack = 1e-9 // of sums of loads
	for open := len(activities); open > 0; {
		level := 1.0
		for _, p := range parts {
			if s.load[p] > slack {
				level = min(level, s.left[p]/s.load[p])
			}
		}
		s.full = s.full[:0]
		for _, a := range activities {
			if !a.saturated && (level == 1 || slices.ContainsFunc(a.uses, func(u use) bool {
				return s.load[u.part] > slack && s.left[u.part]/s.load[u.part] <= level*(1+slack)
			})) {
				a.saturated, a.share = true, level/float64(max(a.alone, 1))
				s.full = append(s.full, a)
			}
		}
		for _, a := range s.full {
			for _, u := range a.uses {
				s.left[u.part] -= u.load * level
				s.load[u.part] -= u.load
			}
		}
		open -= len(s.full)
	}
}

// advance brings what is done of an activity up to a time.
func (a *activity) advance(now unit.Time) {
	a.done = min(a.done+a.rate*float64(now-a.updated), 1)
	a.updated = now
}

// end returns when an activity ends at its rate.
func (a *activity) end() unit.Time {
	return a.updated + unit.Time(math.Ceil((1-a.done)/a.rate-1e-6))
}
