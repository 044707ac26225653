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
	at      unit.Time // until when work is accounted for
	work    unit.Time // what each stream has got, had it always been there; in parts
	streams []stream  // one of each rank that sends, in the order in which they will have got all
	behind  []stream  // those that wait for one of their rank, in order
}

// stream is a chunk that is written to memory or read from it.
type stream struct {
	of   any       // the transfer
	from int32     // the rank from which it comes
	hold unit.Time // what it needs, in parts
	end  unit.Time // work at which it has got that
}

// parts of a picosecond in which work is counted, so that shares of it are not rounded off.
const parts = 1 << 10

// advance accounts for the work until a time.
func (m *memory) advance(t unit.Time) {
	for len(m.streams) > 0 && m.at < t {
		s, n := &m.streams[0], unit.Time(len(m.streams))
		if left := (t - m.at) * parts; (s.end-m.work)*n > left {
			m.work += left / n
			break
		}
		m.at += ((s.end-m.work)*n + parts - 1) / parts
		m.work = s.end
		from := s.from
		m.streams = slices.Delete(m.streams, 0, 1)
		if i := slices.IndexFunc(m.behind, func(s stream) bool { return s.from == from }); i >= 0 {
			next := m.behind[i]
			m.behind = slices.Delete(m.behind, i, i+1)
			m.insert(next)
		}
	}
	m.at = max(m.at, t)
}

// insert lets a stream be served from now on, and returns its place.
func (m *memory) insert(s stream) int {
	s.end = m.work + s.hold
	i := len(m.streams)
	for i > 0 && m.streams[i-1].end > s.end {
		i--
	}
	m.streams = slices.Insert(m.streams, i, s)
	return i
}

// add adds a stream at a time, which is served for hold if it is alone. It returns a time before
// which it is not over: that at which it is over if no others come and none of its rank is before
// it.
func (m *memory) add(of any, from int32, t, hold unit.Time) unit.Time {
	m.advance(t)
	s := stream{of: of, from: from, hold: max(hold*parts, 1)}
	if i := m.of(from); i >= 0 {
		m.behind = append(m.behind, s)
		return m.over(i) + m.waits(from, len(m.behind))
	}
	return m.over(m.insert(s))
}

// of returns the place of the stream of a rank, or -1.
func (m *memory) of(from int32) int {
	return slices.IndexFunc(m.streams, func(s stream) bool { return s.from == from })
}

// waits returns how long the streams of a rank are served that are among the first n that wait.
func (m *memory) waits(from int32, n int) (d unit.Time) {
	for i := range m.behind[:n] {
		if m.behind[i].from == from {
			d += m.behind[i].hold / parts
		}
	}
	return d
}

// over returns when the stream at place i is over if no others come.
func (m *memory) over(i int) unit.Time {
	t, work := m.at, m.work
	for k := range i + 1 {
		t += (m.streams[k].end - work) * unit.Time(len(m.streams)-k) / parts
		work = m.streams[k].end
	}
	return t
}

// ends returns t if a transfer from a rank is over by then, or with of nil all transfers from it,
// else a later time before which it is not over.
func (m *memory) ends(of any, from int32, t unit.Time) unit.Time {
	if len(m.streams) == 0 {
		return t
	}
	m.advance(t)
	i := m.of(from)
	if i < 0 {
		return t
	}
	for k := len(m.behind) - 1; k >= 0; k-- {
		if s := &m.behind[k]; s.from == from && (of == nil || s.of == of) {
			return m.over(i) + m.waits(from, k+1)
		}
	}
	if of == nil || m.streams[i].of == of {
		return max(t, m.over(i))
	}
	return t
}
