package paper

import (
	"context"
	"fmt"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// Options say how to run the experiments. Progress may be nil.
type Options struct {
	Seed     uint64
	Reps     int     // of every experiment, with each root of the barrier; 0: each has its own number
	Noise    float64 // relative standard deviation of every processor step; below zero: as the platform says
	Progress func(done, total int)
}

// run is a paper under way.
type run struct {
	Options
	sites       []*site
	experiments []Experiment

	measured, predicted *Results
	sequences           map[string][]hop // by protocol
}

// prepare opens the subjects.
func prepare(o Options) (*run, error) {
	x := &run{Options: o}
	for _, s := range subjects {
		site, err := s.open(o.Noise)
		if err != nil {
			return nil, fmt.Errorf("reproduce on %s: %w", s.Platform, err)
		}
		x.sites = append(x.sites, site)
	}
	for _, e := range experiments {
		if o.Reps > 0 {
			e.Reps = o.Reps
		}
		x.experiments = append(x.experiments, e)
	}
	return x, nil
}

// site returns where a subject is measured.
func (x *run) site(s Subject) *site {
	for _, site := range x.sites {
		if site.Subject == s {
			return site
		}
	}
	return nil
}

// measure runs all experiments, and predicts them. Every cell has a seed of its own.
func (x *run) measure(ctx context.Context) (err error) {
	bar := x.bar()
	var measured, predicted []sample.Series
	for _, e := range x.experiments {
		s := x.site(e.Subject)
		series, err := e.run(ctx, s, x.Seed*1_000_003+uint64(bar.before), bar.done)
		if err != nil {
			return err
		}
		bar.add(e.cells())
		measured = append(measured, series...)
		predicted = append(predicted, e.predict(s)...)
	}
	if x.measured, err = resultsOf(measured, x.sites); err != nil {
		return err
	}
	if x.predicted, err = resultsOf(predicted, x.sites); err != nil {
		return err
	}
	if err := x.tiers(ctx, x.Seed*1_000_003+uint64(bar.before), bar.done); err != nil {
		return err
	}
	return x.try(ctx)
}

// bar is how far the run is, in cells and pairs.
type bar struct {
	before, total int
	tell          func(done, total int)
}

func (x *run) bar() *bar {
	b := &bar{total: len(x.pairs()), tell: x.Progress}
	for _, e := range x.experiments {
		b.total += e.cells()
	}
	return b
}

// done says how many parts of an experiment are done.
func (b *bar) done(n int) {
	if b.tell != nil {
		b.tell(b.before+n, b.total)
	}
}

// add ends an experiment.
func (b *bar) add(cells int) { b.before += cells }

// try runs the programs that are no benchmark, and notes what else claims need.
func (x *run) try(ctx context.Context) error {
	for _, s := range x.sites {
		machine, library := s.job.Platform.Machine, s.job.Library
		there, _ := s.path()
		h, p := s.counts()
		x.predicted.values[quantity{s.Subject, microbench.Message, auto, "H", -1}] = h
		x.predicted.values[quantity{s.Subject, microbench.Message, auto, "P", -1}] = p
		x.measured.values[quantity{s.Subject, "any mode", auto, wire, -1}] = micros(model.MessageView(machine, library, there).L)
		after := library.Software[model.ProtoSynchronous] - library.Software[model.ProtoComplete]
		x.measured.values[quantity{s.Subject, "ssend", auto, afterProtocol, -1}] = micros(after)
		for _, c := range sends {
			for _, k := range []int{small, triedBytes} {
				after, err := s.try(ctx, c, k)
				if err != nil {
					return err
				}
				x.measured.values[quantity{s.Subject, c.name, auto, callReturns, k}] = micros(after)
			}
		}
	}
	x.sequences = map[string][]hop{}
	for _, p := range model.Protocols {
		hops, err := x.site(t3d).sequence(ctx, p)
		if err != nil {
			return err
		}
		x.sequences[p.Name] = hops
	}
	return nil
}

// micros is a time that is known.
func micros(t unit.Time) Value { return exactly(t.Micros()) }
