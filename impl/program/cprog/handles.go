//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Handles and constants of mpi.h.
const (
	opNull         = 0x20
	commNull       = 0x100
	commWorld      = 0x101
	commSelf       = 0x102
	groupNull      = 0x108
	groupEmpty     = 0x109
	infoNull       = 0x130
	infoEnv        = 0x131
	errhandlerNull = 0x140
	errorsAreFatal = 0x141
	errorsReturn   = 0x142
	errorsAbort    = 0x143
	requestNull    = 0x180
	datatypeNull   = 0x200

	inPlace = 1

	bufferAutomatic = 2

	anySource = -1
	anyTag    = -2
	procNull  = -3
	undefined = -32766
)

// The kinds of handles that programs create, in bits 27 and up. The lower bits are a generation of
// seven bits, which distinguishes a handle from earlier ones in the same slot, and a slot number of
// twenty bits. Handles thus fit a Fortran INTEGER.
const (
	kindComm uintptr = 1 + iota
	kindGroup
	kindType
	kindOp
	kindErrhandler
	kindRequest
	kindInfo
	kindMessage
	kindSession
	kindWindow
	kindFile
)

const kindShift = 27

// handleTable has the objects of one kind that a rank has created, by handle.
type handleTable[T any] struct {
	slots []slot[T]
	free  []int32
}

type slot[T any] struct {
	value      T
	inUse      bool
	generation uint8
}

// add adds an object and returns its handle.
func (t *handleTable[T]) add(kind uintptr, v T) uintptr {
	var i int32
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
	} else {
		i = int32(len(t.slots))
		t.slots = append(t.slots, slot[T]{})
	}
	s := &t.slots[i]
	s.value, s.inUse = v, true
	return kind<<kindShift | uintptr(s.generation)<<20 | uintptr(i)
}

// get returns the object of a handle, or nil if it was freed or never created.
func (t *handleTable[T]) get(kind, h uintptr) *T {
	i := h & (1<<20 - 1)
	if h>>kindShift != kind || i >= uintptr(len(t.slots)) {
		return nil
	}
	s := &t.slots[i]
	if !s.inUse || s.generation != uint8(h>>20&127) {
		return nil
	}
	return &s.value
}

// length returns the number of objects.
func (t *handleTable[T]) length() int { return len(t.slots) - len(t.free) }

func (t *handleTable[T]) remove(h uintptr) {
	i := h & (1<<20 - 1)
	s := &t.slots[i]
	var none T
	s.value, s.inUse = none, false
	s.generation = (s.generation + 1) & 127
	t.free = append(t.free, int32(i))
}

// handles has the objects of a rank.
type handles struct {
	comms    handleTable[*comm]
	groups   handleTable[mpi.Group]
	types    handleTable[*userType]
	ops      handleTable[*mpi.Op]
	handlers handleTable[*errorHandler]
	requests handleTable[request]
	infos    handleTable[*info]
	messages handleTable[*matchedMessage]
	sessions handleTable[*session]

	toolInitCount int              // calls of MPI_T_init_thread minus calls of MPI_T_finalize
	pvarTable     []toolVariable   // nil: not yet requested
	cvarHandles   handleTable[int] // indices of control variables
	pvarSessions  handleTable[bool]
	pvarHandles   handleTable[*pvarHandle]
	windows       handleTable[*window]
	files         handleTable[*file]

	worldComm, selfComm *comm // of all ranks; of this rank alone, created on request
	requestBuffer       []mpi.Request
	statusBuffer        []mpi.Status
	indexBuffer         []int
	attachedBuffer      uintptr // the buffer attached for buffered sends

	addressOrigin uintptr // base of the relative addresses of MPI_ADDRESS in Fortran; 0: not called yet

	keyvals      map[int]*keyval
	nextKeyval   int
	libraryTypes map[uintptr]*userType // predefined datatypes that have a name or attributes from the program

	callScopes    map[*mpi.ErrorHandler]*mpi.Comm   // communicators for errors of calls that have an error handler as argument
	groupSessions map[uintptr]*session              // the sessions of groups of process sets, by group handle
	sectionTypes  map[sectionElements]*mpi.Datatype // datatypes in array sections that were last used
	selectedTypes map[selectedType]uintptr          // handles of types selected by Fortran kind

	startedCollectives int // number of nonblocking collective operations that were started

	combinedType   uintptr // the datatype of the current reduction
	userErrorCodes []userErrorCode
}

// comm is a communicator and its state in this package.
type comm struct {
	*mpi.Comm
	handle                uintptr
	name                  string
	attributes            attributes
	neighbourhood         *neighbourhood    // nil: no distributed graph topology
	startedCollectives    int               // number of nonblocking collective operations
	persistentCollectives int               // number of persistent ones
	nextPartitionTag      int               // tag of the next partition to send
	toSpawned             bool              // it connects to programs that the rank has started
	pendingHandler        *mpi.ErrorHandler // set before the MPI_Comm_idup that creates it was complete; nil: none
	attachedBuffer        uintptr           // the communicator's own buffer for buffered sends; 0: none
}

// request is an operation that the program has started: point-to-point, collective or generalized.
type request struct {
	messageRequest mpi.Request
	pending        *pendingOperation // nil: use messageRequest
}

// errorHandler is an error handler that the program has created.
type errorHandler struct {
	*mpi.ErrorHandler
	uses int // handles that the program has obtained minus those it has freed
}

// userType is a datatype that the program has created, or a predefined one to which it has given a
// name or attributes.
type userType struct {
	*mpi.Datatype
	name        string
	constructor typeConstructor
	attributes  attributes
}

func (x *handles) init(world *mpi.Comm) {
	x.worldComm = &comm{Comm: world, handle: commWorld, name: "MPI_COMM_WORLD"}
	x.keyvals, x.nextKeyval = map[int]*keyval{}, 1000
	world.LimitComms(x.isFull)
}

// maxComms is the maximum number of communicators of a rank. A program that needs more probably
// does not free them.
const maxComms = 1 << 14

func (x *handles) isFull() bool { return x.comms.length() >= maxComms }

// comm returns the communicator with a handle.
func (r *rank) comm(h uintptr) *comm {
	c := r.commOrPending(h)
	if c.Comm == nil {
		r.raiseError(mpi.ErrComm, "MPI_Comm_idup, which creates the communicator, is not complete")
	}
	return c
}

// commOrPending is comm, but also returns a communicator whose MPI_Comm_idup is not complete.
func (r *rank) commOrPending(h uintptr) *comm {
	if h == commWorld {
		return r.worldComm
	}
	if c := r.comms.get(kindComm, h); c != nil {
		return *c
	}
	switch h {
	case commSelf:
		if r.selfComm == nil {
			r.selfComm = &comm{Comm: r.world.Self(), handle: commSelf, name: "MPI_COMM_SELF"}
		}
		return r.selfComm
	case commNull:
		r.raiseError(mpi.ErrComm, "the communicator is MPI_COMM_NULL: this rank is not in it, or freed it")
	}
	r.raiseError(mpi.ErrComm, "invalid communicator%s: it was freed, or never created", describeHandle(h))
	return nil
}

// describeHandle formats a handle. It omits values that cannot be handles: they may be addresses,
// which differ from run to run.
func describeHandle(h uintptr) string {
	if h>>32 != 0 {
		return ""
	}
	return fmt.Sprintf(" %#x", h)
}

// addComm returns the handle of a new communicator, or MPI_COMM_NULL for nil.
func (r *rank) addComm(c *mpi.Comm) uintptr {
	if c == nil {
		return commNull
	}
	x := &comm{Comm: c}
	x.handle = r.comms.add(kindComm, x)
	return x.handle
}

func (r *rank) group(h uintptr) mpi.Group {
	if g := r.groups.get(kindGroup, h); g != nil {
		return *g
	}
	if h == groupEmpty {
		return r.world.Group().Include(nil)
	}
	r.raiseError(mpi.ErrGroup, "the group is MPI_GROUP_NULL, or was freed")
	return mpi.Group{}
}

func (r *rank) addGroup(g mpi.Group) uintptr {
	if g.Size() == 0 {
		return groupEmpty
	}
	return r.groups.add(kindGroup, g)
}

// datatype returns the datatype with a handle.
func (r *rank) datatype(h uintptr) *mpi.Datatype {
	if i := h - datatypeNull; i < uintptr(len(basicTypes)) {
		if t := basicTypes[i]; t != nil {
			return t
		}
	}
	k := r.currentCall.persistent
	if k != nil && k.resolved.types[h] != nil {
		return k.resolved.types[h]
	}
	if t := r.types.get(kindType, h); t != nil {
		if k != nil {
			k.resolved.types[h] = r.copyType((*t).Datatype)
		}
		return (*t).Datatype
	}
	if h == datatypeNull {
		r.raiseError(mpi.ErrType, "the datatype is MPI_DATATYPE_NULL")
	}
	r.raiseError(mpi.ErrType, "invalid datatype%s: it was freed, or never created", describeHandle(h))
	return nil
}

// userTypeOf returns the name, attributes and constructor of a datatype.
func (r *rank) userTypeOf(h uintptr) *userType {
	t := r.datatype(h)
	if m := r.types.get(kindType, h); m != nil {
		return *m
	}
	if r.libraryTypes == nil {
		r.libraryTypes = map[uintptr]*userType{}
	}
	if r.libraryTypes[h] == nil {
		r.libraryTypes[h] = &userType{Datatype: t, name: basicNames[h-datatypeNull], constructor: typeConstructor{combiner: combinerNamed}}
	}
	return r.libraryTypes[h]
}

// request returns the request at an address.
func (r *rank) request(at uintptr) (mpi.Request, *request) {
	return r.requestOf(*pointerAt[uintptr](at))
}

// requestOf returns the request with a handle. MPI_REQUEST_NULL is a null request.
func (r *rank) requestOf(h uintptr) (mpi.Request, *request) {
	if h == requestNull {
		return mpi.Request{}, nil
	}
	q := r.requests.get(kindRequest, h)
	if q == nil {
		r.raiseError(mpi.ErrRequest, "invalid request: it was completed or freed before")
	}
	return q.messageRequest, q
}

// storeRequest stores the new state of a request. A completed one becomes MPI_REQUEST_NULL.
func (r *rank) storeRequest(at uintptr, q mpi.Request) {
	h := pointerAt[uintptr](at)
	switch {
	case !q.IsNull():
		r.requests.get(kindRequest, *h).messageRequest = q
	case *h != requestNull:
		r.requests.remove(*h)
		*h = requestNull
	}
}

func (r *rank) addRequest(at uintptr, q mpi.Request) {
	storeAt(at, r.requests.add(kindRequest, request{messageRequest: q}))
}
