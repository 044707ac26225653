package fit

import (
	"math"
	"slices"

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
func standings(all []*party, o Options) []Standing {
	var out []Standing
	for _, name := range []string{"send", message} {
		call := name
		if name == "send" {
			call = "isend"
		}
		small, large := commonNear(all, name, sample.RTT, surveyedSmall), longest(all, name, sample.RTT)
		row := func(quantity, mode, method string, bytes int, unit string) *Standing {
			out = append(out, Standing{Quantity: quantity, Mode: mode, Method: method, Bytes: bytes, Unit: unit})
			return &out[len(out)-1]
		}
		row(OneWay, name, "", small, Micros).sized(all, small)
		for _, method := range []string{ByRoundTrip, ByReceive, ByHalfTripGap} {
			mode := name
			if method == ByReceive {
				mode = "ssend"
			}
			if method != ByReceive || name == "send" {
				row("L", mode, method, -1, Micros).found(all)
			}
		}
		for _, q := range []struct{ name, mode string }{{"o_s", name}, {"o_r", name}, {"o_s", call}, {"o_r", call}} {
			if s := (Standing{Quantity: q.name, Mode: q.mode}); !slices.ContainsFunc(out, func(r Standing) bool { return r.Quantity == s.Quantity && r.Mode == s.Mode }) {
				row(q.name, q.mode, "", small, Micros).sized(all, small)
			}
		}
		row("g", name, "", -1, Micros).found(all)
		row("G", name, "", -1, PerByte).found(all)
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
		m := mode{&p.extraction, s.Mode}
		c := m.of(s.Quantity)
		if s.Quantity == OneWay && c != nil {
			c = c.times(0.5, ByHalfTrip, m.o.Level)
		}
		for _, r := range m.sized(s.Quantity, c) {
			if r.From == k {
				s.add(i, r)
			}
		}
	}
}

// found adds the row of a parameter: the one that counts, or of L that of the method.
func (s *Standing) found(all []*party) {
	for i, p := range all {
		m := mode{&p.extraction, s.Mode}
		if s.Method == "" {
			if r, ok := m.reading(s.Quantity); ok {
				s.add(i, r)
			}
			continue
		}
		for j, x := range p.parameters {
			if x.Mode == s.Mode && x.Name == s.Quantity && base(x.Method) == s.Method {
				s.add(i, Reading{Parameter: x, estimate: estimate{x.Value, x.Low, x.High, p.draws[j]}})
				break
			}
		}
	}
}

// rates adds 1/G.
func (s *Standing) rates(all []*party) {
	for i, p := range all {
		if r, ok := (mode{&p.extraction, s.Mode}).reading("G"); ok {
			s.add(i, r.bandwidth())
		}
	}
}

// achieved adds the bandwidth of messages of a size, or about that.
func (s *Standing) achieved(all []*party, wish int) {
	for i, p := range all {
		m := mode{&p.extraction, s.Mode}
		c, k := m.timer(sample.RTT), p.sizeFor(all, s.Mode, sample.RTT, wish)
		if c.at(k) == nil || c.at(k).low <= 0 || k == 0 {
			continue
		}
		for _, r := range m.sized(Achieved, c.times(0.5/float64(k), ByHalfTrip, m.o.Level)) {
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
func (s *Standing) rank(o Options) {
	s.Best = -1
	for i, r := range s.Of {
		if r.Verdict == NotIdentifiable || !(r.Value > 0) {
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
		if s.Best < 0 || i == s.Best || r.Verdict == NotIdentifiable {
			continue
		}
		v, low, high := ratio(r.estimate, s.Of[s.Best].estimate, o.Level)
		r.Ratio, r.Least, r.Most = rounded(v), rounded(low), rounded(high)
		r.Difference = difference(low, high, o.Tolerance)
	}
}
