package sample

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// MaxRows is the most samples that a set may have.
const MaxRows = 50_000_000

// maxTimesPerRow is how many samples of a series Write puts into a row.
const maxTimesPerRow = 1000

// textPerSeries is how many bytes of text a file may have for each series that it may have.
const textPerSeries = 512

// sampleRow is a line of a data set: samples of a series that follow each other.
type sampleRow struct {
	Key
	pace      string
	Rep       int // of the first
	Times     []unit.Time
	disturbed int
}

// Optional columns. Write has the column ranks if a set has collective operations of several
// numbers of ranks, and the column disturbed if any sample is. Files of older versions have
// the column pace instead, which is "full" or empty if a sample was not disturbed.
const (
	ranksColumn     = "ranks"
	disturbedColumn = "disturbed"
	paceColumn      = "pace"
)

var sampleSchema = table.Schema[sampleRow]{
	Name:    "samples",
	MaxRows: MaxRows,
	Group:   "rep",
	Columns: []table.Column[sampleRow]{
		table.Name("platform", func(r *sampleRow) *string { return &r.Platform }, table.NotEmpty),
		table.Name("library", func(r *sampleRow) *string { return &r.Library }, nil),
		table.Name("clock", func(r *sampleRow) *string { return &r.Clock }, table.OneOf("virtual", "real")),
		table.Name("place", func(r *sampleRow) *string { return &r.Place }, checkPlace),
		table.Name("mode", func(r *sampleRow) *string { return &r.Mode }, table.NotEmpty),
		table.Name("protocol", func(r *sampleRow) *string { return &r.Protocol }, nil),
		table.Name("timer", func(r *sampleRow) *string { return &r.Timer }, table.NotEmpty),
		table.Whole("bytes", func(r *sampleRow) *int { return &r.Bytes }, "a whole number of bytes", unit.MaxLongSize),
		table.Whole("launch", func(r *sampleRow) *int { return &r.Launch }, "the number of a launch", math.MaxInt32),
		optionalColumn(table.Whole(ranksColumn, func(r *sampleRow) *int { return &r.Ranks }, "a number of ranks", math.MaxInt32)),
		optionalColumn(table.Name(paceColumn, func(r *sampleRow) *string { return &r.pace }, nil)),
		table.Whole("rep", func(r *sampleRow) *int { return &r.Rep }, "the number of a repetition", MaxRows-1),
		timesColumn(),
		optionalColumn(table.Whole(disturbedColumn, func(r *sampleRow) *int { return &r.disturbed }, "0 or 1", 1)),
	},
}

// timesColumn has the samples of a row. Older files have one in each.
func timesColumn() table.Column[sampleRow] {
	c := table.MicrosList("times_us", func(r *sampleRow) *[]unit.Time { return &r.Times })
	c.OldName = "time_us"
	return c
}

func optionalColumn(c table.Column[sampleRow]) table.Column[sampleRow] {
	c.Optional = true
	return c
}

func checkPlace(s string) error {
	if _, _, pair := ParsePairPlace(s); pair || s == "inter" || s == "intra" {
		return nil
	}
	return fmt.Errorf("%q is neither inter nor intra, nor a pair of ranks such as 0-7", s)
}

// Read reads a set as Write writes it. name stands for the input in errors, which begin with
// file:line:column.
//
// Rows may be in any order: series are ordered by their first rows, and rep is the index of the
// first sample of a row in its series. It is an error if a file has fewer rows than its fact
// SampleCountFact says; older files do not have that fact. Names may be quoted. A comment above the
// header without a colon is ignored.
func Read(in io.Reader, name string) (*Set, error) {
	r, err := sampleSchema.Reader(in, name)
	if err != nil {
		return nil, err
	}
	set := &Set{}
	rows := "" // that the file has when it is whole
	for _, f := range r.Facts {
		if f.Key == SampleCountFact {
			rows = f.Value
			continue
		}
		set.Facts = append(set.Facts, Fact(f))
	}
	if _, err := set.Runs(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	type series struct {
		Key
		pace string // each has repetitions of its own
	}
	index := make(map[series]int)
	var late outOfOrderRows
	samples := 0
	at, last := -1, 0 // the series of the last row, and its column disturbed
	for {
		switch err := r.Next(); {
		case err == io.EOF:
			if err := late.insert(r, set); err != nil {
				return nil, err
			}
			if n, err := strconv.Atoi(rows); rows != "" && (err != nil || set.SampleCount() < n) {
				return nil, fmt.Errorf("%s: the file is cut off: it has %d samples, and %q says %s above its header. If rows were taken out on purpose, take out that line too",
					name, set.SampleCount(), SampleCountFact, rows)
			}
			set.Series = JoinSeries(set.Series)
			return set, nil
		case err != nil:
			return nil, err
		}
		if x := &r.Row; !r.Same || x.disturbed != last {
			k := series{x.Key, x.pace}
			k.Disturbed = x.disturbed == 1 || x.pace != "" && x.pace != "full"
			i, ok := index[k]
			if !ok {
				if most := input.MaxBytes() / textPerSeries; int64(len(set.Series)) >= most {
					return nil, r.Errorf("timer", "more than %d series, which differ in a name, the bytes or the launch; %s", most, input.RaiseHint)
				}
				i = len(set.Series)
				index[k] = i
				var room int // as long as the series before
				if at >= 0 {
					room = min(len(set.Series[at].Times), 1<<14)
				}
				set.Series = append(set.Series, Series{Key: k.Key, Times: make([]unit.Time, 0, room)})
			}
			at, last = i, x.disturbed
		}
		if samples += len(r.Row.Times); samples > MaxRows {
			return nil, r.Errorf("times_us", "more than %d samples", MaxRows)
		}
		if s := &set.Series[at]; r.Row.Rep == len(s.Times) {
			s.Times = append(s.Times, r.Row.Times...)
			continue
		}
		for i, t := range r.Row.Times {
			late = append(late, outOfOrderRow{at, r.Row.Rep + i, t, r.Place("rep")})
		}
	}
}

// outOfOrderRow is a sample that did not come in the order of its series.
type outOfOrderRow struct {
	series, rep int
	time        unit.Time
	place       table.Place
}

type outOfOrderRows []outOfOrderRow

// insert puts samples where they belong. Of errors it reports the one in the first line.
func (rows outOfOrderRows) insert(r *table.Reader[sampleRow], set *Set) error {
	slices.SortFunc(rows, func(a, b outOfOrderRow) int {
		return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.rep, b.rep), cmp.Compare(a.place.Line, b.place.Line))
	})
	var first error
	line := math.MaxInt
	for i, broken := 0, -1; i < len(rows); i++ {
		x := rows[i]
		s := &set.Series[x.series]
		n := len(s.Times)
		switch {
		case x.series == broken:
		case x.rep == n:
			s.Times = append(s.Times, x.time)
		default:
			broken = x.series
			if x.place.Line > line {
				continue
			}
			line = x.place.Line
			if x.rep < n {
				first = r.ErrorAt(x.place, "rep", "repetition %d of %v is there twice", x.rep, s.Key)
			} else {
				first = r.ErrorAt(x.place, "rep", "repetition %d of %v, but repetition %d is missing", x.rep, s.Key, n)
			}
		}
	}
	return first
}

// Write writes the set as CSV: the facts, the header, and for each series, in the order of the set,
// rows of its samples. The same set gives the same bytes. A set that Read would refuse, such as one
// with two series of one key, is an error.
func Write(out io.Writer, s *Set) error {
	if err := s.checkDistinct(); err != nil {
		return err
	}
	if s.SampleCount() > MaxRows {
		return fmt.Errorf("write samples: more than %d of them", MaxRows)
	}
	var columns []string
	if slices.ContainsFunc(s.Series, func(x Series) bool { return x.Ranks != 0 }) {
		columns = append(columns, ranksColumn)
	}
	if slices.ContainsFunc(s.Series, func(x Series) bool { return x.Disturbed }) {
		columns = append(columns, disturbedColumn)
	}
	var facts []table.Fact
	for _, f := range s.Facts {
		if f.Key != SampleCountFact {
			facts = append(facts, table.Fact(f))
		}
	}
	facts = append(facts, table.Fact{Key: SampleCountFact, Value: strconv.Itoa(s.SampleCount())})
	w, err := sampleSchema.Writer(out, facts, columns...)
	if err != nil {
		return err
	}
	for i := range s.Series {
		x := sampleRow{Key: s.Series[i].Key}
		if x.Disturbed {
			x.disturbed = 1
		}
		for times := range slices.Chunk(s.Series[i].Times, maxTimesPerRow) {
			x.Times = times
			if err := w.Write(&x, x.Rep > 0); err != nil {
				return err
			}
			x.Rep += len(times)
		}
	}
	return w.Flush()
}

// checkDistinct is an error if two series have one key.
func (s *Set) checkDistinct() error {
	seen := make(map[Key]bool, len(s.Series))
	for i := range s.Series {
		k := s.Series[i].Key
		if seen[k] {
			return fmt.Errorf("write samples: two series of %v", k)
		}
		seen[k] = true
	}
	return nil
}

// String names the measurement in messages.
func (k Key) String() string {
	flag := ""
	if k.Ranks != 0 {
		flag = fmt.Sprintf(", %d ranks", k.Ranks)
	}
	if k.Disturbed {
		flag += ", disturbed"
	}
	return fmt.Sprintf("%s of %s at %d bytes (%s, %s, %s, %s clock, protocol %s, launch %d%s)",
		k.Timer, k.Mode, k.Bytes, k.Platform, k.Library, k.Place, k.Clock, k.Protocol, k.Launch, flag)
}
