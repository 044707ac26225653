package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// Curve is what one timer shows over sizes, for charts. Times are in microseconds.
type Curve struct {
	Platform, Library, Place, Mode string

	Protocol string // auto, or the one that was forced
	Timer    string // or a difference, such as rtt/2
	Points   []Point
	Pieces   []Piece
}

// Point is a median with its interval.
type Point struct {
	Bytes            int
	Value, Low, High float64
	Samples          int
}

// Piece is a straight piece of a curve: Value + Slope·(k−From) for k bytes. A piece ends at the last size that was measured on it,
// and nobody knows what is between that and the first of the next.
type Piece struct {
	From, To         int
	Value, Low, High float64 // at From
	Slope            float64 // a byte
	SlopeLow         float64
	SlopeHigh        float64
	Samples          int
}

// At returns the curve at k bytes: on the last piece that begins at or below k, or on the first.
func (c Curve) At(k int) float64 {
	if len(c.Pieces) == 0 {
		return math.NaN()
	}
	p := c.Pieces[0]
	for _, q := range c.Pieces[1:] {
		if q.From <= k {
			p = q
		}
	}
	return p.Value + p.Slope*float64(k-p.From)
}

// subject is where something was measured.
type subject struct{ platform, library, place string }

func subjectOf(s *sample.Series) subject { return subject{s.Platform, s.Library, s.Place} }

// warning returns one that is of no mode.
func (s subject) warning(of, code, text string) Warning {
	return Warning{Platform: s.platform, Library: s.library, Place: s.place, Parameter: of, Code: code, Text: text}
}

// curve is a Curve with what the fit needs to go on.
type curve struct {
	subject
	mode, protocol, timer string

	cells     []cell
	held      []cell  // set aside
	absent    []int   // sizes that were set aside in the curves that this one is made of
	floor     float64 // a time that cannot be told from none
	clock     string
	scales    []float64 // the magnitude of each cell of which Tolerance is a part
	fitted    points    // what the pieces were found with
	pieces    []Piece
	replicate [][]line // by piece and replicate
	bent      []bool   // by piece: some cell is far from it
	off       []misfit // by piece
}

// modes are in the order of results. Others follow them by name.
var modes = []string{"send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend", "message"}

// timers likewise.
var timers = []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.Idle, sample.RTT, sample.Train,
	sample.Sender, sample.OneWay, sample.Get, sample.Put, sample.Stream}

// rank returns the place of s in a list, or its length.
func rank(list []string, s string) int {
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list)
}

// blocking says whether the calls of a mode end only when the buffer may be used.
func blocking(mode string) bool { return !strings.HasPrefix(mode, "i") }

// chosen says whether the protocol was the library's choice. Messages are always carried as T: there is nothing to choose.
func chosen(mode, protocol string) bool {
	return protocol == "" || protocol == "auto" || mode == "message" && protocol == "T"
}

// load makes curves of the samples that count, in the order of results: by place, mode, protocol, timer.
func load(set *sample.Set, o Options) ([]*curve, error) {
	f, err := readFacts(set)
	if err != nil {
		return nil, err
	}
	byKey := make(map[sample.Key][]*sample.Series)
	clocks := make(map[subject]string)
	for i := range set.Series {
		s := &set.Series[i]
		if len(s.Times) == 0 || sample.Collective(s.Timer) {
			continue
		}
		where := subjectOf(s)
		if c, ok := clocks[where]; ok && c != s.Clock {
			return nil, fmt.Errorf("fit: %s, %s, %s has samples of a real and of a virtual clock: fit them apart", s.Platform, s.Library, s.Place)
		}
		clocks[where] = s.Clock
		k := s.Key
		k.Launch = 0
		byKey[k] = append(byKey[k], s)
	}
	if some, others := OfCollectives(set); some && !others {
		return nil, errCollective
	}
	keys := make([]sample.Key, 0, len(byKey))
	for k, launches := range byKey {
		keys = append(keys, k)
		slices.SortFunc(launches, func(a, b *sample.Series) int { return cmp.Compare(a.Launch, b.Launch) })
	}
	slices.SortFunc(keys, order)

	cells, how := make([]cell, len(keys)), waysOf(keys, byKey, f)
	parallel(len(keys), func(i int) { cells[i] = cellOf(byKey[keys[i]], how[i], f, o) })
	var curves []*curve
	for i, k := range keys {
		if i == 0 || withoutBytes(k) != withoutBytes(keys[i-1]) {
			curves = append(curves, &curve{
				subject: subject{k.Platform, k.Library, k.Place}, mode: k.Mode, protocol: k.Protocol, timer: k.Timer, clock: k.Clock,
			})
		}
		c := curves[len(curves)-1]
		c.floor = max(c.floor, f.resolution(byKey[k]...)/4, 1e-6)
		c.cells = append(c.cells, cells[i])
		c.scales = append(c.scales, math.Abs(cells[i].value))
	}
	return curves, nil
}

func withoutBytes(k sample.Key) sample.Key {
	k.Bytes = 0
	return k
}

func order(a, b sample.Key) int {
	return cmp.Or(
		cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Library, b.Library), cmp.Compare(a.Place, b.Place),
		cmp.Compare(rank(modes, a.Mode), rank(modes, b.Mode)), cmp.Compare(a.Mode, b.Mode),
		cmp.Compare(a.Protocol, b.Protocol),
		cmp.Compare(rank(timers, a.Timer), rank(timers, b.Timer)), cmp.Compare(a.Timer, b.Timer),
		cmp.Compare(a.Bytes, b.Bytes),
	)
}

// rootsOf says how the two roots of a barrier combine. Where a receive waits for a send that began with it, the skew between
// the two is part of the time, with either sign.
func rootsOf(k sample.Key) combine {
	if k.Timer == sample.Timer21 && blocking(k.Mode) {
		return mean
	}
	return pool
}

// combinationOf returns how the roots of one cell combine, whose launches these are.
func combinationOf(launches []*sample.Series, f facts) combine {
	how := rootsOf(launches[0].Key)
	if how == pool && disagree(launches, f) {
		return lower
	}
	return how
}

// waysOf returns for each of some keys, which are in order, how the two roots of its cell combine. Of a real clock the sizes of a curve go one way, the lower root's if those of more than a fifth disagree: whether the roots
// of one do is a matter of chance where they nearly do, and a curve that goes half the one way and half the other would look like a change of protocol.
func waysOf(keys []sample.Key, series map[sample.Key][]*sample.Series, f facts) []combine {
	how := make([]combine, len(keys))
	parallel(len(keys), func(i int) { how[i] = combinationOf(series[keys[i]], f) })
	for from := 0; from < len(keys); {
		to, apart := from, 0
		for ; to < len(keys) && withoutBytes(keys[to]) == withoutBytes(keys[from]); to++ {
			if how[to] == lower {
				apart++
			}
		}
		if way := how[from]; keys[from].Clock == "real" && way != mean {
			way = pool
			if 5*apart > to-from {
				way = lower
			}
			for i := range how[from:to] {
				how[from+i] = way
			}
		}
		from = to
	}
	return how
}

// minus returns the difference of two curves over the sizes that both have, under the name of a method.
func (c *curve) minus(d *curve, method string, level float64) *curve {
	out := &curve{subject: c.subject, mode: c.mode, protocol: c.protocol, timer: method, clock: c.clock, floor: math.Hypot(c.floor, d.floor)}
	for _, a := range c.cells {
		b := d.at(a.bytes)
		if b == nil {
			continue
		}
		out.cells = append(out.cells, combination([]cell{a, *b}, []float64{1, -1}, level))
		out.scales = append(out.scales, math.Hypot(a.value, b.value))
	}
	out.absent = slices.Concat(c.lost(0), d.lost(0))
	return out
}

// lost returns the sizes from some length on that were measured and do not count, in order.
func (c *curve) lost(from int) []int {
	sizes := slices.Clone(c.absent)
	for _, x := range c.held {
		sizes = append(sizes, x.bytes)
	}
	sizes = slices.DeleteFunc(sizes, func(k int) bool { return k < from })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// times returns the curve times x, under the name of a method.
func (c *curve) times(x float64, method string, level float64) *curve {
	out := *c
	out.timer, out.cells, out.scales, out.held, out.floor, out.absent = method, nil, nil, nil, c.floor*x, c.lost(0)
	out.pieces, out.replicate, out.bent, out.off = nil, nil, nil, nil
	for i, a := range c.cells {
		out.cells = append(out.cells, combination([]cell{a}, []float64{x}, level))
		out.scales = append(out.scales, c.scales[i]*x)
	}
	return &out
}

// at returns the cell of a size, or nil.
func (c *curve) at(bytes int) *cell {
	if c == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(c.cells, bytes, func(c cell, k int) int { return cmp.Compare(c.bytes, k) })
	if !ok {
		return nil
	}
	return &c.cells[i]
}

// combination returns Σ factors·cells, with everything that is wrong with any of them.
func combination(cells []cell, factors []float64, level float64) cell {
	out := cell{bytes: cells[0].bytes, reps: make([]float64, len(cells[0].reps))}
	slack, launches := 0.0, make([]stack, len(cells)) // slack is what the timer's resolution adds
	for i, c := range cells {
		out.n += c.n
		out.value += factors[i] * c.value
		for b, x := range c.reps {
			out.reps[b] += factors[i] * x
		}
		out.few = out.few || c.few
		out.repeated = out.repeated || c.repeated
		out.disagree = out.disagree || c.disagree
		slack += math.Abs(factors[i]) * c.slack
		launches[i] = c.launches
	}
	out.launches = sum(launches, factors)
	out.finish(slack, level)
	return out
}

func (c *curve) public() Curve {
	out := Curve{Platform: c.platform, Library: c.library, Place: c.place, Mode: c.mode, Protocol: c.protocol, Timer: c.timer, Pieces: c.pieces}
	for _, x := range slices.Concat(c.cells, c.held) {
		out.Points = append(out.Points, Point{x.bytes, rounded(x.value), rounded(x.low), rounded(x.high), x.n})
	}
	slices.SortFunc(out.Points, func(a, b Point) int { return cmp.Compare(a.Bytes, b.Bytes) })
	return out
}

// warnings says what is wrong with the samples of the curve.
func (c *curve) warnings() []Warning {
	tests := []struct {
		code, text string
		is         func(cell) bool
	}{
		{FewReps, "fewer than 20 samples", func(x cell) bool { return x.few }},
		{OddReps, "an odd number of repetitions cannot be of two roots", func(x cell) bool { return x.odd }},
		{RootsDisagree, "the two roots of the barrier disagree, the lower median counts", func(x cell) bool { return x.disagree }},
		{HeavyTail, "more than one sample in a hundred is far above the median", func(x cell) bool { return x.tail }},
		{CoarseTimer, "the steps of the timer show: measure several calls at once", func(x cell) bool { return x.coarse }},
		{Drift, "later repetitions differ from earlier ones", func(x cell) bool { return x.drift }},
	}
	out := c.heldWarning()
	for _, test := range tests {
		var at []int
		for _, x := range c.cells {
			if test.is(x) {
				at = append(at, x.bytes)
			}
		}
		if len(at) > 0 && (test.code != RootsDisagree || c.unsettled()) {
			w := c.warning(c.name(), test.code, fmt.Sprintf("%s, at %s", test.text, sizes(at, len(c.cells))))
			w.Sizes, w.Of = len(at), len(c.cells)
			out = append(out, w)
		}
	}
	return out
}

// unsettled says whether parameters suffer from roots that disagree: at the smallest size, or at more than a quarter of those of a piece.
// Of timer22 there are no parameters, and P1's wait before it receives is part of it.
func (c *curve) unsettled() bool {
	if c.timer == sample.Timer22 {
		return false
	}
	bad := c.cells[0].disagree
	for i := range c.pieces {
		bad = bad || c.divided(i)
	}
	return bad
}

// name returns the timer, with the protocol where it was forced.
func (c *curve) name() string {
	if chosen(c.mode, c.protocol) {
		return c.timer
	}
	return c.timer + " of " + c.protocol
}

func (c *curve) warning(parameter, code, text string) Warning {
	return Warning{Platform: c.platform, Library: c.library, Place: c.place, Mode: c.mode, Parameter: parameter, Code: code, Text: text}
}

// sizes lists some of the sizes, of so many.
func sizes(at []int, of int) string {
	switch n := len(at); {
	case n == of && n > 1:
		return fmt.Sprintf("all %d sizes", n)
	case n > 3:
		return fmt.Sprintf("%d of %d sizes, from %d to %d bytes", n, of, at[0], at[n-1])
	}
	words := make([]string, len(at))
	for i, k := range at {
		words[i] = fmt.Sprint(k)
	}
	return strings.Join(words, ", ") + " bytes"
}
