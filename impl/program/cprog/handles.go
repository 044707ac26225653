//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Handles and constants of mpi.h that the handlers need.
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

// The kinds of handles that programs make: bits 27 and up of their values. Below are seven bits
// that tell a handle from earlier ones in the same place, and twenty bits of the place. So they fit
// an INTEGER of Fortran's.
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

// table has the objects of one kind that a rank has made.
type table[T any] struct {
	slots []slot[T]
	free  []int32
}

type slot[T any] struct {
	value T
	used  bool
	turn  uint8
}

// add returns a handle of an object.
func (t *table[T]) add(kind uintptr, v T) uintptr {
	var i int32
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
	} else {
		i = int32(len(t.slots))
		t.slots = append(t.slots, slot[T]{})
	}
	s := &t.slots[i]
	s.value, s.used = v, true
	return kind<<kindShift | uintptr(s.turn)<<20 | uintptr(i)
}

// get returns the object of a handle; nil: it was never created, or was freed.
func (t *table[T]) get(kind, h uintptr) *T {
	i := h & (1<<20 - 1)
	if h>>kindShift != kind || i >= uintptr(len(t.slots)) {
		return nil
	}
	s := &t.slots[i]
	if !s.used || s.turn != uint8(h>>20&127) {
		return nil
	}
	return &s.value
}

func (t *table[T]) remove(h uintptr) {
	i := h & (1<<20 - 1)
	s := &t.slots[i]
	var none T
	s.value, s.used = none, false
	s.turn = (s.turn + 1) & 127
	t.free = append(t.free, int32(i))
}

// handles are the objects of a rank.
type handles struct {
	comms    table[*comm]
	groups   table[mpi.Group]
	types    table[*madeType]
	ops      table[*mpi.Op]
	handlers table[*errorHandler]
	requests table[request]
	infos    table[*info]
	messages table[*message]
	sessions table[*session]

	toolUsers           int            // calls of MPI_T_init_thread less those of MPI_T_finalize
	performance         []toolVariable // nil: they were not asked for
	controlHandles      table[int]     // indices of control variables
	performanceSessions table[bool]
	performanceHandles  table[*performanceHandle]
	windows             table[*window]
	files               table[*file]

	own, self *comm // of all ranks; of this one alone, when it was asked for
	reqs      []mpi.Request
	statuses  []mpi.Status
	indices   []int
	attached  uintptr // the buffer of buffered sends

	keyvals    map[int]*keyval
	nextKeyval int
	library    map[uintptr]*madeType // datatypes of the library's to which the program has given something

	selectedTypes map[selectedType]uintptr // handles of those of Fortran's kinds

	collectives int // non-blocking collective operations that were started

	combined uintptr // the datatype of the reduction under way
	errors   []errorCode
}

// comm is a communicator.
type comm struct {
	*mpi.Comm
	handle        uintptr
	name          string
	attributes    attributes
	neighbourhood *neighbourhood // nil: it has none
	started       int            // non-blocking collective operations
	initialized   int            // persistent ones
	partitioned   int            // the tag of the next partition that is sent
	toStarted     bool           // to programs that the rank has started
}

// request is an operation that the program has started: of messages, or collective.
type request struct {
	q mpi.Request
	p *pending // nil: it is q
}

// errorHandler is one that the program has created.
type errorHandler struct {
	*mpi.ErrorHandler
	uses int // handles that the program has got, less those that it has freed
}

// madeType is a datatype that a program has made, or to which it has given something.
type madeType struct {
	*mpi.Datatype
	name       string
	recipe     recipe
	attributes attributes
}

func (x *handles) init(world *mpi.Comm) {
	x.own = &comm{Comm: world, handle: commWorld, name: "MPI_COMM_WORLD"}
	x.keyvals, x.nextKeyval = map[int]*keyval{}, 1000
}

// comm returns a communicator.
func (r *rank) comm(h uintptr) *comm {
	if h == commWorld {
		return r.own
	}
	if c := r.comms.get(kindComm, h); c != nil {
		if (*c).Comm == nil {
			r.raiseError(mpi.ErrComm, "MPI_Comm_idup, which creates the communicator, is not complete")
		}
		return *c
	}
	switch h {
	case commSelf:
		if r.self == nil {
			r.self = &comm{Comm: r.world.Self(), handle: commSelf, name: "MPI_COMM_SELF"}
		}
		return r.self
	case commNull:
		r.raiseError(mpi.ErrComm, "the communicator is MPI_COMM_NULL: this rank is not in it, or freed it")
	}
	r.raiseError(mpi.ErrComm, "invalid communicator%s: it was freed, or never created", handleText(h))
	return nil
}

// handleText shows a handle, unless it is none: what has an address in its place differs from run
// to run.
func handleText(h uintptr) string {
	if h>>32 != 0 {
		return ""
	}
	return fmt.Sprintf(" %#x", h)
}

// addComm returns the handle of a new communicator, MPI_COMM_NULL for nil.
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

// datatype returns a datatype.
func (r *rank) datatype(h uintptr) *mpi.Datatype {
	if i := h - datatypeNull; i < uintptr(len(basicTypes)) {
		if t := basicTypes[i]; t != nil {
			return t
		}
	}
	k := r.now.persistent
	if k != nil && k.resolved.types[h] != nil {
		return k.resolved.types[h]
	}
	if t := r.types.get(kindType, h); t != nil {
		if k != nil {
			k.resolved.types[h] = r.keptType((*t).Datatype)
		}
		return (*t).Datatype
	}
	if h == datatypeNull {
		r.raiseError(mpi.ErrType, "the datatype is MPI_DATATYPE_NULL")
	}
	r.raiseError(mpi.ErrType, "invalid datatype%s: it was freed, or never created", handleText(h))
	return nil
}

// typeOf returns the name, attributes and recipe of a datatype.
func (r *rank) typeOf(h uintptr) *madeType {
	t := r.datatype(h)
	if m := r.types.get(kindType, h); m != nil {
		return *m
	}
	if r.library == nil {
		r.library = map[uintptr]*madeType{}
	}
	if r.library[h] == nil {
		r.library[h] = &madeType{Datatype: t, name: basicNames[h-datatypeNull], recipe: recipe{combiner: combinerNamed}}
	}
	return r.library[h]
}

// request returns the request at an address.
func (r *rank) request(at uintptr) (mpi.Request, *request) {
	return r.requestOf(*pointerAt[uintptr](at))
}

// requestOf returns the request of a handle; MPI_REQUEST_NULL is one that is null.
func (r *rank) requestOf(h uintptr) (mpi.Request, *request) {
	if h == requestNull {
		return mpi.Request{}, nil
	}
	q := r.requests.get(kindRequest, h)
	if q == nil {
		r.raiseError(mpi.ErrRequest, "invalid request: it was completed or freed before")
	}
	return q.q, q
}

// storeRequest stores the new state of a request. A complete one becomes MPI_REQUEST_NULL.
func (r *rank) storeRequest(at uintptr, q mpi.Request) {
	h := pointerAt[uintptr](at)
	switch {
	case !q.IsNull():
		r.requests.get(kindRequest, *h).q = q
	case *h != requestNull:
		r.requests.remove(*h)
		*h = requestNull
	}
}

func (r *rank) addRequest(at uintptr, q mpi.Request) {
	storeAt(at, r.requests.add(kindRequest, request{q: q}))
}
