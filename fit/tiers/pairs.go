package tiers

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/quantile"
)

// pairTable is the times of pairs of ranks: one row a pair, one column a timer of a mode at a size.
type pairTable struct {
	ranks          []int        // in order
	pairs          [][2]int     // indices in ranks, the lower first, in order
	keys           []sample.Key // of the columns
	logs           [][]float64  // by pair and column: the logarithm of the median; NaN where there is none
	standardErrors [][]float64  // its standard error
}

// newPairTable makes a table of the samples of pairs. Several launches of one are averaged. Times
// that are not positive have no logarithm, and are left out, as is timer22, which holds a wait that
// the plan chooses.
func newPairTable(series []*sample.Series, f sample.Runs) pairTable {
	columns := make(map[sample.Key]int)
	var keys []sample.Key
	rows := make(map[[2]int]bool)
	column := func(s *sample.Series) sample.Key {
		k := s.Key
		k.Place, k.Launch, k.Disturbed = "", 0, false
		return k
	}
	use := func(s *sample.Series) bool { return len(s.Times) > 0 && s.Timer != sample.Timer22 }
	for _, s := range series {
		a, b, _ := sample.ParsePairPlace(s.Place)
		rows[[2]int{a, b}] = true
		if k := column(s); use(s) && columns[k] == 0 {
			columns[k] = 1
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, clean.CompareKeys)
	for i, k := range keys {
		columns[k] = i
	}
	t := pairTable{keys: keys}
	index := t.indexPairs(rows)
	sums := make([][]launchLogMean, len(t.pairs))
	for i := range sums {
		sums[i] = make([]launchLogMean, len(keys))
	}
	at := func(s *sample.Series) *launchLogMean {
		a, b, _ := sample.ParsePairPlace(s.Place)
		return &sums[index[[2]int{a, b}]][columns[column(s)]]
	}
	for _, s := range series {
		if use(s) && !s.Disturbed {
			at(s).add(s, f)
		}
	}
	for _, s := range series { // if there are no others
		if x := at(s); use(s) && s.Disturbed && !x.known {
			x.add(s, f)
		}
	}
	for _, row := range sums {
		logs, se := make([]float64, len(row)), make([]float64, len(row))
		for j, x := range row {
			logs[j], se[j] = x.mean()
		}
		t.logs, t.standardErrors = append(t.logs, logs), append(t.standardErrors, se)
	}
	return t
}

// indexPairs sets ranks and pairs, and returns the index of each pair.
func (t *pairTable) indexPairs(rows map[[2]int]bool) map[[2]int]int {
	var pairs [][2]int
	for p := range rows {
		pairs = append(pairs, p)
		t.ranks = append(t.ranks, p[0], p[1])
	}
	slices.SortFunc(pairs, func(p, q [2]int) int { return cmp.Or(cmp.Compare(p[0], q[0]), cmp.Compare(p[1], q[1])) })
	slices.Sort(t.ranks)
	t.ranks = slices.Compact(t.ranks)
	index := make(map[[2]int]int)
	for i, p := range pairs {
		a, _ := slices.BinarySearch(t.ranks, p[0])
		b, _ := slices.BinarySearch(t.ranks, p[1])
		t.pairs = append(t.pairs, [2]int{a, b})
		index[p] = i
	}
	return index
}

// roundTrips returns the key of the round trips of the shortest messages, of the first mode that
// has any, and half of one between each pair, or NaN.
func (t *pairTable) roundTrips() (key sample.Key, half []float64) {
	at := -1
	for j, k := range t.keys {
		if k.Timer == sample.TimerRTT && (at < 0 || sample.ModeIndex(k.Mode) < sample.ModeIndex(key.Mode) || k.Mode == key.Mode && k.Bytes < key.Bytes) {
			at, key = j, k
		}
	}
	for i := range t.pairs {
		way := math.NaN()
		if at >= 0 {
			way = math.Exp(t.logs[i][at]) / 2
		}
		half = append(half, way)
	}
	return key, half
}

// launchLogMean is the mean logarithm of the medians of some launches.
type launchLogMean struct {
	count        int
	log, squares float64
	unusable     bool
	known        bool // by undisturbed samples
}

func (x *launchLogMean) add(s *sample.Series, f sample.Runs) {
	var c clean.Cell
	value, variance := 0.0, 0.0
	groups, step := clean.SelectCountedGroups(c.GroupSamples(s, f), clean.RootCombination([]*sample.Series{s}, f)), f.Resolution(s)
	for _, g := range groups {
		value += g.Median / float64(len(groups))
		h := g.HalfWidth() / float64(len(groups))
		variance += h * h
	}
	if value <= 0 {
		x.unusable = true
		return
	}
	x.count++
	x.known = x.known || !s.Disturbed
	x.log += math.Log(value)
	x.squares += (variance + step*step/12) / (value * value)
}

func (x *launchLogMean) mean() (log, se float64) {
	if x.count == 0 || x.unusable {
		return math.NaN(), math.NaN()
	}
	return x.log / float64(x.count), math.Sqrt(x.squares) / float64(x.count)
}

// pairDistances returns a distance for each of some pairs: a weighted mean of the logarithms of
// their times, with its standard error from the measurement.
//
// The weights of the mean are those of the first principal component of the columns, each in units
// of its own uncertainty and of the likely difference between pairs of one tier. So differences
// that all timers share count, and those of a single one, by chance or because it is coarse, do
// not. A timer that does not depend on the distance, such as the overhead of a send, has no weight.
// Outliers beyond five deviations do not turn the component.
func (t *pairTable) pairDistances(pairs []int) (score []float64, se float64) {
	columns := t.standardizedColumns(pairs)
	v := principalComponent(columns, len(pairs))
	total, sum := 0.0, 0.0
	for j := range v {
		v[j] /= columns[j].unit
		sum += v[j]
		total += math.Abs(v[j])
	}
	score = make([]float64, len(pairs))
	if total == 0 {
		return score, 0
	}
	for i, p := range pairs {
		here := 0.0
		for j, c := range columns {
			if x := t.logs[p][c.rows]; x == x {
				score[i] += v[j] * (x - c.median)
				here += math.Abs(v[j])
			}
		}
		if here > 0 {
			score[i] *= math.Copysign(1/here, sum)
		}
	}
	for j, c := range columns {
		se += v[j] * v[j] * c.standardError * c.standardError / (total * total)
	}
	return score, math.Sqrt(se)
}

// timerColumn is a column of the table over some pairs.
type timerColumn struct {
	rows                        int // in the table
	median, unit, standardError float64
	scores                      []float64 // deviations from the middle in units, bounded; 0 without a time
}

// standardizedColumns returns the columns that have times of at least half of the pairs.
func (t *pairTable) standardizedColumns(pairs []int) []timerColumn {
	var out []timerColumn
	for j := range t.logs[pairs[0]] {
		var x, se []float64
		for _, p := range pairs {
			if v := t.logs[p][j]; v == v {
				x, se = append(x, v), append(se, t.standardErrors[p][j])
			}
		}
		if 2*len(x) < len(pairs) || len(x) < 2 {
			continue
		}
		c := timerColumn{rows: j, median: quantile.Median(x), standardError: quantile.Median(se), scores: make([]float64, len(pairs))} // x is sorted now
		c.unit = math.Hypot(c.standardError, priorDeviation)
		bound := math.Max(5*(quantile.Of(x, 0.9)-quantile.Of(x, 0.1))/2.56, 5*c.unit)
		for i, p := range pairs {
			if v := t.logs[p][j]; v == v {
				c.scores[i] = min(max(v-c.median, -bound), bound) / c.unit
			}
		}
		out = append(out, c)
	}
	return out
}

// principalComponent returns the first principal component of columns with so many rows.
func principalComponent(columns []timerColumn, rows int) []float64 {
	v := make([]float64, len(columns))
	z := mat.NewDense(rows, max(len(columns), 1), nil)
	for j, c := range columns {
		z.SetCol(j, c.scores)
	}
	var pc stat.PC
	if len(columns) == 0 || mat.Norm(z, 1) == 0 || !pc.PrincipalComponents(z, nil) {
		return v
	}
	var vectors mat.Dense
	pc.VectorsTo(&vectors)
	return mat.Col(v, 0, &vectors)
}
