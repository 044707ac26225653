package proto

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// Protocol is a message protocol: the action of each step. Steps that a protocol does not have are
// nil.
type Protocol struct {
	Name                string
	Eager               bool // the first packet carries data: all of it, unless SendsInTwoParts is set; the data has been received when OnMatch is called
	SendsInTwoParts     bool // the first packet carries at most ProtoSettings.FirstBytes bytes, and another packet the rest
	Synchronous         bool // the send completes only after the message has been matched
	EndsWithFirstPacket bool // complete when the first packet has left and its data has been received; OnMatch is nil
	UsesRemoteMemory    bool // accesses the other rank's memory, by packets if the machine cannot

	OnSendStart  func(e *Engine, s *op)                 // at the sender: sends the first packet
	OnMatch      func(e *Engine, r *op, m *firstPacket) // at the receiver: the message has been matched
	OnACK        func(e *Engine, s *op, h head)         // at the sender
	OnFIN        func(e *Engine, r *op)                 // at the receiver
	OnRemainder  func(e *Engine, r *op, data []byte)    // at the receiver: the data that was not in the first packet
	OnAccessDone func(e *Engine, o *op)                 // at the rank that started a remote access: it has ended
	OnCancel     func(e *Engine, s *op)                 // at the sender: the message will not be received; undoes OnSendStart
}

// Protocols lists all protocols. Packets refer to a protocol by its index.
//
// Note: steps of a protocol must not refer to this list or to the protocol itself, which would be
// an initialization cycle in Go. An operation refers to its protocol instead.
var Protocols = []*Protocol{T, TA, RTA, RAT, PTAT}

// protocolIndex returns the index of a protocol in Protocols.
func (e *Engine) protocolIndex(p *Protocol) uint8 {
	for i, q := range e.job.protocols {
		if p == q {
			return uint8(i)
		}
	}
	panic("proto: protocol is not in the table")
}

// Job is the state that the engines of a job share: a library with its resolved protocols, which do
// not change, and memory.
//
// Note: an engine with its own rules would be a third larger, and a job may have a million.
type Job struct {
	library           *model.Library
	dependsOnTier     bool // some rule depends on the distance of the peer
	hasCopies         bool // some rule makes the sender copy first
	awaitsCompletions bool // some rule makes the sender wait for the interface's report
	protocols         []*Protocol
	forcedProtocol    protocolRule // its protocol is nil if none is forced
	fallbackProtocol  *Protocol
	rules             [model.NumModes][model.NumTiers][]protocolRule
	pool              memoryPool
}

// memoryPool has unused memory. Ranks share that of their job if they run one at a time
// (device.SerializedPort); otherwise each rank has its own.
type memoryPool struct {
	messages messagePool
	tables   peerTablePool
}

// New resolves the protocols of a job. It is an engine.NewJobEnginesFunc.
func New(l *model.Library, protocol string) (engine.JobEngines, error) { return newJob(l, protocol) }

// Engines implements engine.JobEngines.
func (j *Job) Engines(n int) func(i int) engine.Engine {
	all := make([]Engine, n)
	return func(i int) engine.Engine {
		all[i].job = j
		return &all[i]
	}
}

// protocolRule is a model.ProtocolRule with its resolved protocol.
type protocolRule struct {
	maxBytes   int
	eagerBytes int // maximum bytes in the first packet
	copyFirst  bool
	protocol   *Protocol

	awaitsCompletion bool
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
		found.awaitsCompletion = r.AwaitsCompletion
		j.awaitsCompletions = j.awaitsCompletions || r.AwaitsCompletion
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

// resolveRule resolves the protocol of a rule.
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

// resolveProtocol returns the protocol with a name.
func (j *Job) resolveProtocol(name string) (*Protocol, error) {
	for _, p := range j.protocols {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("library %s: there is no protocol %q", j.library.Name, name)
}
