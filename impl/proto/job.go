package proto

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/model"
)

// Config says how the engines of a job are to behave.
type Config struct {
	Library *model.Library
	Force   string // protocol of every message of the program, whatever the rules and the window say; "": the rules choose

	Enter func(rank int, call string) // is told of every call that the program makes, and of "" when it has ended; nil: nobody is
	Kinds func(Sign) string           // says what a sign stands for; nil: its number

	// Mismatch says how the collective call differs to which a message belongs, whose tag is theirs, from that of a rank that expects ours, or returns
	// no class if it does not; nil: nobody knows.
	Mismatch func(rank int, context uint32, src, theirs, ours int) (Class, string)

	// Named says who a rank of the job is to one that talks with it in a context, as errors name it; nil: that rank of the job.
	Named func(rank int, context uint32, other int) string

	Check bool        // look whether operations under way share memory, and who makes calls
	Site  func() Site // returns the line of the program from which it is called; nil: nobody knows
}

// Job is what the engines of a job share: a library whose protocols are found. Nobody changes it.
//
// Note: an engine with rules of its own is a third longer, and a job may have a million.
type Job struct {
	lib      *model.Library
	enter    func(rank int, call string)
	kinds    func(Sign) string
	mismatch func(rank int, context uint32, src, theirs, ours int) (Class, string)
	named    func(rank int, context uint32, other int) string
	site     func() Site
	check    bool
	heeds    bool // the calls that programs make
	tiered   bool // how near a peer is matters
	table    []*Protocol
	forced   rule // its protocol is nil where none is
	fallback *Protocol
	rules    [model.NumModes][model.NumTiers][]rule
}

// rule is a model.Rule with its protocol found.
type rule struct {
	upTo     int
	eager    int // most bytes that go with the first packet
	protocol *Protocol
}

// NewJob finds the protocols that a job needs. A name of none is an error.
func NewJob(cfg Config) (*Job, error) {
	l := cfg.Library
	j := &Job{lib: l, table: Protocols, enter: cfg.Enter, kinds: cfg.Kinds, mismatch: cfg.Mismatch, named: cfg.Named, check: cfg.Check, heeds: cfg.Check || cfg.Enter != nil, site: cfg.Site, tiered: l.Long[model.Intra] != l.Long[model.Inter]}
	if j.kinds == nil {
		j.kinds = func(s Sign) string { return fmt.Sprintf("elements of kind %d", s) }
	}
	if j.named == nil {
		j.named = func(_ int, _ uint32, other int) string { return fmt.Sprintf("rank %d", other) }
	}
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
	if cfg.Force != "" {
		j.forced, err = j.rule(-1, cfg.Force)
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
