package fit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// machine is a LogGP machine, from which the tests make samples by the formulas alone. Microseconds.
type machine struct {
	L, os, or, g, G float64 // of messages and of blocking calls
	ios, ior        float64 // of non-blocking calls
	slopeS, slopeR  float64 // of the overheads, a byte
	get, put        float64 // a byte

	noise float64 // relative standard deviation of each processor step
	skew  float64 // of the barrier's exit: + with the root at P1, − with the root at P2
	sizes []int
	reps  int
	stray float64 // share of samples that take 1 to 100 times as long
}

// step is a processor step.
func (m machine) step(rng *rand.Rand, mean float64) float64 {
	return mean * (1 + m.noise*rng.NormFloat64())
}

// timer returns one sample. side is +1 with the root at P1, −1 with the root at P2.
func (m machine) timer(rng *rand.Rand, mode, timer string, k int, side float64) float64 {
	bytes, os, or := float64(k-1), m.os, m.or
	if !blocking(mode) {
		os, or = m.ios, m.ior
	}
	os, or = os+m.slopeS*float64(k), or+m.slopeR*float64(k)
	send := func() float64 { return m.step(rng, os) }
	receive := func() float64 { return m.step(rng, or) }
	way := func() float64 { return send() + m.L + bytes*m.G + receive() }
	switch timer {
	case sample.Timer11, sample.Timer22:
		return send()
	case sample.Timer12:
		return receive()
	case sample.Timer21:
		if !blocking(mode) {
			return receive()
		}
		return way() + side*m.skew
	case sample.RTT:
		return way() + way()
	case sample.Train:
		const burst = 16
		sum := 0.0
		for range burst {
			sum += math.Max(send(), m.g)
		}
		return sum / burst
	case sample.Get:
		return m.os + 2*m.L + bytes*m.get
	case sample.Put:
		return m.os + 2*m.L + bytes*m.put
	}
	panic("no such timer: " + timer)
}

// wholePlan is what is measured in each mode.
var wholePlan = map[string][]string{
	"send":    {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.RTT, sample.Train},
	"ssend":   {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
	"isend":   {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
	"issend":  {sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22},
	"message": {sample.Timer11, sample.Timer12, sample.Timer21, sample.RTT, sample.Train, sample.Get, sample.Put},
}

// samples measures the machine.
func (m machine) samples(seed uint64, plan map[string][]string) *sample.Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	set := &sample.Set{Facts: []sample.Fact{{Key: sample.Roots, Value: "2"}}}
	for _, mode := range modes {
		for _, timer := range plan[mode] {
			for _, k := range m.sizes {
				times := make([]unit.Time, m.reps)
				for i := range times {
					side := 1.0
					if i >= m.reps/2 {
						side = -1
					}
					t := m.timer(rng, mode, timer, k, side)
					if m.stray > 0 && rng.Float64() < m.stray {
						t *= math.Pow(100, rng.Float64())
					}
					times[i] = unit.FromMicros(t)
				}
				set.Series = append(set.Series, sample.Series{Key: key(mode, timer, k), Times: times})
			}
		}
	}
	return set
}

func key(mode, timer string, k int) sample.Key {
	return sample.Key{Platform: "loggp", Library: "direct", Clock: "virtual", Place: "inter", Mode: mode, Protocol: "auto", Timer: timer, Bytes: k}
}

func powers(from, to int) []int {
	var out []int
	for k := from; k <= to; k *= 4 {
		out = append(out, k)
	}
	return out
}

// truth is a parameter that the samples of a machine must show.
type truth struct {
	mode, name, method, unit string
	value                    float64
}

// truths are those that are independent of size.
func (m machine) truths() []truth {
	g := truth{"send", "g", ByTrain, Micros, m.g}
	switch os, or := m.os+m.slopeS*float64(m.sizes[0]), m.or+m.slopeR*float64(m.sizes[0]); {
	case m.g <= os:
		g.method, g.value = ByOverhead, os
	case m.g <= or:
		g.method, g.value = ByBound, math.Max(m.g, os)
	}
	// at the smallest size. L is such that with these overheads, G of one-way time gives the one-way time.
	k := float64(m.sizes[0])
	bytes, os, or := k-1, m.os+m.slopeS*k, m.or+m.slopeR*k
	gm := g
	gm.mode = "message"
	return []truth{
		{"send", "o_s", sample.Timer11, Micros, m.os + m.slopeS*float64(m.sizes[0])},
		{"send", "o_s", sample.Timer11, PerByte, m.slopeS},
		{"send", "o_r", sample.Timer12, Micros, m.or + m.slopeR*float64(m.sizes[0])},
		{"send", "o_r", sample.Timer12, PerByte, m.slopeR},
		{"isend", "o_s", sample.Timer11, Micros, m.ios + m.slopeS*float64(m.sizes[0])},
		{"isend", "o_r", sample.Timer21, Micros, m.ior + m.slopeR*float64(m.sizes[0])},
		{"ssend", "L", ByReceive, Micros, m.L + bytes*m.G + os},
		{"send", "L", ByRoundTrip, Micros, m.L - bytes*(m.slopeS+m.slopeR)},
		{"message", "L", ByRoundTrip, Micros, m.L - bytes*(m.slopeS+m.slopeR)},
		{"message", "L", ByHalfTrip, Micros, m.L + bytes*m.G + os + or},
		{"send", "G", ByBlocking, PerByte, m.G + m.slopeS},
		{"ssend", "G", ByBlocking, PerByte, m.G + m.slopeS},
		{"message", "G", ByHalfTrip, PerByte, m.G + m.slopeS + m.slopeR},
		{"message", "G", sample.Get, PerByte, m.get},
		{"message", "G", sample.Put, PerByte, m.put},
		g, gm,
	}
}

// find returns the rows of a truth.
func (w truth) find(ps []Parameter) []Parameter {
	var out []Parameter
	for _, p := range ps {
		if p.Mode == w.mode && p.Name == w.name && p.Method == w.method && p.Unit == w.unit {
			out = append(out, p)
		}
	}
	return out
}

func mustFit(t *testing.T, set *sample.Set, o Options) *Result {
	t.Helper()
	r, err := Fit(set, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Machines drawn over four decades, without noise: the fit must find what the formulas were given, within 1 %.
func TestNoiseFree(t *testing.T) {
	decades := func(rng *rand.Rand, from float64) float64 { return from * math.Pow(10, 4*rng.Float64()) }
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		m := machine{
			L: decades(rng, 0.1), os: decades(rng, 0.1), or: decades(rng, 0.1), g: decades(rng, 0.1), G: decades(rng, 1e-5),
			ios: decades(rng, 0.1), ior: decades(rng, 0.1), get: decades(rng, 1e-5), put: decades(rng, 1e-5),
			skew: 0.3, sizes: powers(1, 1<<20), reps: 4,
		}
		if seed%3 == 1 {
			m.sizes = powers(16, 1<<20)
		}
		if seed%2 == 1 {
			m.slopeS, m.slopeR = decades(rng, 1e-6), decades(rng, 1e-6)
		}
		r := mustFit(t, m.samples(seed, wholePlan), Options{Replicates: 5})
		for _, w := range m.truths() {
			rows := w.find(r.Parameters)
			if len(rows) != 1 {
				t.Errorf("seed %d: %d rows of %+v, machine %+v", seed, len(rows), w, m)
				continue
			}
			p := rows[0]
			// the samples are whole picoseconds, a slope is of a megabyte
			slack := 0.01*math.Abs(w.value) + 2e-6
			if w.unit == PerByte {
				slack = 0.01*math.Abs(w.value) + 1e-9
			}
			if math.Abs(p.Value-w.value) > slack || p.High-p.Low > slack && !(w.method == ByReceive && warnedOf(r, w.mode, "L", Skew)) {
				t.Errorf("seed %d: %s %s %s: %v [%v, %v], want %v", seed, w.mode, w.name, w.method, p.Value, p.Low, p.High, w.value)
			}
		}
	}
}
