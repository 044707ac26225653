package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// collectiveRule is a rule for collective operations as written in a file, for one or more
// operations.
type collectiveRule struct {
	node       *yaml.Node
	path       string
	operations []collective.Operation
	collective.Rule
}

// collectiveRules reads the rules of a library.
func (r *fileReader) collectiveRules(to *[]collectiveRule) nodeReader {
	return r.readList(`[{operation: bcast, algorithm: {value: binomial, basis: assumed, source: "where it is from"}}]`, func(path string, i int, n *yaml.Node) {
		*to = append(*to, collectiveRule{node: n, path: fmt.Sprintf("%s[%d]", path, i)})
		x := &(*to)[i]
		r.collectiveRule(x).read(x.path, n)
	})
}

// collectiveRule reads a rule.
func (r *fileReader) collectiveRule(to *collectiveRule) nodeReader {
	to.MaxBytes = -1
	fields := r.readMapping(
		requiredField("operation", wordOrList(r, "bcast", "[bcast, reduce]", func(s string) error {
			o, known := collective.OperationNamed(s)
			if !known {
				return fmt.Errorf("unknown operation %q: %s", s, suggestName(s, formatNames(collective.Operations())))
			}
			to.operations = append(to.operations, o)
			return nil
		})),
		optionalField("peer", r.peerTier(&to.Peers)),
		optionalField("ranks", r.readCount(&to.MaxRanks, 2, maxCount)),
		optionalField("up_to", r.readSize(&to.MaxBytes, 0, unit.MaxSize)),
		requiredField("algorithm", r.readNumber(WordQuantity, "binomial", func(s string) error {
			to.Algorithm = s
			return nil
		})),
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		for _, o := range to.operations {
			if collective.AlgorithmNamed(o, to.Algorithm) == nil {
				r.reportProblem(to.readAlgorithm(), joinPath(path, "algorithm.value"), "%v has no algorithm %q: %s", o, to.Algorithm, suggestName(to.Algorithm, slices.Concat(formatNames(collective.AlgorithmsOf(o)), formatNames(collective.AdditionalAlgorithms(o)))))
			}
		}
	})
}

// readAlgorithm returns the node with the algorithm's name.
func (x *collectiveRule) readAlgorithm() *yaml.Node {
	return mappingValue(mappingValue(x.node, "algorithm"), "value")
}

// formatNames returns the names of operations or algorithms.
func formatNames[T fmt.Stringer](all []T) []string {
	var names []string
	for _, x := range all {
		words := strings.Fields(x.String()) // an algorithm has its operation before its name
		names = append(names, words[len(words)-1])
	}
	return names
}

// convertCollectiveRules returns the rules one by one and checks that each can apply.
func (r *fileReader) convertCollectiveRules(tunings []collectiveRule) []model.CollectiveRule {
	var rules []collective.Rule
	var from []int // the rules of the file
	var all []model.CollectiveRule
	for i, x := range tunings {
		for _, o := range x.operations {
			x.Operation = o
			rules, from = append(rules, x.Rule), append(from, i)
			all = append(all, model.CollectiveRule{Operation: o.String(), Peers: x.Peers, MaxRanks: x.MaxRanks, MaxBytes: x.MaxBytes, Algorithm: x.Algorithm})
			switch before, serves := collective.EarlierRulesCovering(rules, len(rules)-1); {
			case !serves:
				r.reportProblem(x.readAlgorithm(), x.path+".algorithm.value", "%v %s serves no ranks that the rule is for: it is for %s", o, x.Algorithm, collective.AlgorithmNamed(o, x.Algorithm).RankRequirement())
			case before != nil:
				var earlier []string
				for _, b := range before {
					earlier = append(earlier, fmt.Sprintf("collectives[%d]", from[b]))
				}
				r.reportProblem(x.node, x.path, "never applies to %v: all that it is for is taken before it by %s; leave it out or move it up", o, strings.Join(earlier, " and "))
			}
		}
	}
	return all
}

// checkNodes checks that the machine can have ranks placed as each rule requires.
func (r *fileReader) checkNodes(m *model.Machine, tunings []collectiveRule) {
	var near, far bool
	for a := 0; a+1 < m.Ranks.Max && !(near && far); a++ {
		near, far = near || m.TierOfRanks(a, a+1) == model.IntraNode, far || m.TierOfRanks(a, a+1) == model.InterNode
	}
	why := "no two ranks of the machine are in one node"
	if near {
		why = "all ranks of the machine are in one node"
	}
	for _, x := range tunings {
		wants := func(t model.Tier) bool {
			return x.Peers == t.Peers() || collective.AlgorithmNamed(x.operations[0], x.Algorithm).NeedsNodes
		}
		if wants(model.IntraNode) && !near || wants(model.InterNode) && !far {
			r.reportProblem(x.node, x.path, "never applies: %s; leave it out", why)
		}
	}
}
