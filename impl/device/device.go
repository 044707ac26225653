// Package device is the waist of the system: what a message-passing library may ask of a machine.
//
// A World runs one program per rank and gives each rank a Port. Below the port, time is virtual or
// real, ranks are coroutines, goroutines or processes, and wires are emulated or not. A program
// above it cannot tell which.
//
// Every port sends and receives packets. Everything else is an optional capability: an accessor of
// the port, which returns nil if the machine does not have it. Read Port first, then the capability
// that you need. The comments state laws, which the suite in devicetest executes.
package device

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// World runs jobs.
type World interface {
	// Run runs program once per rank, each with its own Port, and returns when all have ended.
	//
	// The first failure ends the job. If a program returns an error or panics, Run stops the other
	// ranks where they wait, or at their next call, and returns that error; a panic becomes a
	// *Failure. If all remaining ranks wait and nothing is in transit, a world that can detect this
	// returns a *Deadlock. Ranks that poll in vain, and do nothing else, may count as ranks that
	// wait. A world may run several jobs, one at a time; each has a new state.
	Run(program func(Port) error) error
}

// HeadWords is the length of a Head.
const HeadWords = 5

// Head is the head of a packet: words whose meaning the users of the ports define.
type Head [HeadWords]uint64

// Packet is what travels between ranks: a head, and any number of bytes.
type Packet struct {
	Src     int    // the sender; set by the world
	Head    Head   // the world does not look at it
	Data    []byte // of size-only data (SizeOnly) only the length arrives
	Refused bool   // in a completion: the access was refused and nothing was transferred
}

// Forever is a deadline that never comes.
const Forever = unit.Time(math.MaxInt64)

// Port is one rank's view of the machine. Only the rank's own program may use it, and one goroutine
// at a time.
//
// Order: packets from one rank to another arrive in the order in which they were sent, once each
// and unchanged. Between different pairs of ranks there is no order. A rank may send to itself. A
// packet to a rank whose program has ended is dropped.
//
// Blocking: Recv(true), Send into a full network, Counters, Watch.Wait and Datagram.Recv may block.
// Each waits for other ranks only and returns when they make progress.
//
// Errors: a call with a rank, register, key or length that its comment does not allow is a mistake
// of the program and panics. After the job has failed, any call may end the rank instead of
// returning.
type Port interface {
	Rank() int
	Size() int

	// Tier says how near a rank is. The distance is the same both ways, and no rank is nearer than
	// the rank itself.
	Tier(rank int) model.Tier

	// Node names the hardware that the rank runs on; the name does not change. Ranks of the nearest
	// tier have the same node.
	Node() string

	// Now returns the rank's clock, which has the resolution Tick. It never goes back, and it
	// advances in a loop that reads it.
	Now() unit.Time

	// Tick returns the resolution of the clock: the least difference between two readings that are
	// not equal, before they are rounded to nanoseconds.
	Tick() unit.Time

	// Spend charges n units of a kind of software work, which the library's engine declares, to an
	// emulated processor. In real time it does nothing.
	Spend(w model.CostKey, n int)

	// Delay keeps the processor busy with something else for d, which must not be negative.
	// Transfers go on meanwhile.
	Delay(d unit.Time)

	// Copy copies like the built-in copy, and charges the copy to an emulated processor.
	Copy(dst, src []byte) int

	// ChargeOperations charges n arithmetic operations on elements in memory, such as the additions
	// of a reduction, to an emulated processor. In real time it does nothing.
	ChargeOperations(n int)

	// Send sends a packet. The port has taken head and data when Send returns; it neither keeps p
	// nor changes it. Send may wait until dst takes packets, in Recv or in a Send that waits
	// itself: ranks that all send before they receive do not deadlock.
	Send(dst int, p *Packet)

	// Recv takes the next packet. If there is none it waits for one if block is true, and returns
	// nil otherwise. A loop of Recv(false) sees every packet as soon as Recv(true) would have
	// returned it. The packet and its data belong to the port: they are read-only, and valid until
	// the next Recv.
	Recv(block bool) *Packet

	// NotifyExit asks for a packet when the program of another rank has ended: from that rank, with
	// this head and no data, behind all that it has sent. If the program has ended already, the
	// packet comes soon. A rank that asks several times before the end gets one packet; if it asks
	// after the end, one or more.
	NotifyExit(rank int, head Head)

	// The optional capabilities. An accessor returns nil if the machine does not have the
	// capability, in all ranks alike. A port embeds NoCapabilities and implements the accessors of
	// the capabilities that it has.

	Memory() Memory     // read and write the memory of other ranks
	Counters() Counters // atomic registers
	Watch() Watch       // wait for the next event of any kind
	Queues() Queues     // rings that refuse when full
	Signal() Signal     // handlers at other ranks
	Channel() Channel   // short messages with priorities
	Datagram() Datagram // datagrams and multicast
	Barrier() Barrier   // of all ranks, kept by hardware
	Control() Control   // broadcasts and combinations of words, by a network of their own
	Storage() Storage   // files that take time
}

// RealTime is a Port whose clock is real: Spend and ChargeOperations do nothing, and Copy only
// copies. A library may check for it once and then omit these calls.
type RealTime interface {
	Port
	RealTime()
}

// SerializedPort is a Port whose ranks may all be in one process and run one at a time: another one
// runs only while this one is in a call of its port. Then ranks can share memory without a lock.
type SerializedPort interface {
	Port
	RanksAreSerialized() bool
}

// RanksAreSerialized reports whether a port says that ranks run one at a time.
func RanksAreSerialized(p Port) bool {
	x, ok := p.(SerializedPort)
	return ok && x.RanksAreSerialized()
}

// TimedWaiter is a Port that can wait for a packet or for a time, whichever comes first.
type TimedWaiter interface {
	Port

	// AwaitPacket waits until Recv(false) finds a packet, or until the rank's clock reaches
	// deadline. It may return earlier. It returns when Recv(true) would.
	AwaitPacket(deadline unit.Time)
}

// AwaitPacket waits for a packet or until a time, as TimedWaiter does. On another port it only
// pauses: the caller polls.
func AwaitPacket(p Port, deadline unit.Time) {
	const pause = 20 * time.Microsecond // of real time
	switch x := p.(type) {
	case TimedWaiter:
		x.AwaitPacket(deadline)
	case RealTime:
		time.Sleep(pause)
	}
}

// BufferedSender is a Port whose Send may return before the system has accepted the whole packet,
// so that a rank can send to several others at the same time. The port sends the rest in later
// calls that receive. Flush waits until all is sent, and returns false if a packet arrives before.
type BufferedSender interface {
	Port
	BuffersSends() bool // whether Send may return early on this port
	Flush() (done bool)
}

// SendCompleter is a Port whose interface may read the data of a packet from the memory of the
// sender while the processor goes on, and reports when the packet has been delivered. A library
// that does not copy the data must wait for this completion before the program may change its
// buffer.
type SendCompleter interface {
	Port

	// CompletesSends reports whether the interface does so for n bytes to a rank.
	CompletesSends(dst, n int) bool

	// SendWithCompletion sends a packet like Send, where CompletesSends holds. When the interface
	// of dst has all of it, Recv returns the completion: a packet from the rank itself with the
	// head done and no data.
	SendWithCompletion(dst int, p *Packet, done Head)
}

// PacketWaiter is a Port of an emulated machine that handles the packets of a rank while the rank
// waits, without switching to its goroutine for each.
type PacketWaiter interface {
	Port
	CanAwaitPackets() bool // whether AwaitPackets may be called on this port
	HasPacket() bool       // whether Recv would return a packet at once

	// AwaitPackets returns when h.HandlePackets has returned true. It calls the method at once, and
	// again when a packet has arrived. Later calls may come from other goroutines, while the
	// caller waits. If a call panics, AwaitPackets panics with the same value.
	AwaitPackets(h PacketHandler)
}

// PacketHandler receives the packets of a rank that waits.
type PacketHandler interface {
	// HandlePackets receives packets until PacketWaiter.HasPacket returns false, or until the wait
	// has ended. It reports whether the wait has ended. It may make any call of the rank's port.
	HandlePackets() (done bool)
}

// PacketWaiterOf returns the port as a PacketWaiter, or nil if it cannot await packets.
func PacketWaiterOf(p Port) PacketWaiter {
	if w, ok := p.(PacketWaiter); ok && w.CanAwaitPackets() {
		return w
	}
	return nil
}

// NodeMemoryPort is a Port that may have remote memory of the ranks of its own node alone: where
// the system copies between processes and the network between nodes has no remote memory, so that
// Memory returns nil, or needs memory to be registered. NodeMemory returns what keeps the laws of
// Memory for ranks of the node; else nil.
type NodeMemoryPort interface {
	Port
	NodeMemory() Memory
}

// NodeMemoryOf returns the NodeMemory of a port, or nil.
func NodeMemoryOf(p Port) Memory {
	if x, ok := p.(NodeMemoryPort); ok {
		return x.NodeMemory()
	}
	return nil
}

// DirectPlacer is a Port that can put the data of a packet directly where it is to be.
type DirectPlacer interface {
	Port

	// SetPlacement sets the function that the port asks where the data of a packet is to go. It
	// returns memory of n bytes, in which the packet's data lies when the packet is received, or
	// nil to leave the choice to the port. The port may ask in any of its calls, as soon as the
	// head of a packet has come, and need not ask for every packet. The function may not call the
	// port. The memory belongs to the port until the packet is received.
	SetPlacement(where func(src int, head *Head, n int) []byte)
}

// ErrorDetailer is a Port whose rank may run in another process than the caller of Run. A rank may
// set error details before its program ends, or while it is stopped. They are added to
// the error of the job: to a *Deadlock in Details; an error that the program returned has a method
// ErrorDetail that returns them.
type ErrorDetailer interface {
	Port
	SetErrorDetail(detail []byte)
}

// CheckedWorld is a World whose ranks run in other processes. RunChecked runs the job like Run. If
// the job succeeds, RunChecked calls check, in the process of rank 0 only, with the error details
// of all ranks, by rank, and returns its error.
type CheckedWorld interface {
	World
	RunChecked(program func(Port) error, check func(details [][]byte) error) error
}

// Deadlock is the error of a job whose remaining ranks all wait while nothing is in transit.
type Deadlock struct {
	Ranks      []int // those that wait, in order
	TotalRanks int   // ranks of the job

	RankDetails map[int][]byte // by rank: what it passed to SetErrorDetail
}

// Error names the first few of the ranks.
func (d *Deadlock) Error() string {
	const show = 8
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock: %d of %d ranks wait and nothing is under way: rank", len(d.Ranks), d.TotalRanks)
	for i, r := range d.Ranks {
		if i == show {
			fmt.Fprintf(&b, " and %d more", len(d.Ranks)-show)
			break
		}
		fmt.Fprintf(&b, " %d", r)
	}
	return b.String()
}

// ClockError is the error of a job on an emulated machine in which a rank's clock would pass the
// latest virtual time.
type ClockError struct {
	Rank   int
	Latest unit.Time
	Clock  unit.Time // of the rank, before
	Delay  unit.Time // by which the program would have advanced it; 0: a transfer would have
	Stack  []uintptr // of the call; nil: it is not known
}

func (e *ClockError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text()) }

// Text returns the error without the rank.
func (e *ClockError) Text() string {
	switch {
	case e.Delay == unit.LongestTime:
		return fmt.Sprintf("%v or more after %v are later than %v, the end of virtual time", e.Delay, e.Clock, e.Latest)
	case e.Delay > 0:
		return fmt.Sprintf("%v after %v is later than %v, the end of virtual time", e.Delay, e.Clock, e.Latest)
	}
	return fmt.Sprintf("a transfer ends later than %v, the end of virtual time", e.Latest)
}

// CheckDelay panics if a time for Delay is negative.
func CheckDelay(d unit.Time) {
	if d < 0 {
		panic(fmt.Sprintf("device: a delay of %v is negative", d))
	}
}

// Failure is a panic of a rank's program.
type Failure struct {
	Rank  int
	Value any
	Stack []byte
}

// Error gives the rank, the value and the stack of the panic.
func (f *Failure) Error() string {
	return fmt.Sprintf("rank %d: panic: %v\n%s", f.Rank, f.Value, f.Stack)
}

// Unwrap returns the value of the panic if it is an error.
func (f *Failure) Unwrap() error {
	err, _ := f.Value.(error)
	return err
}
