package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
)

// meanings say in plain words what a warning means, by its code.
var meanings = map[string]string{
	fit.FewSizes:         "Too few message sizes: measure more of them.",
	fit.FewReps:          "Too few repetitions: their median is uncertain.",
	fit.NegativeLatency:  "A latency came out below zero: what was taken from it is not part of it.",
	fit.NotLinear:        "Times are not made of straight pieces, as the model has it: its numbers are a summary here.",
	fit.RootsDisagree:    "It matters which processor leaves the barrier first.",
	fit.OddReps:          "Repetitions with both roots of the barrier come in pairs.",
	fit.HeavyTail:        "Some calls took far longer than most: medians hold, means do not.",
	fit.CoarseTimer:      "The clock is too coarse for such short times.",
	fit.Drift:            "The machine became slower or faster during the run.",
	fit.DirectionsDiffer: "The two processors are not alike: results are for one direction.",
	fit.Hindered:         "What went before still holds the sender up: its overhead is from a call after a wait.",
	fit.Skew:             "The two processors do not begin together: a time that waits for both is a bound.",
	fit.Unidentified:     "The samples do not determine a parameter.",
}

// Warnings writes warnings, those of a kind together.
func Warnings(w io.Writer, ws []fit.Warning, s Style) error {
	all := &writer{w: w, style: s}
	all.warnings(ws)
	return all.err
}

func (a *writer) warnings(ws []fit.Warning) {
	if len(ws) == 0 {
		return
	}
	a.part(func(w io.Writer) error {
		var b bytes.Buffer
		a.style.heading(&b, fmt.Sprintf("Warnings: %d", len(ws)))
		for _, k := range kinds(ws) {
			a.style.paragraph(&b, k.code+": "+k.meaning, 0, Doubt)
			for _, c := range k.cases {
				a.style.paragraph(&b, c.String(), 2, Normal)
			}
		}
		_, err := w.Write(unglued(b.Bytes()))
		return err
	})
}

// kind is the warnings of one code.
type kind struct {
	code, meaning string
	cases         []instance
}

// instance is what is said in the same words of one or several parameters.
type instance struct {
	subjects []string
	text     string
}

func (c instance) String() string { return strings.Join(c.subjects, ", ") + ": " + c.text }

// kinds sorts warnings by code, as they first come.
func kinds(ws []fit.Warning) []kind {
	one := true
	for _, w := range ws {
		one = one && w.Platform == ws[0].Platform && w.Library == ws[0].Library && w.Place == ws[0].Place
	}
	var all []kind
	for _, w := range ws {
		i := slices.IndexFunc(all, func(k kind) bool { return k.code == w.Code })
		if i < 0 {
			i = len(all)
			all = append(all, kind{code: w.Code, meaning: meanings[w.Code]})
		}
		k := &all[i]
		subject := strings.TrimSpace(w.Mode + " " + w.Parameter)
		if !one {
			subject += " (" + where(w.Platform, w.Library, w.Place) + ")"
		}
		j := slices.IndexFunc(k.cases, func(c instance) bool { return c.text == w.Text })
		if j < 0 {
			j = len(k.cases)
			k.cases = append(k.cases, instance{text: w.Text})
		}
		k.cases[j].subjects = append(k.cases[j].subjects, subject)
	}
	return all
}
