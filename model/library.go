package model

import "github.com/loggp/loggp/model/unit"

// Mode is one of MPI's four send modes.
type Mode uint8

// The send modes.
const (
	Standard Mode = iota
	Synchronous
	Ready
	Buffered
	NumModes
)

var modeNames = [NumModes]string{"standard", "synchronous", "ready", "buffered"}

func (m Mode) String() string { return modeNames[m] }

// Work is a kind of software effort that a message-passing library spends on a processor.
type Work uint8

// The kinds of work. Each is charged once per call, packet or request, but for Pack and Unpack: once per byte.
// A call is a prologue, what the protocol does, for a blocking call the wait, and an epilogue.
const (
	WorkSend        Work = iota // prologue of every send call
	WorkStandard                // epilogue of a standard send; the next three likewise, in the order of Mode
	WorkSynchronous             // epilogue of a synchronous send
	WorkReady                   // epilogue of a ready send
	WorkBuffered                // epilogue of a buffered send
	WorkReceive                 // prologue of every receive call
	WorkReceived                // epilogue of a blocking receive
	WorkPosted                  // epilogue of a non-blocking receive
	WorkHandle                  // taking in one packet or one completion of a remote access
	WorkMatch                   // looking for the receive of a first packet, or for the message of a receive
	WorkControl                 // making a packet that is not the first with a message's data: that one is part of the call
	WorkComplete                // finding a request complete in a wait or test
	WorkPoll                    // finding nothing
	WorkPack                    // per byte, at the sender
	WorkUnpack                  // per byte, where a receiver copies
	NumWork
)

var workNames = [NumWork]string{"send", "standard", "synchronous", "ready", "buffered", "receive", "received", "posted",
	"handle", "match", "control", "complete", "poll", "pack", "unpack"}

// String returns the name of the work in platform files.
func (w Work) String() string { return workNames[w] }

// Epilogue returns the work that ends a send call of mode m.
func Epilogue(m Mode) Work { return WorkStandard + Work(m) }

// Library is a message-passing library on a machine.
type Library struct {
	Name        string
	Description string
	Software    [NumWork]unit.Time // cost of one unit of each kind of work
	Rules       []Rule             // the first that applies chooses the protocol
	Fallback    string             // protocol for a message whose first packet finds no window for its data
	Window      int                // bytes of message data in RM packets that a receiver buffers for each peer
	First       int                // most bytes of a message by PTAT that go with its first packet
	Long        [NumTiers]Long     // by how near the peer is
	Collectives []Collective       // the first that applies chooses the algorithm of a collective operation; where none does it is not known
}

// EveryTier is the same for all peers.
func EveryTier(x Long) [NumTiers]Long { return [NumTiers]Long{x, x} }

// Long says how a library moves long messages.
type Long struct {
	Stage  bool // copied into remotely accessible memory first
	Bounce int  // bytes that a pulling receiver gets at a time into a buffer of its own and copies on; 0: straight into the user's
}

// Rule chooses the protocol of a message.
type Rule struct {
	Mode     Mode
	Peers    Peers // how near the other rank is
	UpTo     int   // longest message in bytes; negative: no limit
	Protocol string
}

// Collective chooses the algorithm of a collective operation. Both have the names of package collective.
type Collective struct {
	Operation string
	Peers     Peers // how near ranks are: IntraPeers: all in one node; InterPeers: in several
	Ranks     int   // at most; 0: any number
	UpTo      int   // longest data in bytes, of a block where there is one for each rank; negative: no limit
	Algorithm string
}

// Protocol returns the name of the protocol for a message of k bytes sent in mode m to a peer, or "" where no rule applies.
func (l *Library) Protocol(m Mode, peer Tier, k int) string {
	for _, r := range l.Rules {
		if r.Mode == m && r.Peers.Has(peer) && (r.UpTo < 0 || k <= r.UpTo) {
			return r.Protocol
		}
	}
	return ""
}
