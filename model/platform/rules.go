package platform

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// protocolRule is a rule as written in a file, for one or more modes.
type protocolRule struct {
	node     *yaml.Node
	path     string
	modes    []model.Mode
	peers    model.Peers
	upTo     int // negative: no limit
	protocol string
	copy     bool

	awaitsCompletion bool
}

// protocolRule reads a rule.
func (r *fileReader) protocolRule(to *protocolRule) nodeReader {
	to.upTo = -1
	return r.readMapping(
		requiredField("mode", r.sendModes(&to.modes)),
		optionalField("peer", r.peerTier(&to.peers)),
		optionalField("up_to", r.readSize(&to.upTo, 0, unit.MaxSize)),
		requiredField("protocol", oneOfWords(r, &to.protocol, model.ProtocolNames())),
		optionalField("copy", r.readBoolean(&to.copy)),
		optionalField("completion", r.readBoolean(&to.awaitsCompletion)),
	)
}

// sendModes reads a send mode, or a list of them.
func (r *fileReader) sendModes(to *[]model.Mode) nodeReader {
	return wordOrList(r, "standard", "[standard, ready]", func(s string) error {
		m, err := parseMode(s)
		if err == nil {
			*to = append(*to, m)
		}
		return err
	})
}

// wordOrList reads a word, or a list of words.
func wordOrList(r *fileReader, word, list string, parse func(s string) error) nodeReader {
	one := r.parsedText(word+", or "+list, parse)
	several := r.readList(list, func(path string, i int, n *yaml.Node) {
		one.read(fmt.Sprintf("%s[%d]", path, i), n)
	})
	return nodeReader{one.example, func(path string, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode {
			several.read(path, n)
		} else {
			one.read(path, n)
		}
	}}
}

// parseMode returns the mode of the name.
func parseMode(s string) (model.Mode, error) {
	var names []string
	for m := range model.NumModes {
		if m.String() == s {
			return m, nil
		}
		names = append(names, m.String())
	}
	return 0, fmt.Errorf("unknown mode %q: %s", s, suggestName(s, names))
}

// peerTier reads the tier of a peer.
func (r *fileReader) peerTier(to *model.Peers) nodeReader {
	return r.parsedText("intra, or inter", func(s string) error {
		for t := range model.NumTiers {
			if t.String() == s {
				*to = t.Peers()
				return nil
			}
		}
		return fmt.Errorf("unknown %q: write intra for ranks of one node, or inter; left out, it is both", s)
	})
}

// ruleCoverage is the shortest message of each mode and tier to which no rule so far applies;
// negative: the rules apply to all.
type ruleCoverage [model.NumModes][model.NumTiers]int

// add marks messages up to a length, or all of them, as covered.
func (t *ruleCoverage) add(m model.Mode, peer model.Tier, upTo int) {
	next := &t[m][peer]
	switch {
	case *next < 0:
	case upTo < 0:
		*next = -1
	default:
		*next = max(*next, upTo+1)
	}
}

// convertRules returns the rules one by one and checks that each can apply and that every message
// has a protocol. node is the list of rules.
func (r *fileReader) convertRules(path string, node *yaml.Node, rules []protocolRule, s *model.ProtoSettings) []model.ProtocolRule {
	var all []model.ProtocolRule
	var done ruleCoverage
	for _, x := range rules {
		r.checkCopy(x)
		r.checkCompletion(x)
		for _, m := range x.modes {
			r.checkRuleApplies(x, m, &done, s)
			for t := range model.NumTiers {
				if x.peers.Contains(t) {
					done.add(m, t, x.upTo)
				}
			}
			all = append(all, model.ProtocolRule{Mode: m, Peers: x.peers, MaxBytes: x.upTo, Protocol: x.protocol, CopyFirst: x.copy, AwaitsCompletion: x.awaitsCompletion})
		}
	}
	for m, next := range done {
		r.checkModeCovered(path, node, model.Mode(m), next)
	}
	return all
}

// checkCopy checks that a rule that copies first has something to copy.
func (r *fileReader) checkCopy(x protocolRule) {
	why := ""
	switch {
	case !x.copy:
		return
	case !model.FindProtocol(x.protocol).IsEager():
		why = x.protocol + " sends no data with its first packet"
	case !slices.ContainsFunc(x.modes, func(m model.Mode) bool { return m != model.BufferedMode }):
		why = "a buffered message is copied anyway"
	default:
		return
	}
	r.reportProblem(mappingValue(x.node, "copy"), x.path+".copy", "has no effect: %s; leave it out", why)
}

// checkCompletion checks that a rule whose sends wait for a completion sends from the user's buffer
// and has nothing else to wait for.
func (r *fileReader) checkCompletion(x protocolRule) {
	why := ""
	switch {
	case !x.awaitsCompletion:
		return
	case x.protocol != "T":
		why = "a send by " + x.protocol + " waits for its receiver"
	case x.copy:
		why = "the buffer is free when it has been copied"
	}
	at, path := mappingValue(x.node, "completion"), x.path+".completion"
	if why == "" {
		r.completionPositions = append(r.completionPositions, nodePosition{path, at})
		return
	}
	r.reportProblem(at, path, "has no effect: %s; leave it out", why)
}

// checkModeCovered checks that every message of a mode has a protocol. next is the shortest of each
// tier that has none.
func (r *fileReader) checkModeCovered(path string, node *yaml.Node, m model.Mode, next [model.NumTiers]int) {
	if next[model.IntraNode] == next[model.InterNode] {
		if from := next[0]; from >= 0 {
			r.reportProblem(node, path, "%s messages from %s on have no protocol: add {mode: %s, protocol: RTA}", m, unit.Bytes(from), m)
		}
		return
	}
	for t, from := range next {
		if t := model.Tier(t); from >= 0 {
			r.reportProblem(node, path, "%s messages to %s peers from %s on have no protocol: add {mode: %s, peer: %s, protocol: RTA}", m, t,
				unit.Bytes(from), m, t)
		}
	}
}

// checkRuleApplies checks that a rule can apply to messages of mode m, to peers of some tier at
// least.
func (r *fileReader) checkRuleApplies(x protocolRule, m model.Mode, done *ruleCoverage, s *model.ProtoSettings) {
	p := model.FindProtocol(x.protocol)
	why := ""
	for t := range model.NumTiers {
		if !x.peers.Contains(t) {
			continue
		}
		if why = explainUnreachableRule(x, p, done[m][t], s); why == "" {
			break
		}
	}
	switch {
	case why != "" && x.peers == model.AllPeers:
		r.reportProblem(x.node, x.path, "never applies to %s messages: %s", m, why)
	case why != "":
		r.reportProblem(x.node, x.path, "never applies to %s messages to such peers: %s", m, why)
	case m == model.SynchronousMode && !p.IsSynchronous():
		r.reportProblem(x.node, x.path, "a synchronous send ends when the receive is there, which %s does not tell the sender: write TA", x.protocol)
	}
}

// explainUnreachableRule returns why a rule applies to no message, or "". next is the shortest
// message to which no earlier rule applies.
func explainUnreachableRule(x protocolRule, p *model.Protocol, next int, s *model.ProtoSettings) string {
	switch {
	case next < 0:
		return "a rule before it takes them all; leave it out or move it up"
	case x.upTo >= 0 && x.upTo < next:
		return fmt.Sprintf("a rule before it takes those up to %s; leave it out or move it up", unit.Bytes(next-1))
	case p.Steps[0].Bytes(next, s.FirstBytes) > s.WindowBytes:
		return fmt.Sprintf("those of %s and more do not fit into the window of %s; write the fallback", unit.Bytes(next), unit.Bytes(s.WindowBytes))
	}
	return ""
}
