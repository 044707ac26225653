package torus

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// memory is the memory of a rank, as others use it. It serves the streams that want it at the same
// time by equal shares (processor sharing): packets of a few words from all of them come in turn.
//
// Note: to serve whole chunks first come, first served, is not enough. Where many flood one rank,
// all but one would then wait, each would be done at another time, and the flood would not repeat
// at the next rank.
type memory struct {
	accountedUntil unit.Time // until when work is accounted for
	workPerStream  unit.Time // what each stream has got, had it always been there; in parts
	streams        []stream  // one of each rank that sends, in the order in which they will have got all
	waiting        []stream  // those that wait for one of their rank, in order
}

// stream is a chunk that is written to memory or read from it.
type stream struct {
	transfer any       // the transfer
	from     int32     // the rank from which it comes
	needed   unit.Time // what it needs, in parts
	endWork  unit.Time // work at which it has got that
}

// partsPerPicosecond of a picosecond in which work is counted, so that shares of it are not rounded
// off.
const partsPerPicosecond = 1 << 10

// accountUntil accounts for the work until a time.
func (m *memory) accountUntil(t unit.Time) {
	for len(m.streams) > 0 && m.accountedUntil < t {
		s, n := &m.streams[0], unit.Time(len(m.streams))
		if left := (t - m.accountedUntil) * partsPerPicosecond; (s.endWork-m.workPerStream)*n > left {
			m.workPerStream += left / n
			break
		}
		m.accountedUntil += ((s.endWork-m.workPerStream)*n + partsPerPicosecond - 1) / partsPerPicosecond
		m.workPerStream = s.endWork
		from := s.from
		m.streams = slices.Delete(m.streams, 0, 1)
		if i := slices.IndexFunc(m.waiting, func(s stream) bool { return s.from == from }); i >= 0 {
			next := m.waiting[i]
			m.waiting = slices.Delete(m.waiting, i, i+1)
			m.serve(next)
		}
	}
	m.accountedUntil = max(m.accountedUntil, t)
}

// serve lets a stream be served from now on, and returns its place.
func (m *memory) serve(s stream) int {
	s.endWork = m.workPerStream + s.needed
	i := len(m.streams)
	for i > 0 && m.streams[i-1].endWork > s.endWork {
		i--
	}
	m.streams = slices.Insert(m.streams, i, s)
	return i
}

// addStream adds a stream at a time, which is served for hold if it is alone. It returns a time
// before which it is not over: that at which it is over if no others come and none of its rank is
// before it.
func (m *memory) addStream(of any, from int32, t, hold unit.Time) unit.Time {
	m.accountUntil(t)
	s := stream{transfer: of, from: from, needed: max(hold*partsPerPicosecond, 1)}
	if i := m.indexOfRank(from); i >= 0 {
		m.waiting = append(m.waiting, s)
		return m.endOfStream(i) + m.waitingTime(from, len(m.waiting))
	}
	return m.endOfStream(m.serve(s))
}

// indexOfRank returns the place of the stream of a rank, or -1.
func (m *memory) indexOfRank(from int32) int {
	return slices.IndexFunc(m.streams, func(s stream) bool { return s.from == from })
}

// waitingTime returns how long the streams of a rank are served that are among the first n that
// wait.
func (m *memory) waitingTime(from int32, n int) (d unit.Time) {
	for i := range m.waiting[:n] {
		if m.waiting[i].from == from {
			d += m.waiting[i].needed / partsPerPicosecond
		}
	}
	return d
}

// endOfStream returns when the stream at place i is over if no others come.
func (m *memory) endOfStream(i int) unit.Time {
	t, work := m.accountedUntil, m.workPerStream
	for k := range i + 1 {
		t += (m.streams[k].endWork - work) * unit.Time(len(m.streams)-k) / partsPerPicosecond
		work = m.streams[k].endWork
	}
	return t
}

// endOfTransfer returns t if a transfer from a rank is over by then, or with of nil all transfers
// from it, else a later time before which it is not over.
func (m *memory) endOfTransfer(of any, from int32, t unit.Time) unit.Time {
	if len(m.streams) == 0 {
		return t
	}
	m.accountUntil(t)
	i := m.indexOfRank(from)
	if i < 0 {
		return t
	}
	for k := len(m.waiting) - 1; k >= 0; k-- {
		if s := &m.waiting[k]; s.from == from && (of == nil || s.transfer == of) {
			return m.endOfStream(i) + m.waitingTime(from, k+1)
		}
	}
	if of == nil || m.streams[i].transfer == of {
		return max(t, m.endOfStream(i))
	}
	return t
}
