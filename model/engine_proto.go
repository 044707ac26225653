package model

// The work of Proto. A call is a prologue, what the protocol does, the wait if it blocks, and an
// epilogue.
const (
	ProtoSend        CostKey = iota // prologue of every send call
	ProtoStandard                   // epilogue of a standard send; the next three likewise, in the order of Mode
	ProtoSynchronous                // epilogue of a synchronous send
	ProtoReady                      // epilogue of a ready send
	ProtoBuffered                   // epilogue of a buffered send
	ProtoReceive                    // prologue of every receive call
	ProtoReceived                   // epilogue of a blocking receive
	ProtoPosted                     // epilogue of a non-blocking receive
	ProtoHandle                     // taking in one packet or one completion of a remote access
	ProtoMatch                      // looking for the receive of a first packet, or for the message of a receive
	ProtoControl                    // making a packet other than a first one with data, which is part of the call
	ProtoComplete                   // finding a request complete in a wait or test
	ProtoPoll                       // finding nothing
	ProtoPack                       // per byte, at the sender
	ProtoUnpack                     // per byte, where a receiver copies
)

// Epilogue returns the work that ends a send call of mode m.
func Epilogue(m Mode) CostKey { return ProtoStandard + CostKey(m) }

// Proto is the engine of protocols T, TA, RTA, RAT and PTAT (impl/engine/proto). The closed forms
// of messages are those of its libraries.
var Proto = &Engine{
	Name:        "proto",
	Description: "eager and rendezvous protocols, chosen by mode, length and distance",
	Messages:    true,
	Settings: []Setting{
		{Key: "rules"},
		{Key: "fallback"},
		{Key: "window"},
		{Key: "first", Optional: true},
		{Key: "stage"},
		{Key: "bounce"},
		{Key: "intra", Optional: true},
	},
	Costs: []SoftwareCost{
		ProtoSend:        {Key: "send", About: "beginning of a send call"},
		ProtoStandard:    {Key: "standard", About: "end of a standard send call"},
		ProtoSynchronous: {Key: "synchronous", About: "end of a synchronous send call"},
		ProtoReady:       {Key: "ready", About: "end of a ready send call"},
		ProtoBuffered:    {Key: "buffered", About: "end of a buffered send call"},
		ProtoReceive:     {Key: "receive", About: "beginning of a receive call"},
		ProtoReceived:    {Key: "received", About: "end of a blocking receive"},
		ProtoPosted:      {Key: "posted", About: "end of a non-blocking receive"},
		ProtoHandle:      {Key: "handle", About: "taking in a packet, or the end of a remote access"},
		ProtoMatch:       {Key: "match", About: "looking for the receive of a message, or for the message of a receive"},
		ProtoControl:     {Key: "control", About: "making a packet without the first data of a message"},
		ProtoComplete:    {Key: "complete", About: "finding a request complete in a wait or test"},
		ProtoPoll:        {Key: "poll", About: "finding none complete"},
		ProtoPack:        {Key: "pack", PerByte: true, About: "each byte that is sent"},
		ProtoUnpack:      {Key: "unpack", PerByte: true, About: "each byte that a receiver copies"},
	},
}

// ProtoSettings are the settings of libraries that Proto carries.
type ProtoSettings struct {
	Rules      []Rule                // the first that applies chooses the protocol
	Fallback   string                // protocol if the window has no room for a first packet's data
	Window     int                   // bytes of message data in RM packets that a receiver buffers for each peer
	FirstBytes int                   // most bytes of a message by PTAT that go with its first packet
	Long       [NumTiers]LongMessage // by the tier of the peer
}

// EveryTier returns x for peers of every tier.
func EveryTier(x LongMessage) [NumTiers]LongMessage { return [NumTiers]LongMessage{x, x} }

// LongMessage says how a library moves long messages.
type LongMessage struct {
	Stage  bool // they are first copied into memory that the receiver can access
	Bounce int  // bytes that a receiver gets at a time into a bounce buffer; 0: into the user's buffer
}

// Rule chooses the protocol of a message.
type Rule struct {
	Mode     Mode
	Peers    Peers // tiers of peers to which it applies
	UpTo     int   // longest message in bytes; negative: no limit
	Protocol string
}

// Protocol returns the name of the protocol for a message of k bytes sent in mode m to a peer, or
// "" if no rule applies.
func (s *ProtoSettings) Protocol(m Mode, peer Tier, k int) string {
	for _, r := range s.Rules {
		if r.Mode == m && r.Peers.Has(peer) && (r.UpTo < 0 || k <= r.UpTo) {
			return r.Protocol
		}
	}
	return ""
}
