package mpi

import (
	"bytes"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
)

// This file has the target side of one-sided communication: carrying out accesses of other ranks.

// windowTarget is the state of other ranks' accesses to this rank's memory.
type windowTarget struct {
	requestReceive *engine.Op // receives the next request
	requestBuffer  [maxRequestBytes]byte
	origins        map[int]*originState
	activeRequests []*windowRequest // requests with an operation under way
	freeRequests   *windowRequest
	sentReplies    []*engine.Op // empty replies that are being sent

	locks windowLocks

	postGroup       []int          // the group passed to Post; nil: the memory is not exposed
	completeCounts  []int          // calls of Complete by each rank, less the epochs of Post that used them; nil: none
	endedAfterFence [2]int64       // number of accesses that have ended after an even and after an odd fence
	earlyOrigins    []*originState // origins whose accesses wait until this rank's fence ends
}

// originState is what a target knows of one origin.
type originState struct {
	rank        int
	queue       []*windowRequest // requests that wait, in order
	accesses    int              // number of accesses under way
	accumulates int              // number of accumulates among them
	lock        originLock
}

// windowRequest is a request that an origin has sent.
type windowRequest struct {
	requestHeader
	origin     *originState
	inlineData []byte     // data that follows the header in the request
	op         *engine.Op // under way; nil: none
	stage      requestStage
	data       []byte // from the origin
	buffer     []byte // temporary memory that holds data, or nil
	windowData Buffer // location of the data in the window
	nextFree   *windowRequest
}

// requestStage says what the operation of a request does.
type requestStage uint8

const (
	layoutStage requestStage = iota // receives the layout
	dataStage                       // receives the data
	replyStage                      // sends the reply with data of the window
	sentStage                       // sends data that the request no longer needs: the request is complete
)

// postRequestReceive posts the receive for the next request.
func (w *Window) postRequestReceive() {
	w.target.requestReceive = w.comm.engine.ServiceReceive(w.target.requestBuffer[:], nil, AnySource, w.comm.context, requestTag)
}

// serveRequests takes requests that have arrived, and continues those whose operations are
// finished.
func (w *Window) serveRequests() {
	for w.target.requestReceive != nil && w.target.requestReceive.IsFinished() {
		got, _ := w.target.requestReceive.Received()
		r := w.newRequest(w.target.requestBuffer[:got.Bytes], w.comm.rankOf(got.Source))
		w.comm.engine.ReleaseService(w.target.requestReceive)
		w.postRequestReceive()
		r.origin.queue = append(r.origin.queue, r)
		w.beginQueuedRequests(r.origin)
	}
	w.releaseReplies()
	for i := 0; i < len(w.target.activeRequests); {
		r := w.target.activeRequests[i]
		if !r.op.IsFinished() {
			i++
			continue
		}
		w.target.activeRequests = slices.Delete(w.target.activeRequests, i, i+1)
		w.comm.engine.ReleaseService(r.op)
		r.op = nil
		w.continueRequest(r)
	}
}

// newRequest decodes a request that has arrived.
func (w *Window) newRequest(b []byte, from int) *windowRequest {
	r := w.target.freeRequests
	if r == nil {
		r = new(windowRequest)
	} else {
		w.target.freeRequests = r.nextFree
	}
	*r = windowRequest{inlineData: append(r.inlineData[:0], b[requestHeaderBytes:]...), origin: w.originOf(from)}
	r.decode(b)
	return r
}

// originOf returns the state of an origin.
func (w *Window) originOf(rank int) *originState {
	s := w.target.origins[rank]
	if s == nil {
		s = &originState{rank: rank}
		w.target.origins[rank] = s
	}
	return s
}

// beginQueuedRequests starts the queued requests of an origin in order, until one must wait.
func (w *Window) beginQueuedRequests(s *originState) {
	for len(s.queue) > 0 && s.canBegin(s.queue[0]) {
		r := s.queue[0]
		if r.flags&fenceFlag != 0 && r.fenceParity() != w.origin.fenceCount%2 {
			if !slices.Contains(w.target.earlyOrigins, s) {
				w.target.earlyOrigins = append(w.target.earlyOrigins, s)
			}
			return
		}
		s.queue = slices.Delete(s.queue, 0, 1)
		w.beginRequest(r)
	}
}

// canBegin reports whether a request can start before earlier requests of its origin have ended. A
// lock waits for all of them, an accumulate for accumulates, and the end of an epoch for its
// accesses.
func (s *originState) canBegin(r *windowRequest) bool {
	switch r.kind {
	case accumulateRequest, getAccumulateRequest, compareRequest:
		return !s.lock.isQueued && s.accumulates == 0
	case unlockRequest, flushRequest, completeRequest:
		return !s.lock.isQueued && s.accesses == 0
	}
	return !s.lock.isQueued
}

// beginRequest starts a request.
func (w *Window) beginRequest(r *windowRequest) {
	switch r.kind {
	case lockRequest:
		r.origin.lock = originLockOf(r)
		w.grantOrQueueLock(r.origin)
	case unlockRequest:
		w.sendEmptyReply(r.origin.rank, &r.requestHeader)
		w.releaseHeldLock(r.origin)
	case registerFreeRequest:
		w.sendEmptyReply(r.origin.rank, &r.requestHeader)
		w.grantLocks()
	case flushRequest:
		w.sendEmptyReply(r.origin.rank, &r.requestHeader)
	case postRequest:
		w.targetOf(r.origin.rank).unusedPosts++
	case completeRequest:
		w.noteCompleted(r.origin.rank)
	default:
		w.beginAccess(r)
		return
	}
	w.recycleRequest(r)
}

// fenceParity returns 0 or 1, the parity of the number of the fence before an access.
func (r *windowRequest) fenceParity() int {
	if r.flags&oddFenceFlag != 0 {
		return 1
	}
	return 0
}

func (r *windowRequest) isAccumulate() bool {
	return r.kind >= accumulateRequest && r.kind <= compareRequest
}

func (w *Window) beginAccess(r *windowRequest) {
	r.origin.accesses++
	if r.isAccumulate() {
		r.origin.accumulates++
	}
	if r.flags&layoutFlag != 0 {
		r.buffer = w.comm.engine.ScratchBuffer(r.layoutBytes)
		w.startStage(r, layoutStage, w.comm.engine.ServiceReceive(r.buffer, nil, w.comm.jobRank(r.origin.rank), w.comm.context, r.layoutTag()))
		return
	}
	w.locateData(r, r.inlineData[:r.layoutBytes])
	r.data = r.inlineData[r.layoutBytes:]
	w.receiveData(r)
}

// startStage records the operation of a request's next stage. If the operation is already finished,
// the request continues at once.
func (w *Window) startStage(r *windowRequest, stage requestStage, o *engine.Op) {
	r.stage = stage
	if o.IsFinished() {
		w.comm.engine.ReleaseService(o)
		w.continueRequest(r)
		return
	}
	r.op = o
	w.target.activeRequests = append(w.target.activeRequests, r)
}

// continueRequest continues a request whose operation is finished.
func (w *Window) continueRequest(r *windowRequest) {
	switch r.stage {
	case layoutStage:
		w.locateData(r, r.buffer)
		w.comm.engine.ReleaseScratch(r.buffer)
		r.buffer, r.data = nil, r.inlineData
		w.receiveData(r)
	case dataStage:
		w.executeAccess(r)
	case replyStage:
		w.endAccess(r)
	case sentStage:
		w.recycleRequest(r)
	}
}

// locateData finds the location of a request's data in the window.
func (w *Window) locateData(r *windowRequest, layout []byte) {
	t, low, end := Byte, 0, r.size
	r.windowData.Count = r.size
	if r.layoutBytes > 0 {
		var err error
		if t, err = datatype.ParseLayout(layout); err != nil {
			w.comm.engine.Fail(ErrIntern, "%v", err)
		}
		r.windowData.Count = 1
		low, end = t.TrueLowerBound(), t.TrueLowerBound()+t.TrueExtent()
	}
	r.windowData.Type = t
	r.windowData.Bytes, r.windowData.Origin = w.memoryAt(r.origin.rank, r.offset, low, end)
}

// memoryAt returns memory that contains bytes low to end relative to an offset, and the position of
// the offset in it.
func (w *Window) memoryAt(from, offset, low, end int) ([]byte, int) {
	if w.flavor != DynamicWindow {
		return w.memory, offset
	}
	for i, x := range w.attachedRegions {
		at := offset - x.address
		if at+low < 0 || at+low >= len(x.memory) && end > low {
			continue
		}
		if memory := w.extendRegion(i, at+end); at+end <= len(memory) {
			return memory, at
		}
	}
	w.comm.engine.Fail(ErrRMARange, "rank %d accesses %d bytes that are not within memory that rank %d has attached to the window", from, end-low, w.comm.rank)
	return nil, 0
}

// receiveData receives the data of a request unless the request contains it. A put receives
// directly into the window.
func (w *Window) receiveData(r *windowRequest) {
	if r.flags&dataFlag == 0 {
		w.executeAccess(r)
		return
	}
	from := w.comm.jobRank(r.origin.rank)
	if r.kind == putRequest {
		r.data = nil
		if flat, ok := r.windowData.ContiguousBytes(); ok {
			w.startStage(r, dataStage, w.comm.engine.ServiceReceive(flat, nil, from, w.comm.context, r.dataTag()))
		} else {
			w.startStage(r, dataStage, w.comm.engine.ServiceReceive(nil, &bufferLayout{r.windowData, w.comm.engine.Copy}, from, w.comm.context, r.dataTag()))
		}
		return
	}
	r.buffer = w.comm.engine.ScratchBuffer(r.requestHeader.dataBytes)
	r.data = r.buffer
	w.startStage(r, dataStage, w.comm.engine.ServiceReceive(r.buffer, nil, from, w.comm.context, r.dataTag()))
}

// executeAccess carries out an access whose data has arrived.
func (w *Window) executeAccess(r *windowRequest) {
	switch r.kind {
	case putRequest:
		if r.flags&dataFlag == 0 {
			w.scatterToWindow(&r.windowData, r.data)
		}
	case getRequest:
		if flat, ok := r.windowData.ContiguousBytes(); ok {
			w.startStage(r, replyStage, w.sendDataReply(r, flat, false))
			return
		}
		w.startStage(r, replyStage, w.sendDataReply(r, w.gatherFromWindow(&r.windowData), true))
		return
	default:
		old := w.combineIntoWindow(&r.requestHeader, &r.windowData, r.data)
		if r.kind == accumulateRequest {
			w.comm.engine.ReleaseScratch(old)
			break
		}
		r.op = w.sendDataReply(r, old, true)
	}
	w.endAccess(r)
}

// gatherFromWindow returns a copy of window data in temporary memory (ScratchBuffer).
func (w *Window) gatherFromWindow(where *Buffer) []byte {
	b := w.comm.engine.ScratchBuffer(where.Len())
	where.Gather(b, w.comm.engine.Copy)
	return b
}

// scatterToWindow copies data into the window.
func (w *Window) scatterToWindow(where *Buffer, data []byte) { where.Scatter(data, w.comm.engine.Copy) }

// combineIntoWindow combines data with that in the window. It returns the previous data in
// temporary memory (ScratchBuffer).
func (w *Window) combineIntoWindow(h *requestHeader, where *Buffer, data []byte) []byte {
	old := w.gatherFromWindow(where)
	if h.kind == compareRequest {
		if n := len(data) / 2; bytes.Equal(old, data[:n]) {
			w.scatterToWindow(where, data[n:])
		}
		return old
	}
	switch op := accumulateOps[h.op]; op {
	case NoOp:
	case Replace:
		w.scatterToWindow(where, data)
	default:
		t := accumulateTypes[h.element]
		if w.SubstituteOp != nil {
			if other := w.SubstituteOp(op, t); other != nil {
				op = other
			}
		}
		sum := w.comm.engine.ScratchBuffer(len(old))
		copy(sum, old)
		w.comm.engine.Port().ChargeOperations(len(old) / t.Size())
		combineFlat(op, t, data, sum)
		w.scatterToWindow(where, sum)
		w.comm.engine.ReleaseScratch(sum)
	}
	return old
}

// combineFlat stores in ∘ inout in inout, for elements of t in travel order.
func combineFlat(op *Op, t *Datatype, in, inout []byte) {
	if f := op.FlatCombiner(t); f != nil {
		f(in, inout)
		return
	}
	result := elementsInMemory(t, inout)
	op.Apply(elementsInMemory(t, in), result)
	flattenBuffer(result, inout)
}

// sendDataReply sends a reply with data.
func (w *Window) sendDataReply(r *windowRequest, b []byte, owned bool) *engine.Op {
	return w.comm.engine.ServiceSend(b, owned, w.comm.jobRank(r.origin.rank), w.comm.context, r.replyTag())
}

// sendEmptyReply sends a reply without data.
func (w *Window) sendEmptyReply(to int, h *requestHeader) {
	w.target.sentReplies = append(w.target.sentReplies, w.comm.engine.ServiceSend(nil, false, w.comm.jobRank(to), w.comm.context, h.replyTag()))
	w.releaseReplies()
}

// releaseReplies releases the operations of replies that have been sent.
func (w *Window) releaseReplies() {
	w.target.sentReplies = slices.DeleteFunc(w.target.sentReplies, func(o *engine.Op) bool {
		if o.IsFinished() {
			w.comm.engine.ReleaseService(o)
			return true
		}
		return false
	})
}

// endAccess ends an access, and starts the requests that wait for it. Its reply may still be under
// way.
func (w *Window) endAccess(r *windowRequest) {
	s := r.origin
	s.accesses--
	if r.isAccumulate() {
		s.accumulates--
	}
	if r.flags&fenceFlag != 0 {
		w.target.endedAfterFence[r.fenceParity()]++
	}
	if r.buffer != nil {
		w.comm.engine.ReleaseScratch(r.buffer)
		r.buffer = nil
	}
	if o := r.op; o != nil {
		r.op = nil
		w.startStage(r, sentStage, o)
	} else {
		w.recycleRequest(r)
	}
	w.beginQueuedRequests(s)
}

// recycleRequest keeps a request for reuse.
func (w *Window) recycleRequest(r *windowRequest) {
	r.origin, r.data, r.windowData = nil, nil, Buffer{}
	r.nextFree, w.target.freeRequests = w.target.freeRequests, r
}

// accessLocally carries out an access to this rank's own memory, or to shared memory.
func (w *Window) accessLocally(a *access, h *requestHeader) {
	where := Buffer{Count: a.count, Type: a.targetType}
	low, end := where.DataRange()
	first := h.offset
	if h.layoutBytes == 0 {
		first -= low
	}
	if w.sharedMemory != nil {
		where.Bytes, where.Origin = w.sharedMemory.parts[a.target], first
		if a.kind > getRequest {
			w.sharedMemory.lock.Lock()
			defer w.sharedMemory.lock.Unlock()
		}
	} else {
		where.Bytes, where.Origin = w.memoryAt(w.comm.rank, first, low, end)
	}
	data, gathered := w.gatherOrigin(a)
	if a.kind == putRequest {
		if flat, ok := where.ContiguousBytes(); ok && !gathered {
			w.comm.engine.Copy(flat, data)
			return
		}
		if !gathered {
			from := data
			data, gathered = w.comm.engine.ScratchBuffer(len(from)), true // a copy, because source and destination may overlap
			copy(data, from)
		}
		w.scatterToWindow(&where, data)
	} else {
		var old []byte
		if a.kind == getRequest {
			if flat, ok := where.ContiguousBytes(); ok {
				a.result.Scatter(flat, w.comm.engine.Copy)
				return
			}
			old = w.gatherFromWindow(&where)
		} else {
			old = w.combineIntoWindow(h, &where, data)
		}
		if a.result.Type != nil {
			a.result.Scatter(old, w.comm.engine.Copy)
		}
		w.comm.engine.ReleaseScratch(old)
	}
	if gathered {
		w.comm.engine.ReleaseScratch(data)
	}
}
