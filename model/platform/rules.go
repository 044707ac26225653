package platform

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// protocolNames returns the names of all.
func protocolNames() []string {
	var names []string
	for _, p := range model.Protocols {
		names = append(names, p.Name)
	}
	return names
}

// longProtocols returns the names of those that need no room at the receiver.
func longProtocols() []string {
	var names []string
	for _, p := range model.Protocols {
		if !p.Eager() {
			names = append(names, p.Name)
		}
	}
	return names
}

// rule is a rule as it stands in a file: for any number of modes.
type rule struct {
	node     *yaml.Node
	path     string
	modes    []model.Mode
	upTo     int // negative: no limit
	protocol string
}

// rule reads a rule.
func (r *reader) rule(to *rule) reading {
	to.upTo = -1
	return r.mapping(
		must("mode", r.modes(&to.modes)),
		may("up_to", r.size(&to.upTo, 0, unit.MaxSize)),
		must("protocol", choice(r, &to.protocol, protocolNames())),
	)
}

// modes reads a send mode, or a list of them.
func (r *reader) modes(to *[]model.Mode) reading {
	one := r.parsed("standard, or [standard, ready]", func(s string) error {
		m, err := parseMode(s)
		if err == nil {
			*to = append(*to, m)
		}
		return err
	})
	several := r.list("[standard, ready]", func(path string, i int, n *yaml.Node) {
		one.read(fmt.Sprintf("%s[%d]", path, i), n)
	})
	return reading{one.example, func(path string, n *yaml.Node) {
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
	return 0, fmt.Errorf("unknown mode %q: %s", s, suggest(s, names))
}

// table returns the rules one by one and checks that each can apply and that every message has a protocol.
// node is the list of rules.
func (r *reader) table(path string, node *yaml.Node, rules []rule, window int) []model.Rule {
	var all []model.Rule
	var next [model.NumModes]int // the shortest message that no rule took yet; negative: all have a rule
	for _, x := range rules {
		for _, m := range x.modes {
			r.applies(x, m, next[m], window)
			if next[m] >= 0 && (x.upTo < 0 || x.upTo >= next[m]) {
				next[m] = x.upTo + 1
				if x.upTo < 0 {
					next[m] = -1
				}
			}
			all = append(all, model.Rule{Mode: m, UpTo: x.upTo, Protocol: x.protocol})
		}
	}
	for m, from := range next {
		if m := model.Mode(m); from >= 0 {
			r.wrong(node, path, "%s messages from %s on have no protocol: add {mode: %s, protocol: RTA}", m, unit.Bytes(from), m)
		}
	}
	return all
}

// applies checks that a rule can apply to messages of mode m. next is the shortest that comes to it.
func (r *reader) applies(x rule, m model.Mode, next, window int) {
	p := model.Named(x.protocol)
	switch {
	case next < 0:
		r.wrong(x.node, x.path, "never applies to %s messages: a rule before it takes them all; leave it out or move it up", m)
	case x.upTo >= 0 && x.upTo < next:
		r.wrong(x.node, x.path, "never applies to %s messages: a rule before it takes those up to %s; leave it out or move it up",
			m, unit.Bytes(next-1))
	case p != nil && m == model.Synchronous && !p.Synchronous():
		r.wrong(x.node, x.path, "a synchronous send ends when the receive is there, which %s does not tell the sender: write TA", x.protocol)
	case p != nil && p.Eager() && next > window:
		r.wrong(x.node, x.path, "never applies to %s messages: those of %s and more do not fit into the window of %s; write the fallback",
			m, unit.Bytes(next), unit.Bytes(window))
	}
}
