// Package fittest makes samples of synthetic machines by formulas alone, for tests.
package fittest

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// IsSoakTest says whether tests over random machines take many of them, as make soak wants, and not
// the few that show a mistake of yesterday.
func IsSoakTest() bool { return os.Getenv("LOGGP_SOAK") != "" }

// Machine is a LogGP machine, from which the tests make samples by the formulas alone.
// Microseconds.
type Machine struct {
	L, SendO, RecvO, Gap, G float64 // of messages and of blocking calls
	ISendO, IRecvO          float64 // of non-blocking calls
	SendSlope, RecvSlope    float64 // of the overheads, a byte
	Get, Put                float64 // a byte

	Noise float64 // relative standard deviation of each processor step
	Skew  float64 // of the barrier's exit: + with the root at P1, − with the root at P2
	Sizes []int
	Reps  int
	Stray float64 // share of samples that take 1 to 100 times as long
}

// drawDuration is a processor step.
func (m Machine) drawDuration(rng *rand.Rand, mean float64) float64 {
	return mean * (1 + m.Noise*rng.NormFloat64())
}

// drawTimer returns one sample. side is +1 with the root at P1, −1 with the root at P2.
func (m Machine) drawTimer(rng *rand.Rand, mode, timer string, k int, side float64) float64 {
	bytes, os, or := float64(k-1), m.SendO, m.RecvO
	if !sample.IsBlockingMode(mode) {
		os, or = m.ISendO, m.IRecvO
	}
	os, or = os+m.SendSlope*float64(k), or+m.RecvSlope*float64(k)
	send := func() float64 { return m.drawDuration(rng, os) }
	receive := func() float64 { return m.drawDuration(rng, or) }
	way := func() float64 { return send() + m.L + bytes*m.G + receive() }
	switch timer {
	case sample.Timer11, sample.Timer22:
		return send()
	case sample.Timer12:
		return receive()
	case sample.Timer21:
		if !sample.IsBlockingMode(mode) {
			return receive()
		}
		return way() + side*m.Skew
	case sample.TimerRTT:
		return way() + way()
	case sample.TimerTrain:
		const burst = 16
		sum := 0.0
		for range burst {
			sum += math.Max(send(), m.Gap)
		}
		return sum / burst
	case sample.TimerGet:
		return m.SendO + 2*m.L + bytes*m.Get
	case sample.TimerPut:
		return m.SendO + 2*m.L + bytes*m.Put
	}
	panic("no such timer: " + timer)
}

// WholePlan is what is measured in each mode.
var WholePlan = map[string][]string{
	"send":    {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.TimerRTT, sample.TimerTrain},
	"ssend":   {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
	"isend":   {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
	"issend":  {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
	"message": {sample.Timer11, sample.Timer12, sample.Timer21, sample.TimerRTT, sample.TimerTrain, sample.TimerGet, sample.TimerPut},
}

// Samples measures the machine.
func (m Machine) Samples(seed uint64, plan map[string][]string) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: "2"}}}
	for _, row := range sample.Modes {
		mode := row.Name
		for _, timer := range plan[mode] {
			for _, k := range m.Sizes {
				times := make([]unit.Time, m.Reps)
				for i := range times {
					side := 1.0
					if i >= m.Reps/2 {
						side = -1
					}
					t := m.drawTimer(rng, mode, timer, k, side)
					if m.Stray > 0 && rng.Float64() < m.Stray {
						t *= math.Pow(100, rng.Float64())
					}
					times[i] = unit.FromMicros(t)
				}
				set.Series = append(set.Series, sample.Series{Key: Key(mode, timer, k), Times: times})
			}
		}
	}
	return set
}

func Key(mode, timer string, k int) sample.Key {
	return sample.Key{Platform: "loggp", Library: "direct", Clock: "virtual", Place: "inter", Mode: mode, Protocol: "auto", Timer: timer, Bytes: k}
}

func Powers(from, to int) []int {
	var out []int
	for k := from; k <= to; k *= 4 {
		out = append(out, k)
	}
	return out
}

// Truth is a parameter that the samples of a machine must show.
type Truth struct {
	Mode, Name, Method, Unit string
	Value                    float64
}

// Truths are those that are independent of size.
func (m Machine) Truths() []Truth {
	g := Truth{"send", "g", params.MethodTrain, params.UnitMicros, m.Gap}
	switch os, or := m.SendO+m.SendSlope*float64(m.Sizes[0]), m.RecvO+m.RecvSlope*float64(m.Sizes[0]); {
	case m.Gap <= os:
		g.Method, g.Value = params.MethodGapAtMostSendOverhead, os
	case m.Gap <= or:
		g.Method, g.Value = params.MethodGapAtMostTrain, math.Max(m.Gap, os)
	}
	// at the smallest size. L is such that with these overheads, G of one-way time gives the
	// one-way time.
	k := float64(m.Sizes[0])
	bytes, os, or := k-1, m.SendO+m.SendSlope*k, m.RecvO+m.RecvSlope*k
	gm := g
	gm.Mode = "message"
	return []Truth{
		{"send", "o_s", sample.Timer11, params.UnitMicros, m.SendO + m.SendSlope*float64(m.Sizes[0])},
		{"send", "o_s", sample.Timer11, params.UnitMicrosPerByte, m.SendSlope},
		{"send", "o_r", sample.Timer12, params.UnitMicros, m.RecvO + m.RecvSlope*float64(m.Sizes[0])},
		{"send", "o_r", sample.Timer12, params.UnitMicrosPerByte, m.RecvSlope},
		{"isend", "o_s", sample.Timer11, params.UnitMicros, m.ISendO + m.SendSlope*float64(m.Sizes[0])},
		{"isend", "o_r", sample.Timer21, params.UnitMicros, m.IRecvO + m.RecvSlope*float64(m.Sizes[0])},
		{"ssend", "L", params.MethodReceiveDifference, params.UnitMicros, m.L + bytes*m.G + os},
		{"send", "L", params.MethodHalfRoundTripLessOverheads, params.UnitMicros, m.L - bytes*(m.SendSlope+m.RecvSlope)},
		{"message", "L", params.MethodHalfRoundTripLessOverheads, params.UnitMicros, m.L - bytes*(m.SendSlope+m.RecvSlope)},
		{"message", "L", params.MethodHalfRoundTrip, params.UnitMicros, m.L + bytes*m.G + os + or},
		{"send", "G", params.MethodReceiveLessWaitDifference, params.UnitMicrosPerByte, m.G + m.SendSlope},
		{"ssend", "G", params.MethodReceiveLessWaitDifference, params.UnitMicrosPerByte, m.G + m.SendSlope},
		{"message", "G", params.MethodHalfRoundTrip, params.UnitMicrosPerByte, m.G + m.SendSlope + m.RecvSlope},
		{"message", "G", sample.TimerGet, params.UnitMicrosPerByte, m.Get},
		{"message", "G", sample.TimerPut, params.UnitMicrosPerByte, m.Put},
		g, gm,
	}
}

// FindRows returns the rows of a truth.
func (w Truth) FindRows(ps []params.Parameter) []params.Parameter {
	var out []params.Parameter
	for _, p := range ps {
		if p.Mode == w.Mode && p.Name == w.Name && p.Method == w.Method && p.Unit == w.Unit {
			out = append(out, p)
		}
	}
	return out
}

func TypicalMachine() Machine {
	return Machine{
		L: 12, SendO: 30, RecvO: 15, Gap: 40, G: 0.04, ISendO: 24, IRecvO: 9, Get: 0.03, Put: 0.02,
		Noise: 0.05, Skew: 2, Sizes: Powers(1, 1<<14), Reps: 100,
	}
}

// line of samples: what one timer shows over sizes, by a formula, with relative noise.
func SamplesOfFormula(rng *rand.Rand, sizes []int, reps int, noise float64, f func(k float64) float64) *sample.Set {
	set := &sample.Set{}
	for _, k := range sizes {
		times := make([]unit.Time, reps)
		for i := range times {
			times[i] = unit.FromMicros(f(float64(k)) * (1 + noise*rng.NormFloat64()))
		}
		set.Series = append(set.Series, sample.Series{Key: Key("send", sample.Timer11, k), Times: times})
	}
	return set
}

func DoublingSizes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1 << i
	}
	return out
}

func EvenlySpacedSizes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 64 * (i + 1)
	}
	return out
}

// RoundTripSamples are round trips of doubling sizes in five launches, by a formula, with noise of
// 2 % and launches that differ by 10 %.
func RoundTripSamples(seed uint64, f func(k float64) float64) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 21))
	set := &sample.Set{}
	for launch := range 5 {
		factor := 1 + 0.1*rng.NormFloat64()
		for _, k := range append([]int{0}, DoublingSizes(17)...) {
			s := sample.Series{Key: Key("send", sample.TimerRTT, k)}
			s.Clock, s.Launch = "real", launch
			for range 20 {
				s.Times = append(s.Times, unit.FromMicros(factor*f(float64(k))*(1+0.02*rng.NormFloat64())))
			}
			set.Series = append(set.Series, s)
		}
	}
	return set
}

// SeriesAt16Bytes is one timer of a mode at 16 bytes.
func SeriesAt16Bytes(mode, timer string, times ...float64) sample.Series {
	s := sample.Series{Key: Key(mode, timer, 16)}
	for _, x := range times {
		s.Times = append(s.Times, unit.FromMicros(x))
	}
	return s
}

func Repeat(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }

// DegenerateSamples is a data set as no machine should give one: times of no length, of some steps
// of a coarse clock, that fall with length or differ by ten orders; few sizes, few repetitions,
// launches that have little in common, timers that are missing, and of every third set processors
// that are slowed at times.
func DegenerateSamples(seed uint64) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 22))
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.RootsFact, Value: []string{"1", "2"}[rng.IntN(2)]}, {Key: sample.ResolutionFact, Value: []string{"0", "0.001", "1"}[rng.IntN(3)]}}}
	all := []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.TimerRTT, sample.TimerTrain, sample.TimerIdle, sample.TimerStream, sample.TimerGet, sample.TrainTimer(10), sample.SpacedTrainTimer(10)}
	sizes := 1 + rng.IntN(20)
	for _, mode := range []string{"send", "isend", "ssend", "message"} {
		for _, timer := range all {
			if rng.IntN(3) == 0 {
				continue
			}
			level, slope, noise := math.Pow(10, rng.Float64()*6-4), math.Pow(10, rng.Float64()*6-8)*float64(rng.IntN(4)-1), []float64{0, 0.02, 0.5, 5}[rng.IntN(4)]
			at, step := 1<<rng.IntN(20), (rng.Float64()*4-1)*level
			for launch := range 1 + rng.IntN(4) {
				factor := math.Exp(rng.NormFloat64() * noise / 3)
				for i := range sizes {
					s := sample.Series{Key: sample.Key{Platform: "x", Clock: "real", Place: "intra", Mode: mode, Protocol: "auto", Timer: timer, Bytes: 1 << i >> 1, Launch: launch}}
					for range 2 + 2*rng.IntN(12) {
						t := level + slope*float64(s.Bytes)
						if s.Bytes >= at {
							t += step
						}
						if t *= factor * (1 + noise*rng.NormFloat64()); rng.IntN(10) == 0 {
							t *= math.Pow(10, 4*rng.Float64())
						}
						s.Times = append(s.Times, max(0, unit.FromMicros(t)))
					}
					set.Series = append(set.Series, s)
				}
			}
		}
	}
	if seed%3 == 2 {
		disturbSamples(set, rng)
	}
	return set
}

// disturbSamples divides series into an undisturbed part and a disturbed one, both of any length.
func disturbSamples(set *sample.Set, rng *rand.Rand) {
	most := 1 + rng.IntN(10)
	for i := range set.Series {
		x := &set.Series[i]
		if rng.IntN(20) == 0 {
			continue
		}
		n := len(x.Times) * rng.IntN(most) / 10
		disturbed := *x
		x.Times = x.Times[:n:n]
		disturbed.Disturbed, disturbed.Times = true, disturbed.Times[n:]
		set.Series = append(set.Series, disturbed)
	}
}
