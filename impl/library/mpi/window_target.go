package mpi

import (
	"bytes"
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/datatype"
)

// This file carries out accesses of other ranks, at the rank whose memory it is.

// windowTarget is what a rank knows of accesses of others to its memory.
type windowTarget struct {
	incoming *engine.Op // receives the next request
	inbox    [maxRequestBytes]byte
	origins  map[int]*originState
	active   []*request // whose operations are under way
	free     *request
	replies  []*engine.Op // without data, that are being sent

	locks windowLocks

	exposed   []int          // ranks of the group of Post; nil: the memory is not exposed
	completed []int          // how often each rank has called Complete, less the epochs of Post; nil: never
	fenced    [2]int64       // accesses that have ended after an even fence, and after an odd one
	early     []*originState // ranks whose accesses wait for the end of this rank's fence
}

// originState is what a rank knows of the accesses of another one.
type originState struct {
	rank        int
	queue       []*request // that have to wait, in order
	accesses    int        // that are under way
	accumulates int        // of those
	lock        originLock
}

// request is an access, or something else that another rank asks for.
type request struct {
	requestHeader
	from   *originState
	inline []byte     // what the request itself has behind its header
	op     *engine.Op // under way; nil: none
	stage  requestStage
	data   []byte // of the origin
	buffer []byte // memory of ScratchBuffer that data is in, or nil
	where  Buffer // the data in the window
	next   *request
}

// requestStage is what a request's operation does.
type requestStage uint8

const (
	layoutStage requestStage = iota // receives the layout
	dataStage                       // receives the data
	replyStage                      // sends from the window
	sentStage                       // sends what the request no longer needs: it is complete
)

// postRequestReceive lets the next request come.
func (w *Window) postRequestReceive() {
	w.target.incoming = w.c.e.ServiceReceive(w.target.inbox[:], nil, AnySource, w.c.context, requestTag)
}

// serve takes in requests that have come, and goes on with those whose operations are finished.
func (w *Window) serve() {
	for w.target.incoming != nil && w.target.incoming.IsFinished() {
		got, _ := w.target.incoming.Received()
		r := w.newRequest(w.target.inbox[:got.Bytes], w.c.rankOf(got.Source))
		w.c.e.ReleaseService(w.target.incoming)
		w.postRequestReceive()
		r.from.queue = append(r.from.queue, r)
		w.advance(r.from)
	}
	w.releaseReplies()
	for i := 0; i < len(w.target.active); {
		r := w.target.active[i]
		if !r.op.IsFinished() {
			i++
			continue
		}
		w.target.active = slices.Delete(w.target.active, i, i+1)
		w.c.e.ReleaseService(r.op)
		r.op = nil
		w.continueRequest(r)
	}
}

// newRequest returns a request that has come.
func (w *Window) newRequest(b []byte, from int) *request {
	r := w.target.free
	if r == nil {
		r = new(request)
	} else {
		w.target.free = r.next
	}
	*r = request{inline: append(r.inline[:0], b[requestHeaderBytes:]...), from: w.originOf(from)}
	r.decode(b)
	return r
}

// originOf returns the state of a rank.
func (w *Window) originOf(rank int) *originState {
	s := w.target.origins[rank]
	if s == nil {
		s = &originState{rank: rank}
		w.target.origins[rank] = s
	}
	return s
}

// advance begins what a rank has asked for, in order, as far as that need not wait.
func (w *Window) advance(s *originState) {
	for len(s.queue) > 0 && s.canBegin(s.queue[0]) {
		r := s.queue[0]
		if r.flags&fenceFlag != 0 && r.fence() != w.origin.fences%2 {
			if !slices.Contains(w.target.early, s) {
				w.target.early = append(w.target.early, s)
			}
			return
		}
		s.queue = slices.Delete(s.queue, 0, 1)
		w.begin(r)
	}
}

// canBegin reports whether a request need not wait for earlier ones of its rank: all for a lock,
// accumulates for each other, and the ends of accesses for those.
func (s *originState) canBegin(r *request) bool {
	switch r.kind {
	case accumulateRequest, getAccumulateRequest, compareRequest:
		return !s.lock.waits && s.accumulates == 0
	case unlockRequest, flushRequest, completeRequest:
		return !s.lock.waits && s.accesses == 0
	}
	return !s.lock.waits
}

// begin begins a request.
func (w *Window) begin(r *request) {
	switch r.kind {
	case lockRequest:
		r.from.lock = originLockOf(r)
		w.requestLock(r.from)
	case unlockRequest:
		w.sendReply(r.from.rank, &r.requestHeader)
		w.releaseLock(r.from)
	case releasedRequest:
		w.sendReply(r.from.rank, &r.requestHeader)
		w.grantLocks()
	case flushRequest:
		w.sendReply(r.from.rank, &r.requestHeader)
	case postRequest:
		w.targetOf(r.from.rank).posts++
	case completeRequest:
		w.noteCompleted(r.from.rank)
	default:
		w.beginAccess(r)
		return
	}
	w.recycle(r)
}

// fence returns whether the number of the fence before an access is even (0) or odd (1).
func (r *request) fence() int {
	if r.flags&oddFenceFlag != 0 {
		return 1
	}
	return 0
}

func (r *request) isAccumulate() bool { return r.kind >= accumulateRequest && r.kind <= compareRequest }

func (w *Window) beginAccess(r *request) {
	r.from.accesses++
	if r.isAccumulate() {
		r.from.accumulates++
	}
	if r.flags&layoutFollows != 0 {
		r.buffer = w.c.e.ScratchBuffer(r.layout)
		w.start(r, layoutStage, w.c.e.ServiceReceive(r.buffer, nil, w.c.jobRank(r.from.rank), w.c.context, r.layoutTag()))
		return
	}
	w.locate(r, r.inline[:r.layout])
	r.data = r.inline[r.layout:]
	w.receiveData(r)
}

// start notes an operation of a request, or goes on if it is finished.
func (w *Window) start(r *request, stage requestStage, o *engine.Op) {
	r.stage = stage
	if o.IsFinished() {
		w.c.e.ReleaseService(o)
		w.continueRequest(r)
		return
	}
	r.op = o
	w.target.active = append(w.target.active, r)
}

// continueRequest goes on with a request whose operation is finished.
func (w *Window) continueRequest(r *request) {
	switch r.stage {
	case layoutStage:
		w.locate(r, r.buffer)
		w.c.e.ReleaseScratch(r.buffer)
		r.buffer, r.data = nil, r.inline
		w.receiveData(r)
	case dataStage:
		w.execute(r)
	case replyStage:
		w.endAccess(r)
	case sentStage:
		w.recycle(r)
	}
}

// locate finds where the data of a request is in the window.
func (w *Window) locate(r *request, layout []byte) {
	t, low, end := Byte, 0, r.size
	r.where.Count = r.size
	if r.layout > 0 {
		var err error
		if t, err = datatype.ParseLayout(layout); err != nil {
			w.c.e.Fail(ErrIntern, "%v", err)
		}
		r.where.Count = 1
		low, end = t.TrueLowerBound(), t.TrueLowerBound()+t.TrueExtent()
	}
	r.where.Type = t
	r.where.Bytes, r.where.Origin = w.memoryAt(r.from.rank, r.offset, low, end)
}

// memoryAt returns memory that has bytes low to end behind an offset, and where the offset is in
// it.
func (w *Window) memoryAt(from, offset, low, end int) ([]byte, int) {
	if w.flavor != DynamicWindow {
		return w.memory, offset
	}
	for _, x := range w.regions {
		if at := offset + w.Origin - x.address; at+low >= 0 && at+end <= len(x.memory) {
			return x.memory, at
		}
	}
	w.c.e.Fail(ErrRMARange, "rank %d accesses %d bytes that are not within memory that rank %d has attached to the window", from, end-low, w.c.rank)
	return nil, 0
}

// receiveData waits for the data of a request if it does not have it: that of a put goes where it
// belongs.
func (w *Window) receiveData(r *request) {
	if r.flags&dataFollows == 0 {
		w.execute(r)
		return
	}
	from := w.c.jobRank(r.from.rank)
	if r.kind == putRequest {
		r.data = nil
		if flat, ok := r.where.ContiguousBytes(); ok {
			w.start(r, dataStage, w.c.e.ServiceReceive(flat, nil, from, w.c.context, r.dataTag()))
		} else {
			w.start(r, dataStage, w.c.e.ServiceReceive(nil, &bufferLayout{r.where, w.c.e.Copy}, from, w.c.context, r.dataTag()))
		}
		return
	}
	r.buffer = w.c.e.ScratchBuffer(r.requestHeader.data)
	r.data = r.buffer
	w.start(r, dataStage, w.c.e.ServiceReceive(r.buffer, nil, from, w.c.context, r.dataTag()))
}

// execute carries out an access that has its data.
func (w *Window) execute(r *request) {
	switch r.kind {
	case putRequest:
		if r.flags&dataFollows == 0 {
			w.scatter(&r.where, r.data)
		}
	case getRequest:
		if flat, ok := r.where.ContiguousBytes(); ok {
			w.start(r, replyStage, w.reply(r, flat, false))
			return
		}
		w.start(r, replyStage, w.reply(r, w.gather(&r.where), true))
		return
	default:
		old := w.combine(&r.requestHeader, &r.where, r.data)
		if r.kind == accumulateRequest {
			w.c.e.ReleaseScratch(old)
			break
		}
		r.op = w.reply(r, old, true)
	}
	w.endAccess(r)
}

// gather returns a copy of data of the window, in memory of ScratchBuffer.
func (w *Window) gather(where *Buffer) []byte {
	b := w.c.e.ScratchBuffer(where.Len())
	where.Gather(b, w.c.e.Copy)
	return b
}

// scatter puts data into the window.
func (w *Window) scatter(where *Buffer, data []byte) { where.Scatter(data, w.c.e.Copy) }

// combine combines data with that of the window, and returns what was there before, in memory of
// ScratchBuffer.
func (w *Window) combine(h *requestHeader, where *Buffer, data []byte) []byte {
	old := w.gather(where)
	if h.kind == compareRequest {
		if n := len(data) / 2; bytes.Equal(old, data[:n]) {
			w.scatter(where, data[n:])
		}
		return old
	}
	switch op := accumulateOps[h.op]; op {
	case NoOp:
	case Replace:
		w.scatter(where, data)
	default:
		t := accumulateTypes[h.element]
		if w.Combiner != nil {
			if other := w.Combiner(op, t); other != nil {
				op = other
			}
		}
		sum := w.c.e.ScratchBuffer(len(old))
		copy(sum, old)
		w.c.e.Port().ChargeOperations(len(old) / t.Size())
		combineFlat(op, t, data, sum)
		w.scatter(where, sum)
		w.c.e.ReleaseScratch(sum)
	}
	return old
}

// combineFlat leaves in ∘ inout in inout, of elements of a type as they travel.
func combineFlat(op *Op, t *Datatype, in, inout []byte) {
	if f := op.FlatCombiner(t); f != nil {
		f(in, inout)
		return
	}
	result := elementsInMemory(t, inout)
	op.Apply(elementsInMemory(t, in), result)
	flatten(result, inout)
}

// reply sends the reply to a request.
func (w *Window) reply(r *request, b []byte, owned bool) *engine.Op {
	return w.c.e.ServiceSend(b, owned, w.c.jobRank(r.from.rank), w.c.context, r.replyTag())
}

// sendReply sends a reply without data.
func (w *Window) sendReply(to int, h *requestHeader) {
	w.target.replies = append(w.target.replies, w.c.e.ServiceSend(nil, false, w.c.jobRank(to), w.c.context, h.replyTag()))
	w.releaseReplies()
}

// releaseReplies gives back replies that have been sent.
func (w *Window) releaseReplies() {
	w.target.replies = slices.DeleteFunc(w.target.replies, func(o *engine.Op) bool {
		if o.IsFinished() {
			w.c.e.ReleaseService(o)
			return true
		}
		return false
	})
}

// endAccess ends an access, and begins what has waited for that. Its reply may still be under way.
func (w *Window) endAccess(r *request) {
	s := r.from
	s.accesses--
	if r.isAccumulate() {
		s.accumulates--
	}
	if r.flags&fenceFlag != 0 {
		w.target.fenced[r.fence()]++
	}
	if r.buffer != nil {
		w.c.e.ReleaseScratch(r.buffer)
		r.buffer = nil
	}
	if o := r.op; o != nil {
		r.op = nil
		w.start(r, sentStage, o)
	} else {
		w.recycle(r)
	}
	w.advance(s)
}

// recycle keeps a request for the next one.
func (w *Window) recycle(r *request) {
	r.from, r.data, r.where = nil, nil, Buffer{}
	r.next, w.target.free = w.target.free, r
}

// accessHere carries out an access of the rank to its own memory, or to memory that ranks share.
func (w *Window) accessHere(a *access, h *requestHeader) {
	where := Buffer{Count: a.count, Type: a.of}
	low, end := where.DataRange()
	first := h.offset
	if h.layout == 0 {
		first -= low
	}
	if w.shared != nil {
		where.Bytes, where.Origin = w.shared.parts[a.target], first
		if a.kind > getRequest {
			w.shared.lock.Lock()
			defer w.shared.lock.Unlock()
		}
	} else {
		where.Bytes, where.Origin = w.memoryAt(w.c.rank, first, low, end)
	}
	data, gathered := w.gatherOrigin(a)
	if a.kind == putRequest {
		if flat, ok := where.ContiguousBytes(); ok && !gathered {
			w.c.e.Copy(flat, data)
			return
		}
		if !gathered {
			from := data
			data, gathered = w.c.e.ScratchBuffer(len(from)), true // it may be of the same memory
			copy(data, from)
		}
		w.scatter(&where, data)
	} else {
		var old []byte
		if a.kind == getRequest {
			if flat, ok := where.ContiguousBytes(); ok {
				a.result.Scatter(flat, w.c.e.Copy)
				return
			}
			old = w.gather(&where)
		} else {
			old = w.combine(h, &where, data)
		}
		if a.result.Type != nil {
			a.result.Scatter(old, w.c.e.Copy)
		}
		w.c.e.ReleaseScratch(old)
	}
	if gathered {
		w.c.e.ReleaseScratch(data)
	}
}
