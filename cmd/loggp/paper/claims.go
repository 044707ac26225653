package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/study"
)

// closeBy is how near a value may be to the constant it is compared with, relative to that, before
// the claim's note says so.
const closeBy = 0.1

// judge decides a claim. One that names no subject, by a free variable s, is decided on the subject
// that decides; where others would decide it the other way the note says so.
func (x *run) judge(c *Claim) study.Claim {
	cells := c.record.cells
	out := study.Claim{ID: c.ID, Text: cells["claim"], Where: cells["where"], Check: cells["how_to_check"], Note: c.Note}
	env, holds := x.paper.env(x.measured), expr.Missing
	switch {
	case c.Contradicted != "":
		out.Verdict, out.Note = study.Contradicted, joined(c.Contradicted, c.Note)
		return out
	case c.NotApplicable != "":
		out.Verdict, out.Note = study.NotApplicable, joined(c.NotApplicable, c.Note)
		return out
	case c.Function != "":
		ok, evidence := functions[c.Function]()
		out.Evidence = evidence
		if holds = expr.False; ok {
			holds = expr.True
		}
	default:
		var against []string
		for i, s := range x.deciding(c) {
			e := x.paper.env(x.measured)
			t := e.Truth(c.Check.expr, map[string]string{"s": s.ID})
			evidence := e.Evidence()
			if s.ID != "" {
				evidence = s.Name + ": " + evidence
			}
			if i == 0 {
				env, holds, out.Evidence = e, t, evidence
				continue
			}
			out.Evidence += "; " + evidence
			if t == expr.True && holds == expr.False || t == expr.False && holds == expr.True {
				against = append(against, s.Name)
			}
		}
		if len(against) > 0 {
			out.Note = joined(out.Note, fmt.Sprintf("It names no platform and is decided on %s: on %s the numbers say otherwise.", x.deciding(c)[0].Name, strings.Join(against, ", ")), c.Otherwise)
		}
		if text, off := env.Nearest(); off < closeBy {
			out.Note = joined(out.Note, text+".")
		}
	}
	switch holds {
	case expr.Missing:
		out.Verdict = study.NotApplicable
		out.Note = "Not measured: " + some(env.Absent) + "."
		return out
	case expr.Undecided:
		out.Verdict = study.Undecided
		out.Note = joined("The interval of what is compared contains the threshold.", out.Note)
	case expr.False:
		out.Verdict = study.Fails
		out.Note = joined("What should be and is not: "+out.Check+".", out.Note)
	case expr.True:
		out.Verdict = study.Holds
	}
	_, doubts := x.doubts(env)
	out.Note = joined(out.Note, doubts)
	x.rests(&out, c, env)
	return out
}

// everywhere says whether the claim names no subject.
func (c *Claim) everywhere() bool { return c.Check.expr != nil && c.Check.expr.Uses("s") }

// decides returns the subject on which claims that name none are decided, or nil.
func (p *Paper) decides() *Subject {
	for i := range p.Subjects {
		if p.Subjects[i].Decides {
			return &p.Subjects[i]
		}
	}
	return nil
}

// deciding returns the subjects on which a claim is evaluated: first that which decides.
func (x *run) deciding(c *Claim) []Subject {
	if !c.everywhere() {
		return []Subject{{}}
	}
	all := []Subject{*x.paper.decides()}
	for _, s := range x.paper.Subjects {
		if s.Beside {
			all = append(all, s)
		}
	}
	return all
}

// rests says what a verdict rests on: whether it could have been otherwise, and whether numbers of
// a platform were fitted to the claim or to published numbers whose quantities it compares.
func (x *run) rests(out *study.Claim, c *Claim, env *expr.Env) {
	if c.ByConstruction != "" {
		out.Rests, out.Note = study.ByConstruction, joined(c.ByConstruction, out.Note)
		return
	}
	out.Rests = study.Free
	var named []string
	for _, p := range x.platforms {
		if p.Calibrated("claims " + c.ID) {
			named = append(named, p.Machine.Name)
		}
	}
	if len(named) > 0 {
		out.Rests = study.FittedTo
		out.Note = joined(out.Note, fmt.Sprintf("Some number of %s was fitted to this, so that it proves nothing.", strings.Join(named, ", ")))
		return
	}
	var rows []string
	for key, r := range x.rows {
		timers := x.reads[key]
		compares := env.Asked[key] || len(timers) > 0 && !slices.ContainsFunc(timers, func(t string) bool { return !env.Asked[t] })
		if compares && x.basis(r) == compare.Calibration {
			rows = append(rows, r.Name)
		}
	}
	if len(rows) > 0 {
		slices.Sort(rows)
		out.Rests = study.FittedTo
		out.Note = joined(out.Note, fmt.Sprintf("Some numbers that it compares were fitted: %s.", strings.Join(rows, ", ")))
	}
}

// joined joins sentences; some may be empty.
func joined(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// some lists texts, each once, and of many the first.
func some(all []string) string {
	const most = 4
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
