package program

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// runner runs the steps of a rank.
type runner struct {
	program            *Program
	rank               int
	canWaitUpTo        int         // number of the last action for which the rank may wait
	comms              []*mpi.Comm // by communicator of the program; nil if the rank is not in it
	pendingOperations  []*pendingOperation
	receives           []*receiveRecord  // in the order of posting
	cancelledMessages  map[*message]bool // cancelled messages to this rank
	persistentRequests map[*persistentRequestID]*persistentRequest
}

// persistentRequest is a persistent request.
type persistentRequest struct {
	request     mpi.Request
	buffer      mpi.Buffer
	lastMessage *message
}

// pendingOperation is a send or receive that is not complete.
type pendingOperation struct {
	message       *message
	request       mpi.Request
	buffer        mpi.Buffer
	receiveRecord *receiveRecord // of a receive
	canWaitFrom   int            // number of the action from which on the rank may wait for it
}

// receiveRecord is a receive and the message that it got.
type receiveRecord struct {
	message *message // the message of the receive; with wildcards it may get another
	status  mpi.Status
	data    []byte
}

// Run runs the steps of a rank, and checks what it received.
func (p *Program) Run(c *mpi.Comm) error {
	x := &runner{program: p, rank: c.Rank(), comms: make([]*mpi.Comm, len(p.comms)), cancelledMessages: map[*message]bool{}, persistentRequests: map[*persistentRequestID]*persistentRequest{}}
	x.comms[0] = c
	steps := p.stepsOf(x.rank)
	c.AttachBuffer(make([]byte, bsendBufferBytes(steps)))
	for _, s := range steps {
		if x.canWaitUpTo = s.position; s.turn < waitTurn {
			x.canWaitUpTo--
		}
		err := x.computeOrPoll(s)
		if err == nil {
			err = s.run(x)
		}
		if err != nil {
			return fmt.Errorf("action %d: %v: %w", s.position, s, err)
		}
	}
	for _, k := range x.persistentRequests {
		k.request.Free()
	}
	c.DetachBuffer()
	c.Barrier()
	for i, c := range x.comms {
		if c == nil {
			continue
		}
		if st, ok := c.Iprobe(mpi.AnySource, mpi.AnyTag); ok {
			return fmt.Errorf("rank %d: a message is left in communicator %d: %+v", x.rank, i, st)
		}
	}
	if err := x.checkReceives(); err != nil {
		return err
	}
	c.Barrier()
	return x.sendAndCancelUnreceived()
}

// sendAndCancelUnreceived sends messages that are not received, and cancels them. Their
// destinations do the same, compute, or have ended.
func (x *runner) sendAndCancelUnreceived() error {
	c, draw := x.comms[0], rand.New(rand.NewPCG(x.program.Seed, uint64(x.rank)))
	if draw.IntN(2) == 0 {
		c.Compute(unit.Microsecond * unit.Time(draw.IntN(1000)))
	}
	var reqs []mpi.Request
	for range draw.IntN(4) {
		to := draw.IntN(c.Size())
		b := mpi.BufferOf(make([]byte, []int{0, 30, 3000, 20000}[draw.IntN(4)]))
		reqs = append(reqs, c.Issend(b, to, unreceivedTag))
		switch draw.IntN(4) {
		case 0:
			c.Compute(unit.Microsecond * unit.Time(draw.IntN(1000)))
		case 1:
			c.Iprobe(mpi.AnySource, unreceivedTag)
		}
		reqs[len(reqs)-1].Cancel()
	}
	for len(reqs) > 0 {
		i := draw.IntN(len(reqs))
		if st, ok := reqs[i].Test(); ok || draw.IntN(3) == 0 {
			if !ok {
				st = reqs[i].Wait()
			}
			if !st.Cancelled {
				return fmt.Errorf("rank %d: a message that is not received has status %+v", x.rank, st)
			}
			reqs = slices.Delete(reqs, i, i+1)
		}
	}
	return nil
}

// bsendBufferBytes returns the size of the attached buffer that a rank needs.
func bsendBufferBytes(steps []*step) int {
	n := 0
	for _, s := range steps {
		for _, m := range s.sends {
			if m.mode == model.BufferedMode {
				n += m.unitCount*m.unit.size() + mpi.BsendOverhead
			}
		}
	}
	return n
}

// computeOrPoll lets the rank compute or poll before a step, so that messages may arrive before
// their receives are posted, and requests may complete before the wait.
func (x *runner) computeOrPoll(s *step) error {
	h := uint64(s.position)*0x9E3779B97F4A7C15 ^ uint64(x.rank)<<8 ^ uint64(s.turn) ^ x.program.Seed<<32
	h = (h ^ h>>29) * 0xBF58476D1CE4E5B9
	switch h >> 60 {
	case 0, 1:
		for range 1 + h>>40%4 {
			x.comms[0].Compute(unit.Microsecond * unit.Time(1+h>>44%20))
		}
	case 2, 3:
		x.comms[0].Iprobe(mpi.AnySource, unreceivedTag)
	case 4:
		return x.completeSome(x.pendingOperations, h>>40%2 == 0)
	}
	return nil
}

// receiveArguments returns the source and tag of a receive.
func (m *message) receiveArguments() (src, tag int) {
	src, tag = m.comm.rankOf(m.src), m.tag
	if m.anySource {
		src = mpi.AnySource
	}
	if m.anyTag {
		tag = mpi.AnyTag
	}
	return src, tag
}

// sendBuffer is a message's buffer.
func (m *message) sendBuffer() mpi.Buffer { return m.sendPlacement.bufferHolding(m.payload(), -m.id) }

func (m *message) destination() int { return m.comm.rankOf(m.dst) }

func (x *runner) send(m *message) error {
	c, b := x.comms[m.comm.id], m.sendBuffer()
	[...]func(mpi.Buffer, int, int){c.Send, c.Ssend, c.Rsend, c.Bsend}[m.mode](b, m.destination(), m.tag)
	return m.checkSendBuffer(b)
}

// checkSendBuffer checks that a send buffer has not changed, and overwrites it.
func (m *message) checkSendBuffer(b mpi.Buffer) error {
	if !m.sendPlacement.isOnlyChange(b, m.sendPlacement.count, -m.id, 0, m.payload()) {
		return fmt.Errorf("%v: the sender's buffer has changed", m)
	}
	clear(b.Bytes)
	return nil
}

func (x *runner) startSend(m *message) error {
	if m.persistent[0] != nil {
		return x.startPersistent(m, false)
	}
	c, b := x.comms[m.comm.id], m.sendBuffer()
	r := [...]func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Irsend, c.Ibsend}[m.mode](b, m.destination(), m.tag)
	if m.isRequestFreed {
		r.Free()
		return nil
	}
	x.pendingOperations = append(x.pendingOperations, &pendingOperation{message: m, request: r, buffer: b, canWaitFrom: m.senderWaitsFrom})
	return nil
}

// recordPostedReceive records a receive that is about to be posted, and returns memory for it.
func (x *runner) recordPostedReceive(m *message) (*receiveRecord, mpi.Buffer) {
	got := &receiveRecord{message: m}
	x.receives = append(x.receives, got)
	return got, m.receivePlacement.buffer(m.receivePlacement.count, -m.id)
}

// receive receives a message, with or without a probe.
func (x *runner) receive(m *message) error {
	c := x.comms[m.comm.id]
	src, tag := m.receiveArguments()
	if m.variants[0]%5 == 4 {
		if cancelled, err := x.postAndCancelReceive(m, src, tag); !cancelled {
			return err
		}
	}
	seen := mpi.Status{}
	looked := true
	switch m.variants[0] % 4 {
	case 0:
		seen = c.Probe(src, tag)
	case 1:
		for ok := false; !ok; {
			seen, ok = c.Iprobe(src, tag)
		}
	default:
		looked = false
	}
	if looked && m.variants[1]%2 == 0 { // with source and tag of the probed message
		src, tag = seen.Source, seen.Tag
	}
	got, b := x.recordPostedReceive(m)
	st := c.Recv(b, src, tag)
	if looked && st != seen {
		return fmt.Errorf("received %+v, and saw %+v before", st, seen)
	}
	return got.recordReceived(st, b)
}

func (x *runner) postReceive(m *message) error {
	if m.persistent[1] != nil {
		return x.startPersistent(m, true)
	}
	src, tag := m.receiveArguments()
	got, b := x.recordPostedReceive(m)
	r := x.comms[m.comm.id].Irecv(b, src, tag)
	x.pendingOperations = append(x.pendingOperations, &pendingOperation{message: m, request: r, buffer: b, receiveRecord: got, canWaitFrom: m.action})
	return nil
}

// startPersistent starts the persistent request of a message, after its previous operation has
// ended.
func (x *runner) startPersistent(m *message, incoming bool) error {
	s, fresh := m.persistent[0], m.sendBuffer
	if incoming {
		s, fresh = m.persistent[1], func() mpi.Buffer { return m.receivePlacement.buffer(m.receivePlacement.count, -m.id) }
	}
	k := x.persistentRequests[s]
	if k == nil {
		k = &persistentRequest{buffer: fresh()}
		k.request = x.newPersistentRequest(m, k.buffer, incoming)
		x.persistentRequests[s] = k
	} else {
		if err := x.wait(k.lastMessage, incoming); err != nil {
			return err
		}
		copy(k.buffer.Bytes, fresh().Bytes)
	}
	k.lastMessage = m
	u := &pendingOperation{message: m, buffer: k.buffer, canWaitFrom: m.senderWaitsFrom}
	if incoming {
		u.receiveRecord, _ = x.recordPostedReceive(m)
		u.canWaitFrom = m.action
	}
	if m.variants[0]%2 == 0 {
		k.request.Start()
	} else {
		mpi.StartAll([]mpi.Request{k.request})
	}
	u.request = k.request
	x.pendingOperations = append(x.pendingOperations, u)
	return nil
}

// newPersistentRequest creates a persistent request.
func (x *runner) newPersistentRequest(m *message, b mpi.Buffer, incoming bool) mpi.Request {
	c := x.comms[m.comm.id]
	if incoming {
		src, tag := m.receiveArguments()
		return c.RecvInit(b, src, tag)
	}
	return [...]func(mpi.Buffer, int, int) mpi.Request{c.SendInit, c.SsendInit, c.RsendInit, c.BsendInit}[m.mode](b, m.destination(), m.tag)
}

// sendAndCancel starts a message, cancels it, and tells the receiver whether it was cancelled.
func (x *runner) sendAndCancel(m, news *message) error {
	c, b := x.comms[m.comm.id], m.sendBuffer()
	r := [...]func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Irsend, c.Ibsend}[m.mode](b, m.destination(), m.tag)
	for range m.variants[0] % 3 {
		x.comms[0].Iprobe(mpi.AnySource, unreceivedTag)
	}
	r.Cancel()
	st := r.Wait()
	if err := m.checkSendBuffer(b); err != nil {
		return err
	}
	out := news.sendBuffer()
	if st.Cancelled {
		out.Bytes[out.Origin] ^= 1
	}
	x.comms[0].Send(out, news.dst, news.tag)
	return nil
}

// receiveUnlessCancelled receives the report whether a message was cancelled, and the message if it
// was not.
func (x *runner) receiveUnlessCancelled(m, news *message) error {
	got, b := x.recordPostedReceive(news)
	st := x.comms[0].Recv(b, news.src, news.tag)
	if b.Bytes[b.Origin] != news.payload()[0] {
		b.Bytes[b.Origin] ^= 1
		x.cancelledMessages[m] = true
	}
	if err := got.recordReceived(st, b); err != nil || x.cancelledMessages[m] {
		return err
	}
	return x.receive(m)
}

// postAndCancelReceive posts a receive and cancels it, and reports whether it was cancelled.
func (x *runner) postAndCancelReceive(m *message, src, tag int) (cancelled bool, err error) {
	got, b := x.recordPostedReceive(m)
	r := x.comms[m.comm.id].Irecv(b, src, tag)
	for range m.variants[1] % 4 {
		x.comms[0].Iprobe(mpi.AnySource, unreceivedTag)
	}
	r.Cancel()
	st := r.Wait()
	if !st.Cancelled {
		return false, got.recordReceived(st, b)
	}
	x.receives = x.receives[:len(x.receives)-1]
	if !m.receivePlacement.isOnlyChange(b, m.receivePlacement.count, -m.id, 0, nil) {
		return true, fmt.Errorf("%v: the receive was cancelled, and its buffer has changed", m)
	}
	return true, nil
}

// recordReceived records the message of a receive. No other byte may have changed.
func (g *receiveRecord) recordReceived(st mpi.Status, b mpi.Buffer) error {
	in := g.message.receivePlacement
	if st.Bytes < 0 || st.Bytes > in.count*in.size() {
		return fmt.Errorf("%v: received %+v", g.message, st)
	}
	g.status, g.data = st, in.gatherFrom(b, in.count)[:st.Bytes]
	if !in.isOnlyChange(b, in.count, -g.message.id, 0, g.data) {
		return fmt.Errorf("%v: more has changed than was received: %+v", g.message, st)
	}
	return nil
}

// sendAndReceive sends one message and receives another; either may be nil.
func (x *runner) sendAndReceive(t *communicator, out, in *message, replace bool) error {
	c := x.comms[t.id]
	dst, src, sendTag, tag := mpi.ProcNull, mpi.ProcNull, 0, 0
	var send, recv mpi.Buffer
	if replace && in == nil {
		recv = mpi.BufferOf([]int32{})
	}
	var got *receiveRecord
	if in != nil {
		src, tag = in.receiveArguments()
		got, recv = x.recordPostedReceive(in)
	}
	if out != nil {
		dst, sendTag, send = out.destination(), out.tag, out.sendBuffer()
	}
	var st mpi.Status
	switch {
	case !replace:
		if out == nil {
			send = mpi.BufferOf([]int32{})
		}
		if in == nil {
			recv = mpi.BufferOf([]int32{})
		}
		st = c.Sendrecv(send, dst, sendTag, recv, src, tag)
	case out == nil:
		st = c.SendrecvReplace(recv, dst, sendTag, src, tag)
	case in == nil:
		st = c.SendrecvReplace(send, dst, sendTag, src, tag)
	default:
		out.sendPlacement.scatterInto(recv, 0, out.payload())
		st = c.SendrecvReplace(recv, dst, sendTag, src, tag)
	}
	if in == nil {
		if st != (mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}) {
			return fmt.Errorf("received %+v from no rank", st)
		}
	}
	if out != nil && (in == nil || !replace) {
		if err := out.checkSendBuffer(send); err != nil {
			return err
		}
	}
	if in == nil {
		return nil
	}
	return got.recordReceived(st, recv)
}

// waitableOperations returns the operations for which a rank may wait: their counterparts precede
// this point in the list.
func (x *runner) waitableOperations() []*pendingOperation {
	var due []*pendingOperation
	for _, r := range x.pendingOperations {
		if r.canWaitFrom <= x.canWaitUpTo {
			due = append(due, r)
		}
	}
	return due
}

// wait waits for a message in a random way. Other operations may complete as well.
func (x *runner) wait(m *message, incoming bool) error {
	find := func(r *pendingOperation) bool { return r.message == m && (r.receiveRecord != nil) == incoming }
	for {
		at := slices.IndexFunc(x.pendingOperations, find)
		if at < 0 {
			return nil
		}
		r := x.pendingOperations[at]
		how := m.variants[0]
		if incoming {
			how = m.variants[1]
		}
		var err error
		switch how % 8 {
		case 0:
			err = x.endOperation(r, r.request.Wait())
		case 1:
			if st, ok := r.request.Test(); ok {
				err = x.endOperation(r, st)
			}
		case 2, 3:
			err = x.completeSome(x.pendingOperations, how%8 == 2)
		case 4:
			err = x.waitAll(x.waitableOperations())
		case 5:
			err = x.waitAny(x.pendingOperations)
		case 6:
			st := make([]mpi.Status, 1)
			reqs := []mpi.Request{r.request}
			if mpi.TestAll(reqs, st) {
				err = x.endOperation(r, st[0])
			}
		case 7:
			err = x.waitAny(x.waitableOperations())
		}
		if err != nil {
			return err
		}
	}
}

// requestsOf returns the requests of operations.
func requestsOf(list []*pendingOperation) []mpi.Request {
	reqs := make([]mpi.Request, len(list))
	for i, r := range list {
		reqs[i] = r.request
	}
	return reqs
}

// completeSome completes finished operations of a list; if wait is set, at least one.
func (x *runner) completeSome(list []*pendingOperation, wait bool) error {
	list = slices.Clone(list)
	reqs, index, sts := requestsOf(list), make([]int, len(list)), make([]mpi.Status, len(list))
	n := 0
	if wait && len(list) > 0 && x.canWaitForAny(list) {
		n = mpi.WaitSome(reqs, index, sts)
	} else {
		n = mpi.TestSome(reqs, index, sts)
	}
	for i := range max(n, 0) {
		if err := x.endOperation(list[index[i]], sts[i]); err != nil {
			return err
		}
	}
	return nil
}

// canWaitForAny reports whether a rank may wait for an operation of a list.
func (x *runner) canWaitForAny(list []*pendingOperation) bool {
	return slices.ContainsFunc(list, func(r *pendingOperation) bool { return r.canWaitFrom <= x.canWaitUpTo })
}

// waitAny waits for one operation of a list.
func (x *runner) waitAny(list []*pendingOperation) error {
	list = slices.Clone(list)
	i, st := mpi.WaitAny(requestsOf(list))
	if i < 0 {
		return fmt.Errorf("WaitAny of %d requests: %d", len(list), i)
	}
	return x.endOperation(list[i], st)
}

// waitAll waits for all operations of a list.
func (x *runner) waitAll(list []*pendingOperation) error {
	sts := make([]mpi.Status, len(list))
	mpi.WaitAll(requestsOf(list), sts)
	for i, r := range list {
		if err := x.endOperation(r, sts[i]); err != nil {
			return err
		}
	}
	return nil
}

// endOperation records the end of an operation.
func (x *runner) endOperation(r *pendingOperation, st mpi.Status) error {
	x.pendingOperations = slices.DeleteFunc(x.pendingOperations, func(o *pendingOperation) bool { return o == r })
	if r.receiveRecord != nil {
		return r.receiveRecord.recordReceived(st, r.buffer)
	}
	if st != (mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}) {
		return fmt.Errorf("%v: the send's status is %+v", r.message, st)
	}
	return r.message.checkSendBuffer(r.buffer)
}
