package loggp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model/collective"
)

// rulesOfSettings parses the settings of a library that select algorithms of collective operations,
// such as coll_tuned_bcast_algorithm=6. option is the name of the option that has them.
func rulesOfSettings(option string, words []string, j *job.Job) ([]collective.Rule, error) {
	if words == nil {
		return nil, nil
	}
	d := collective.FindDecisions(j.Library.Decisions)
	if d == nil || !strings.EqualFold(d.Option, option) {
		var names []string
		for _, d := range collective.AllDecisions {
			if strings.EqualFold(d.Option, option) {
				names = append(names, d.Name)
			}
		}
		return nil, optionErrorf(option, "library %s has no such variables: they are of libraries with decisions: %s", j.Library.Name, strings.Join(names, " or "))
	}
	var settings []collective.VariableSetting
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" || value == "" {
			return nil, &OptionError{option, word, errors.New("write a variable and its value")}
		}
		settings = append(settings, collective.VariableSetting{Name: name, Value: value})
	}
	rules, err := d.RulesOfSettings(settings, j.Ranks)
	if err != nil {
		return nil, &OptionError{option, "", err}
	}
	for _, r := range rules {
		if slices.ContainsFunc(j.ForcedRules, func(other collective.Rule) bool { return other.Operation == r.Operation }) {
			return nil, &OptionError{option + ", Collective", "", fmt.Errorf("both force %v", r.Operation)}
		}
	}
	return rules, nil
}

// describeForcedRules lists the algorithms that operations use under forced rules: the first that
// supports a call.
func describeForcedRules(rules []collective.Rule) string {
	const listed = 3
	var text strings.Builder
	for len(rules) > 0 {
		o := rules[0].Operation
		var names []string
		for len(rules) > 0 && rules[0].Operation == o {
			names, rules = append(names, rules[0].Algorithm), rules[1:]
		}
		if len(names) > listed {
			names = append(names[:listed], "others by size")
		}
		fmt.Fprintf(&text, " %v uses %s.", o, strings.Join(names, ", or "))
	}
	return text.String()
}
