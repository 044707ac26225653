package compare

import (
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Contrast is what two or more subjects say side by side.
type Contrast struct {
	Subjects  []Subject
	Readings  []Reading   // by quantity, mode, size and subject; only what two subjects have at least
	Overlaps  []Crossover // from where on a call that blocks costs more than one that does not, by quantity, mode and subject
	Rivalries []Crossover // from where on one subject is faster than another, by quantity, mode and pair of subjects
	Margin    float64     // of the overlaps
}

// Reading is one number of a subject, and how it compares with that of the first subject.
//
// Its parameter is o_s, o_r or one-way (half a round trip) at a size; L, g or G as Fit has it; or 1/G, in MB/s of 10⁶ bytes.
type Reading struct {
	params.Parameter
	Subject            int     // in Contrast.Subjects
	Ratio, Least, Most float64 // to the first subject, with its interval; NaN where there is none
	Difference         Difference
	estimate           // with the replicates
}

// MegabytesPerSecond is the unit of 1/G.
const MegabytesPerSecond = "MB/s"

// contrasted is the quantities of readings, in order.
var contrasted = []string{"o_s", "o_r", OneWay, "L", "g", "G", Bandwidth}

// Quantities that are no parameters.
const (
	OneWay    = "one-way" // half a round trip
	Bandwidth = "1/G"
)

// NewContrast compares subjects: each platform, library and place of each set, which is fitted by itself. margin is the share by which a call that
// blocks must cost more than one that does not before that pays: 0.2 is 20 %. Of one subject there are only overlaps.
// The errors are those of Fit.
func NewContrast(machines []sample.Machine, o clean.Options, margin float64) (*Contrast, error) {
	o = o.Defaults()
	all, err := parties(machines, o)
	if err != nil {
		return nil, err
	}
	c := &Contrast{Margin: margin}
	for _, p := range all {
		c.Subjects = append(c.Subjects, p.Subject)
	}
	c.Readings = readings(all, o)
	c.Overlaps = overlaps(all, margin, o)
	c.Rivalries = rivalries(all, o)
	return c, nil
}

// readings returns what two subjects have at least, with ratios to the first.
func readings(all []*party, o clean.Options) []Reading {
	type key struct {
		quantity, mode string
		bytes          int
	}
	by := map[key][]Reading{}
	var keys []key
	for i, p := range all {
		for _, r := range p.readings() {
			k := key{r.Name, r.Mode, r.From}
			if r.Name == "L" || r.Name == "g" || r.Name == "G" || r.Name == Bandwidth {
				k.bytes = -1 // of whatever sizes they are
			}
			if by[k] == nil {
				keys = append(keys, k)
			}
			r.Subject = i
			by[k] = append(by[k], r)
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int {
		if d := slices.Index(contrasted, a.quantity) - slices.Index(contrasted, b.quantity); d != 0 {
			return d
		}
		if d := clean.Rank(clean.Modes, a.mode) - clean.Rank(clean.Modes, b.mode); d != 0 {
			return d
		}
		return a.bytes - b.bytes
	})
	var out []Reading
	for _, k := range keys {
		row := by[k]
		if len(row) < 2 {
			continue
		}
		for i := range row {
			row[i].compare(row[0], o)
		}
		out = append(out, row...)
	}
	return out
}

// compare sets the ratio to the reading of the first subject, if that is what first is.
func (r *Reading) compare(first Reading, o clean.Options) {
	r.Ratio, r.Least, r.Most = math.NaN(), math.NaN(), math.NaN()
	if first.Subject != 0 || r.Subject == 0 || r.Verdict == params.NotIdentifiable || first.Verdict == params.NotIdentifiable {
		return
	}
	v, low, high := ratio(r.estimate, first.estimate, o.Level)
	r.Ratio, r.Least, r.Most = clean.Rounded(v), clean.Rounded(low), clean.Rounded(high)
	r.Difference = difference(low, high, o.Tolerance)
}

// readings returns the numbers of a subject.
func (p *party) readings() []Reading {
	var out []Reading
	for _, name := range p.Modes {
		m := p.ModeOf(name)
		out = append(out, sized(m, "o_s", m.SendOverhead())...)
		out = append(out, sized(m, "o_r", m.ReceiveOverhead())...)
		if rtt := m.Timer(sample.RTT); rtt != nil {
			out = append(out, sized(m, OneWay, rtt.Times(0.5, params.ByHalfTrip, m.O.Level))...)
		}
		for _, name := range []string{"L", "g", "G"} {
			if r, ok := readingOf(m, name); ok {
				out = append(out, r)
				if name == "G" {
					out = append(out, r.bandwidth())
				}
			}
		}
	}
	return out
}

// sized returns the medians of a curve.
func sized(m params.Mode, name string, c *curve.Fitted) []Reading {
	if c == nil {
		return nil
	}
	var out []Reading
	for _, x := range c.Cells {
		if x.Value <= 0 { // too short to be told from nothing
			continue
		}
		row := m.Row(params.NoKind, c.Timer, x.Bytes, x.Bytes, x.N)
		row.Name = name
		row.Value, row.Low, row.High, row.Unit, row.Verdict = clean.Rounded(x.Value), clean.Rounded(max(x.Low, 0)), clean.Rounded(x.High), params.Micros, params.Good
		if x.Few() || x.Disagree || (x.High-x.Low)/2 > params.WeakWidth*math.Abs(x.Value) {
			row.Verdict = params.Weak
		}
		out = append(out, Reading{Parameter: row, estimate: estimate{x.Value, x.Low, x.High, x.Reps}})
	}
	return out
}

// reading returns the row of a parameter that counts: the first with a number that is no mere convention, or else the first.
func readingOf(m params.Mode, name string) (Reading, bool) {
	best := -1
	for i, p := range m.Parameters {
		if p.Mode != m.Name || p.Name != name || (p.Unit == params.PerByte) != (name == "G") || name == "L" && params.Conventions[params.Base(p.Method)] {
			continue
		}
		if best < 0 || math.IsNaN(m.Parameters[best].Value) && !math.IsNaN(p.Value) {
			best = i
		}
	}
	if best < 0 {
		return Reading{}, false
	}
	p := m.Parameters[best]
	return Reading{Parameter: p, estimate: estimate{p.Value, p.Low, p.High, m.Draws[best]}}, true
}

// bandwidth returns 1/G of G.
func (r Reading) bandwidth() Reading {
	r.Name, r.Unit = Bandwidth, MegabytesPerSecond
	r.estimate = estimate{1 / r.value, 1 / r.high, 1 / r.low, slices.Clone(r.reps)}
	for i, x := range r.reps {
		r.reps[i] = 1 / x
	}
	r.Value, r.Low, r.High = clean.Rounded(r.value), clean.Rounded(r.low), clean.Rounded(r.high)
	return r
}
