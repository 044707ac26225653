// Package mpi is the message-passing interface that programs see: communicators, sends in four
// modes, receives, requests, probes, collective operations, one-sided communication, files and
// processes, with the semantics of MPI.
//
// A program is a function that every rank of a job runs with its own Comm. Names are those of MPI
// without the prefix: MPI_Comm_dup is Comm.Dup. Communication does not return errors: a failure
// ends the rank, and Run returns it, with the MPI error class, the rank and the call.
//
// Messages are carried by an engine (package engine): one engine.Rank for each rank. A context is
// the number that separates the messages of communicators. A collective operation runs the schedule
// of an algorithm of package collective, or the method of a library that brings its own
// (Collectives). One-sided accesses are requests that the target rank serves within its own calls,
// unless the machine carries them out directly. Spare ranks have no program until Spawn starts one
// on them; the process table, which the ranks of a job share, lists them and the open ports.
package mpi

import (
	"encoding/binary"
	"slices"
	"weak"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// Wildcards of receives and probes, and the rank with which communication has no effect.
const (
	AnySource = -1
	AnyTag    = -1
	ProcNull  = -2
)

// Comm is a communicator: ranks that talk among themselves. It belongs to one rank of the job.
type Comm struct {
	engine        *engine.Rank
	rank          int
	size          int             // of those that can be addressed
	context       uint32          // of what the program sends; the one above it is for collective operations
	members       []int           // ranks of the job; nil: the same
	rankOfJobRank []int32         // by rank of the job, the rank here, or −1; nil: the same
	lastContext   *uint32         // the highest context that this rank has used
	state         *rankState      // of the rank, the same in all its communicators
	optional      *optionalFields // what few communicators have; nil: nothing
	outerBuffers  uint32          // the context whose buffer is used if there is none of its own; 0: that of the rank
}

// Rank returns the rank of the caller, from 0 to Size()−1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks; of a communicator between two groups, of those on this side.
func (c *Comm) Size() int {
	if x := c.interFields(); x != nil {
		return x.comm.size
	}
	return c.size
}

// Counts yields, by name, the counters of the rank's engine, such as requests, and those of the
// library's own collective operations, if they have any.
func (c *Comm) Counts(yield func(name string, n int64) bool) {
	c.engine.CheckGoroutine("Counts")
	more := true
	c.engine.Counts(func(name string, n int64) bool {
		more = yield(name, n)
		return more
	})
	if c.state.collectives != nil && more {
		c.state.collectives.Counts(yield)
	}
}

// Wtime returns the time of this rank's clock. On an emulated machine all clocks show the same.
func (c *Comm) Wtime() unit.Time {
	c.engine.CheckGoroutine("Wtime")
	return c.engine.Port().Now()
}

// Compute keeps the processor busy for d. Transfers go on meanwhile. On an emulated machine it is
// an error if virtual time would end before that.
func (c *Comm) Compute(d unit.Time) {
	c.engine.CheckGoroutine("Compute")
	if d < 0 {
		c.engine.FailCall("Compute", engine.ErrArg, "a time of %v is negative", d)
	}
	c.engine.Port().Delay(d)
}

// jobRank returns the rank in the job.
func (c *Comm) jobRank(rank int) int {
	if c.members == nil || rank < 0 {
		return rank
	}
	return c.members[rank]
}

// rankOf returns the rank in the communicator of a rank of the job.
func (c *Comm) rankOf(world int) int {
	if c.rankOfJobRank == nil || world < 0 {
		return world
	}
	return int(c.rankOfJobRank[world])
}

// allreduceMax returns the largest value that a rank gives.
func (c *Comm) allreduceMax(v uint32) uint32 { return c.allreduceMaxTagged(v, 0) }

// allreduceMaxTagged is allreduceMax by messages with a tag, for threads that call it at a time.
func (c *Comm) allreduceMaxTagged(v uint32, tag int) uint32 {
	c.beginCollective(tag)
	var mine, theirs [4]byte
	binary.LittleEndian.PutUint32(mine[:], v)
	c.allreduceOnTree(tag, mine[:], theirs[:], func() {
		if binary.LittleEndian.Uint32(theirs[:]) > binary.LittleEndian.Uint32(mine[:]) {
			mine = theirs
		}
	})
	return binary.LittleEndian.Uint32(mine[:])
}

func (c *Comm) checkRank(r int) {
	if uint(r) >= uint(c.size) {
		c.failRank(r)
	}
}

// failRank and failTag are functions of their own so that the checks are inlined.
func (c *Comm) failRank(r int) {
	c.checkNotFreed()
	c.engine.Fail(engine.ErrRank, "rank %d is not in a communicator of %d", r, c.size)
}

func (c *Comm) failTag(tag int) {
	c.engine.Fail(engine.ErrTag, "tag %d: tags are from 0 to %d", tag, MaxTag)
}

func (c *Comm) checkTag(tag int) {
	if uint(tag) > MaxTag {
		c.failTag(tag)
	}
}

// MaxTag is the largest tag (MPI_TAG_UB).
const MaxTag = 1<<31 - 1

// rankState is the state, apart from the engine, that all communicators of a rank share.
type rankState struct {
	tuning          *collective.Tuning
	nodes           *collective.Nodes      // of the job's ranks; nil: unknown
	collectives     Collectives            // of the library; nil: none
	onBroadcast     func(bytes int)        // is told of broadcasts; nil: no function
	exchangeOrder   model.ExchangeOrder    // of the library
	operation       collectiveOperation    // the collective operation under way; there is one at a time
	workBuffer      []byte                 // memory for it
	errorHandlers   map[uint32]commHandler // of errors, by the context of a communicator; none: ErrorsAreFatal
	programEnded    bool                   // the rank's program has returned
	scratchBuffer   []byte                 // memory for a result that is not used
	callHistory     check.CallHistory      // nil: not noted
	createdComms    []weak.Pointer[Comm]   // communicators that were created, to name ranks in errors
	reservedNumbers uint32                 // numbers for communicators
	isFull          func() bool            // the program may have no further communicator; nil: it always may
	windows         []*Window              // that are not freed, in the order in which they were made
	files           []*File                // that are not closed, likewise
	lockRegisters   uint                   // registers that have the locks of windows, in bits
	processMemory   *processMemory         // of the job
	nullFileComm    *Comm                  // of errors without a file; nil: not used
	isMultithreaded bool                   // several threads of the program call
	directory       processDirectory       // of the job; nil: there is none
	isIdleSpare     bool                   // a spare rank, which has no program
}

// Keyval is the key of an attribute of communicators, with the functions that are called when they
// are copied and freed.
type Keyval struct {
	copy   func(c *Comm, value any) (copied any, keep bool)
	delete func(c *Comm, value any)
	freed  bool
}

// NewKeyval makes a name (MPI_Keyval_create). copy is called by Dup and returns the value for the
// new communicator, if any; nil: none. delete is called when an attribute is deleted, replaced, or
// freed with its communicator; it may be nil.
func NewKeyval(copy func(c *Comm, value any) (copied any, keep bool), delete func(c *Comm, value any)) *Keyval {
	return &Keyval{copy: copy, delete: delete}
}

// CopyAttribute copies an attribute as it is (MPI_DUP_FN).
func CopyAttribute(_ *Comm, value any) (any, bool) { return value, true }

// Free ends the use of the name for new attributes (MPI_Keyval_free). Those that there are stay.
func (k *Keyval) Free() { k.freed = true }

// The attributes that every communicator has.
var (
	TagUB         = &Keyval{} // the largest tag, an int
	Host          = &Keyval{} // the rank of a host process, ProcNull as there is none
	IO            = &Keyval{} // the rank that can do input and output: AnySource, as all can
	WtimeIsGlobal = &Keyval{} // whether all clocks show the same, as far as is known: false
)

// attributeList has attributes in the order in which they were set.
type attributeList []attribute

type attribute struct {
	key   *Keyval
	value any
}

func (a attributeList) indexOf(k *Keyval) int {
	return slices.IndexFunc(a, func(x attribute) bool { return x.key == k })
}

// SetAttribute sets an attribute of the communicator, replacing its previous value (MPI_Attr_put).
func (c *Comm) SetAttribute(k *Keyval, value any) {
	c.enterCall("SetAttribute")
	switch {
	case k == nil || k.freed:
		c.engine.Fail(engine.ErrArg, "the key was freed, or is none")
	case k == TagUB || k == Host || k == IO || k == WtimeIsGlobal:
		c.engine.Fail(engine.ErrArg, "the attribute is the library's")
	}
	a := &c.ensureOptional().attributes
	if i := a.indexOf(k); i >= 0 {
		c.callDeleteFunction(k, (*a)[i].value)
		(*a)[i].value = value
		return
	}
	*a = append(*a, attribute{k, value})
}

// Attribute returns an attribute, if the communicator has it (MPI_Attr_get).
func (c *Comm) Attribute(k *Keyval) (any, bool) {
	c.enterCall("Attribute")
	switch k {
	case TagUB:
		return MaxTag, true
	case Host:
		return ProcNull, true
	case IO:
		return AnySource, true
	case WtimeIsGlobal:
		return false, true
	}
	if c.optional == nil {
		return nil, false
	}
	i := c.optional.attributes.indexOf(k)
	if i < 0 {
		return nil, false
	}
	return c.optional.attributes[i].value, true
}

// DeleteAttribute takes an attribute away (MPI_Attr_delete).
func (c *Comm) DeleteAttribute(k *Keyval) {
	c.enterCall("DeleteAttribute")
	a := &c.ensureOptional().attributes
	i := a.indexOf(k)
	if i < 0 {
		c.engine.Fail(engine.ErrArg, "the communicator has no such attribute")
	}
	value := (*a)[i].value
	*a = slices.Delete(*a, i, i+1)
	c.callDeleteFunction(k, value)
}

func (c *Comm) callDeleteFunction(k *Keyval, value any) {
	if k.delete != nil {
		k.delete(c, value)
	}
}
