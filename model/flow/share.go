package flow

import (
	"math"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// activity is a message or a collective operation that has begun and not ended.
type activity struct {
	*demand
	doneFraction float64   // part of it that is done at updated
	rate         float64   // part of it that is done in a picosecond
	fairRate     float64   // the rate that filling found
	doneAt       unit.Time // when done was computed
	endVersion   uint32    // of its end in the queue
	visitMark    int32     // of the last search that found it
	isSaturated  bool      // during filling

	kind      activityKind
	channel   channel             // of a message
	gathering *collectiveArrivals // the members, or the send
}

// fairSharing divides the parts of a machine among running activities.
type fairSharing struct {
	activitiesOfPart [][]*activity // of each part
	freeCapacity     []float64     // of each part, during filling
	unsaturatedLoad  []float64     // of each part, of activities that are not saturated
	visitMarks       []int32       // of each part, of the last search that found it
	lastVisitMark    int32
	newlySaturated   []*activity // during filling: those that the last level saturated
}

// addActivity makes room for the parts of an activity and adds it to them.
func (s *fairSharing) addActivity(a *activity) {
	for _, u := range a.uses {
		for int(u.part) >= len(s.activitiesOfPart) {
			s.activitiesOfPart = append(s.activitiesOfPart, nil)
			s.freeCapacity = append(s.freeCapacity, 0)
			s.unsaturatedLoad = append(s.unsaturatedLoad, 0)
			s.visitMarks = append(s.visitMarks, 0)
		}
		s.activitiesOfPart[u.part] = append(s.activitiesOfPart[u.part], a)
	}
}

func (s *fairSharing) removeActivity(a *activity) {
	for _, u := range a.uses {
		users := s.activitiesOfPart[u.part]
		i := slices.Index(users, a)
		users[i] = users[len(users)-1]
		s.activitiesOfPart[u.part] = users[:len(users)-1]
	}
}

// connectedActivities returns the activities that share parts with the given ones, directly or
// through others, and the parts.
func (s *fairSharing) connectedActivities(from []*activity) (activities []*activity, parts []int32) {
	s.lastVisitMark++
	for _, a := range from {
		if a.visitMark != s.lastVisitMark {
			a.visitMark = s.lastVisitMark
			activities = append(activities, a)
		}
	}
	for next := 0; next < len(activities); next++ {
		for _, u := range activities[next].uses {
			if s.visitMarks[u.part] == s.lastVisitMark {
				continue
			}
			s.visitMarks[u.part] = s.lastVisitMark
			parts = append(parts, u.part)
			for _, a := range s.activitiesOfPart[u.part] {
				if a.visitMark != s.lastVisitMark {
					a.visitMark = s.lastVisitMark
					activities = append(activities, a)
				}
			}
		}
	}
	return activities, parts
}

// fillRates sets the shares of activities that share parts with no others, by max-min fairness of
// their progress. The progress of all rises together, up to that of an activity alone. Where a part
// is used up, its activities stay as they are.
func (s *fairSharing) fillRates(activities []*activity, parts []int32) {
	for _, p := range parts {
		s.freeCapacity[p], s.unsaturatedLoad[p] = 1, 0
	}
	for _, a := range activities {
		a.isSaturated = false
		for _, u := range a.uses {
			s.unsaturatedLoad[u.part] += u.occupiedShare
		}
	}
	const slack = 1e-9 // of sums of loads
	for open := len(activities); open > 0; {
		level := 1.0
		for _, p := range parts {
			if s.unsaturatedLoad[p] > slack {
				level = min(level, s.freeCapacity[p]/s.unsaturatedLoad[p])
			}
		}
		s.newlySaturated = s.newlySaturated[:0]
		for _, a := range activities {
			if !a.isSaturated && (level == 1 || slices.ContainsFunc(a.uses, func(u partUse) bool {
				return s.unsaturatedLoad[u.part] > slack && s.freeCapacity[u.part]/s.unsaturatedLoad[u.part] <= level*(1+slack)
			})) {
				a.isSaturated, a.fairRate = true, level/float64(max(a.timeAlone, 1))
				s.newlySaturated = append(s.newlySaturated, a)
			}
		}
		for _, a := range s.newlySaturated {
			for _, u := range a.uses {
				s.freeCapacity[u.part] -= u.occupiedShare * level
				s.unsaturatedLoad[u.part] -= u.occupiedShare
			}
		}
		open -= len(s.newlySaturated)
	}
}

// advanceTo brings what is done of an activity up to a time.
func (a *activity) advanceTo(now unit.Time) {
	a.doneFraction = min(a.doneFraction+a.rate*float64(now-a.doneAt), 1)
	a.doneAt = now
}

// endTime returns when an activity ends at its rate.
func (a *activity) endTime() unit.Time {
	return a.doneAt + unit.Time(math.Ceil((1-a.doneFraction)/a.rate-1e-6))
}
