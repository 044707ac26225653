// Package device is the waist of the system: what a message-passing library asks of a machine, and all that it may
// know of it.
//
// A World runs one program per rank and gives each a Port. Below it time is virtual or real, ranks are coroutines,
// goroutines or processes, wires are emulated or not; above it nobody can tell. The laws stated here are executed by
// the suite in devicetest.
package device

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// World runs jobs.
type World interface {
	// Run runs program once per rank, each with its own Port, and returns when all have ended.
	//
	// The first failure ends the job: a program that returns an error or panics makes Run stop the other ranks where
	// they wait, or at their next call, and return that error, a panic as a *Failure. A world that can see that every rank
	// which is left waits and nothing is under way returns a *Deadlock. A world may be run more than once, one run at a
	// time; every run starts anew.
	Run(program func(Port) error) error
}

// HeadWords is the length of a Head.
const HeadWords = 5

// Head is the head of a packet: words whose meaning is between the users of the ports.
type Head [HeadWords]uint64

// Packet is what travels between ranks: a head of a few words and any number of bytes.
type Packet struct {
	Src  int  // the sender; set by the world
	Head Head // for the user of the port alone
	Data []byte
}

// Port is one rank's view of the machine. Only that rank's program may use it.
//
// Packets from one rank to another arrive in the order in which they were sent, once each, unchanged; between
// different pairs there is no order. A rank may send to itself. What is sent to a rank whose program has ended is dropped.
// Only Recv(true), Send into a full network and Counter.Add may block, and each does so only for other ranks' sake:
// whoever blocks is released when the others go on.
type Port interface {
	Rank() int
	Size() int

	// Tier says how near a rank is. It is as near the other way round, and a rank is nearest to itself.
	Tier(rank int) model.Tier

	// Node names the hardware that the rank runs on, always alike. Ranks that are near each other are on the same.
	Node() string

	// Now returns the rank's clock, as coarse as the clock of the machine. It never goes back, and time passes in a loop that reads it.
	Now() unit.Time

	// Tick returns the clock's step: no two readings that differ do so by less, but for what is lost when they are rounded to nanoseconds.
	Tick() unit.Time

	// Spend charges n units of software work to an emulated processor. Where work takes its own time it does nothing.
	Spend(w model.Work, n int)

	// Delay lets the processor be busy with something else for d. Transfers go on meanwhile.
	Delay(d unit.Time)

	// Copy copies as copy does, and charges the copy to an emulated processor.
	Copy(dst, src []byte) int

	// Send sends a packet. The port has taken head and data when Send returns; it neither keeps p nor changes it. It may
	// wait until dst takes packets, in Recv or in a Send that waits itself: ranks that all send before they receive do not
	// deadlock.
	Send(dst int, p *Packet)

	// Recv takes the next packet. If there is none it waits for one, or returns nil if block is false; time passes
	// in a loop of such calls, so it sees what is sent. The packet and its data belong to the port: they stay valid until the
	// next call of Recv, and are read-only.
	Recv(block bool) *Packet

	// NotifyExit asks for a packet when the program of another rank has ended: from that rank, with
	// this head and no data, behind all that it has sent. If the program has ended already, the
	// packet comes soon. A rank that asks several times before the end gets one packet; if it asks
	// after the end, one or more.
	NotifyExit(rank int, head Head)

	Memory() Memory   // remote memory; nil where the machine has none
	Counter() Counter // remote counters; likewise
}

// RealTime is a Port on which work takes its own time and no other: Spend does nothing, and Copy is
// copy. A library that would call them for every message may ask once and leave them out.
type RealTime interface {
	Port
	RealTime()
}

// Placer is a Port that can put the data of a packet at once where it is to be.
type Placer interface {
	Port

	// Place lets the port ask where the data of packets is to go. The answer is memory of n bytes, which the packet's data lies in when it is received, or nil,
	// and then the port knows a place itself. It may ask as soon as the head of a packet has come, in any of its calls, and not of every packet. The
	// answer may not call the port, and the memory is the port's from then on until the packet is received.
	Place(where func(src int, head *Head, n int) []byte)
}

// ErrorDetailer is a Port whose rank runs, or may run, in another process than the caller of Run. A
// rank may leave error details before its program ends, or while it is stopped. They are added to
// the error of the job: to a *Deadlock in Details; an error that the program returned has a method
// ErrorDetail that returns them.
type ErrorDetailer interface {
	Port
	SetErrorDetail(detail []byte)
}

// Key names memory that a rank has exposed.
type Key uint64

// Memory reads and writes the memory of other ranks without their help, while they compute.
//
// Put and Get only start a transfer. When it has ended, Recv returns a packet from the rank itself with the head done
// and no data: then the bytes are at the other side (Put) or in the local buffer (Get), and until then the local and the remote
// buffer must stay as they are. A packet that is sent after a Put was found done arrives after its bytes.
type Memory interface {
	// Expose lets other ranks access b under the key that it returns, until Withdraw. An empty b is fine. A rank's keys are
	// all different, and none names anything after Withdraw.
	Expose(b []byte) Key
	Withdraw(k Key)

	// Put writes b to offset off of the memory that dst exposed as k. Get reads from there into b.
	// The rank itself may be dst. An access outside of exposed memory panics in the rank that makes it, at the latest
	// where its completion would be received.
	Put(dst int, k Key, off int, b []byte, done Head)
	Get(dst int, k Key, off int, b []byte, done Head)
}

// Counters is how many counters each rank has.
const Counters = 2

// Counter is a set of registers in every rank, Counters each, zero at first.
type Counter interface {
	// Add adds delta to register r of rank dst and returns what was there. It is atomic and waits for the answer.
	Add(dst, r int, delta int64) int64
}

// Deadlock says that ranks wait and nothing can happen any more.
type Deadlock struct {
	Ranks []int // those that wait, in order
	Of    int   // how many ranks the job has

	Details map[int][]byte // by rank: what an ErrorDetailer was given
}

// Error names the first few of the ranks.
func (d *Deadlock) Error() string {
	const show = 8
	var b strings.Builder
	fmt.Fprintf(&b, "deadlock: %d of %d ranks wait and nothing is under way: rank", len(d.Ranks), d.Of)
	for i, r := range d.Ranks {
		if i == show {
			fmt.Fprintf(&b, " and %d more", len(d.Ranks)-show)
			break
		}
		fmt.Fprintf(&b, " %d", r)
	}
	return b.String()
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
