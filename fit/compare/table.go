package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Table compares numbers of several subjects: platforms, libraries, places, transports or runs.
// Times are in microseconds.
type Table struct {
	Subjects     []Subject
	Rows         []Row // by quantity, mode and size
	RatiosToBest bool  // ratios are to the best value of each row, not to the first subject

	Overlaps           []Crossover     // sizes from which a blocking call costs more than a nonblocking one, by quantity, mode and subject
	Pairwise           []Crossover     // sizes from which one subject is faster than another, by quantity, mode and pair
	Margin             float64         // margin of Overlaps
	OverlapShares      []OverlapShare  // part of the one-way time left to the program, by subject and size
	HalfFreeCrossovers []Crossover     // sizes from which a nonblocking send may leave half of the one-way time to the program
	Scatters           []LaunchScatter // quantities by launch
	Tails              []Tail
}

// Row is one quantity of several subjects.
type Row struct {
	Quantity
	Values         []Value // of the subjects that have one, in order
	ReferenceIndex int     // reference of the ratios in Values; -1: none
}

// Quantity is a parameter, half a round trip, a bandwidth, or the time of a collective operation.
type Quantity struct {
	Name   string // o_s o_r one-way L g G 1/G bandwidth, or an operation: bcast
	Mode   string // of messages
	Method string // for L: a method of derivation; "": the primary one
	Timer  string // for operations
	Bytes  int    // -1: no single size, or a different one for each subject
	Ranks  int    // of operations
	Unit   string // us, us/B or MB/s
}

// Value is the number of one subject.
type Value struct {
	params.Parameter
	SubjectIndex               int     // in Table.Subjects
	Algorithm                  string  // for operations: the subject's fastest
	Ratio, RatioLow, RatioHigh float64 // ratio to the reference with its interval; NaN: none
	Outcome                    Outcome // "": there is no ratio
	estimate                           // with the replicates
}

// Quantities that are not parameters.
const (
	OneWay            = "one-way"   // half a round trip
	Bandwidth         = "1/G"       // asymptotic
	AchievedBandwidth = "bandwidth" // bytes of a long message divided by its one-way time
)

// MegabytesPerSecond is the unit of bandwidths, of 10⁶ bytes.
const MegabytesPerSecond = "MB/s"

// quantityOrder is the order of rows.
var quantityOrder = []string{"o_s", "o_r", OneWay, "L", "g", "G", Bandwidth, AchievedBandwidth}

// latencyMethods are the methods of L.
var latencyMethods = []string{"", params.MethodHalfRoundTripLessOverheads, params.MethodReceiveDifference, params.MethodHalfRoundTripLessGap}

// CompareSubjects compares subjects: each platform, library and place of each set, fitted
// separately. A nonblocking call pays if the blocking call costs more by margin (0.2 is 20 %). If
// best is set, ratios are to the best number of each row, otherwise to that of the first subject.
// Its errors are those of Fit.
func CompareSubjects(machines []sample.Machine, o clean.Options, margin float64, best bool) (*Table, error) {
	return CompareFittedSubjects(machines, nil, o, margin, best)
}

// CompareFittedSubjects is CompareSubjects with curves that fit.Fit has fitted with the same
// options. It fits those that are nil.
func CompareFittedSubjects(machines []sample.Machine, fitted [][]*curve.Curve, o clean.Options, margin float64, best bool) (*Table, error) {
	o = o.WithDefaults()
	all, err := fittedSubjects(machines, fitted, o)
	if err != nil {
		return nil, err
	}
	t := &Table{RatiosToBest: best, Margin: margin}
	for i, p := range all {
		t.Subjects = append(t.Subjects, p.Subject)
		t.Scatters = append(t.Scatters, p.launchScatters(i, all)...)
		t.Tails = append(t.Tails, p.tails(i, all)...)
		for _, name := range p.Modes {
			t.addMode(i, p.ModeOf(name))
		}
	}
	for _, name := range []string{"send", sample.LowLevelMode} {
		t.addAchievedBandwidth(all, name)
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int {
		return cmp.Or(slices.Index(quantityOrder, a.Name)-slices.Index(quantityOrder, b.Name), sample.ModeIndex(a.Mode)-sample.ModeIndex(b.Mode),
			a.Bytes-b.Bytes, slices.Index(latencyMethods, a.Method)-slices.Index(latencyMethods, b.Method))
	})
	clean.RunParallel(len(t.Rows), func(i int) { t.Rows[i].setRatios(best, 0, o) })
	t.Overlaps = overlapCrossovers(all, margin, o)
	t.Pairwise = pairwiseCrossovers(all, o)
	t.OverlapShares, t.HalfFreeCrossovers = overlapShares(all, o)
	return t, nil
}

// addValue adds a value to the row of a quantity.
func (t *Table) addValue(q Quantity, v Value, subject int) {
	v.SubjectIndex = subject
	i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Quantity == q })
	if i < 0 {
		i, t.Rows = len(t.Rows), append(t.Rows, Row{Quantity: q, ReferenceIndex: -1})
	}
	t.Rows[i].Values = append(t.Rows[i].Values, v)
}

// addMode adds the numbers of a mode of a subject.
func (t *Table) addMode(subject int, m params.Mode) {
	for _, c := range []struct {
		name string
		*curve.Curve
	}{{"o_s", m.SendOverheadCurve()}, {"o_r", m.ReceiveOverheadCurve()}, {OneWay, halfRoundTrips(m)}} {
		for _, v := range medianValues(m, c.name, c.Curve) {
			t.addValue(Quantity{Name: c.name, Mode: m.Name, Bytes: v.From, Unit: v.Unit}, v, subject)
		}
	}
	for _, name := range []string{"L", "g", "G"} {
		for _, method := range latencyMethods {
			if i := parameterRowIndex(m, name, method); i >= 0 && (name == "L" || method == "") {
				p := m.Parameters[i]
				v := Value{Parameter: p, estimate: estimate{p.Value, p.Low, p.High, m.ParameterReplicates[i]}}
				t.addValue(Quantity{Name: name, Mode: m.Name, Method: method, Bytes: -1, Unit: p.Unit}, v, subject)
				if name == "G" {
					t.addValue(Quantity{Name: Bandwidth, Mode: m.Name, Bytes: -1, Unit: MegabytesPerSecond}, v.inverseValue(Bandwidth), subject)
				}
			}
		}
	}
}

// halfRoundTrips returns the half round trips of a mode, or nil.
func halfRoundTrips(m params.Mode) *curve.Curve {
	rtt := m.TimerCurve(sample.TimerRTT)
	if rtt == nil {
		return nil
	}
	return rtt.ScaledBy(0.5, params.MethodHalfRoundTrip, m.Options.ConfidenceLevel)
}

// addAchievedBandwidth adds the bandwidth of the longest messages of a mode, at a common size if
// there is one.
func (t *Table) addAchievedBandwidth(all []*fittedSubject, name string) {
	wish := longestCommonSize(all, name, sample.TimerRTT)
	q := Quantity{Name: AchievedBandwidth, Mode: name, Bytes: -1, Unit: MegabytesPerSecond}
	var values []Value
	for i, p := range all {
		m := p.ModeOf(name)
		c, k := m.TimerCurve(sample.TimerRTT), p.sizeNear(all, name, sample.TimerRTT, wish)
		if c.CellOf(k) == nil || c.CellOf(k).Low <= 0 || k == 0 {
			continue
		}
		for _, v := range medianValues(m, AchievedBandwidth, c.ScaledBy(0.5/float64(k), params.MethodHalfRoundTrip, m.Options.ConfidenceLevel)) {
			if v.From == k {
				v = v.inverseValue(AchievedBandwidth)
				v.SubjectIndex = i
				values = append(values, v)
			}
		}
	}
	if len(values) > 0 && !slices.ContainsFunc(values, func(v Value) bool { return v.From != values[0].From }) {
		q.Bytes = values[0].From
	}
	for _, v := range values {
		t.addValue(q, v, v.SubjectIndex)
	}
}

// medianValues returns the medians of a curve.
func medianValues(m params.Mode, name string, c *curve.Curve) []Value {
	if c == nil {
		return nil
	}
	var out []Value
	for _, x := range c.Cells {
		if x.Value <= 0 { // cannot be distinguished from zero
			continue
		}
		row := m.NewRow(params.NoKind, c.Timer, x.Bytes, x.Bytes, x.SampleCount)
		row.Name = name
		low, high := x.DisplayedInterval()
		row.Value, row.Low, row.High, row.Unit, row.Verdict = clean.RoundDigits(x.Value), clean.RoundDigits(max(low, 0)), clean.RoundDigits(high), params.UnitMicros, params.GoodVerdict
		if x.HasFewSamples() || x.HasDisagreeingRoots || (x.High-x.Low)/2 > params.WeakRelativeHalfWidth*math.Abs(x.Value) {
			row.Verdict = params.WeakVerdict
		}
		out = append(out, Value{Parameter: row, estimate: estimate{x.Value, low, high, x.Replicates}})
	}
	return out
}

// parameterRowIndex returns the index of a parameter with a method. Without a method it returns the
// primary row: the first with a derived number, otherwise the first; or -1.
func parameterRowIndex(m params.Mode, name, method string) int {
	best := -1
	for i, p := range m.Parameters {
		switch {
		case p.Mode != m.Name || p.Name != name || (p.Unit == params.UnitMicrosPerByte) != (name == "G"):
		case method != "" && params.MethodWithoutBoundSuffix(p.Method) == method:
			return i
		case method != "" || name == "L" && params.AlternativeLatencyMethods[params.MethodWithoutBoundSuffix(p.Method)]:
		case best < 0 || math.IsNaN(m.Parameters[best].Value) && !math.IsNaN(p.Value):
			best = i
		}
	}
	return best
}

// inverseValue returns the bandwidth for a time per byte.
func (v Value) inverseValue(name string) Value {
	v.Name, v.Unit = name, MegabytesPerSecond
	v.estimate = estimate{1 / v.value, 1 / v.high, 1 / v.low, slices.Clone(v.reps)}
	for i, x := range v.reps {
		v.reps[i] = 1 / x
	}
	v.Value, v.Low, v.High = clean.RoundDigits(v.value), clean.RoundDigits(v.low), clean.RoundDigits(v.high)
	return v
}

// setRatios selects the reference, the best or the first subject, and sets the ratios to it. A
// value whose interval contains zero cannot be the reference.
func (r *Row) setRatios(best bool, first int, o clean.Options) {
	rate := r.Unit == MegabytesPerSecond
	r.ReferenceIndex = -1
	for i, v := range r.Values {
		switch {
		case v.Verdict == params.UnidentifiableVerdict || !(v.Value > 0):
		case !best && v.SubjectIndex == first, best && (r.ReferenceIndex < 0 || (v.Value < r.Values[r.ReferenceIndex].Value) != rate):
			r.ReferenceIndex = i
		}
	}
	if best && r.ReferenceIndex >= 0 && !(r.Values[r.ReferenceIndex].Low > 0) {
		r.ReferenceIndex = -1
	}
	for i := range r.Values {
		v := &r.Values[i]
		v.Ratio, v.RatioLow, v.RatioHigh = math.NaN(), math.NaN(), math.NaN()
		if r.ReferenceIndex < 0 || i == r.ReferenceIndex || v.Verdict == params.UnidentifiableVerdict {
			continue
		}
		to := r.Values[r.ReferenceIndex].estimate
		if math.IsNaN(v.low) || math.IsNaN(to.low) {
			v.Ratio = clean.RoundDigits(v.value / to.value)
			continue
		}
		x := ratioOf(v.estimate, to, o.ConfidenceLevel)
		v.Ratio, v.RatioLow, v.RatioHigh = clean.RoundDigits(x.value), clean.RoundDigits(x.low), clean.RoundDigits(x.high)
		v.Outcome = judgeRatio(x.low, x.high, o.Tolerance, rate)
	}
}

// ValueOf returns the value of a subject, or nil.
func (r *Row) ValueOf(subject int) *Value {
	for i := range r.Values {
		if r.Values[i].SubjectIndex == subject {
			return &r.Values[i]
		}
	}
	return nil
}

// RowNear returns the row of a quantity with the most subjects and, among these, with the size
// nearest to wish by ratio; or nil.
func (t *Table) RowNear(name, mode string, wish int) *Row {
	far := func(r *Row) float64 { return math.Abs(math.Log(float64(max(r.Bytes, 1))) - math.Log(float64(wish))) }
	var best *Row
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Name == name && r.Mode == mode && (best == nil || len(r.Values) > len(best.Values) || len(r.Values) == len(best.Values) && far(r) < far(best)) {
			best = r
		}
	}
	return best
}

// RowOf returns the row of a quantity without a size, by a method; or nil.
func (t *Table) RowOf(name, mode, method string) *Row {
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Name == name && r.Mode == mode && r.Method == method {
			return r
		}
	}
	return nil
}

// Sizes returns the sizes at which at least two subjects have overheads or half round trips.
func (t *Table) Sizes() []int {
	var all []int
	for _, r := range t.Rows {
		if r.DependsOnSize() && len(r.Values) > 1 {
			all = append(all, r.Bytes)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// DependsOnSize reports whether a quantity depends on the size.
func (q Quantity) DependsOnSize() bool { return q.Name == "o_s" || q.Name == "o_r" || q.Name == OneWay }
