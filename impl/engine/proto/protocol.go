package proto

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Protocol is a way for a message to travel: what is done at each step. Steps that it does not have
// are nil.
type Protocol struct {
	Name                string
	Eager               bool // the first packet carries data: all of it, unless the protocol is Parted; it has been taken when Matched is called
	SendsInTwoParts     bool // the first packet carries ProtoSettings.FirstBytes bytes at most, and another the rest
	Synchronous         bool // the sender goes on only after the receive has been found
	EndsWithFirstPacket bool // all is done when the first packet has left, and when its data has been taken: there is no Matched
	UsesRemoteMemory    bool // reads or writes the other rank's memory: by packets where the machine cannot

	OnSendStart  func(e *Engine, s *op)                 // at the sender: send the first packet
	OnMatch      func(e *Engine, r *op, m *firstPacket) // at the receiver: the first packet has met its receive
	OnACK        func(e *Engine, s *op, h head)         // at the sender
	OnFIN        func(e *Engine, r *op)                 // at the receiver
	OnRemainder  func(e *Engine, r *op, data []byte)    // at the receiver: the data that did not go with the first packet
	OnAccessDone func(e *Engine, o *op)                 // where a remote access was started: it has ended
	OnCancel     func(e *Engine, s *op)                 // at the sender: the message will not be received; give back what Start took
}

// Protocols is every protocol there is. Its order is part of the packets: a packet names a protocol
// by its place.
//
// Note: the steps of a protocol may not name this list, nor the protocol itself: Go would see an
// initialization cycle. An operation carries its protocol instead.
var Protocols = []*Protocol{T, TA, RTA, RAT, PTAT}

// protocolIndex returns the place of a protocol in the table.
func (e *Engine) protocolIndex(p *Protocol) uint8 {
	for i, q := range e.job.protocols {
		if p == q {
			return uint8(i)
		}
	}
	panic("proto: protocol is not in the table")
}

// Job is what the engines of a job share: a library whose protocols are found. It does not change.
//
// Note: an engine with rules of its own is a third longer, and a job may have a million.
type Job struct {
	library          *model.Library
	dependsOnTier    bool // how near a peer is matters
	hasCopies        bool // some rule copies first
	protocols        []*Protocol
	forcedProtocol   protocolRule // its protocol is nil where none is
	fallbackProtocol *Protocol
	rules            [model.NumModes][model.NumTiers][]protocolRule
}

// New finds the protocols that a job needs. It is an engine.NewJobEnginesFunc.
func New(l *model.Library, protocol string) (engine.JobEngines, error) { return newJob(l, protocol) }

// Engines implements engine.JobEngines.
func (j *Job) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].job = j
		return &all[i]
	}
}

// protocolRule is a model.ProtocolRule with its protocol found.
type protocolRule struct {
	maxBytes   int
	eagerBytes int // most bytes that go with the first packet
	copyFirst  bool
	protocol   *Protocol
}

func newJob(l *model.Library, protocol string) (*Job, error) {
	j := &Job{library: l, protocols: Protocols, dependsOnTier: l.Proto.LongMessages[model.IntraNode] != l.Proto.LongMessages[model.InterNode]}
	for _, r := range l.Proto.Rules {
		found, err := j.resolveRule(r.MaxBytes, r.Protocol)
		if err != nil {
			return nil, err
		}
		found.copyFirst = r.CopyFirst && r.Mode != model.BufferedMode
		j.hasCopies = j.hasCopies || found.copyFirst
		for t := range model.NumTiers {
			if r.Peers.Contains(t) {
				j.rules[r.Mode][t] = append(j.rules[r.Mode][t], found)
			}
		}
		j.dependsOnTier = j.dependsOnTier || r.Peers != model.AllPeers
	}
	var err error
	if l.Proto.Fallback != "" {
		if j.fallbackProtocol, err = j.resolveProtocol(l.Proto.Fallback); err != nil {
			return nil, err
		}
	}
	if protocol != "" {
		j.forcedProtocol, err = j.resolveRule(-1, protocol)
	}
	return j, err
}

// resolveRule finds the protocol of a rule.
func (j *Job) resolveRule(upTo int, name string) (protocolRule, error) {
	p, err := j.resolveProtocol(name)
	if err != nil {
		return protocolRule{}, err
	}
	r := protocolRule{maxBytes: upTo, protocol: p}
	switch {
	case p.SendsInTwoParts:
		r.eagerBytes = j.library.Proto.FirstBytes
	case p.Eager:
		r.eagerBytes = math.MaxInt
	}
	return r, nil
}

// resolveProtocol finds a protocol.
func (j *Job) resolveProtocol(name string) (*Protocol, error) {
	for _, p := range j.protocols {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("library %s: there is no protocol %q", j.library.Name, name)
}
