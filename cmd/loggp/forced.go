package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// forced reads by which algorithms operations are to go, as bcast=binomial,allreduce=ring, of a
// job's ranks.
func forced(list string, ranks int, nodes *collective.Nodes) ([]collective.Rule, error) {
	var rules []collective.Rule
	for _, s := range words(list) {
		name, algorithm, named := strings.Cut(s, "=")
		o, err := operation(strings.TrimSpace(name))
		switch {
		case err != nil:
			return nil, err
		case !named:
			return nil, fmt.Errorf("--collective %s: say by which algorithm, as %[1]s=%s", s, collective.Of(o)[0].Name)
		case slices.ContainsFunc(rules, func(r collective.Rule) bool { return r.Operation == o }):
			return nil, fmt.Errorf("--collective: %v is named twice", o)
		}
		algorithm = strings.TrimSpace(algorithm)
		serve := serving(o.Job(ranks, 0, nodes), o)
		switch a := collective.Named(o, algorithm); {
		case a == nil:
			return nil, fmt.Errorf("--collective: %v has no algorithm %q: for these ranks there are %s", o, algorithm, strings.Join(serve, ", "))
		case !slices.Contains(serve, algorithm):
			return nil, fmt.Errorf("--collective: %v is for %s, and %s: there are %s", a, a.Needs(), these(ranks, nodes), strings.Join(serve, ", "))
		}
		rules = append(rules, collective.Rule{Operation: o, Peers: model.AllPeers, Bytes: -1, Algorithm: algorithm})
	}
	return rules, nil
}

// forcible returns all that can be forced, one at a time.
func forcible() []string {
	var all []string
	for _, a := range collective.Algorithms {
		all = append(all, a.Operation.String()+"="+a.Name)
	}
	return all
}

// operation returns the collective operation of a name.
func operation(name string) (collective.Operation, error) {
	o, ok := collective.OperationNamed(name)
	if !ok {
		return o, fmt.Errorf("--collective: there is no operation %q: there are %s", name, strings.Join(collectiveNames()[1:], ", "))
	}
	return o, nil
}

// serving returns the names of the algorithms of an operation that serve a job.
func serving(j collective.Job, o collective.Operation) []string {
	var names []string
	for _, a := range collective.Of(o) {
		if a.Serves(j) {
			names = append(names, a.Name)
		}
	}
	return names
}

// these says how many ranks there are, and where.
func these(ranks int, nodes *collective.Nodes) string {
	where := ""
	switch {
	case nodes.Tiered():
		where = fmt.Sprintf(" in %d nodes", nodes.Count())
	case nodes.Count() == 1:
		where = " in one node"
	default:
		where = ", each in a node of its own"
	}
	return fmt.Sprintf("these are %d%s", ranks, where)
}
