package model

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model/unit"
)

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

// Library is a message-passing library on a machine.
type Library struct {
	Name        string
	Description string
	Engine      *Engine             // carries the messages; nil: the first of Engines
	Software    [MaxCosts]unit.Time // cost of one unit of each kind of the engine's work, by CostKey
	Rules       []Rule              // the first that applies chooses the protocol
	Fallback    string              // protocol if the window has no room for a first packet's data
	Window      int                 // bytes of message data in RM packets that a receiver buffers for each peer
	First       int                 // most bytes of a message by PTAT that go with its first packet
	Long        [NumTiers]Long      // by the tier of the peer
	FIFO        int                 // bytes of a message FIFO, of an engine that has FIFOs; 0: DefaultFIFO
	Short       [NumTiers]int       // longest short message, of an engine with pinned memory
	Block       int                 // bytes that such an engine copies and transfers at a time; 0: DefaultBlock
	Pinned      int                 // bytes of its pinned memory, of each rank; 0: DefaultPinned
	Sockets     *Sockets            // of TCP; nil: as the system has them
	Exchange    Exchange            // order of sends in MPI_Alltoallv; "": InTurn
	Requests    int                 // entries of a request FIFO; 0: DefaultRequests; negative: receivers post no requests
	Collectives []Collective        // the first that applies chooses a collective algorithm; none: not known
	Compiled    *Compiled           // compiled communication; nil: none
}

// Exchange is the order in which a rank sends in MPI_Alltoallv and MPI_Alltoallw.
type Exchange string

// The orders.
const (
	InTurn Exchange = "in-turn" // one send after the other, the first to the next rank
	Posted Exchange = "posted"  // all sends are started, the first to the next rank
	Ranked Exchange = "ranked"  // all sends are started, the first to rank 0
)

// Exchanges are all orders.
var Exchanges = []Exchange{InTurn, Posted, Ranked}

// Compiled is compiled communication as in CC-MPI (impl/library/ccmpi): multicast, and exchanges in
// phases.
type Compiled struct {
	Window    int       // packets of a sender that not all receivers have acknowledged, at most
	Packet    int       // bytes of a packet with its header; 0: as many as a datagram has room for
	Timeout   unit.Time // until a packet is sent again, if nothing new was acknowledged
	Scheduler string    // of exchanges whose pattern is found at run time: a name of model/phases
	Threshold int       // messages shorter than so many bytes form the last phase together
	Schedule  unit.Time // to schedule a message at run time
	Barrier   unit.Time // processor time of rank 0 for each other rank in a barrier, beside that for messages
	Unicast   int       // longest message of MPI_Allgather that is sent without phases
	Multicast int       // longest message above Unicast that MPI_Allgather multicasts; longer ones go in phases
	Aggregate int       // bytes of each rank up to which MPI_Scatter multicasts those of all ranks together
}

// Sockets is how a library uses the TCP of an Ethernet.
type Sockets struct {
	Buffer   int  // bytes of the buffers that it asks for, one for each direction; 0: those of the system
	Together bool // what finds no room in a socket waits in the library, which writes to other sockets meanwhile

	// Whole says that a rank which begins to read a packet waits for all of it, and that a rank
	// whose send waits reads only if it sends to a rank above its own.
	Whole bool
}

// EveryTier returns x for peers of every tier.
func EveryTier(x Long) [NumTiers]Long { return [NumTiers]Long{x, x} }

// Long says how a library moves long messages.
type Long struct {
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

// Collective chooses the algorithm of a collective operation. Both are names of package collective.
type Collective struct {
	Operation string
	Peers     Peers // IntraPeers: all ranks are in one node; InterPeers: they are in several
	Ranks     int   // at most; 0: any number
	UpTo      int   // longest data in bytes, or longest block if each rank has one; negative: no limit
	Algorithm string
}

// Protocol returns the name of the protocol for a message of k bytes sent in mode m to a peer, or
// "" if no rule applies.
func (l *Library) Protocol(m Mode, peer Tier, k int) string {
	for _, r := range l.Rules {
		if r.Mode == m && r.Peers.Has(peer) && (r.UpTo < 0 || k <= r.UpTo) {
			return r.Protocol
		}
	}
	return ""
}

// Engine describes a message-passing engine to platform files and models: the kinds of software
// work that it charges to processors. The platform file of a library has their costs. The engine
// itself is a package below impl.
type Engine struct {
	Name        string // as libraries of platform files give it
	Description string
	Costs       []SoftwareCost // by CostKey
	Messages    bool           // it has low-level messages, which can be measured
	Accesses    bool           // it uses remote memory, queues and signals of operating systems that have MBCF
	FIFOs       bool           // it has FIFOs, whose lengths libraries may set
	Pinned      bool           // it has pinned memory: libraries say what is short, and may set its size and that of blocks
}

// SoftwareCost declares one kind of software work.
type SoftwareCost struct {
	Key     string // in platform files, under software
	PerByte bool   // charged for each byte; if not, once per call, packet or request
	About   string
}

// CostKey names a kind of work of an engine: its index in Engine.Costs and in Library.Software.
type CostKey uint8

// MaxCosts is how many kinds of work an engine may charge at most.
const MaxCosts CostKey = 24

// Engines are all engines that carry MPI. The first one carries libraries that do not name one.
var Engines = []*Engine{Proto, Queue, Mbcf, Start}

// Standalone are the engines that are libraries of their own: programs call them in place of MPI.
var Standalone = []*Engine{Aclmpl, AclmplArena, AclmplPVM, Pvm, Cmmd}

// MPI reports whether the engine carries MPI.
func (e *Engine) MPI() bool { return slices.Contains(Engines, e) }

// FindEngine returns the engine with a name, or nil.
func FindEngine(name string) *Engine {
	all := slices.Concat(Engines, Standalone)
	if i := slices.IndexFunc(all, func(e *Engine) bool { return e.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

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

// The work of Queue.
const (
	QueueSend    CostKey = iota // a send call
	QueueReceive                // a receive call
	QueueTest                   // a wait, a test or a probe
	QueueHandle                 // taking in one packet
	QueueByte                   // per byte, at the sender and at the receiver
)

// Queue is the engine that sends every message at once, whatever its length, into one queue of its
// receiver (impl/engine/queue).
var Queue = &Engine{
	Name:        "queue",
	Description: "every message at once, into one queue of its receiver",
	Costs: []SoftwareCost{
		QueueSend:    {Key: "send", About: "a send call"},
		QueueReceive: {Key: "receive", About: "a receive call"},
		QueueTest:    {Key: "test", About: "a wait, a test or a probe"},
		QueueHandle:  {Key: "handle", About: "taking in a packet"},
		QueueByte:    {Key: "byte", PerByte: true, About: "each byte, at the sender and at the receiver"},
	},
}

// The work of Aclmpl.
const (
	AclmplSend         CostKey = iota // a synchronous send, alone or of a collective call
	AclmplReceive                     // a synchronous receive, likewise
	AclmplSendAsync                   // an asynchronous send
	AclmplReceiveAsync                // an asynchronous receive
	AclmplRead                        // reading a control block or a slot that others write
	AclmplKeep                        // moving a message from the pool to the list, beside the copy
	AclmplCombine                     // each element that a reduction combines
)

// Aclmpl is ACLMPL (impl/library/aclmpl), a library of its own.
var Aclmpl = &Engine{
	Name:        "aclmpl",
	Description: "synchronous and asynchronous messages by put and fetch-and-increment",
	Costs: []SoftwareCost{
		AclmplSend:         {Key: "send", About: "a synchronous send"},
		AclmplReceive:      {Key: "receive", About: "a synchronous receive"},
		AclmplSendAsync:    {Key: "send_async", About: "an asynchronous send"},
		AclmplReceiveAsync: {Key: "receive_async", About: "an asynchronous receive"},
		AclmplRead:         {Key: "read", About: "reading a control block or a slot that others write"},
		AclmplKeep:         {Key: "keep", About: "moving a message from the pool to the list, beside the copy"},
		AclmplCombine:      {Key: "combine", About: "each element that a reduction combines"},
	},
}

// AclmplArena is ACLMPL on memory that all processors share, with the work of Aclmpl.
var AclmplArena = &Engine{
	Name:        "aclmpl-arena",
	Description: "ACLMPL on an arena of shared memory: messages are copied in and out",
	Costs:       Aclmpl.Costs,
}

// Cmmd is CMMD, the library of the CM-5's vendor, whose calls are those of ACLMPL, with the work of
// Aclmpl.
var Cmmd = &Engine{
	Name:        "cmmd",
	Description: "ACLMPL, with broadcasts by the machine's control network",
	Costs:       Aclmpl.Costs,
}

// AclmplPVM is ACLMPL on PVM, with the work of Pvm and of reductions.
var AclmplPVM = &Engine{
	Name:        "aclmpl-pvm",
	Description: "ACLMPL on PVM's psend and precv",
	Costs:       append(slices.Clone(Pvm.Costs), SoftwareCost{Key: "combine", About: "each element that a reduction combines"}),
}

// The work of Pvm, and of ACLMPL on it.
const (
	PvmSend          CostKey = iota // a send call
	PvmReceive                      // a receive call
	PvmHandle                       // taking in a message
	PvmUnpack                       // each byte that is received, beside copies
	AclmplPVMCombine                // each element that a reduction combines
)

// Pvm is PVM's psend and precv (impl/library/pvm), a library of its own.
var Pvm = &Engine{
	Name:        "pvm",
	Description: "messages that both sides copy, the long ones fetched by their receivers",
	Costs: []SoftwareCost{
		PvmSend:    {Key: "send", About: "a send call"},
		PvmReceive: {Key: "receive", About: "a receive call"},
		PvmHandle:  {Key: "handle", About: "taking in a message"},
		PvmUnpack:  {Key: "unpack", PerByte: true, About: "each byte that is received, beside copies"},
	},
}

// The work of Mbcf.
const (
	MBCFSend    CostKey = iota // a send call
	MBCFReceive                // a receive call
	MBCFTest                   // a wait, a test or a probe
	MBCFPost                   // posting a request
	MBCFTake                   // taking a request out of its FIFO
	MBCFHandle                 // taking a message out of its FIFO, or finding a remote write complete
)

// Mbcf is the engine of MPI/MBCF, in which receivers post requests and senders write to receive
// buffers (impl/engine/mbcf).
var Mbcf = &Engine{
	Name:        "mbcf",
	Description: "remote writes to receive buffers if a request is there, and FIFOs of messages if not",
	Accesses:    true,
	FIFOs:       true,
	Costs: []SoftwareCost{
		MBCFSend:    {Key: "send", About: "a send call"},
		MBCFReceive: {Key: "receive", About: "a receive call"},
		MBCFTest:    {Key: "test", About: "a wait, a test or a probe"},
		MBCFPost:    {Key: "post", About: "posting a request for sending"},
		MBCFTake:    {Key: "take", About: "taking a request for sending out of its FIFO"},
		MBCFHandle:  {Key: "handle", About: "taking a message out of its FIFO, or finding a remote write complete"},
	},
}

// Settings of Mbcf. The sources do not say how long its FIFOs were.
const (
	DefaultFIFO     = 64 << 10 // bytes
	LeastFIFO       = 64       // bytes: room for a header and an entry's overhead, and some data
	DefaultRequests = 64       // entries
)

// The work of Start.
const (
	StartSend    CostKey = iota // a send call
	StartReceive                // a receive call
	StartTest                   // a wait, a test or a probe
	StartHandle                 // taking in one packet
	StartControl                // making a packet that is not the first of a short message
	StartRemote                 // sending or taking in a packet between SMPs, beside the above
)

// Start is the engine of MPI-StarT, with short messages by programmed I/O and long ones by RDMA
// from pinned memory (impl/engine/start).
var Start = &Engine{
	Name:        "start",
	Description: "short messages at once, and long ones by rendezvous and RDMA from pinned memory",
	Pinned:      true,
	Costs: []SoftwareCost{
		StartSend:    {Key: "send", About: "a send call"},
		StartReceive: {Key: "receive", About: "a receive call"},
		StartTest:    {Key: "test", About: "a wait, a test or a probe"},
		StartHandle:  {Key: "handle", About: "taking in a packet"},
		StartControl: {Key: "control", About: "making a packet other than a short message"},
		StartRemote:  {Key: "remote", About: "sending or taking in a packet between nodes, beside these"},
	},
}

// Settings of Start. The sources do not say how long the blocks of MPI-StarT were.
const (
	DefaultBlock  = 16 << 10 // bytes
	DefaultPinned = 16 << 20 // bytes: Husbands and Hoe 1998, section 4
	SendBlocks    = 2        // blocks that leave at once: one is copied while another is transferred
	LeastBlocks   = SendBlocks + 1
)

// Cost returns the declaration of a kind of work. The key of undeclared work is its number.
func (e *Engine) Cost(k CostKey) SoftwareCost {
	if int(k) < len(e.Costs) {
		return e.Costs[k]
	}
	return SoftwareCost{Key: fmt.Sprintf("work %d", k)}
}

// CarriedBy returns the library's engine. A nil library has the first of Engines.
func (l *Library) CarriedBy() *Engine {
	if l == nil || l.Engine == nil {
		return Engines[0]
	}
	return l.Engine
}

// ClosedForm returns an error unless there is a closed form of the library's messages, which is so
// if the engine is Proto.
func (l *Library) ClosedForm() error {
	if e := l.CarriedBy(); e != Proto {
		return fmt.Errorf("library %s: no closed form is known for messages of the engine %s: measure them, or trace one", l.Name, e.Name)
	}
	return nil
}
