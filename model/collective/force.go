package collective

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// VariableSetting is a variable of a library with a value set by the user, such as
// coll_tuned_bcast_algorithm 6.
type VariableSetting struct{ Name, Value string }

// forcedAlgorithm is the effect of settings on an operation.
type forcedAlgorithm struct {
	algorithm       *libraryAlgorithm // nil: not forced
	setting         VariableSetting
	givenParameters []VariableSetting // settings of its parameters
	parameter       map[string]int
}

// RulesOfSettings returns the rules that result from settings of the library's variables, for a
// number of ranks.
func (d *Decisions) RulesOfSettings(settings []VariableSetting, ranks int) ([]Rule, error) {
	var forced [NumOperations]forcedAlgorithm
	enabled := d.enableVariable == ""
	seen := map[string]bool{}
	for _, s := range settings {
		if seen[s.Name] {
			return nil, fmt.Errorf("%s is set twice", s.Name)
		}
		seen[s.Name] = true
		if s.Name == d.enableVariable {
			on, err := strconv.ParseBool(s.Value)
			if err != nil {
				return nil, fmt.Errorf("%s %s: write 1 or 0", s.Name, s.Value)
			}
			enabled = on
			continue
		}
		if err := d.applySetting(&forced, s); err != nil {
			return nil, err
		}
	}
	var rules []Rule
	for o := range forced {
		f := &forced[o]
		switch {
		case f.algorithm == nil && len(f.givenParameters) > 0:
			return nil, fmt.Errorf("%s has no effect unless %s forces an algorithm", f.givenParameters[0].Name, d.variable(d.forceVariable, Operation(o)))
		case f.algorithm == nil:
			continue
		case !enabled:
			return nil, fmt.Errorf("%s has no effect unless %s is 1", f.setting.Name, d.enableVariable)
		case f.algorithm.ranks != 0 && f.algorithm.ranks != ranks:
			return nil, fmt.Errorf("%s %s is for %d ranks, and there are %d", f.setting.Name, f.setting.Value, f.algorithm.ranks, ranks)
		}
		more, err := d.forcedRules(Operation(o), f)
		if err != nil {
			return nil, err
		}
		rules = append(rules, more...)
	}
	return rules, nil
}

// forcedRules returns the rules for a forced algorithm with its parameters.
func (d *Decisions) forcedRules(o Operation, f *forcedAlgorithm) ([]Rule, error) {
	for _, s := range f.givenParameters {
		label := d.labelOf(o, s.Name)
		if !strings.Contains(strings.Join(f.algorithm.forms, "|"), label) {
			return nil, fmt.Errorf("%s has no effect on %v %s", s.Name, o, f.algorithm.name)
		}
	}
	value := func(p forcedParameter) int {
		if n, given := f.parameter[p.label]; given {
			return n
		}
		return p.defaultValue
	}
	for _, form := range f.algorithm.forms {
		form, _, _ := strings.Cut(form, "@")
		for _, p := range d.parameters {
			form = setParameter(form, p.label, value(p))
		}
		if form != nonoverlappingForm && AlgorithmNamed(o, form) == nil {
			return nil, fmt.Errorf("%s %s: there is no %v %s: it has %s", f.givenParameters[0].Name, f.givenParameters[0].Value, o, form, strings.Join(NameForms(o), ", "))
		}
	}
	var rules []Rule
	for _, r := range d.rulesOfForms(decisionRule{Rule: Rule{Operation: o, MaxBytes: -1}}, f.algorithm, value) {
		rules = append(rules, r.Rule)
	}
	return rules, nil
}

// applySetting applies a setting that forces an algorithm or sets a parameter.
func (d *Decisions) applySetting(forced *[NumOperations]forcedAlgorithm, s VariableSetting) error {
	for o := range d.operations {
		algorithms := d.operations[o].algorithms
		switch {
		case len(algorithms) == 0:
			continue
		case s.Name == d.variable(d.forceVariable, Operation(o)):
			f := &forced[o]
			f.setting = s
			if s.Value == "0" || s.Value == "ignore" || s.Value == "auto" {
				return nil // the library selects
			}
			if f.algorithm = d.operations[o].find(s.Value); f.algorithm == nil || f.algorithm.name == "-" {
				return fmt.Errorf("%s %s: %v has no such algorithm: %s", s.Name, s.Value, Operation(o), d.operations[o].describeAlgorithms())
			}
			return nil
		case d.labelOf(Operation(o), s.Name) != "":
			n, err := unit.ParseSize(s.Value)
			if err != nil || n > unit.MaxSize {
				return fmt.Errorf("%s %s: write a number", s.Name, s.Value)
			}
			f := &forced[o]
			if f.parameter == nil {
				f.parameter = map[string]int{}
			}
			f.parameter[d.labelOf(Operation(o), s.Name)], f.givenParameters = n, append(f.givenParameters, s)
			return nil
		}
	}
	return fmt.Errorf("%s has no variable %s that acts on collective operations: it has %s", d.Name, s.Name, strings.Join(d.Variables(), ", "))
}

// describeAlgorithms lists the algorithms that users can force, with their numbers.
func (o *libraryOperation) describeAlgorithms() string {
	var names []string
	for _, a := range o.algorithms {
		switch {
		case a.name == "-":
		case a.key == a.name:
			names = append(names, a.name)
		default:
			names = append(names, a.key+" "+a.name)
		}
	}
	return strings.Join(names, ", ")
}

// variable returns the name of a variable for an operation, given its pattern.
func (d *Decisions) variable(pattern string, o Operation) string {
	name := strings.ReplaceAll(o.String(), "-", "_")
	if strings.HasPrefix(pattern, "MPIR_") {
		name = strings.ToUpper(name)
	}
	return strings.Replace(pattern, "OPERATION", name, 1)
}

// labelOf returns the label of the parameter that a variable sets for an operation, or "".
func (d *Decisions) labelOf(o Operation, variable string) string {
	for _, p := range d.parameters {
		if d.variable(p.variable, o) == variable {
			return p.label
		}
	}
	return ""
}

// Variables returns the names of the variables that affect collective operations, with OPERATION in
// place of an operation.
func (d *Decisions) Variables() []string {
	names := []string{d.forceVariable}
	if d.enableVariable != "" {
		names = []string{d.enableVariable, d.forceVariable}
	}
	for _, p := range d.parameters {
		names = append(names, p.variable)
	}
	return names
}
