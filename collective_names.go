package loggp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/table"
)

// ParseRules parses rules that select the algorithms of collective operations, such as
// bcast=binomial.
func ParseRules(words []string, ranks int, nodes *collective.Nodes) ([]collective.Rule, error) {
	var rules []collective.Rule
	for _, word := range words {
		o, algorithm, err := splitAlgorithmWord(word)
		switch {
		case err != nil:
			return nil, err
		case slices.ContainsFunc(rules, func(r collective.Rule) bool { return r.Operation == o }):
			return nil, optionErrorf("Collective", "%v is named twice", o)
		}
		names := servingAlgorithms(o.StandardJob(ranks, 0, nodes), o)
		switch a := collective.AlgorithmNamed(o, algorithm); {
		case a == nil:
			return nil, optionErrorf("Collective", "%v has no algorithm %q%s; names with parameters and those of libraries are %s", o, algorithm, table.NameChoices(algorithm, names), strings.Join(collective.NameForms(o), ", "))
		case !a.Serves(o.StandardJob(ranks, 0, nodes)):
			return nil, optionErrorf("Collective", "%v is for %s, and %s: there are %s", a, a.RankRequirement(), describeRanks(ranks, nodes), strings.Join(names, ", "))
		}
		rules = append(rules, collective.Rule{Operation: o, Peers: model.AllPeers, MaxBytes: -1, Algorithm: algorithm})
	}
	return rules, nil
}

// splitAlgorithmWord returns the operation and the algorithm's name in a word such as
// bcast=binomial.
func splitAlgorithmWord(word string) (o collective.Operation, algorithm string, err error) {
	name, algorithm, named := strings.Cut(word, "=")
	if o, err = parseOperation(strings.TrimSpace(name)); err != nil {
		return o, "", err
	}
	if !named {
		return o, "", &OptionError{"Collective", word, fmt.Errorf("say by which algorithm, as %s=%s", word, collective.AlgorithmsOf(o)[0].Name)}
	}
	return o, strings.TrimSpace(algorithm), nil
}

// parseOperation returns the collective operation with a name.
func parseOperation(name string) (collective.Operation, error) {
	o, ok := collective.OperationNamed(name)
	switch {
	case name == "":
		return o, optionErrorf("Collective", "name operations, such as bcast,allreduce, or all")
	case !ok:
		return o, optionErrorf("Collective", "there is no operation %q%s", name, table.NameChoices(name, CollectiveNames()))
	}
	return o, nil
}

// parseOperations returns the operations with the given names; "all" stands for every operation.
func parseOperations(names []string) ([]collective.Operation, error) {
	if slices.Equal(names, []string{"all"}) {
		return collective.Operations(), nil
	}
	var operations []collective.Operation
	for _, name := range names {
		o, err := parseOperation(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(operations, o) {
			return nil, optionErrorf("Collective", "%v is named twice", o)
		}
		operations = append(operations, o)
	}
	return operations, nil
}

// rejectBarrierSizes refuses sizes if the only operation is a barrier, which has no data.
func rejectBarrierSizes(operations []collective.Operation, sizes []int) error {
	if sizes != nil && slices.Equal(operations, []collective.Operation{collective.Barrier}) {
		return optionErrorf("Sizes", "a barrier has no data")
	}
	return nil
}

// servingAlgorithms returns the names of the algorithms of an operation that serve a job.
func servingAlgorithms(j collective.Job, o collective.Operation) []string {
	var names []string
	for _, a := range collective.AlgorithmsOf(o) {
		if a.Serves(j) {
			names = append(names, a.Name)
		}
	}
	return names
}

// describeRanks describes the number of ranks and their nodes.
func describeRanks(ranks int, nodes *collective.Nodes) string {
	nodesText := ", each in a node of its own"
	switch {
	case nodes.HasTiers():
		nodesText = fmt.Sprintf(" in %d nodes", nodes.Count())
	case nodes.Count() == 1:
		nodesText = " in one node"
	}
	return fmt.Sprintf("these are %d%s", ranks, nodesText)
}
