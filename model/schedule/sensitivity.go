package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/loggp/loggp/model/unit"
)

// Derivative is the one-sided derivatives of the finishing time by a parameter: Right if the
// parameter grows, Left if it falls. For L, o and g they count how often the parameter is on the
// critical path, for G and O they count bytes. They differ if several paths are equally long. Left
// of a parameter that is 0 is NaN.
type Derivative struct {
	Name        string
	Left, Right float64
}

// Sensitivity returns the derivatives of the finishing time by L, o, g, G and O. They are exact: a
// second simulation has a unit of time so small that a parameter that changes by one unit reorders
// only simultaneous events. If times are too long or the path has too many bytes for that, a
// derivative is NaN. With noise, and in dialect LGS, which truncates times, there are none.
func (s *Schedule) Sensitivity(o Options) ([]Derivative, error) {
	if o.Noise != nil || o.Dialect == LGS {
		return nil, errors.New("derivatives: with noise, and in dialect lgs, the finishing time is not a smooth function of the parameters")
	}
	o.RecordsPath = false
	base, err := s.Simulate(o)
	if err != nil {
		return nil, err
	}
	names := []string{"L", "o", "g", "G", "O"}
	values := []float64{float64(o.Params.L), float64(o.Params.Overhead), float64(o.Params.Gap), float64(o.Params.GapPerByte), float64(o.Params.OverheadPerByte)}
	out := make([]Derivative, len(names))
	err = forEachParallel(2*len(names), func(i int) error {
		d := &out[i/2]
		d.Name = names[i/2]
		if i%2 == 0 {
			d.Right, err = s.derivative(o, base.LastFinish, i/2, 1)
			return err
		}
		if d.Left = math.NaN(); values[i/2] > 0 {
			d.Left, err = s.derivative(o, base.LastFinish, i/2, -1)
		}
		return err
	})
	return out, err
}

// derivative returns one derivative, on one side.
func (s *Schedule) derivative(o Options, last unit.Time, parameter int, side int64) (float64, error) {
	r, err := s.newRun(o)
	if err != nil {
		return 0, err
	}
	// All times are multiples of a common divisor of their unit. It is divided into parts.
	common := gcd(gcd(gcd(r.latency, r.overhead), gcd(r.gap, r.unitsPerNanosecond)), 1000)
	if r.gapPerByte.isInteger && r.overheadPerByte.isInteger {
		common = gcd(common, gcd(r.gapPerByte.integer, r.overheadPerByte.integer))
	} else {
		common = 1
	}
	end := uint64(last) / r.unitPicoseconds() / common
	parts := uint64(math.MaxInt64) / 4 / max(end, r.gap/common, 1)
	if parts < 4 {
		return math.NaN(), nil
	}
	parts = min(parts, 1<<50)
	change := [5]uint64{}
	change[parameter] = uint64(side)
	r.latency, r.overhead, r.gap = r.latency/common*parts+change[0], r.overhead/common*parts+change[1], r.gap/common*parts+change[2]
	if common > 1 {
		r.gapPerByte, r.overheadPerByte = newByteCost(float64(r.gapPerByte.integer/common)), newByteCost(float64(r.overheadPerByte.integer/common))
	}
	r.unitsPerByteCost, r.unitsPerNanosecond, r.extraGapPerByte, r.extraOverheadPerByte = parts, r.unitsPerNanosecond/common*parts, change[3], change[4]
	if o.Dialect == LogGOPSim {
		r.gapPerByte.integer, r.overheadPerByte.integer = r.gapPerByte.integer*parts+r.extraGapPerByte, r.overheadPerByte.integer*parts+r.extraOverheadPerByte
	}
	r.timeLimit = math.MaxUint64 // it is in parts, and takes as long as before
	r.runEvents()
	if r.pendingOps > 0 {
		return 0, r.blockedError()
	}
	last2 := uint64(0)
	for _, t := range r.cpuFree {
		if away := t % parts; away > parts/4 && away < parts-parts/4 {
			return math.NaN(), nil // the changes have added up to what may reorder things
		}
		last2 = max(last2, t)
	}
	return float64(side * int64(last2-end*parts)), nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// forEachParallel calls a function with 0 up to n−1 on all cores, and returns the error of the
// lowest.
func forEachParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	var calls errgroup.Group
	calls.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		calls.Go(func() error {
			errs[i] = do(i)
			return nil
		})
	}
	calls.Wait()
	return cmp.Or(errs...)
}

// SweepPoint is the result of a simulation in a sweep.
type SweepPoint struct {
	Params     Params
	LastFinish unit.Time
	LastRank   int
}

// Sweep simulates the schedule with each of some parameters, on all cores.
func (s *Schedule) Sweep(o Options, params []Params) ([]SweepPoint, error) {
	o.RecordsPath = false
	points := make([]SweepPoint, len(params))
	err := forEachParallel(len(params), func(i int) error {
		with := o
		with.Params = params[i]
		res, err := s.Simulate(with)
		if err != nil {
			return fmt.Errorf("with %v: %w", params[i], err)
		}
		points[i] = SweepPoint{params[i], res.LastFinish, res.LastRank}
		return nil
	})
	return points, err
}

// Tolerance returns an L with which the finishing time grows by at most the given part, such as
// 0.01, while an L longer by one step, a picosecond or in the reference dialects a nanosecond,
// exceeds that. ok is false if no allowed L exceeds it. The finishing time is convex in L as long
// as the order of events does not change; the search uses that to be short, but does not rely on
// it.
func (s *Schedule) Tolerance(o Options, part float64) (most unit.Time, ok bool, err error) {
	base, err := s.Simulate(Options{Params: o.Params, Dialect: o.Dialect, Noise: o.Noise})
	if err != nil {
		return 0, false, err
	}
	limit := float64(base.LastFinish) + math.Floor(float64(base.LastFinish)*part)
	step := unit.Time(o.unitPicoseconds())
	low, high := SweepPoint{o.Params, base.LastFinish, 0}, SweepPoint{LastFinish: -1}
	with := func(l unit.Time) Params {
		p := o.Params
		p.L = l
		return p
	}
	// try simulates some latencies between low and high, and moves these.
	try := func(ls ...unit.Time) error {
		var ps []Params
		for _, l := range ls {
			if l > low.Params.L && (high.LastFinish < 0 || l < high.Params.L) && l <= longestTime {
				ps = append(ps, with(l))
			}
		}
		points, err := s.Sweep(o, ps)
		for _, p := range points {
			if float64(p.LastFinish) > limit && (high.LastFinish < 0 || p.Params.L < high.Params.L) {
				high = p
			}
		}
		for _, p := range points {
			if float64(p.LastFinish) <= limit && p.Params.L > low.Params.L && (high.LastFinish < 0 || p.Params.L < high.Params.L) {
				low = p
			}
		}
		return err
	}
	for by := (unit.Time(limit)-base.LastFinish)/step*step + step; high.LastFinish < 0; by *= 8 {
		if low.Params.L == longestTime {
			return longestTime, false, nil
		}
		at := min(o.Params.L+by, longestTime)
		if err := try(at-by/2/step*step, at); err != nil {
			return 0, false, err
		}
	}
	for high.Params.L-low.Params.L > step {
		// On a straight line between both, this is the answer, and the next one exceeds it.
		slope := float64(high.LastFinish-low.LastFinish) / float64(high.Params.L-low.Params.L)
		cut := low.Params.L + unit.Time((limit-float64(low.LastFinish))/slope)/step*step
		middle := low.Params.L + (high.Params.L-low.Params.L)/2/step*step
		if err := try(cut, cut+step, middle); err != nil {
			return 0, false, err
		}
	}
	return low.Params.L, true, nil
}
