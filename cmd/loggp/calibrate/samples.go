package calibrate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/foreign"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
)

// SamplesPrefix stands before the name of a samples file in the key to of a number.
const SamplesPrefix = "samples "

// maxSizesPerMode is how many sizes of a mode a bench of samples has, unless some are asked for.
const maxSizesPerMode = 8

// SampleSelection is a part of a samples file. The zero value is all modes, and of each as many as
// eight sizes, spread evenly.
type SampleSelection struct {
	Library  string // of the platform, that is to behave as the samples; "": the one that is named in them, or else the first
	Modes    []string
	Sizes    []int
	AllSizes bool   // if there are no Sizes: all, and not eight
	Template string // the name of the platform of which this one is a renamed copy; samples of an emulated machine may be of it
}

// sweepKey is what is measured in one sweep: a mode of the samples, by a mode of the emulated
// machine.
type sweepKey struct{ place, mode, emulatedMode, protocol string }

// readSamples reads a file of samples, or the output of a benchmark that can be imported, of which
// the notes say what was left out.
func readSamples(file string) (*sample.Set, []string, error) {
	set, err := sample.ReadFile(file)
	if err == nil {
		return set, nil, nil
	}
	set, report, importErr := foreign.ImportFiles([]string{file}, foreign.Options{})
	if importErr != nil {
		if strings.HasSuffix(file, ".csv") {
			return nil, nil, err
		}
		return nil, nil, importErr
	}
	var notes []string
	for _, n := range report.Notes {
		notes = append(notes, n.String())
	}
	return set, notes, nil
}

// SamplesBench returns a bench of the medians of a samples file: of each timer, mode and size the
// median that a fit of the samples has, or the times of collective operations of NCCL. Samples of
// an emulated machine are for the platform of that name; those of a real one are for any platform,
// which is to be a model of the machine. Collective operations of other libraries, and timers that
// emulated machines do not have, are left out.
func SamplesBench(ctx context.Context, file string, set *sample.Set, p *platform.Platform, part SampleSelection) (*Bench, error) {
	of, err := samplesSubject(file, set, cmp.Or(part.Template, p.Machine.Name))
	if err != nil {
		return nil, err
	}
	if l, err := ncclLibrary(file, set, p, part.Library); l != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return ncclBench(file, set, l, part)
	}
	return messagesBench(ctx, file, set, of, p, part)
}

// messagesBench returns a bench of the medians of messages between two ranks.
func messagesBench(ctx context.Context, file string, set *sample.Set, of sample.Key, p *platform.Platform, part SampleSelection) (*Bench, error) {
	if part.Library == "" && slices.ContainsFunc(p.Libraries, func(l *model.Library) bool { return l.Name == of.Library }) {
		part.Library = of.Library
	}
	l, err := p.Library(part.Library)
	if err != nil {
		return nil, err
	}
	if of.Clock == "virtual" && l.Name != of.Library {
		return nil, fmt.Errorf("%s: samples of library %s, and platform %s has no such library: name the one that is to behave like it with --library", file, of.Library, p.Machine.Name)
	}
	found, err := fit.Fit(set, clean.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	b := &Bench{Libraries: []string{l.Name}}
	var groups []sweepKey
	sizes, timers := map[sweepKey][]int{}, map[sweepKey][]string{}
	var keys []sample.Key // of the quantities
	to := SamplesPrefix + file
	for _, c := range found.Curves {
		if sample.TimerIndex(c.Timer) == len(sample.Timers) || len(part.Modes) > 0 && !slices.Contains(part.Modes, c.Mode) {
			continue
		}
		g := sweepKey{c.Place, c.Mode, emulatedMode(of.Library, c.Mode, c.Timer), c.Protocol}
		for _, x := range c.Points {
			if len(part.Sizes) > 0 && !slices.Contains(part.Sizes, x.Bytes) || !(x.Value > 0) {
				continue
			}
			if sizes[g] == nil {
				groups = append(groups, g)
			}
			if !slices.Contains(sizes[g], x.Bytes) {
				sizes[g] = append(sizes[g], x.Bytes)
			}
			if !slices.Contains(timers[g], c.Timer) {
				timers[g] = append(timers[g], c.Timer)
			}
			keys = append(keys, sample.Key{Place: c.Place, Mode: c.Mode, Protocol: c.Protocol, Timer: c.Timer, Bytes: x.Bytes})
			name := fmt.Sprintf("%s %s %s", c.Timer, c.Mode, unit.Bytes(x.Bytes))
			for _, w := range []string{c.Place, c.Protocol} {
				if w != "inter" && w != chosenProtocol {
					name += " " + w
				}
			}
			b.Quantities = append(b.Quantities, Quantity{name, "us", x.Value, x.Value, to, l.Name})
		}
	}
	for g, all := range sizes {
		slices.Sort(all)
		if len(part.Sizes) == 0 && !part.AllSizes {
			sizes[g] = spreadEvenly(all, maxSizesPerMode)
		}
	}
	measure := func(ctx context.Context, p *platform.Platform) (medians, error) {
		all := medians{}
		for _, g := range groups {
			place := strings.ReplaceAll(g.place, "-", ",")
			if g.emulatedMode == remoteWriteMode {
				times, err := measureRemoteWrites(ctx, p, l.Name, place, sizes[g])
				if err != nil {
					return nil, err
				}
				all.addRemoteWrites(times, g.place, g.mode, g.protocol)
				continue
			}
			plan := &microbench.Plan{Modes: []string{g.emulatedMode}, Sizes: sizes[g], Timers: append(timers[g], sample.Timer11), IsRealMachine: of.Clock == "real"} // Timer11 warms up; with the wait before timer12 that real machines have
			if g.protocol != chosenProtocol {
				plan.ForcedProtocol = g.protocol
			}
			set, err := measureEmulated(ctx, p, l.Name, place, plan)
			if err != nil {
				return nil, err
			}
			curves, err := curve.LoadCurves(set, clean.Options{ReplicateCount: 2}.WithDefaults())
			if err != nil {
				return nil, err
			}
			for k, x := range timerMedians(curves) {
				k.Place, k.Mode = g.place, g.mode
				all[k] = x
			}
		}
		return all, nil
	}
	// What the emulated machine does not have is found by measuring it once.
	once, err := measure(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	b.dropUnknown(keys, once)
	if len(b.Quantities) == 0 {
		return nil, fmt.Errorf("%s: it has no samples of timers, modes and sizes that are to be compared: measure messages between two ranks (loggp measure without --collective)", file)
	}
	kept := slices.DeleteFunc(slices.Clone(keys), func(k sample.Key) bool { return math.IsNaN(once.median(k)) })
	b.Measure = func(ctx context.Context, p *platform.Platform) ([]float64, error) {
		all, err := measure(ctx, p)
		if err != nil {
			return nil, err
		}
		values := make([]float64, len(kept))
		for i, k := range kept {
			values[i] = all.median(k)
		}
		return values, nil
	}
	return b, nil
}

// samplesSubject returns what samples are of: one platform and one library. Those of an emulated
// machine are of the platform with a name.
func samplesSubject(file string, set *sample.Set, name string) (sample.Key, error) {
	var of sample.Key
	for _, s := range set.Series {
		k := sample.Key{Platform: s.Platform, Library: s.Library, Clock: s.Clock}
		switch {
		case of.Platform == "" || of == k:
			of = k
		default:
			return of, fmt.Errorf("%s: samples of %s, %s and of %s, %s: a platform is fitted to one of them, in a file of its own", file, of.Platform, of.Library, k.Platform, k.Library)
		}
	}
	switch {
	case of.Platform == "":
		return of, fmt.Errorf("%s: it has no samples", file)
	case of.Clock == "virtual" && of.Platform != name:
		return of, fmt.Errorf("%s: samples of platform %s, not of %s", file, of.Platform, name)
	}
	return of, nil
}

// spreadEvenly returns so many of some sizes at most, spread evenly, with the first and the last.
func spreadEvenly(all []int, most int) []int {
	if len(all) <= most {
		return all
	}
	out := make([]int, most)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(most-1)]
	}
	return out
}

// dropUnknown keeps the quantities that have a value, and notes the timers of the others.
func (b *Bench) dropUnknown(keys []sample.Key, values medians) {
	var kept []Quantity
	missing := map[string]int{}
	var order []string
	for i, k := range keys {
		if !math.IsNaN(values.median(k)) {
			kept = append(kept, b.Quantities[i])
			continue
		}
		if missing[k.Timer] == 0 {
			order = append(order, k.Timer)
		}
		missing[k.Timer]++
	}
	for _, t := range order {
		b.Omitted = append(b.Omitted, fmt.Sprintf("%s: %d medians", t, missing[t]))
	}
	b.Quantities = kept
}
