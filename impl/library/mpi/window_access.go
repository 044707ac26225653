package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// This file has accesses to the memory of other ranks.

// windowOrigin is what a rank knows of its accesses to the memory of others.
type windowOrigin struct {
	epoch       epoch
	hasAccesses bool // the program has made accesses in the epoch
	noCheck     bool // of LockAll: no locks are needed
	serial      uint32

	targets     map[int]*targetState
	targetRanks []int // ranks that have a state, in the order in which they got it

	startGroup  []int // ranks of the group of Start
	lockedCount int   // ranks that are locked by Lock

	fenceCount   int     // so far
	issuedByRank []int64 // accesses since the last fence, by rank; nil: none

	pending           []pendingAccess // operations that are not finished, as far as is known
	pendingAfterSweep int             // how many there were when finished ones were last removed
	pendingReleases   []pendingAccess // that tell other ranks that their locks may be free

	activeCompletions int             // calls of completeLocal of different threads
	pendingScratch    []pendingAccess // memory for one of them
}

// epoch is a period in which a rank may access memory of others.
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

// targetState is what a rank knows of its accesses to another one.
type targetState struct {
	rank              int
	lock              lockState
	exclusive         bool // the lock
	mayHaveIncomplete bool // it is not known whether all accesses are complete there
	unusedPosts       int  // how often it has exposed its memory, less the epochs of Start for that
	awaitsExposure    bool // in the group of Start, and its exposure was not yet used up
}

// lockState is whether a rank has locked memory of another one.
type lockState uint8

const (
	unlocked lockState = iota
	lockedNoCheck
	locked
)

// pendingAccess is an operation of an access: the memory of the program is in use until it is
// finished.
type pendingAccess struct {
	op             *engine.Op
	target         int
	ownedByRequest bool   // to a request of the program, which may use the operation again
	generation     uint32 // of the operation, if so
}

// isFinished reports whether the access needs the memory of the program no longer.
func (p *pendingAccess) isFinished() bool {
	return p.op.IsFinished() || p.ownedByRequest && p.op.Generation() != p.generation
}

// release gives back the operation of an access that is finished, unless it is the program's.
func (p *pendingAccess) release(e *engine.Rank) {
	if !p.ownedByRequest {
		e.ReleaseService(p.op)
	}
}

// access is an access to memory of a rank.
type access struct {
	kind         requestKind
	op           *Op
	origin       Buffer // whose data is sent; without a type: there is none
	result       Buffer // that gets data; without a type: there is none
	target       int
	displacement int // displacement in units of the target
	count        int // of elements there
	targetType   *Datatype
	elementType  *Datatype // that op combines
	byRequest    bool      // the program waits for it by a request
}

// Put copies data to the memory of a rank (MPI_Put): to count elements of a type, from displacement
// offset on. Like other accesses it is complete after the call that ends the epoch, or after Flush.
func (w *Window) Put(origin Buffer, target, offset, count int, t *Datatype) {
	w.enterCall("Window.Put")
	w.startAccess(&access{kind: putRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t})
}

// Get copies data of a rank's memory to result (MPI_Get).
func (w *Window) Get(result Buffer, target, offset, count int, t *Datatype) {
	w.enterCall("Window.Get")
	w.startAccess(&access{kind: getRequest, result: result, target: target, displacement: offset, count: count, targetType: t})
}

// Accumulate combines data with that of a rank's memory (MPI_Accumulate). Each element is combined
// as a whole, and accumulates of one rank to one place are carried out in order. The operation is
// one of MPI's, or Replace.
func (w *Window) Accumulate(origin Buffer, target, offset, count int, t *Datatype, op *Op) {
	w.enterCall("Window.Accumulate")
	w.startAccess(&access{kind: accumulateRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t, op: op})
}

// GetAccumulate is Accumulate that brings what was there before to result (MPI_Get_accumulate).
// With NoOp it changes nothing, and origin is not used.
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

// CompareAndSwap brings an element of a rank's memory to result, and replaces it by that of origin
// if it is equal to compare (MPI_Compare_and_swap). Elements are integers, bytes or truth values.
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

// Rput, Rget, Raccumulate and RgetAccumulate return a request (MPI_Rput and so on): it is complete
// when the program may use its own memory again. They are for epochs of Lock and LockAll.
func (w *Window) Rput(origin Buffer, target, offset, count int, t *Datatype) Request {
	w.enterCall("Window.Rput")
	return w.startRequestAccess(&access{kind: putRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t})
}

// Rget is Get with a request.
func (w *Window) Rget(result Buffer, target, offset, count int, t *Datatype) Request {
	w.enterCall("Window.Rget")
	return w.startRequestAccess(&access{kind: getRequest, result: result, target: target, displacement: offset, count: count, targetType: t})
}

// Raccumulate is Accumulate with a request.
func (w *Window) Raccumulate(origin Buffer, target, offset, count int, t *Datatype, op *Op) Request {
	w.enterCall("Window.Raccumulate")
	return w.startRequestAccess(&access{kind: accumulateRequest, origin: origin, target: target, displacement: offset, count: count, targetType: t, op: op})
}

// RgetAccumulate is GetAccumulate with a request.
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

// startAccess starts an access. It returns the operation after which the program may use its memory
// again, if the program waits for that by a request; nil: it may.
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
	if o := w.accessDirectly(a, &h); o != nil {
		if a.byRequest {
			return o
		}
		w.trackOperation(o, a.target)
		return nil
	}
	return w.sendAccess(a, &h)
}

// maxAccessBytes bounds an access, so that sums of displacements do not overflow.
const maxAccessBytes = 1 << 47

// checkAccess fails if arguments are wrong that have nothing to do with the target.
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

// checkOperation fails if the operation is not for the elements, and notes which those are.
func (w *Window) checkOperation(a *access) {
	if !slices.Contains(accumulateOps[:], a.op) {
		w.comm.engine.Fail(engine.ErrOp, "the operation must be one of MPI's: accumulates do not take those of programs")
	}
	if a.op == Replace || a.op == NoOp {
		return
	}
	if (Buffer{Count: a.count, Type: a.targetType}).Len() == 0 { // nothing is combined, whatever the elements are
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
		return
	}
	if err := a.op.Check(a.elementType); err != nil {
		w.comm.engine.Fail(engine.ErrOp, "%v", err)
	}
}

// combinedElementType returns the type of all elements of a derived type: for MaxLoc and MinLoc,
// pairs; nil: they are of several kinds.
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

// elementIndex returns the number of a type in requests.
func elementIndex(t *Datatype) (int, bool) {
	i := slices.Index(accumulateTypes[:], t)
	return i, i >= 0
}

// checkRange fails if an access is not within the target's memory, and sets where that is.
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
	h.layoutBytes = -1 // it is made when it is sent
}

// targetOf returns the state of a rank.
func (w *Window) targetOf(rank int) *targetState {
	t := w.origin.targets[rank]
	if t == nil {
		t = &targetState{rank: rank}
		w.origin.targets[rank] = t
		w.origin.targetRanks = append(w.origin.targetRanks, rank)
	}
	return t
}

// checkEpoch fails if memory of a rank may not be accessed now, and waits until it is exposed.
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

// sendAccess sends the request of an access, and what belongs to it.
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

// nextSerial gives a request its number.
func (w *Window) nextSerial(h *requestHeader) {
	if w.origin.serial++; w.origin.serial > maxSerial {
		w.origin.serial = 1
	}
	h.serial = w.origin.serial
}

// gatherOrigin returns the data of an access as it travels, and whether that is memory of the
// rank's.
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

// trackOperation notes an operation of an access, unless it is finished.
func (w *Window) trackOperation(o *engine.Op, target int) {
	if o.IsFinished() {
		w.comm.engine.ReleaseService(o)
		return
	}
	w.trackPending(pendingAccess{op: o, target: target})
}

// trackPending notes an access, and forgets finished ones from time to time.
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

// completeLocal waits until the memory of the program is no longer in use by accesses to a rank, or
// by all.
func (w *Window) completeLocal(target int) {
	w.forgetLocal(target)
	x := &w.origin
	own, kept := x.pendingScratch, x.pending[:0] // threads may add accesses, and complete them, while this one waits
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
