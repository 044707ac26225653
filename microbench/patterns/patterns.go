// Package patterns times communication patterns of message-passing libraries, not all of which are
// MPI: the benchmarks by which Painter et al. (1995, section 5) compare ACLMPL, MPI, PVM and SHMEM
// on the Cray T3D. All libraries are timed by the same code, through portable.Process.
package patterns

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/loggp/loggp/impl/program/portable"
	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/unit"
)

// Pattern is a communication pattern.
type Pattern struct {
	Name, Description string
	MinRanks          int                                                           // ranks
	RootBytes         func(ranks, bytes int) int                                    // bytes that one rank handles in a round, which throughput is of; nil: it has none
	IsRoundTrip       bool                                                          // a round is a round trip, and the time half of it
	round             func(p portable.Process, s *portable.Library, out, in []byte) // of one rank
}

// Patterns are all patterns.
var Patterns = []Pattern{
	{"latency", "a message from rank 0 to rank 1 and back; half the time", 2, nil, true, pingPong},
	{"one-to-all", "rank 0 sends to each other rank in turn", 2, rootBytes, false, oneToAll},
	{"all-to-one", "rank 0 receives from each other rank in turn", 2, rootBytes, false, allToOne},
	{"all-to-all", "each rank exchanges messages with each other rank, in an order in which no two have the same partner", 2, rootBytes, false, allToAll},
	{"all-to-all-in-order", "each rank exchanges messages with rank 0, 1, 2 and so on, so that many want the same partner", 2, rootBytes, false, allToAllInOrder},
	{"broadcast", "rank 0 sends the same to all", 2, nil, false, func(p portable.Process, _ *portable.Library, out, _ []byte) { p.Broadcast(out) }},
	{"reduce", "the sum of the ranks' arrays of 8-byte numbers, at rank 0", 2, nil, false, reduce},
	{"reduce-single", "the same of 4-byte numbers", 2, nil, false, reduceSingle},
}

// Names returns the names of all patterns.
func Names() []string {
	var names []string
	for _, p := range Patterns {
		names = append(names, p.Name)
	}
	return names
}

// FindPattern returns the pattern of a name, or false.
func FindPattern(name string) (Pattern, bool) {
	i := slices.IndexFunc(Patterns, func(p Pattern) bool { return p.Name == name })
	if i < 0 {
		return Pattern{}, false
	}
	return Patterns[i], true
}

// rootBytes is what the root, or each rank of all-to-all, handles: a message of each other rank.
func rootBytes(ranks, bytes int) int { return (ranks - 1) * bytes }

// IsTimedBy reports whether a library is timed in the pattern: each collective operation once, by
// the way of sending that it uses.
func (p Pattern) IsTimedBy(l *portable.Library) bool {
	return l.HasCollectives || p.RootBytes != nil || p.IsRoundTrip
}

func pingPong(p portable.Process, _ *portable.Library, out, in []byte) {
	switch p.Rank() {
	case 0:
		p.Send(1, out)
		p.Receive(1, in)
	case 1:
		p.Receive(0, in)
		p.Send(0, out)
	}
}

func oneToAll(p portable.Process, _ *portable.Library, out, in []byte) {
	if p.Rank() > 0 {
		p.Receive(0, in)
		return
	}
	for dst := 1; dst < p.Size(); dst++ {
		p.Send(dst, out)
	}
}

func allToOne(p portable.Process, _ *portable.Library, out, in []byte) {
	if p.Rank() > 0 {
		p.Send(0, out)
		return
	}
	for src := 1; src < p.Size(); src++ {
		p.Receive(src, in)
	}
}

// allToAll has n-1 steps. In step i the partner is rank xor i if n is a power of two; else each
// rank sends to the one i above and receives from the one i below.
func allToAll(p portable.Process, s *portable.Library, out, in []byte) {
	n := p.Size()
	to, from := func(i int) int { return (p.Rank() + i) % n }, func(i int) int { return (p.Rank() - i + n) % n }
	if bits.OnesCount(uint(n)) == 1 {
		to = func(i int) int { return p.Rank() ^ i }
		from = to
	}
	exchangeAll(p, s, out, in, to, from)
}

// allToAllInOrder has n-1 steps, in which the partners are all others in the order of ranks.
func allToAllInOrder(p portable.Process, s *portable.Library, out, in []byte) {
	partner := func(i int) int {
		if i <= p.Rank() {
			return i - 1
		}
		return i
	}
	exchangeAll(p, s, out, in, partner, partner)
}

// exchangeAll has n-1 steps, each with a rank to send to and one to receive from. A library that
// floods sends to all and then receives.
func exchangeAll(p portable.Process, s *portable.Library, out, in []byte, to, from func(i int) int) {
	n := p.Size()
	for i := 1; i < n; i++ {
		if s.SendsAllBeforeReceiving {
			p.Send(to(i), out)
		} else {
			p.Exchange(to(i), out, from(i), in)
		}
	}
	for i := 1; s.SendsAllBeforeReceiving && i < n; i++ {
		p.Receive(from(i), in)
	}
}

func reduce(p portable.Process, _ *portable.Library, out, _ []byte) {
	p.Reduce(make([]float64, len(out)/8), portable.Sum)
}

func reduceSingle(p portable.Process, _ *portable.Library, out, _ []byte) {
	p.ReduceFloat32(make([]float32, len(out)/4), portable.Sum)
}

// elementBytes are those of the numbers that a pattern adds, or 1.
func (p Pattern) elementBytes() int {
	switch p.Name {
	case "reduce":
		return 8
	case "reduce-single":
		return 4
	}
	return 1
}

// PatternTime is the time of one pattern.
type PatternTime struct {
	Pattern      Pattern
	Library      *portable.Library
	Ranks, Bytes int
	Time         unit.Time // median of the rounds: from the start until the last rank has ended
	ByteRate     unit.Rate // bytes that one rank handles, by that time; 0: the pattern has none
}

// startDelay is between the time at which rank 0 says when a round begins and that time: long
// enough for all to hear of it.
const startDelay = 2 * unit.Millisecond

// MeasurePattern runs a pattern for some rounds after one that does not count. All ranks begin a
// round at a time that rank 0 tells them, so their clocks have to be one, as in an emulated machine
// and in one host.
func MeasurePattern(w portable.World, s *portable.Library, x Pattern, bytes, rounds int) (PatternTime, error) {
	m := PatternTime{Pattern: x, Library: s, Bytes: bytes}
	if n := x.elementBytes(); bytes%n != 0 {
		return m, fmt.Errorf("%s: %d bytes are not a whole number of %d-byte numbers", x.Name, bytes, n)
	}
	var lastEnds []float64 // by round: how long the last rank took, in picoseconds
	err := s.Run(w, max(bytes, 8), func(p portable.Process) error {
		if p.Size() < x.MinRanks {
			return fmt.Errorf("%s needs at least %d ranks, and the job has %d", x.Name, x.MinRanks, p.Size())
		}
		took := make([]float64, rounds+1)
		out, in := make([]byte, bytes), make([]byte, bytes)
		for i := range took {
			p.Barrier()
			begin := awaitStart(p)
			x.round(p, s, out, in)
			took[i] = float64(p.Now() - begin)
		}
		p.Barrier()
		for i := range took { // one by one: libraries may bound the length of messages
			p.Reduce(took[i:i+1], portable.Max)
		}
		if p.Rank() == 0 {
			m.Ranks, lastEnds = p.Size(), took[1:]
		}
		return nil
	})
	if err != nil {
		return m, fmt.Errorf("%s by %s %s: %w", x.Name, s.Name, s.Mode, err)
	}
	if lastEnds == nil {
		return m, nil // this process was started as another rank, for a later run
	}
	slices.Sort(lastEnds)
	if m.Time = unit.Time(quantile.UpperMedian(lastEnds)); x.IsRoundTrip {
		m.Time /= 2
	}
	if x.RootBytes != nil && m.Time > 0 {
		m.ByteRate = unit.Rate(float64(x.RootBytes(m.Ranks, bytes)) / (m.Time.Micros() / 1e6))
	}
	return m, nil
}

// awaitStart waits until a time that rank 0 chooses and returns it.
func awaitStart(p portable.Process) unit.Time {
	var word [8]byte
	begin := p.Now() + startDelay
	for i := range word {
		word[i] = byte(begin >> (8 * i))
	}
	p.Broadcast(word[:])
	begin = 0
	for i, b := range word {
		begin |= unit.Time(b) << (8 * i)
	}
	p.Compute(max(0, begin-p.Now()))
	return begin
}
