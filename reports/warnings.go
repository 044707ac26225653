package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/fit/clean"
)

// meanings say in plain words what a warning means, by its code.
var meanings = map[string]string{
	clean.FewSizes:         "Too few message sizes, or none that is small: measure more of them (--sizes).",
	clean.FewReps:          "Too few repetitions, so that their median is uncertain: measure more of them (--reps).",
	clean.NegativeLatency:  "No latency is left of a round trip without o_s and o_r, which contain work that goes on while the message is on its way, so that they cannot be taken out. Of whole MPI calls use L of ssend, or of low-level messages (--level message); of these, rtt/2.",
	clean.NotLinear:        "Times do not lie on a straight line, so that its numbers only sum them up, and ± says nothing of how far off they are: measure more sizes (--sizes), or use the measured times.",
	clean.RootsDisagree:    "A time depends on which processor leaves the barrier first. The shorter one counts, since a barrier can only hold up, and is a little uncertain.",
	clean.OddReps:          "Half of the repetitions should have the barrier's root at either processor, but their number is odd: something is missing in the file.",
	clean.HeavyTail:        "Some calls took far longer than most. Medians hold, means do not: look for other load on the machine.",
	clean.CoarseTimer:      "The steps of the clock are too long for such short times: only the time of several calls together would tell.",
	clean.Drift:            "The machine became slower or faster during the run: warm up longer (--warmup), or measure again.",
	clean.Disturbed:        "Something else took most of the time, in more than half of the samples of a size: they lie far above the line of the other sizes, or a train of messages took less time than one. These sizes are left out: measure again on a quiet machine.",
	clean.Falls:            "A call takes less time for longer messages, by whatever the library does otherwise with them. An overhead a byte is not below zero: one number stands for the range.",
	clean.DisturbedUsed:    "Something else ran on the processors of the ranks nearly all the time, or their clocks were lower, so that there are too few other samples. Numbers may be up to twice those of a quiet machine: measure longer (--budget), or see loggp doctor.",
	clean.DirectionsDiffer: "A send takes longer at one processor than at the other: overheads are those of the first.",
	clean.PlatformChanged:  "The file of the platform is not where it was, or was changed since. To see where its numbers are from, put it back, or measure anew.",
	clean.Hindered:         "What went before, such as the barrier's last message, still holds up the send that timer11 times: o_s is from the same call after a wait (idle). There is nothing to do.",
	clean.Skew:             "The barrier lets the two processors go at times that lie further apart than the message takes, so that a receive that should wait for it finds it there. L can only be enclosed, and G is from half of the samples: low-level messages (--level message) tell more.",
	clean.OneTier:          "All pairs of ranks take about as long: either no two are nearer than others, or the difference drowns in what pairs differ anyway. Low-level messages (--level message) or more repetitions (--reps) may tell more.",
	clean.TiersUnclear:     "The tiers lie so close that a rank may be in the wrong group, or a tier may be none: measure all pairs with more repetitions (--reps), or at other sizes.",
	clean.OddPairs:         "Some pairs of ranks take longer or less long than the groups of their ranks let expect. They count where their ranks belong: look for other load on the machine, or for a bad link.",
	clean.PairsMissing:     "Not all pairs of the ranks were measured.",
	clean.UnequalGroups:    "The groups of ranks are not of one size, which LoGH{sSP} supposes.",
	clean.LateStarts:       "Many repetitions were dropped, as a rank came too late to a start that was agreed on. What is left is of the better moments: look for other load on the machine.",
	clean.NoCommonStart:    "Ranks had no clock by which to begin together, so that times are of the slowest rank's call behind a barrier, which ranks leave one after another.",
	clean.StartsDiffer:     "How repetitions begin makes more of a time than the operation does: do not compare it with what was measured in the other way.",
	clean.Unidentified:     "The samples do not determine a parameter: it is too small to be told from none, or something else is the limit. Low-level messages (--level message) or more repetitions (--reps) may tell more.",
}

// warnings writes warnings, those of a kind together.
func (a *writer) warnings(ws []clean.Warning) {
	if len(ws) == 0 {
		return
	}
	a.part(func(w io.Writer) error {
		var b bytes.Buffer
		a.style.heading(&b, fmt.Sprintf("Warnings: %d", len(ws)))
		for _, k := range kinds(ws) {
			a.style.paragraph(&b, strings.TrimSuffix(k.code+": "+k.meaning, ": "), 0, Doubt)
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
	where []string   // places, or one empty string if all warnings are of one
	names [][]string // what it is said of, by place
	text  string
}

// subjects lists what it is said of, place by place.
func (c instance) subjects() string {
	var all []string
	for i, names := range c.names {
		s := strings.Join(names, ", ")
		if c.where[i] != "" {
			s += " (" + c.where[i] + ")"
		}
		all = append(all, s)
	}
	return strings.Join(all, "; ")
}

func (c instance) String() string { return c.subjects() + ": " + c.text }

// add names one more subject.
func (c *instance) add(name, where string) {
	i := slices.Index(c.where, where)
	if i < 0 {
		i, c.where, c.names = len(c.where), append(c.where, where), append(c.names, nil)
	}
	c.names[i] = append(c.names[i], name)
}

// kinds sorts warnings by code, as they first come.
func kinds(ws []clean.Warning) []kind {
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
		place := ""
		if !one {
			place = where(w.Platform, w.Library, w.Place)
		}
		j := slices.IndexFunc(k.cases, func(c instance) bool { return c.text == w.Text })
		if j < 0 {
			j = len(k.cases)
			k.cases = append(k.cases, instance{text: w.Text})
		}
		k.cases[j].add(strings.TrimSpace(w.Mode+" "+w.Parameter), place)
	}
	return all
}

// briefly writes warnings, a line for each cause.
func (a *writer) briefly(ws []clean.Warning) {
	if len(ws) == 0 {
		return
	}
	a.part(func(w io.Writer) error {
		var b bytes.Buffer
		all := kinds(ws)
		a.style.heading(&b, "Warnings: "+strconv.Itoa(len(ws))+", of "+plural(len(all), "cause"))
		for _, k := range all {
			a.style.paragraph(&b, strings.TrimSuffix(k.code+": "+k.meaning, ": "), 0, Doubt)
			for _, line := range summed(ws, k.code) {
				a.style.paragraph(&b, line, 2, Normal)
			}
		}
		a.style.paragraph(&b, "Each of them: loggp fit --verbose.", 0, Faint)
		_, err := w.Write(unglued(b.Bytes()))
		return err
	})
}

// few is how many warnings of one cause are told one by one.
const few = 3

// summed sums up the warnings of a code: those about sizes in one line, of the others the first.
func summed(ws []clean.Warning, code string) []string {
	var lines []string
	var at sizesAt
	for _, w := range ws {
		switch {
		case w.Code != code:
		case w.Of == 0:
			lines = append(lines, strings.TrimSpace(w.Mode+" "+w.Parameter)+": "+w.Text)
		default:
			at.add(w)
		}
	}
	if n := len(lines); n > few+1 {
		lines = append(lines[:few:few], fmt.Sprintf("and %d more", n-few))
	}
	if len(at.parameters) > 0 {
		lines = append([]string{at.String()}, lines...)
	}
	return lines
}

// sizesAt is of which parameters something is said, in which modes, and at how many sizes.
type sizesAt struct {
	parameters []string
	modes      map[string][]string
	most, of   int
}

func (s *sizesAt) add(w clean.Warning) {
	if s.modes == nil {
		s.modes = map[string][]string{}
	}
	if !slices.Contains(s.parameters, w.Parameter) {
		s.parameters = append(s.parameters, w.Parameter)
	}
	if !slices.Contains(s.modes[w.Parameter], w.Mode) {
		s.modes[w.Parameter] = append(s.modes[w.Parameter], w.Mode)
	}
	if s.of == 0 || w.Sizes*s.of > s.most*w.Of {
		s.most, s.of = w.Sizes, w.Of
	}
}

func (s *sizesAt) String() string {
	var words []string
	for _, name := range s.parameters {
		if modes := s.modes[name]; len(modes) > 1 {
			words = append(words, fmt.Sprintf("%s of %d modes", name, len(modes)))
		} else {
			words = append(words, strings.TrimSpace(modes[0]+" "+name))
		}
	}
	return fmt.Sprintf("%s: at up to %d of %d sizes", strings.Join(words, ", "), s.most, s.of)
}
