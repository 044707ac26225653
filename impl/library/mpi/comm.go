// Package mpi is the message-passing interface that programs call. It has the semantics of MPI and
// its names without the prefix: MPI_Comm_dup is Comm.Dup.
//
// A program is a function that Run executes on every rank of a job, each with its own Comm. Calls
// do not return communication errors: a failing call ends its rank, and Run returns an *Error with
// the MPI error class, the rank and the call. Main types: Comm, Group, Buffer (elements of a
// Datatype), Request, Status, Window (one-sided communication) and File.
//
// Send checks its arguments, adds the communicator's context, which separates its messages from
// those of other communicators, and calls the rank's engine.Rank. A collective operation runs a
// schedule of package collective as a series of such messages, unless the library has its own
// method (Collectives). A one-sided access is a request, which the target serves within its own
// calls, or which the machine carries out directly. Spare ranks have no program until Spawn starts
// one; a process table, which all ranks share, lists spare ranks and open ports.
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

// Wildcards for receives and probes, and the rank to and from which nothing is sent.
const (
	AnySource = -1
	AnyTag    = -1
	ProcNull  = -2
)

// Comm is a communicator (MPI_Comm). A Comm value belongs to one rank of the job.
type Comm struct {
	engine        *engine.Rank
	rank          int
	size          int             // number of ranks that can be addressed
	context       uint32          // context of point-to-point messages; context+1 is for collective operations
	members       []int           // ranks of the job, by rank of the communicator; nil: the same ranks
	rankOfJobRank []int32         // rank of the communicator, or −1, by rank of the job; nil: the same ranks
	lastContext   *uint32         // the highest context that this rank has used
	state         *rankState      // shared by all communicators of the rank
	optional      *optionalFields // fields that few communicators need; nil: none
	outerBuffers  uint32          // context whose attached buffer is used if this one has none; 0: the rank's buffer
}

// Rank returns the rank of the caller, from 0 to Size()−1.
func (c *Comm) Rank() int { return c.rank }

// Size returns the number of ranks (MPI_Comm_size). For an intercommunicator it is the size of the
// local group.
func (c *Comm) Size() int {
	if x := c.interFields(); x != nil {
		return x.comm.size
	}
	return c.size
}

// Counts yields the counters of the rank's engine, such as requests, and those of the library's
// Collectives, by name.
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

// Wtime returns the time of this rank's clock (MPI_Wtime). On an emulated machine all ranks have
// the same clock.
func (c *Comm) Wtime() unit.Time {
	c.engine.CheckGoroutine("Wtime")
	return c.engine.Port().Now()
}

// Compute keeps the processor busy for d, while transfers continue. On an emulated machine it is an
// error if the clock would pass the latest representable time.
func (c *Comm) Compute(d unit.Time) {
	c.engine.CheckGoroutine("Compute")
	if d < 0 {
		c.engine.FailCall("Compute", engine.ErrArg, "a time of %v is negative", d)
	}
	c.engine.Port().Delay(d)
}

// jobRank returns the rank in the job of a rank of the communicator.
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

// allreduceMax returns the maximum of v over all ranks.
func (c *Comm) allreduceMax(v uint32) uint32 { return c.allreduceMaxTagged(v, 0) }

// allreduceMaxTagged is allreduceMax with a tag for its messages, so that several threads can call
// it at the same time.
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

// failRank and failTag are separate functions so that the checks that call them are inlined.
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

// rankState is the state that all communicators of a rank share, apart from the engine.
type rankState struct {
	tuning          *collective.Tuning
	nodes           *collective.Nodes      // which ranks of the job share a node; nil: unknown
	collectives     Collectives            // the library's methods; nil: none
	onBroadcast     func(bytes int)        // called for each broadcast; nil: no function
	exchangeOrder   model.ExchangeOrder    // of the library
	operation       collectiveOperation    // the collective operation under way; there is one at a time
	workBuffer      []byte                 // for that operation
	errorHandlers   map[uint32]commHandler // by context of the communicator; no entry: ErrorsAreFatal
	programEnded    bool                   // the rank's program has returned
	scratchBuffer   []byte                 // for results that are not used
	callHistory     check.CallHistory      // nil: calls are not recorded
	createdComms    []weak.Pointer[Comm]   // used to name ranks in errors
	reservedNumbers uint32                 // number of contexts reserved by ReserveNumber
	isFull          func() bool            // reports whether the program must not create another communicator; nil: no limit
	windows         []*Window              // not yet freed, in order of creation
	files           []*File                // not yet closed, in order of creation
	lockRegisters   uint                   // bit set of the registers that hold locks of windows
	processMemory   *processMemory         // shared by the ranks of this process
	nullFileComm    *Comm                  // its error handler gets errors without a file; nil: not used
	isMultithreaded bool                   // several threads of the program make calls
	directory       processDirectory       // the job's; nil: none
	isIdleSpare     bool                   // this is a spare rank without a program
}

// Keyval is the key of a communicator attribute, with the functions called when the attribute is
// copied or deleted.
type Keyval struct {
	copy   func(c *Comm, value any) (copied any, keep bool)
	delete func(c *Comm, value any)
	freed  bool
}

// NewKeyval creates a key (MPI_Comm_create_keyval). Dup calls copy, which returns the value for the
// new communicator and whether it gets one; if copy is nil, it does not. delete is called when an
// attribute is deleted or replaced, or when its communicator is freed. It may be nil.
func NewKeyval(copy func(c *Comm, value any) (copied any, keep bool), delete func(c *Comm, value any)) *Keyval {
	return &Keyval{copy: copy, delete: delete}
}

// CopyAttribute copies an attribute unchanged (MPI_COMM_DUP_FN).
func CopyAttribute(_ *Comm, value any) (any, bool) { return value, true }

// Free ends the use of the key for new attributes (MPI_Comm_free_keyval). Existing attributes
// remain.
func (k *Keyval) Free() { k.freed = true }

// The attributes of every communicator.
var (
	TagUB         = &Keyval{} // the largest tag, an int
	Host          = &Keyval{} // the rank of a host process: ProcNull, because there is none
	IO            = &Keyval{} // the rank that can do input and output: AnySource, because all can
	WtimeIsGlobal = &Keyval{} // whether all clocks are known to be synchronized: false
)

// attributeList has the attributes in the order in which they were set.
type attributeList []attribute

type attribute struct {
	key   *Keyval
	value any
}

func (a attributeList) indexOf(k *Keyval) int {
	return slices.IndexFunc(a, func(x attribute) bool { return x.key == k })
}

// SetAttribute sets an attribute of the communicator and replaces its previous value
// (MPI_Comm_set_attr).
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

// Attribute returns the value of an attribute, and whether the communicator has it
// (MPI_Comm_get_attr).
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

// DeleteAttribute removes an attribute (MPI_Comm_delete_attr).
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
