package compare

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/microbench/sample"
)

// Subject is a library at a place of a platform, one of several that are compared.
type Subject struct {
	Platform, Library, Place, Clock string

	MachineIndex int // index of its machine among those compared

	Name  string   // the platform, with the facts that distinguish it from other subjects: t3d, convex/inter
	Modes []string // modes with samples
	Sizes []int    // sizes with samples, in any mode
}

// fittedSubject is a Subject with what is compared.
type fittedSubject struct {
	Subject
	params.Extraction
	files   string
	samples *sample.Set
}

// fittedSubjects fits each set separately unless its curves are given. It returns the subjects in
// the order of the sets, and of results within a set.
func fittedSubjects(machines []sample.Machine, fitted [][]*curve.Curve, o clean.Options) ([]*fittedSubject, error) {
	var all []*fittedSubject
	for i, m := range machines {
		set, err := countedSamples(m.Set)
		if err != nil {
			return nil, err
		}
		var curves []*curve.Curve
		if fitted != nil {
			curves = slices.Clone(fitted[i])
		} else {
			if curves, err = curve.LoadCurves(set, o); err != nil {
				return nil, err
			}
			clean.RunParallel(len(curves), func(i int) { curves[i].CutIntoPieces(o) })
		}
		if i > 0 {
			// Random numbers depend on what was measured. Two machines with the same name would
			// draw alike, and launches are drawn alike in any case. Replicates of one machine must
			// stay together, and those of two must be independent. Shuffling does not change
			// intervals.
			order := rand.New(rand.NewPCG(o.Seed, uint64(i))).Perm(o.ReplicateCount)
			for j, c := range curves {
				curves[j] = c.Shuffled(order)
			}
		}
		for _, place := range curve.SplitByPlace(curves) {
			p := &fittedSubject{Extraction: params.Extraction{Subject: place[0].Subject(), Curves: place, Options: o}, files: strings.Join(m.Files, "+"), samples: set}
			p.Subject = Subject{Platform: place[0].Platform, Library: place[0].Library, Place: place[0].Place, Clock: place[0].Clock, MachineIndex: i}
			for _, c := range place {
				if clean.IsLibraryChoice(c.Mode, c.Protocol) && !slices.Contains(p.Modes, c.Mode) {
					p.Modes = append(p.Modes, c.Mode)
				}
				for _, x := range c.Cells {
					p.Sizes = append(p.Sizes, x.Bytes)
				}
			}
			slices.Sort(p.Sizes)
			p.Sizes = slices.Compact(p.Sizes)
			all = append(all, p)
		}
	}
	clean.RunParallel(len(all), func(i int) { all[i].ExtractParameters() })
	nameSubjects(all)
	return all, nil
}

// nameSubjects names subjects by their platforms. If names are equal it adds the first facts in
// which the subjects differ.
func nameSubjects(all []*fittedSubject) {
	names := make([]*string, len(all))
	for i, p := range all {
		p.Name = platformName(p.Platform)
		names[i] = &p.Name
	}
	distinguishNames(names,
		func(i int) string { return strings.TrimPrefix(all[i].Platform, platformName(all[i].Platform)+":") },
		func(i int) string { return all[i].Library },
		func(i int) string { return all[i].Place },
		func(i int) string { return all[i].Clock },
		func(i int) string { return all[i].files })
}

// platformName returns a short name of a platform. For a synthetic machine it omits most
// parameters.
func platformName(platform string) string {
	short, _, _ := strings.Cut(platform, ":")
	return short
}

// distinguishNames adds to equal names the first facts in which they differ.
func distinguishNames(names []*string, facts ...func(i int) string) {
	for _, fact := range facts {
		named := map[string][]int{}
		for i, n := range names {
			named[*n] = append(named[*n], i)
		}
		for _, of := range named {
			if !slices.ContainsFunc(of, func(i int) bool { return fact(i) != fact(of[0]) }) {
				continue
			}
			for _, i := range of {
				*names[i] += "/" + fact(i)
			}
		}
	}
}

// countedSamples returns the samples of a set that count.
func countedSamples(set *sample.Set) (*sample.Set, error) {
	set, _, err := tiers.AssignTiers(set)
	if err != nil {
		return nil, err
	}
	set, _ = clean.SelectUndisturbed(set)
	return set, nil
}

// countedCurves returns the samples of a set that count, and their curves, which are not yet cut
// into pieces.
func countedCurves(set *sample.Set, o clean.Options) (*sample.Set, []*curve.Curve, error) {
	set, err := countedSamples(set)
	if err != nil {
		return nil, nil, err
	}
	curves, err := curve.LoadCurves(set, o)
	return set, curves, err
}
