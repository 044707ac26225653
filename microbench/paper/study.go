package paper

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// Reproduce runs the paper's experiments and returns what came of them: tables and figures beside what is published and predicted, and
// verdicts on the claims. The same options give the same study, whatever the number of processors. It is an error if an experiment cannot
// be run, and context.Canceled if it was interrupted; a claim that fails is none.
func Reproduce(ctx context.Context, o Options) (*reports.Study, error) {
	src, err := read()
	if err != nil {
		return nil, err
	}
	x, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := x.measure(ctx); err != nil {
		return nil, err
	}
	return x.study(src)
}

// study puts together what was found.
func (x *run) study(src *source) (*reports.Study, error) {
	s := &reports.Study{
		Name:   "altawil-moritz",
		Title:  "Performance Modeling and Evaluation of MPI, run again",
		Source: "K. Al-Tawil, C. A. Moritz: Performance Modeling and Evaluation of MPI, Journal of Parallel and Distributed Computing (\"to appear\")",
		Facts:  x.facts(),
	}
	for _, artefact := range []func(*source) reports.Artefact{
		x.table1, x.table2, x.table3, x.table4, x.table5, x.figure1, x.figure2, x.figure3, x.figure4, x.figure5,
	} {
		s.Artefacts = append(s.Artefacts, artefact(src))
	}
	for _, f := range figures {
		s.Artefacts = append(s.Artefacts, x.figure(f, src))
	}
	s.Artefacts = append(s.Artefacts, x.equations(src))
	var err error
	s.Claims, err = judge(x.measured, src.claims)
	for i := range s.Claims {
		x.fitted(&s.Claims[i], src)
	}
	return s, err
}

// fitted says of a claim that a platform was fitted to it, if one was.
func (x *run) fitted(c *reports.Claim, src *source) {
	for i, s := range x.sites {
		if i > 0 && s.job.Platform.Sum == x.sites[i-1].job.Platform.Sum {
			continue // once a platform
		}
		if s.job.Platform.Calibrated("claims " + c.ID) {
			c.Calibrated = true
			c.Note = joined(c.Note, fmt.Sprintf("Some number of %s was fitted to this, so that it proves nothing.", s.name()))
		}
	}
	if rows := x.leans(claims[indexOf(c.ID)], src.parameters); len(rows) > 0 && !c.Calibrated {
		c.Note = joined(c.Note, fmt.Sprintf("Some numbers that it compares were fitted: %s.", strings.Join(rows, ", ")))
	}
}

// leans returns the published numbers that a platform was fitted to and that a claim is decided by, as measured.
func (x *run) leans(on claim, published reports.Published) []string {
	q := x.measured.noting()
	on.decide(q)
	var all []string
	for _, r := range published {
		if !x.site(subject(r)).job.Platform.Calibrated(r.Name()) {
			continue
		}
		mode, parameter := r.Answer()
		p := x.measured.noting()
		value(p, subject(r), mode, parameter, r.Bytes)
		if within(p.asked, q.asked) {
			all = append(all, r.Name())
		}
	}
	return all
}

// within says whether all of a set, which is not empty, is in another.
func within(a, b map[quantity]bool) bool {
	for q := range a {
		if !b[q] {
			return false
		}
	}
	return len(a) > 0
}

// facts say how the experiments were run.
func (x *run) facts() [][2]string {
	all := [][2]string{{"seed", strconv.FormatUint(x.Seed, 10)}}
	for _, s := range x.sites {
		all = append(all, [2]string{"platform " + s.Subject.String(), fmt.Sprintf("%s, %s, %s: ranks %d and %d of %d, noise %s, file %s", s.Platform, s.Library, s.Place,
			s.pair[0], s.pair[1], s.job.Ranks, noise(s.job), s.job.Platform.Sum)})
	}
	for _, e := range x.experiments {
		what := fmt.Sprintf("%d modes", len(e.Modes))
		if len(e.Modes) == 1 {
			what = e.Modes[0]
		}
		if e.Protocol != "" {
			what += " by " + e.Protocol
		}
		all = append(all, [2]string{"run " + e.Subject.String(), fmt.Sprintf("%s, %d sizes, %d repetitions with each root of the barrier", what, len(e.Sizes), e.Reps)})
	}
	return all
}

// noise is the deviation of every processor step.
func noise(j *world.Job) string { return unit.Percent(j.Noise) }
