package proto

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Job is what the engines of a job share: a library whose protocols are found. It does not change.
//
// Note: an engine with rules of its own is a third longer, and a job may have a million.
type Job struct {
	lib      *model.Library
	tiered   bool // how near a peer is matters
	table    []*Protocol
	forced   rule // its protocol is nil where none is
	fallback *Protocol
	rules    [model.NumModes][model.NumTiers][]rule
}

// New finds the protocols that a job needs. It is an engine.New.
func New(l *model.Library, protocol string) (engine.Maker, error) { return newJob(l, protocol) }

// Engines implements engine.Maker.
func (j *Job) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].job = j
		return &all[i]
	}
}

// rule is a model.Rule with its protocol found.
type rule struct {
	upTo     int
	eager    int // most bytes that go with the first packet
	protocol *Protocol
}

func newJob(l *model.Library, protocol string) (*Job, error) {
	j := &Job{lib: l, table: Protocols, tiered: l.Long[model.Intra] != l.Long[model.Inter]}
	for _, r := range l.Rules {
		found, err := j.rule(r.UpTo, r.Protocol)
		if err != nil {
			return nil, err
		}
		for t := range model.NumTiers {
			if r.Peers.Has(t) {
				j.rules[r.Mode][t] = append(j.rules[r.Mode][t], found)
			}
		}
		j.tiered = j.tiered || r.Peers != model.AllPeers
	}
	var err error
	if l.Fallback != "" {
		if j.fallback, err = j.protocol(l.Fallback); err != nil {
			return nil, err
		}
	}
	if protocol != "" {
		j.forced, err = j.rule(-1, protocol)
	}
	return j, err
}

// rule finds the protocol of a rule.
func (j *Job) rule(upTo int, name string) (rule, error) {
	p, err := j.protocol(name)
	if err != nil {
		return rule{}, err
	}
	r := rule{upTo: upTo, protocol: p}
	switch {
	case p.Parted:
		r.eager = j.lib.First
	case p.Eager:
		r.eager = math.MaxInt
	}
	return r, nil
}

// protocol finds a protocol.
func (j *Job) protocol(name string) (*Protocol, error) {
	for _, p := range j.table {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("library %s: there is no protocol %q", j.lib.Name, name)
}
