package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/reports/study"
)

// DecisiveChange is the change of a quantity by more than which a number decides it.
const DecisiveChange = 0.05

// Sensitivity says how quantities of a platform move when its numbers are halved and doubled.
type Sensitivity struct {
	Platform   *platform.Platform
	Quantities []Quantity
	BaseValues []float64      // the values with all numbers as they are
	Numbers    []VariedNumber // in the order of the file
	Unvaried   []string       // numbers that are zero, which has no half
}

// VariedNumber is a number that was halved and doubled.
type VariedNumber struct {
	platform.Number
	Halved, Doubled Variant
}

// Variant is a number with another value, and what the quantities are then.
type Variant struct {
	Number     string    // "": the file cannot have it
	Quantities []float64 // of the quantities
	Failure    string    // they could not be measured
}

// Change returns by which part of its value a quantity moves: 0.1 is 10 % more. It is NaN if that
// is not known.
func (s *Sensitivity) Change(v Variant, quantity int) float64 {
	switch {
	case v.Quantities == nil:
		return math.NaN()
	case v.Quantities[quantity] == s.BaseValues[quantity]: // also of what is 0
		return 0
	}
	return v.Quantities[quantity]/s.BaseValues[quantity] - 1
}

// LargestChange returns the larger of the changes of a quantity by a number, without its sign;
// infinity if the quantity is gone. If the number cannot be halved or doubled only the other
// counts.
func (s *Sensitivity) LargestChange(n VariedNumber, quantity int) float64 {
	most := 0.0
	for _, v := range []Variant{n.Halved, n.Doubled} {
		x := math.Abs(s.Change(v, quantity))
		if v.Quantities != nil && math.IsNaN(x) && !math.IsNaN(s.BaseValues[quantity]) {
			x = math.Inf(1)
		}
		if x > most {
			most = x
		}
	}
	return most
}

// DecidingNumbers returns the numbers that move a quantity by more than a limit, those that move it
// most first.
func (s *Sensitivity) DecidingNumbers(quantity int, limit float64) []VariedNumber {
	var all []VariedNumber
	for _, n := range s.Numbers {
		if s.LargestChange(n, quantity) > limit {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b VariedNumber) int {
		switch x, y := s.LargestChange(a, quantity), s.LargestChange(b, quantity); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return all
}

// Options say how to go on. The zero value is right.
type Options struct {
	Bases    []platform.Basis // of numbers that are varied; none: assumed and fitted
	Seed     uint64           // of the starts of a search
	Starts   int              // from which a search begins at most; 0: three
	Progress func(done, total int)

	measured            *measurements // of the same file and bench, by other searches; nil: none
	keepsOtherLibraries bool          // free numbers of libraries without targets stay; else they are errors
	onlyParameters      bool          // the search does not end with derivatives
}

// VaryNumbers halves and doubles the numbers of a platform, one at a time, and measures a bench
// each time, on all cores. The result does not depend on how many there are.
func VaryNumbers(ctx context.Context, d *edit.Draft, b *Bench, o Options) (*Sensitivity, error) {
	if len(b.Quantities) == 0 {
		return nil, errNoQuantities
	}
	if o.Bases == nil {
		o.Bases = []platform.Basis{platform.BasisAssumed, platform.BasisFitted}
	}
	s := &Sensitivity{Platform: d.Platform, Quantities: b.Quantities}
	var err error
	if s.BaseValues, err = b.Measure(ctx, d.Platform); err != nil {
		return nil, err
	}
	for _, n := range d.Numbers {
		if !slices.Contains(o.Bases, n.Basis) || n.Quantity == platform.WordQuantity || isUnused(n.Path, b.Libraries) {
			continue
		}
		x, err := n.Quantity.Parse(n.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Path, err)
		}
		if x == 0 {
			s.Unvaried = append(s.Unvaried, n.Path)
			continue
		}
		v := VariedNumber{Number: n}
		v.Halved.Number, v.Doubled.Number = n.Quantity.Format(x/2), n.Quantity.Format(2*x)
		s.Numbers = append(s.Numbers, v)
	}
	var done atomic.Int64
	err = parallel(ctx, 2*len(s.Numbers), func(i int) error {
		n := &s.Numbers[i/2]
		v := &n.Halved
		if i%2 == 1 {
			v = &n.Doubled
		}
		p, err := d.With(map[string]string{n.Path: v.Number})
		if err == nil {
			v.Quantities, err = b.Measure(ctx, p)
		}
		if err != nil && ctx.Err() == nil { // such a platform cannot be, or not be measured
			v.Failure, _, _ = strings.Cut(err.Error(), "\n")
		}
		if o.Progress != nil {
			o.Progress(int(done.Add(1)), 2*len(s.Numbers))
		}
		return ctx.Err()
	})
	return s, err
}

// MarkAssumptionDependentValues marks in a study of a paper the published values that assumed
// numbers decide: those to which nothing was fitted, and which some assumed number of their
// platform moves by more than DecisiveChange when it is halved or doubled. Counts are not examined.
func MarkAssumptionDependentValues(ctx context.Context, p *paper.Paper, s *study.Study) error {
	rows := map[string][]string{} // by platform
	var platforms []string
	for _, a := range s.Artefacts {
		for _, r := range a.Rows {
			if r.Basis != compare.ValidationBasis || math.IsNaN(r.Low) || r.Unit == "" || slices.Contains(rows[r.Platform], r.PublishedRow) {
				continue
			}
			if rows[r.Platform] == nil {
				platforms = append(platforms, r.Platform)
			}
			rows[r.Platform] = append(rows[r.Platform], r.PublishedRow)
		}
	}
	for _, name := range platforms {
		d, err := edit.Open(name)
		if err != nil {
			return err
		}
		b, err := PublishedBench([]*paper.Paper{p}, d.Platform, rows[name])
		if err != nil {
			return err
		}
		moved, err := VaryNumbers(ctx, d, b, Options{Bases: []platform.Basis{platform.BasisAssumed}})
		if err != nil {
			return err
		}
		for i, q := range moved.Quantities {
			var numbers []string
			for _, n := range moved.DecidingNumbers(i, DecisiveChange) {
				numbers = append(numbers, fmt.Sprintf("%s (%s)", n.Path, n.Value))
			}
			if numbers != nil {
				s.MarkAssumed(q.Name, numbers)
			}
		}
	}
	return nil
}

// isUnused says whether a number has no part in what is measured: it is of a library that is not,
// says how many ranks a job may have, or is the noise that is left out.
func isUnused(path string, libraries []string) bool {
	if strings.HasPrefix(path, "machine.ranks.") || strings.HasPrefix(path, "machine.noise.") {
		return true
	}
	rest, ok := strings.CutPrefix(path, "libraries[")
	name, _, _ := strings.Cut(rest, "]")
	return ok && !slices.Contains(libraries, name)
}

// parallel calls f for 0 to n-1 on all cores, until one call fails or the context ends. It returns
// the error of the lowest number.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	errs := make([]error, n)
	calls, callContext := errgroup.WithContext(ctx)
	calls.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		calls.Go(func() error {
			if callContext.Err() == nil {
				errs[i] = f(i)
			}
			return errs[i]
		})
	}
	calls.Wait() // errs has the errors
	return cmp.Or(append(errs, ctx.Err())...)
}
