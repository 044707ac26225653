package model

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// Mode is one of MPI's four send modes.
type Mode uint8

// The send modes.
const (
	StandardMode Mode = iota
	SynchronousMode
	ReadyMode
	BufferedMode
	NumModes
)

var modeNames = [NumModes]string{"standard", "synchronous", "ready", "buffered"}

func (m Mode) String() string { return modeNames[m] }

// Library is a message-passing library on a machine: the engine that carries its messages, the
// costs and settings of that engine, and how MPI uses it.
type Library struct {
	Name        string
	Description string
	Engine      *Engine             // carries the messages; nil: the first of Engines
	Software    [MaxCosts]unit.Time // cost of one unit of each kind of the engine's work, by CostKey

	// ExpectedError is the part within which nine of ten times of single messages are predicted:
	// those that a calibration left out when it was tried (loggp calibrate); 0: not known.
	ExpectedError float64

	// The settings of each engine that has some. An engine reads its own.
	Proto  ProtoSettings
	MBCF   MBCFSettings
	Start  StartSettings
	Aclmpl AclmplSettings
	NCCL   NCCLSettings

	// The settings of MPI above the engine, and of the machine's TCP below it.
	Decisions   string                 // name of the collective decisions that follow Collectives (model/collective); none: the usual ones
	Collectives []CollectiveRule       // the first that applies chooses a collective algorithm; none: not known
	Exchange    ExchangeOrder          // order of sends in MPI_Alltoallv; "": ExchangeInTurn
	Compiled    *CompiledCommunication // compiled communication; nil: none
	Sockets     *Sockets               // of TCP; nil: as the system has them
}

// ExchangeOrder is the order in which a rank sends in MPI_Alltoallv and MPI_Alltoallw.
type ExchangeOrder string

// The orders.
const (
	ExchangeInTurn ExchangeOrder = "in-turn" // one send after the other, the first to the next rank
	ExchangePosted ExchangeOrder = "posted"  // all sends are started, the first to the next rank
	ExchangeByRank ExchangeOrder = "ranked"  // all sends are started, the first to rank 0
)

// ExchangeOrders are all orders.
var ExchangeOrders = []ExchangeOrder{ExchangeInTurn, ExchangePosted, ExchangeByRank}

// CompiledCommunication is compiled communication as in CC-MPI (impl/library/ccmpi): multicast, and
// exchanges in phases.
type CompiledCommunication struct {
	WindowPackets         int          // packets of a sender that not all receivers have acknowledged, at most
	PacketBytes           int          // bytes of a packet with its header; 0: as many as a datagram has room for
	RetransmitTimeout     unit.Time    // until a packet is sent again, if nothing new was acknowledged
	PacketCost            unit.Time    // of the sender's processor for a packet of a multicast, beside the datagram's
	ByteCost              unit.PerByte // of it for a byte of a packet
	Scheduler             string       // of exchanges whose pattern is found at run time: a name of model/phases
	ShortMessageThreshold int          // messages shorter than so many bytes form the last phase together
	ScheduleTime          unit.Time    // to schedule a message at run time
	BarrierTimePerMessage unit.Time    // processor time for a message that a rank receives in a barrier, beside the message's
	MaxUnicastBytes       int          // longest message of MPI_Allgather that is sent without phases
	MaxMulticastBytes     int          // longest message above Unicast that MPI_Allgather multicasts; longer ones go in phases
	MaxAggregateBytes     int          // bytes of each rank up to which MPI_Scatter multicasts those of all ranks together
}

// Sockets is how a library uses the TCP of an Ethernet.
type Sockets struct {
	BufferBytes       int  // bytes of the buffers that it asks for, one for each direction; 0: those of the system
	BuffersUnsentData bool // data that finds no room in a socket waits in the library, which writes to other sockets meanwhile

	// ReadsWholePackets says that a rank which begins to read a packet waits for all of it, and
	// that a rank whose send waits reads only if it sends to a rank above its own.
	ReadsWholePackets bool
}

// CollectiveRule chooses the algorithm of a collective operation. Both are names of package
// collective.
type CollectiveRule struct {
	Operation string
	Peers     Peers // IntraPeers: all ranks are in one node; InterPeers: they are in several
	MaxRanks  int   // at most; 0: any number
	MaxBytes  int   // longest data in bytes, or longest block if each rank has one; negative: no limit
	Algorithm string
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
	if e := l.CarriedBy(); e != ProtoEngine {
		return fmt.Errorf("library %s: no closed form is known for messages of the engine %s: measure them, or trace one", l.Name, e.Name)
	}
	return nil
}
