package model

// The work of Proto. A call is a prologue, what the protocol does, the wait if it blocks, and an
// epilogue.
const (
	ProtoSendCost               CostKey = iota // prologue of every send call
	ProtoStandardSendCost                      // epilogue of a standard send; the next three likewise, in the order of Mode
	ProtoSynchronousSendCost                   // epilogue of a synchronous send
	ProtoReadySendCost                         // epilogue of a ready send
	ProtoBufferedSendCost                      // epilogue of a buffered send
	ProtoReceiveCost                           // prologue of every receive call
	ProtoReceiveEpilogueCost                   // epilogue of a blocking receive
	ProtoNonblockingReceiveCost                // epilogue of a non-blocking receive
	ProtoHandleCost                            // taking in one packet or one completion of a remote access
	ProtoMatchCost                             // looking for the receive of a first packet, or for the message of a receive
	ProtoControlCost                           // making a packet other than a first one with data, which is part of the call
	ProtoCompleteCost                          // finding a request complete in a wait or test
	ProtoVainPollCost                          // finding nothing
	ProtoPackCost                              // per byte, at the sender
	ProtoUnpackCost                            // per byte, where a receiver copies
)

// SendEpilogueCost returns the work that ends a send call of mode m.
func SendEpilogueCost(m Mode) CostKey { return ProtoStandardSendCost + CostKey(m) }

// ProtoEngine is the engine of protocols T, TA, RTA, RAT and PTAT (impl/engine/proto). The closed
// forms of messages are those of its libraries.
var ProtoEngine = &Engine{
	Name:                "proto",
	Description:         "eager and rendezvous protocols, chosen by mode, length and distance",
	HasLowLevelMessages: true,
	Settings: []Setting{
		{Key: "rules"},
		{Key: "fallback"},
		{Key: "window"},
		{Key: "first", Optional: true},
		{Key: "stage"},
		{Key: "bounce"},
		{Key: "grant", Optional: true},
		{Key: "intra", Optional: true},
	},
	Costs: []SoftwareCost{
		ProtoSendCost:               {Key: "send", Description: "beginning of a send call"},
		ProtoStandardSendCost:       {Key: "standard", Description: "end of a standard send call"},
		ProtoSynchronousSendCost:    {Key: "synchronous", Description: "end of a synchronous send call"},
		ProtoReadySendCost:          {Key: "ready", Description: "end of a ready send call"},
		ProtoBufferedSendCost:       {Key: "buffered", Description: "end of a buffered send call"},
		ProtoReceiveCost:            {Key: "receive", Description: "beginning of a receive call"},
		ProtoReceiveEpilogueCost:    {Key: "received", Description: "end of a blocking receive"},
		ProtoNonblockingReceiveCost: {Key: "posted", Description: "end of a non-blocking receive"},
		ProtoHandleCost:             {Key: "handle", Description: "taking in a packet, or the end of a remote access"},
		ProtoMatchCost:              {Key: "match", Description: "looking for the receive of a message, or for the message of a receive"},
		ProtoControlCost:            {Key: "control", Description: "making a packet without the first data of a message"},
		ProtoCompleteCost:           {Key: "complete", Description: "finding a request complete in a wait or test"},
		ProtoVainPollCost:           {Key: "poll", Description: "finding none complete"},
		ProtoPackCost:               {Key: "pack", PerByte: true, Description: "each byte that is sent"},
		ProtoUnpackCost:             {Key: "unpack", PerByte: true, Description: "each byte that a receiver copies"},
	},
}

// ProtoSettings are the settings of libraries that Proto carries.
type ProtoSettings struct {
	Rules        []ProtocolRule        // the first that applies chooses the protocol
	Fallback     string                // protocol if the window has no room for a first packet's data
	WindowBytes  int                   // bytes of message data in RM packets that a receiver buffers for each peer
	FirstBytes   int                   // most bytes of a message by PTAT that go with its first packet
	LongMessages [NumTiers]LongMessage // by the tier of the peer
}

// ForEveryTier returns x for peers of every tier.
func ForEveryTier(x LongMessage) [NumTiers]LongMessage { return [NumTiers]LongMessage{x, x} }

// LongMessage says how a library moves long messages.
type LongMessage struct {
	CopiesToAccessibleMemory bool // they are first copied into memory that the receiver can access
	BounceBufferBytes        int  // bytes that a receiver gets at a time into a bounce buffer; 0: into the user's buffer
	GrantBytes               int  // bytes that a receiver gets at a time into the user's buffer; 0: all
}

// ReadBytes returns how many of the bytes that are left of a message its receiver gets next.
func (x *LongMessage) ReadBytes(left int) int {
	for _, limit := range []int{x.BounceBufferBytes, x.GrantBytes} {
		if limit > 0 {
			left = min(left, limit)
		}
	}
	return left
}

// ProtocolRule chooses the protocol of a message.
type ProtocolRule struct {
	Mode     Mode
	Peers    Peers // tiers of peers to which it applies
	MaxBytes int   // longest message in bytes; negative: no limit
	Protocol string

	// CopyFirst says that the sender copies the data of the first packet into memory that its
	// interface knows, and sends it from there. A buffered message is in such memory already.
	CopyFirst bool

	// AwaitsCompletion says that the send is complete when the interface, which reads the data from
	// the user's buffer, reports that the message has been delivered. It applies to messages that
	// an RDMA interface reads: those that are neither inline, nor cut into datagrams, nor staged.
	// Else the buffer counts as free as soon as the interface has the request.
	AwaitsCompletion bool
}

// Protocol returns the name of the protocol for a message of k bytes sent in mode m to a peer, or
// "" if no rule applies.
func (s *ProtoSettings) Protocol(m Mode, peer Tier, k int) string {
	if r := s.rule(m, peer, k); r != nil {
		return r.Protocol
	}
	return ""
}

// rule returns the rule for a message, or nil.
func (s *ProtoSettings) rule(m Mode, peer Tier, k int) *ProtocolRule {
	for i := range s.Rules {
		if r := &s.Rules[i]; r.Mode == m && r.Peers.Contains(peer) && (r.MaxBytes < 0 || k <= r.MaxBytes) {
			return r
		}
	}
	return nil
}

// awaitsCompletion reports whether the rule for a message says that its sender waits for the
// completion by its interface.
func (s *ProtoSettings) awaitsCompletion(m Mode, peer Tier, k int) bool {
	r := s.rule(m, peer, k)
	return r != nil && r.AwaitsCompletion
}

// copiesFirst reports whether the rule for a message says that its sender copies it first, whatever
// protocol carries it.
func (s *ProtoSettings) copiesFirst(m Mode, peer Tier, k int) bool {
	r := s.rule(m, peer, k)
	return r != nil && r.CopyFirst && m != BufferedMode
}
