package program

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// trafficPattern is a pattern in which ranks send messages of one length to others, again and
// again, to see what a network carries. Each sender keeps some messages under way.
type trafficPattern struct {
	name, description string
	extraParameter    string // that it has beside size and rounds; "": none

	targetOfEachRank func(s *Settings, ranks int) []int // the rank that each rank sends to; itself: none
}

// trafficSizeUnit is what the size of traffic counts.
const trafficSizeUnit = "bytes of a message"

// trafficDefaults are settings whose start and end are a small part of the run time.
var trafficDefaults = Settings{Size: 64 << 10, Rounds: 50, Stride: 1}

// trafficPatterns are all patterns of traffic.
var trafficPatterns = []trafficPattern{
	{"shift", "each rank sends to the rank --stride further on, all at once", "stride", func(s *Settings, ranks int) []int {
		return targetsByRank(ranks, func(rank int) int { return ((rank+s.Stride)%ranks + ranks) % ranks })
	}},
	{"incast", "all ranks send to rank --root at once", "root", func(s *Settings, ranks int) []int {
		return targetsByRank(ranks, func(int) int { return s.Root })
	}},
	{"permutation", "each rank sends to another, by a random permutation of --seed, all at once", "", func(s *Settings, ranks int) []int {
		to := targetsByRank(ranks, func(rank int) int { return rank })
		r := rand.New(rand.NewPCG(s.Seed, 1))
		for i := ranks - 1; i > 0; i-- { // one cycle, so that no rank keeps its place: Sattolo 1986
			j := r.IntN(i)
			to[i], to[j] = to[j], to[i]
		}
		return to
	}},
}

// trafficPrograms are the rows of traffic in the table.
func trafficPrograms() (all []Program) {
	for _, t := range trafficPatterns {
		parameters := slices.Clone(sizeAndRoundsParameters)
		if t.extraParameter != "" {
			parameters = append(parameters, t.extraParameter)
		}
		parameters = append(parameters, dataParameter)
		all = append(all, Program{
			Name: t.name, Description: t.description, Parameters: parameters, SizeUnit: trafficSizeUnit, Defaults: trafficDefaults, MaxSize: unit.MaxSize,
			UsesSeed: t.name == "permutation", HasFlows: true,
			Run: func(c *mpi.Comm, s *Settings, r *Result) (err error) {
				r.Flows, err = t.runFlows(c, s)
				return err
			},
			checkSettings: t.check,
		})
	}
	return all
}

// targetsByRank returns the rank that each rank sends to.
func targetsByRank(ranks int, of func(rank int) int) []int {
	to := make([]int, ranks)
	for rank := range to {
		to[rank] = of(rank)
	}
	return to
}

// IsTraffic reports whether a program is traffic without computing, whose report shows the network.
func (p Program) IsTraffic() bool { return p.SizeUnit == trafficSizeUnit }

// check returns an error if the traffic has no flow among so many ranks.
func (t trafficPattern) check(s Settings, ranks int) error {
	switch {
	case ranks < 2:
		return fmt.Errorf("%s needs two ranks or more", t.name)
	case t.extraParameter == "root" && (s.Root < 0 || s.Root >= ranks):
		return &ParameterError{"root", strconv.Itoa(s.Root), fmt.Errorf("there are ranks 0 to %d", ranks-1)}
	case t.extraParameter == "stride" && s.Stride%ranks == 0:
		return &ParameterError{"stride", strconv.Itoa(s.Stride), fmt.Errorf("with %d ranks each would send to itself", ranks)}
	case !s.SizeOnlyMessages && s.Size > maxBufferBytes/(2*maxMessagesUnderWay*ranks):
		return &ParameterError{"size", strconv.Itoa(s.Size), fmt.Errorf("the messages of %d ranks that are under way would take more than %d bytes of memory", ranks, maxBufferBytes)}
	}
	return nil
}

const (
	maxMessagesUnderWay = 4       // messages of a flow, at most
	maxBufferBytes      = 2 << 30 // bytes of all ranks' messages that are under way
)

// runFlows lets the calling rank take part, and returns all flows at rank 0.
func (t trafficPattern) runFlows(c *mpi.Comm, s *Settings) ([]model.Flow, error) {
	to := t.targetOfEachRank(s, c.Size())
	me := c.Rank()
	var sources []int
	for rank, dst := range to {
		if dst == me && rank != me {
			sources = append(sources, rank)
		}
	}
	window := min(maxMessagesUnderWay, s.Rounds)
	out, in := s.newMessageBuffers(window), make([][][]byte, len(sources))
	sends, receives := make([]mpi.Request, window), make([][]mpi.Request, len(sources))
	for i, src := range sources {
		in[i], receives[i] = s.newMessageBuffers(window), make([]mpi.Request, window)
		for k := range window {
			receives[i][k] = mpi.Irecv(c, in[i][k], src, 0)
		}
	}
	c.Barrier()
	begin, bad := c.Wtime(), error(nil)
	times := make([]int64, len(sources))
	for round := range s.Rounds {
		k := round % window
		if to[me] != me {
			if round >= window {
				sends[k].Wait()
			}
			if !s.SizeOnlyMessages {
				writeRoundNumber(out[k], round)
			}
			sends[k] = mpi.Isend(c, out[k], to[me], 0)
		}
		for i, src := range sources {
			receives[i][k].Wait()
			if bad == nil && !s.SizeOnlyMessages && !isMessageOfRound(in[i][k], round) {
				bad = resultError(c, "message %d of rank %d is another", round, src)
			}
			switch {
			case round+window < s.Rounds:
				receives[i][k] = mpi.Irecv(c, in[i][k], src, 0)
			case round == s.Rounds-1:
				times[i] = int64(c.Wtime() - begin)
			}
		}
	}
	if to[me] != me {
		mpi.WaitAll(sends, nil)
	}
	return gatherFlows(c, to, s, times), agreeOnError(c, bad)
}

// gatherFlows collects the flows at rank 0.
func gatherFlows(c *mpi.Comm, to []int, s *Settings, times []int64) (all []model.Flow) {
	if c.Rank() != 0 {
		if len(times) > 0 {
			mpi.Send(c, mpi.BytesOf(times), 0, 1)
		}
		return nil
	}
	received := make(map[int][]int64)
	for src, dst := range to {
		if src != dst {
			received[dst] = append(received[dst], 0)
		}
	}
	for dst := range c.Size() {
		switch {
		case dst == 0:
			copy(received[dst], times)
		case received[dst] != nil:
			mpi.Recv(c, mpi.BytesOf(received[dst]), dst, 1)
		}
	}
	for src, dst := range to {
		if src != dst {
			all = append(all, model.Flow{Src: src, Dst: dst, Bytes: s.Size * s.Rounds, Time: unit.Time(received[dst][0])})
			received[dst] = received[dst][1:]
		}
	}
	return all
}

// newMessageBuffers returns memory for n messages.
func (s *Settings) newMessageBuffers(n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = device.SizeOnlyIf(s.SizeOnlyMessages, make([]byte, s.Size, s.Size+1))
	}
	return all
}

// writeRoundNumber writes the number of a message of a flow into it.
func writeRoundNumber(b []byte, round int) {
	for i := range min(8, len(b)) {
		b[i] = byte(round >> (8 * i))
	}
}

// isMessageOfRound reports whether a message of a flow has this number.
func isMessageOfRound(b []byte, round int) bool {
	want := make([]byte, min(8, len(b)))
	writeRoundNumber(want, round)
	return slices.Equal(b[:len(want)], want)
}
