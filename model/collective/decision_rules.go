package collective

import (
	"fmt"
	"strconv"
	"strings"
)

// decisionRule is a rule with the minimum numbers of ranks and bytes that earlier rules leave for
// it.
type decisionRule struct {
	Rule
	minRanks, minBytes int
}

// rulesOf returns the rules in the table of an operation.
func (d *Decisions) rulesOf(o Operation) []decisionRule {
	var rules []decisionRule
	var minRanks [2][2]int // of the next row, by its conditions
	bit := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	for _, row := range d.operations[o].rows {
		next := &minRanks[bit(row.commutative)][bit(row.powerOfTwo)]
		minBytes := 0
		for _, c := range row.choices {
			r := decisionRule{
				Rule:     Rule{Operation: o, MaxRanks: max(row.ranksBelow-1, 0), MaxBytes: c.bytesBelow - 1, BytesOfAllRanks: d.operations[o].bytesOfAllRanks, OnlyCommutative: row.commutative, OnlyPowerOfTwo: row.powerOfTwo},
				minRanks: *next, minBytes: minBytes,
			}
			a := d.operations[o].find(c.algorithmKey)
			rules = append(rules, d.rulesOfForms(r, a, func(p forcedParameter) int { return p.libraryValue })...)
			minBytes = c.bytesBelow
		}
		*next = row.ranksBelow
	}
	return rules
}

// nonoverlappingForm is the form of an allreduce that consists of a reduce and a broadcast by the
// library's own decisions.
const nonoverlappingForm = "reduce+bcast"

// rulesOfForms returns a rule for each form of an algorithm; the first that supports a job is used.
// A form may start with its minimum number of elements, followed by @.
func (d *Decisions) rulesOfForms(r decisionRule, a *libraryAlgorithm, value func(forcedParameter) int) []decisionRule {
	var rules []decisionRule
	for _, form := range a.forms {
		r := r
		form, least, _ := strings.Cut(form, "@")
		switch least {
		case "ranks":
			r.MinElements = ElementPerRank
		case "power":
			r.MinElements = ElementPerPowerOfTwoRank
		}
		if form == nonoverlappingForm {
			rules = append(rules, d.nonoverlappingRules(r)...)
			continue
		}
		for _, p := range d.parameters {
			form = setParameter(form, p.label, value(p))
		}
		named := AlgorithmNamed(r.Operation, form)
		if named == nil {
			panic(fmt.Sprintf("collective: decisions %s: no %v %s", d.Name, r.Operation, form))
		}
		r.Algorithm = named.Name
		rules = append(rules, r)
	}
	return rules
}

// setParameter replaces a parameter in a form such as chain-FANOUT[-SEGMENT] by a value. It removes
// an optional parameter if the value is 0.
func setParameter(form, label string, value int) string {
	text := strconv.Itoa(value)
	if label == segmentLabel {
		text += "B"
	}
	if value == 0 {
		form = strings.Replace(form, "[-"+label+"]", "", 1)
	}
	form = strings.Replace(form, "[-"+label+"]", "-"+text, 1)
	return strings.Replace(form, label, text, 1)
}

// nonoverlappingRules returns rules for the jobs of a rule, for an allreduce by the reduce and
// bcast that the library selects.
func (d *Decisions) nonoverlappingRules(r decisionRule) []decisionRule {
	var rules []decisionRule
	for _, reduce := range d.rulesOf(Reduce) {
		if reduce.OnlyCommutative != r.OnlyCommutative && !(r.MaxRanks == 0 && r.MaxBytes < 0) {
			continue
		}
		x, ok := r.intersect(reduce)
		if !ok {
			continue
		}
		for _, bcast := range d.rulesOf(Bcast) {
			if y, ok := x.intersect(bcast); ok {
				y.Algorithm = reduce.Algorithm + "+" + bcast.Algorithm
				rules = append(rules, y)
			}
		}
	}
	return rules
}

// intersect returns a rule for the jobs to which two rules apply, and whether there are any.
func (r decisionRule) intersect(other decisionRule) (decisionRule, bool) {
	smaller := func(a, b, unlimited int) int {
		switch {
		case a == unlimited:
			return b
		case b == unlimited:
			return a
		}
		return min(a, b)
	}
	r.MaxRanks, r.MaxBytes = smaller(r.MaxRanks, other.MaxRanks, 0), smaller(r.MaxBytes, other.MaxBytes, -1)
	r.minRanks, r.minBytes = max(r.minRanks, other.minRanks), max(r.minBytes, other.minBytes)
	r.OnlyCommutative, r.OnlyPowerOfTwo = r.OnlyCommutative || other.OnlyCommutative, r.OnlyPowerOfTwo || other.OnlyPowerOfTwo
	r.MinElements = max(r.MinElements, other.MinElements)
	return r, (r.MaxRanks == 0 || r.minRanks <= r.MaxRanks) && (r.MaxBytes < 0 || r.minBytes <= r.MaxBytes)
}
