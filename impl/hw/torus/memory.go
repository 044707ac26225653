package torus

import (
	"slices"

	"github.com/loggp/loggp/model/unit"
)

// memory is the memory of a rank as used by other ranks. It serves concurrent streams by equal
// shares (processor sharing): packets of a few words from all of them alternate.
//
// Note: serving whole chunks in order of arrival does not suffice. If many ranks flood one, all but
// one would wait and each would end at another time, so the flood would not continue at the next
// rank.
type memory struct {
	accountedUntil unit.Time // time up to which work is accounted for
	workPerStream  unit.Time // work units received by a stream served from the start
	streams        []stream  // the active stream of each source rank, in order of completion
	waitingStreams []stream  // streams that wait for an earlier one of their rank, in order
}

// stream is a chunk that is being written to memory or read from it.
type stream struct {
	transfer           any       // the transfer
	sourceRank         int32     // source rank
	workNeeded         unit.Time // in work units
	workPerStreamAtEnd unit.Time // value of workPerStream at which it is complete
}

// workUnitsPerPicosecond is the number of work units per picosecond. It is large so that shares are
// not rounded away.
const workUnitsPerPicosecond = 1 << 10

// advanceTo accounts for the work up to a time.
func (m *memory) advanceTo(t unit.Time) {
	for len(m.streams) > 0 && m.accountedUntil < t {
		s, n := &m.streams[0], unit.Time(len(m.streams))
		if left := (t - m.accountedUntil) * workUnitsPerPicosecond; (s.workPerStreamAtEnd-m.workPerStream)*n > left {
			m.workPerStream += left / n
			break
		}
		m.accountedUntil += ((s.workPerStreamAtEnd-m.workPerStream)*n + workUnitsPerPicosecond - 1) / workUnitsPerPicosecond
		m.workPerStream = s.workPerStreamAtEnd
		from := s.sourceRank
		m.streams = slices.Delete(m.streams, 0, 1)
		if i := slices.IndexFunc(m.waitingStreams, func(s stream) bool { return s.sourceRank == from }); i >= 0 {
			next := m.waitingStreams[i]
			m.waitingStreams = slices.Delete(m.waitingStreams, i, i+1)
			m.startServing(next)
		}
	}
	m.accountedUntil = max(m.accountedUntil, t)
}

// startServing adds a stream to those being served, and returns its index.
func (m *memory) startServing(s stream) int {
	s.workPerStreamAtEnd = m.workPerStream + s.workNeeded
	i := len(m.streams)
	for i > 0 && m.streams[i-1].workPerStreamAtEnd > s.workPerStreamAtEnd {
		i--
	}
	m.streams = slices.Insert(m.streams, i, s)
	return i
}

// addStream adds a stream at time t that would take hold if it were alone. It returns the earliest
// end: the exact one if no other streams arrive and no stream of its rank precedes it.
func (m *memory) addStream(of any, from int32, t, hold unit.Time) unit.Time {
	m.advanceTo(t)
	s := stream{transfer: of, sourceRank: from, workNeeded: max(hold*workUnitsPerPicosecond, 1)}
	if i := m.streamOfRank(from); i >= 0 {
		m.waitingStreams = append(m.waitingStreams, s)
		return m.endOfStream(i) + m.waitingWorkOfRank(from, len(m.waitingStreams))
	}
	return m.endOfStream(m.startServing(s))
}

// streamOfRank returns the index of the stream of a rank, or -1.
func (m *memory) streamOfRank(from int32) int {
	return slices.IndexFunc(m.streams, func(s stream) bool { return s.sourceRank == from })
}

// waitingWorkOfRank returns the total service time of the streams of a rank among the first n
// waiting streams.
func (m *memory) waitingWorkOfRank(from int32, n int) (d unit.Time) {
	for i := range m.waitingStreams[:n] {
		if m.waitingStreams[i].sourceRank == from {
			d += m.waitingStreams[i].workNeeded / workUnitsPerPicosecond
		}
	}
	return d
}

// endOfStream returns the end of the stream with index i if no others arrive.
func (m *memory) endOfStream(i int) unit.Time {
	t, work := m.accountedUntil, m.workPerStream
	for k := range i + 1 {
		t += (m.streams[k].workPerStreamAtEnd - work) * unit.Time(len(m.streams)-k) / workUnitsPerPicosecond
		work = m.streams[k].workPerStreamAtEnd
	}
	return t
}

// endOfTransfer returns t if a transfer from a rank has ended by then, or otherwise a later time
// before which it does not end. If of is nil, it considers all transfers from the rank.
func (m *memory) endOfTransfer(of any, from int32, t unit.Time) unit.Time {
	if len(m.streams) == 0 {
		return t
	}
	m.advanceTo(t)
	i := m.streamOfRank(from)
	if i < 0 {
		return t
	}
	for k := len(m.waitingStreams) - 1; k >= 0; k-- {
		if s := &m.waitingStreams[k]; s.sourceRank == from && (of == nil || s.transfer == of) {
			return m.endOfStream(i) + m.waitingWorkOfRank(from, k+1)
		}
	}
	if of == nil || m.streams[i].transfer == of {
		return max(t, m.endOfStream(i))
	}
	return t
}
