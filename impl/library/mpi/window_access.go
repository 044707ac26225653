package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// This file has the origin side of one-sided communication: accesses to memory of other ranks.

// windowOrigin is the state of this rank's accesses to memory of others.
type windowOrigin struct {
	epoch       epoch
	hasAccesses bool // the program has made accesses in this epoch
	noCheck     bool // LockAll was called with NoCheck: no locks are needed
	serial      uint32

	targets     map[int]*targetState
	targetRanks []int // targets that have a state, in order of creation

	startGroup  []int // the group passed to Start
	lockedCount int   // number of targets locked by Lock

	fenceCount   int     // number of fences so far
	issuedByRank []int64 // number of accesses since the last fence, by target; nil: none

	pending           []pendingAccess // operations that are not known to be finished
	pendingAfterSweep int             // their number when finished ones were last removed
	pendingReleases   []pendingAccess // notifications to targets that a lock may be free

	activeCompletions int             // calls of completeLocal under way, in different threads
	pendingScratch    []pendingAccess // memory for one of those calls
}

// epoch is the kind of access epoch that is open.
type epoch uint8

const (
	noEpoch epoch = iota
	fenceEpoch
	startEpoch
	lockEpoch
	lockAllEpoch
)

func (x epoch) String() string {
	return [...]string{"no epoch", "an epoch of Fence", "an epoch of Start", "an epoch of Lock", "an epoch of LockAll"}[x]
}

// targetState is what an origin knows of one target.
type targetState struct {
	rank              int
	lock              lockState
	exclusive         bool // the lock is exclusive
	mayHaveIncomplete bool // some accesses may not be complete at the target
	unusedPosts       int  // number of exposures by the target, less the epochs of Start that used them
	awaitsExposure    bool // it is in the group of Start, and this epoch has not used an exposure yet

	hasAccumulateMessages bool // accumulates were messages, which atomic operations of the machine would overtake
}

// lockState says whether this rank has locked the memory of a target.
type lockState uint8

const (
	unlocked lockState = iota
	lockedNoCheck
	locked
)

// pendingAccess is an operation of an access. Until it finishes, memory of the program is in use.
type pendingAccess struct {
	op             *engine.Op
	target         int
	ownedByRequest bool   // by a request of the program, which may reuse the operation
	generation     uint32 // the operation's generation, if it is owned by a request
}

// isFinished reports whether the access no longer uses memory of the program.
func (p *pendingAccess) isFinished() bool {
	return p.op.IsFinished() || p.ownedByRequest && p.op.Generation() != p.generation
}

// release releases the operation of a finished access, unless a request of the program owns it.
func (p *pendingAccess) release(e *engine.Rank) {
	if !p.ownedByRequest {
		e.ReleaseService(p.op)
	}
}

// access has the arguments of one access to a target's memory.
type access struct {
	kind         requestKind
	op           *Op
	origin       Buffer // data to send; no type: none
	result       Buffer // buffer for the result; no type: none
	target       int
	displacement int // in units of the target
	count        int // number of elements at the target
	targetType   *Datatype
	elementType  *Datatype // type of the elements that op combines
	byRequest    bool      // the program completes it by a request
}

// Put copies origin to the memory of a target: to count elements of type t, offset displacement
// units from the start (MPI_Put). Like other accesses it is complete after the call that ends the
// epoch, or after Flush.
func (w *Window) Put(origin Buffer, target, offset, count int, t *Datatype) {
	w.enterCall("Window.Put")
	w.startAccess(&access{kind: putRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t})
}

// Get copies data from the memory of a target to result (MPI_Get). Arguments are those of Put.
func (w *Window) Get(result Buffer, target, offset, count int, t *Datatype) {
	w.enterCall("Window.Get")
	w.startAccess(&access{kind: getRequest, result: result, target: target, displacement: offset, count: count, targetType: t})
}

// Accumulate combines data with that in a target's memory (MPI_Accumulate). It is atomic for each
// element, and accumulates of one origin to the same location are ordered. op is a predefined
// operation or Replace.
func (w *Window) Accumulate(origin Buffer, target, offset, count int, t *Datatype, op *Op) {
	w.enterCall("Window.Accumulate")
	w.startAccess(&access{kind: accumulateRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t, op: op})
}

// GetAccumulate is Accumulate that also returns the previous data in result (MPI_Get_accumulate).
// With NoOp the data is not changed, and origin is ignored.
func (w *Window) GetAccumulate(origin, result Buffer, target, offset, count int, t *Datatype, op *Op) {
	w.enterCall("Window.GetAccumulate")
	w.startAccess(&access{kind: getAccumulateRequest, origin: origin, result: result, target: target, displacement: offset, count: count, targetType: t, op: op})
}

// FetchAndOp is GetAccumulate of one element (MPI_Fetch_and_op).
func (w *Window) FetchAndOp(origin, result Buffer, target, offset int, op *Op) {
	w.enterCall("Window.FetchAndOp")
	if _, basic := elementIndex(result.Type); !basic {
		w.comm.engine.Fail(engine.ErrType, "%v is not a predefined datatype", result.Type)
	}
	w.startAccess(&access{kind: getAccumulateRequest, origin: origin, result: result, target: target, displacement: offset, count: 1, targetType: result.Type, op: op})
}

// CompareAndSwap copies an element of a target's memory to result, and replaces it with origin if
// it equals compare (MPI_Compare_and_swap). Elements are integers, bytes or logical values.
func (w *Window) CompareAndSwap(origin, compare, result Buffer, target, offset int) {
	w.enterCall("Window.CompareAndSwap")
	t := result.Type
	if i, basic := elementIndex(t); !basic || t == Packed || t != Int128 && i > slices.Index(accumulateTypes[:], Uint64) {
		w.comm.engine.Fail(engine.ErrType, "%v cannot be compared: elements are integers, bytes or truth values", t)
	}
	var both [32]byte
	n := t.Size()
	w.comm.checkBuffer(compare).Pack(both[:n], 0)
	w.comm.checkBuffer(origin).Pack(both[n:2*n], 0)
	w.startAccess(&access{kind: compareRequest, origin: Buffer{Bytes: both[:2*n], Count: 2 * n, Type: Byte}, result: result, target: target, displacement: offset, count: 1, targetType: t})
}

// Rput is Put with a request (MPI_Rput). The request is complete when the program may reuse its own
// memory. Rput, Rget, Raccumulate and RgetAccumulate are valid in epochs of Lock and LockAll only.
func (w *Window) Rput(origin Buffer, target, offset, count int, t *Datatype) Request {
	w.enterCall("Window.Rput")
	return w.startRequestAccess(&access{kind: putRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t})
}

// Rget is Get with a request (MPI_Rget), which is complete when the data has arrived.
func (w *Window) Rget(result Buffer, target, offset, count int, t *Datatype) Request {
	w.enterCall("Window.Rget")
	return w.startRequestAccess(&access{kind: getRequest, result: result, target: target, displacement: offset, count: count, targetType: t})
}

// Raccumulate is Accumulate with a request (MPI_Raccumulate).
func (w *Window) Raccumulate(origin Buffer, target, offset, count int, t *Datatype, op *Op) Request {
	w.enterCall("Window.Raccumulate")
	return w.startRequestAccess(&access{kind: accumulateRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t, op: op})
}

// RgetAccumulate is GetAccumulate with a request (MPI_Rget_accumulate).
func (w *Window) RgetAccumulate(origin, result Buffer, target, offset, count int, t *Datatype, op *Op) Request {
	w.enterCall("Window.RgetAccumulate")
	return w.startRequestAccess(&access{kind: getAccumulateRequest, origin: origin, result: result, target: target, displacement: offset, count: count, targetType: t, op: op})
}

func (w *Window) startRequestAccess(a *access) Request {
	if w.origin.epoch != lockEpoch && w.origin.epoch != lockAllEpoch {
		w.failSync("accesses with a request need Lock or LockAll, and this is %v", w.origin.epoch)
	}
	a.byRequest = true
	o := w.startAccess(a)
	if o == nil {
		o = w.comm.engine.NewFinishedOp(false, engine.Status{})
	} else {
		w.comm.engine.HandOpToProgram(o)
		w.trackPending(pendingAccess{o, a.target, true, o.Generation()})
	}
	return w.comm.newRequest(o)
}

// startAccess starts an access. If the access has a request, it returns the operation that
// completes it, or nil if it is already complete.
func (w *Window) startAccess(a *access) *engine.Op {
	if a.target == ProcNull {
		return nil
	}
	w.comm.checkRank(a.target)
	w.checkAccess(a)
	w.checkEpoch(a.target)
	size := a.count * a.targetType.Size()
	if size == 0 {
		return nil
	}
	h := requestHeader{kind: a.kind, offset: a.displacement, size: size}
	w.checkRange(a, &h)
	if a.op != nil {
		h.op = uint8(slices.Index(accumulateOps[:], a.op))
	}
	if a.elementType != nil {
		i, _ := elementIndex(a.elementType)
		h.element = uint8(i)
	}
	w.origin.hasAccesses = true
	w.checkConflicts(a, &h)
	if a.target == w.comm.rank || w.sharedMemory != nil {
		w.accessLocally(a, &h)
		return nil
	}
	if w.executeAtomically(a, &h) {
		return nil
	}
	if o := w.accessDirectly(a, &h); o != nil {
		if a.byRequest {
			return o
		}
		w.trackOperation(o, a.target)
		return nil
	}
	return w.sendAccess(a, &h)
}

// maxAccessBytes limits an access so that sums of displacements do not overflow.
const maxAccessBytes = 1 << 47

// checkAccess checks the arguments that do not depend on the target.
func (w *Window) checkAccess(a *access) {
	c := w.comm
	if a.count < 0 {
		c.engine.Fail(engine.ErrCount, "%d elements: a count is not negative", a.count)
	}
	c.checkType(Buffer{Count: a.count, Type: a.targetType})
	if most := max(a.targetType.Size(), a.targetType.Extent(), -a.targetType.Extent()); most > 0 && a.count > maxAccessBytes/most {
		c.engine.Fail(engine.ErrCount, "%d elements of %d bytes are more than memory can have", a.count, a.targetType.Extent())
	}
	size := a.count * a.targetType.Size()
	if a.op == NoOp || a.kind == getRequest {
		a.origin = Buffer{}
	}
	if a.origin.Type != nil && a.kind != compareRequest {
		c.checkBuffer(a.origin)
		w.checkSameSize("the data", a.origin.Len(), size)
	}
	if a.result.Type != nil {
		c.checkBuffer(a.result)
		w.checkSameSize("the memory for the result", a.result.Len(), size)
		if a.result.Overlaps() {
			c.engine.Fail(engine.ErrType, "elements of %v overlap in the buffer: what is read would be written over", a.result.Type)
		}
	}
	if a.kind == accumulateRequest || a.kind == getAccumulateRequest {
		w.checkOperation(a)
	}
}

func (w *Window) checkSameSize(what string, have, want int) {
	if have != want {
		w.comm.engine.Fail(engine.ErrType, "%s has %d bytes, and the elements at the target have %d", what, have, want)
	}
}

// checkOperation fails if the operation does not support the elements, and sets the element type.
func (w *Window) checkOperation(a *access) {
	if !slices.Contains(accumulateOps[:], a.op) {
		w.comm.engine.Fail(engine.ErrOp, "the operation must be one of MPI's: accumulates do not take those of programs")
	}
	if a.op == Replace || a.op == NoOp {
		return
	}
	if (Buffer{Count: a.count, Type: a.targetType}).Len() == 0 { // no elements, so nothing is combined
		a.elementType = Byte
		return
	}
	for _, t := range []*Datatype{a.targetType, a.origin.Type} {
		if _, ok := elementIndex(t); ok {
			a.elementType = t
		}
	}
	if a.elementType == nil {
		if a.elementType = combinedElementType(a.targetType, a.op); a.elementType == nil {
			w.comm.engine.Fail(engine.ErrType, "elements of %v are of several kinds: accumulates take one", a.targetType)
		}
	}
	if w.SubstituteOp != nil && w.SubstituteOp(a.op, a.elementType) != nil {
		w.comm.ReportLogicalOfFloats(a.op, a.elementType)
		return
	}
	w.comm.CheckOp(a.op, a.elementType)
}

// combinedElementType returns the basic type of which t consists, for MaxLoc and MinLoc a type of
// pairs. It returns nil if t contains several types.
func combinedElementType(t *Datatype, op *Op) *Datatype {
	if op != MaxLoc && op != MinLoc {
		return t.ElementType()
	}
	size := t.Size()
	kinds := Buffer{Count: 1, Type: t}.KindSum(size)
	for _, pair := range accumulateTypes[firstPairType:] {
		n := size / pair.Size()
		if n*pair.Size() == size && kinds == (Buffer{Count: n, Type: pair}).KindSum(size) {
			return pair
		}
	}
	return nil
}

// elementIndex returns the number of an element type in requests.
func elementIndex(t *Datatype) (int, bool) {
	i := slices.Index(accumulateTypes[:], t)
	return i, i >= 0
}

// checkRange fails if an access is not within the target's memory, and sets its location in h.
func (w *Window) checkRange(a *access, h *requestHeader) {
	low, end := Buffer{Count: a.count, Type: a.targetType}.DataRange()
	if w.flavor != DynamicWindow {
		s := w.spanOf(a.target)
		if a.displacement < 0 {
			w.comm.engine.Fail(ErrDisp, "displacement %d is negative", a.displacement)
		}
		if a.displacement > s.size/s.displacementUnit || a.displacement*s.displacementUnit+low < 0 || a.displacement*s.displacementUnit+end > s.size {
			w.comm.engine.Fail(ErrRMARange, "displacement %d of unit %d: the access is from byte %d to byte %d of the window of rank %d, which has %d bytes",
				a.displacement, s.displacementUnit, a.displacement*s.displacementUnit+low, a.displacement*s.displacementUnit+end, a.target, s.size)
		}
		h.offset = a.displacement * s.displacementUnit
	}
	if a.targetType.IsContiguous() {
		h.offset += low
		return
	}
	h.layoutBytes = -1 // the layout is encoded when the request is sent
}

// targetOf returns the state of a target.
func (w *Window) targetOf(rank int) *targetState {
	t := w.origin.targets[rank]
	if t == nil {
		t = &targetState{rank: rank}
		w.origin.targets[rank] = t
		w.origin.targetRanks = append(w.origin.targetRanks, rank)
	}
	return t
}

// checkEpoch fails if no epoch allows an access to the target. It waits until the target has
// exposed its memory.
func (w *Window) checkEpoch(target int) {
	switch w.origin.epoch {
	case noEpoch:
		w.failSync("there is no epoch: call Fence, Start, Lock or LockAll before")
	case startEpoch:
		if !slices.Contains(w.origin.startGroup, target) {
			w.failSync("rank %d is not in the group of Start", target)
		}
		w.awaitExposure(w.targetOf(target))
	case lockEpoch:
		if w.targetOf(target).lock == unlocked {
			w.failSync("rank %d is not locked", target)
		}
	case lockAllEpoch:
		if t := w.targetOf(target); t.lock == unlocked && !w.origin.noCheck {
			w.acquireLock(t, false, target == w.comm.rank || w.hasDirectAccess)
		}
	}
}

// sendAccess sends the request of an access, with its layout and data.
func (w *Window) sendAccess(a *access, h *requestHeader) *engine.Op {
	e, to := w.comm.engine, w.comm.jobRank(a.target)
	w.nextSerial(h)
	if w.origin.epoch == fenceEpoch && !w.hasDirectAccess {
		h.flags |= fenceFlag
		if w.origin.fenceCount%2 == 1 {
			h.flags |= oddFenceFlag
		}
		if w.origin.issuedByRank == nil {
			w.origin.issuedByRank = make([]int64, w.comm.size)
		}
		w.origin.issuedByRank[a.target]++
	}
	var layout []byte
	if h.layoutBytes != 0 {
		layout = Buffer{Count: a.count, Type: a.targetType}.AppendLayout(e.ScratchBuffer(0))
		h.layoutBytes = len(layout)
	}
	data, gathered := w.gatherOrigin(a)
	h.dataBytes = len(data)

	var reply *engine.Op
	if a.result.Type != nil {
		reply = w.receiveResult(a, h, to)
	}
	room := maxRequestBytes - requestHeaderBytes
	if len(layout) <= room {
		room -= len(layout)
	} else {
		h.flags |= layoutFlag
	}
	if len(data) > room {
		h.flags |= dataFlag
	}
	b := e.ScratchBuffer(maxRequestBytes)
	n := requestHeaderBytes
	h.encode(b)
	if h.flags&layoutFlag == 0 {
		n += copy(b[n:], layout)
	}
	if h.flags&dataFlag == 0 {
		n += e.Copy(b[n:], data)
	}
	w.trackOperation(e.ServiceSend(b[:n], true, to, w.comm.context, requestTag), a.target)
	if layout != nil {
		if h.flags&layoutFlag != 0 {
			w.trackOperation(e.ServiceSend(layout, true, to, w.comm.context, h.layoutTag()), a.target)
		} else {
			e.ReleaseScratch(layout)
		}
	}
	var sent *engine.Op
	switch {
	case h.flags&dataFlag != 0:
		sent = e.ServiceSend(data, gathered, to, w.comm.context, h.dataTag())
	case gathered:
		e.ReleaseScratch(data)
	}
	if a.kind != getRequest {
		w.targetOf(a.target).mayHaveIncomplete = true
	}
	switch {
	case reply != nil && a.byRequest:
		if sent != nil {
			w.trackOperation(sent, a.target)
		}
		return reply
	case reply != nil:
		w.trackOperation(reply, a.target)
	case a.byRequest:
		return sent
	}
	if sent != nil {
		w.trackOperation(sent, a.target)
	}
	return nil
}

// nextSerial assigns the next serial number to a request.
func (w *Window) nextSerial(h *requestHeader) {
	if w.origin.serial++; w.origin.serial > maxSerial {
		w.origin.serial = 1
	}
	h.serial = w.origin.serial
}

// gatherOrigin returns the origin data of an access in travel order, and whether that is a copy in
// temporary memory.
func (w *Window) gatherOrigin(a *access) ([]byte, bool) {
	if a.origin.Type == nil {
		return nil, false
	}
	if flat, ok := a.origin.ContiguousBytes(); ok {
		return flat, false
	}
	b := w.comm.engine.ScratchBuffer(a.origin.Len())
	a.origin.Gather(b, w.comm.engine.Copy)
	return b, true
}

// receiveResult starts to receive the reply to a request.
func (w *Window) receiveResult(a *access, h *requestHeader, from int) *engine.Op {
	if flat, ok := a.result.ContiguousBytes(); ok {
		return w.comm.engine.ServiceReceive(flat, nil, from, w.comm.context, h.replyTag())
	}
	return w.comm.engine.ServiceReceive(nil, &bufferLayout{a.result, w.comm.engine.Copy}, from, w.comm.context, h.replyTag())
}

// trackOperation records an operation of an access, unless it is finished.
func (w *Window) trackOperation(o *engine.Op, target int) {
	if o.IsFinished() {
		w.comm.engine.ReleaseService(o)
		return
	}
	w.trackPending(pendingAccess{op: o, target: target})
}

// trackPending records a pending access. It regularly removes finished ones.
func (w *Window) trackPending(p pendingAccess) {
	x := &w.origin
	x.pending = append(x.pending, p)
	if len(x.pending) > 2*x.pendingAfterSweep+64 {
		x.pending = slices.DeleteFunc(x.pending, func(p pendingAccess) bool {
			if p.isFinished() {
				p.release(w.comm.engine)
				return true
			}
			return false
		})
		x.pendingAfterSweep = len(x.pending)
	}
}

// completeLocal waits until accesses to a target, or to all targets, no longer use memory of the
// program.
func (w *Window) completeLocal(target int) {
	w.forgetLocal(target)
	x := &w.origin
	own, kept := x.pendingScratch, x.pending[:0] // while this thread waits, others may add and complete accesses
	x.pendingScratch = nil
	for _, p := range x.pending {
		if target == AnySource || p.target == target {
			own = append(own, p)
		} else {
			kept = append(kept, p)
		}
	}
	clear(x.pending[len(kept):])
	x.pending, x.pendingAfterSweep = kept, len(kept)
	x.activeCompletions++
	for _, p := range own {
		w.comm.engine.AwaitService(w.describeWait(engine.WaitAccess, p.target), p.isFinished)
		p.release(w.comm.engine)
	}
	x.activeCompletions--
	clear(own)
	x.pendingScratch = own[:0]
	if x.activeCompletions > 0 {
		w.comm.engine.AwaitService(w.describeWait(engine.WaitAccess, w.comm.rank), func() bool { return x.activeCompletions == 0 })
	}
}

// describeWait describes what the rank waits for, to explain a deadlock.
func (w *Window) describeWait(cause engine.WaitCause, rank int) engine.WaitDescription {
	return engine.WaitDescription{Cause: cause, Peer: w.comm.jobRank(rank), Context: w.comm.context, Tag: engine.AnySourceOrTag}
}
