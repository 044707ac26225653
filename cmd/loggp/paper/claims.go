package paper

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/study"
)

// closeMargin is how near a value may be to the constant it is compared with, relative to that,
// before the claim's note says so.
const closeMargin = 0.1

// unknownCause stands where a claim fails and the paper's file has no cause.
const unknownCause = "The cause is not known."

// judgeClaim decides a claim. One that names no subject, by a free variable s, is decided on the
// subject that decides; where others would decide it the other way the note says so.
func (x *reproduction) judgeClaim(c *Claim) study.Claim {
	cells := c.record.cells
	out := study.Claim{ID: c.ID, BlindVerdict: x.paper.blindVerdicts[claimRowPrefix+c.ID], Text: cells["claim"], Location: cells["where"], Check: cells["how_to_check"], Note: c.Note}
	env, holds := x.paper.environment(x.measured), expr.Missing
	switch {
	case c.Contradicted != "":
		out.Verdict, out.Note = study.VerdictContradicted, joinSentences(c.Contradicted, c.Note)
		return out
	case c.NotApplicable != "":
		out.Verdict, out.Note = study.VerdictNotApplicable, joinSentences(c.NotApplicable, c.Note)
		return out
	case c.Function != "":
		ok, evidence := claimFunctions[c.Function]()
		out.Evidence = evidence
		if holds = expr.False; ok {
			holds = expr.True
		}
	default:
		var against []string
		for i, s := range x.decidingSubjects(c) {
			e := x.paper.environment(x.measured)
			t := e.Truth(c.Check.parsed, map[string]string{"s": s.ID})
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
			out.Note = joinSentences(out.Note, fmt.Sprintf("It names no platform and is decided on %s: on %s the numbers say otherwise.", x.decidingSubjects(c)[0].Name, strings.Join(against, ", ")), c.Otherwise)
		}
		if text, off := env.NearestThreshold(); off < closeMargin {
			out.Note = joinSentences(out.Note, text+".")
		}
	}
	switch holds {
	case expr.Missing:
		out.Verdict = study.VerdictNotApplicable
		out.Note = "Not measured: " + listFirstTexts(env.MissingKeys) + "."
		return out
	case expr.Undecided:
		out.Verdict = study.VerdictUndecided
		why := "The interval of what is compared contains the threshold."
		if env.LacksInterval() {
			why = fmt.Sprintf("A median of fewer than %d samples has no interval: use a higher --reps.", clean.MinSamplesForInterval)
		}
		out.Note = joinSentences(why, out.Note)
	case expr.False:
		out.Verdict, out.Cause = study.VerdictFails, cmp.Or(c.Cause, unknownCause)
		out.Note = joinSentences("What should be and is not: "+out.Check+".", out.Note)
	case expr.True:
		out.Verdict = study.VerdictHolds
	}
	if c.Undecided != "" {
		out.Verdict, out.Cause, out.Note = study.VerdictUndecided, "", joinSentences(c.Undecided, out.Note)
	}
	_, doubts := x.fitWarnings(env)
	out.Note = joinSentences(out.Note, doubts)
	x.setClaimBasis(&out, c, env)
	return out
}

// namesNoSubject says whether the claim names no subject.
func (c *Claim) namesNoSubject() bool { return c.Check.parsed != nil && c.Check.parsed.DependsOn("s") }

// decidingSubject returns the subject on which claims that name none are decided, or nil.
func (p *Paper) decidingSubject() *Subject {
	for i := range p.Subjects {
		if p.Subjects[i].Decides {
			return &p.Subjects[i]
		}
	}
	return nil
}

// decidingSubjects returns the subjects on which a claim is evaluated: first that which decides.
func (x *reproduction) decidingSubjects(c *Claim) []Subject {
	if !c.namesNoSubject() {
		return []Subject{{}}
	}
	all := []Subject{*x.paper.decidingSubject()}
	for _, s := range x.paper.Subjects {
		if s.Beside {
			all = append(all, s)
		}
	}
	return all
}

// setClaimBasis says what a verdict rests on: whether it could have been otherwise, and whether
// numbers of a platform were fitted to the claim or to published numbers whose quantities it
// compares.
func (x *reproduction) setClaimBasis(out *study.Claim, c *Claim, env *expr.Env) {
	if c.ByConstruction != "" {
		out.Basis, out.Note = study.BasisTrueByConstruction, joinSentences(c.ByConstruction, out.Note)
		return
	}
	out.Basis = study.BasisNothingFitted
	var named []string
	for _, p := range x.platforms {
		if p.IsFittedTo(claimRowPrefix + c.ID) {
			named = append(named, p.Machine.Name)
		}
	}
	if len(named) > 0 {
		out.Basis = study.BasisFitted
		out.Note = joinSentences(out.Note, fmt.Sprintf("Some number of %s was fitted to this, so that it proves nothing.", strings.Join(named, ", ")))
		return
	}
	if choice := x.paper.findChoice(claimRowPrefix + c.ID); choice != nil {
		out.Basis, out.Note = study.BasisFitted, joinSentences(out.Note, choice.What+" was chosen so that this holds.")
		return
	}
	var rows []string
	for key, printed := range x.rowsByKey {
		timers := x.timersByCell[key]
		compares := env.Requested[key] || len(timers) > 0 && !slices.ContainsFunc(timers, func(t string) bool { return !env.Requested[t] })
		for _, r := range printed {
			if compares && x.basisOf(r) == compare.CalibrationBasis && !slices.Contains(rows, r.Name) {
				rows = append(rows, r.Name)
			}
		}
	}
	if len(rows) > 0 {
		slices.Sort(rows)
		out.Basis = study.BasisFitted
		out.Note = joinSentences(out.Note, fmt.Sprintf("Some numbers that it compares were fitted: %s.", strings.Join(rows, ", ")))
	}
}

// joinSentences joins sentences; some may be empty.
func joinSentences(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// listFirstTexts lists texts, each once, and of many the first.
func listFirstTexts(all []string) string {
	const most = 4
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}
