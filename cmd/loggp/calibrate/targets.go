package calibrate

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/platform/edit"
)

// ErrNoTargets is the error if nothing was said, and nothing is known, to calibrate to.
var ErrNoTargets = errors.New("there are no targets: name rows of a paper or a file of samples with --to")

// ErrSelectsNoSamples is the error if a part of samples is selected, and all targets are rows of
// papers.
var ErrSelectsNoSamples = errors.New("--library, --modes and --sizes select samples, and all targets are published rows: name the rows that count with --to")

// TargetBench returns a bench of targets: patterns of rows that papers print, and files of samples
// or of outputs that can be imported, of which a part counts. Without targets they are what the
// free numbers of the draft were fitted to.
func TargetBench(ctx context.Context, d *edit.Draft, papers []*paper.Paper, targets []string, part SampleSelection) (*Bench, error) {
	if targets == nil {
		targets = fittedTargets(d)
	}
	var patterns []string
	var benches []*Bench
	for _, target := range targets {
		file, isFile := strings.CutPrefix(target, SamplesPrefix)
		if !isFile && !strings.HasSuffix(target, ".csv") {
			patterns = append(patterns, target)
			continue
		}
		set, notes, err := readSamples(file)
		if err != nil {
			return nil, err
		}
		b, err := SamplesBench(ctx, file, set, d.Platform, part)
		if err != nil {
			return nil, err
		}
		b.Omitted = append(notes, b.Omitted...)
		benches = append(benches, b)
	}
	if len(benches) == 0 && len(patterns) > 0 && (part.Library != "" || part.Modes != nil || part.Sizes != nil) {
		return nil, ErrSelectsNoSamples
	}
	if len(patterns) > 0 {
		b, err := PublishedBench(papers, d.Platform, patterns)
		if err != nil {
			return nil, err
		}
		benches = append(benches, b)
	}
	if len(benches) == 0 {
		return nil, ErrNoTargets
	}
	return CombineBenches(benches...), nil
}

// fittedTargets returns what the free numbers of a platform were fitted to, each once, without
// claims, which have no value.
func fittedTargets(d *edit.Draft) []string {
	var targets []string
	for _, n := range d.Numbers {
		for _, t := range n.FittedTo {
			if n.Free != nil && !slices.Contains(targets, t) && !strings.HasPrefix(t, "claims ") {
				targets = append(targets, t)
			}
		}
	}
	return targets
}

// SensitivityBench returns the quantities whose sensitivity is shown: the rows that papers print of
// a platform and that patterns match, or all; or its own LogGP parameters, by a library, if they
// are wanted or nothing is printed.
func SensitivityBench(p *platform.Platform, papers []*paper.Paper, patterns []string, own bool, library string) (*Bench, error) {
	if own {
		return ParameterBench(p, library)
	}
	b, err := PublishedBench(papers, p, patterns)
	if err == nil && len(b.Quantities) == 0 && patterns == nil {
		return ParameterBench(p, library)
	}
	return b, err
}
