package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Standing is one number of several subjects, each with its ratio to the best of them.
type Standing struct {
	Quantity string    // o_s o_r one-way L g G or bandwidth
	Mode     string    // whose number it is
	Method   string    // of L, of which there are several; else ""
	Bytes    int       // -1 where it is of no one size, or of another for each subject
	Unit     string    // us, us/B or MB/s
	Best     int       // in Of; -1 where there is none
	Of       []Reading // of the subjects that have one, in their order; the ratio is to the best
}

// Achieved is the quantity of a standing: the bytes of a long message over the time of its way.
const Achieved = "bandwidth"

// standings are the rows, in order. A row is there if a subject has it.
func standings(all []*party, o clean.Options) []Standing {
	var out []Standing
	for _, name := range []string{"send", params.Message} {
		call := name
		if name == "send" {
			call = "isend"
		}
		small, large := commonNear(all, name, sample.RTT, surveyedSmall), longest(all, name, sample.RTT)
		row := func(quantity, mode, method string, bytes int, unit string) *Standing {
			out = append(out, Standing{Quantity: quantity, Mode: mode, Method: method, Bytes: bytes, Unit: unit})
			return &out[len(out)-1]
		}
		row(OneWay, name, "", small, params.Micros).sized(all, small)
		for _, method := range []string{params.ByRoundTrip, params.ByReceive, params.ByHalfTripGap} {
			mode := name
			if method == params.ByReceive {
				mode = "ssend"
			}
			if method != params.ByReceive || name == "send" {
				row("L", mode, method, -1, params.Micros).found(all)
			}
		}
		for _, q := range []struct{ name, Mode string }{{"o_s", name}, {"o_r", name}, {"o_s", call}, {"o_r", call}} {
			if s := (Standing{Quantity: q.name, Mode: q.Mode}); !slices.ContainsFunc(out, func(r Standing) bool { return r.Quantity == s.Quantity && r.Mode == s.Mode }) {
				row(q.name, q.Mode, "", small, params.Micros).sized(all, small)
			}
		}
		row("g", name, "", -1, params.Micros).found(all)
		row("G", name, "", -1, params.PerByte).found(all)
		row(Bandwidth, name, "", -1, MegabytesPerSecond).rates(all)
		row(Achieved, name, "", large, MegabytesPerSecond).achieved(all, large)
	}
	out = slices.DeleteFunc(out, func(s Standing) bool { return len(s.Of) == 0 })
	for i := range out {
		out[i].rank(o)
	}
	return out
}

// sized adds what a curve shows at a size.
func (s *Standing) sized(all []*party, k int) {
	for i, p := range all {
		m := p.ModeOf(s.Mode)
		c := curveOf(m, s.Quantity)
		if s.Quantity == OneWay && c != nil {
			c = c.Times(0.5, params.ByHalfTrip, m.O.Level)
		}
		for _, r := range sized(m, s.Quantity, c) {
			if r.From == k {
				s.add(i, r)
			}
		}
	}
}

// found adds the row of a parameter: the one that counts, or of L that of the method.
func (s *Standing) found(all []*party) {
	for i, p := range all {
		m := p.ModeOf(s.Mode)
		if s.Method == "" {
			if r, ok := readingOf(m, s.Quantity); ok {
				s.add(i, r)
			}
			continue
		}
		for j, x := range p.Parameters {
			if x.Mode == s.Mode && x.Name == s.Quantity && params.Base(x.Method) == s.Method {
				s.add(i, Reading{Parameter: x, estimate: estimate{x.Value, x.Low, x.High, p.Draws[j]}})
				break
			}
		}
	}
}

// rates adds 1/G.
func (s *Standing) rates(all []*party) {
	for i, p := range all {
		if r, ok := readingOf(p.ModeOf(s.Mode), "G"); ok {
			s.add(i, r.bandwidth())
		}
	}
}

// achieved adds the bandwidth of messages of a size, or about that.
func (s *Standing) achieved(all []*party, wish int) {
	for i, p := range all {
		m := p.ModeOf(s.Mode)
		c, k := m.Timer(sample.RTT), p.sizeFor(all, s.Mode, sample.RTT, wish)
		if c.At(k) == nil || c.At(k).Low <= 0 || k == 0 {
			continue
		}
		for _, r := range sized(m, Achieved, c.Times(0.5/float64(k), params.ByHalfTrip, m.O.Level)) {
			if r.From == k {
				s.add(i, r.bandwidth())
			}
		}
	}
	for _, r := range s.Of {
		if s.Bytes = r.From; r.From != s.Of[0].From {
			s.Bytes = -1
			return
		}
	}
}

func (s *Standing) add(subject int, r Reading) {
	r.Subject = subject
	s.Of = append(s.Of, r)
}

// rank finds the best, of times the least and of rates the most, and sets the ratios to it. What may be nothing is no mark to measure others by.
func (s *Standing) rank(o clean.Options) {
	s.Best = -1
	for i, r := range s.Of {
		if r.Verdict == params.NotIdentifiable || !(r.Value > 0) {
			continue
		}
		if s.Best < 0 || (r.Value < s.Of[s.Best].Value) != (s.Unit == MegabytesPerSecond) {
			s.Best = i
		}
	}
	if s.Best >= 0 && !(s.Of[s.Best].Low > 0) {
		s.Best = -1
	}
	for i := range s.Of {
		r := &s.Of[i]
		r.Ratio, r.Least, r.Most = math.NaN(), math.NaN(), math.NaN()
		if s.Best < 0 || i == s.Best || r.Verdict == params.NotIdentifiable {
			continue
		}
		v, low, high := ratio(r.estimate, s.Of[s.Best].estimate, o.Level)
		r.Ratio, r.Least, r.Most = clean.Rounded(v), clean.Rounded(low), clean.Rounded(high)
		r.Difference = difference(low, high, o.Tolerance)
	}
}
