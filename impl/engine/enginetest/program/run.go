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
	p     *Program
	me    int
	now   int         // number of the last action for which the rank may wait
	comms []*mpi.Comm // by communicator of the program; nil if the rank is not in it
	open  []*underway
	got   []*receipt        // in the order of posting
	lost  map[*message]bool // cancelled messages to this rank
	kept  map[*persistentOp]*persistentRequest
}

// persistentRequest is a persistent request.
type persistentRequest struct {
	request mpi.Request
	buffer  mpi.Buffer
	last    *message
}

// underway is a send or receive that is not complete.
type underway struct {
	m       *message
	request mpi.Request
	buffer  mpi.Buffer
	in      *receipt // of a receive
	due     int      // number of the action from which on the rank may wait for it
}

// receipt is a receive and the message that it got.
type receipt struct {
	m      *message // the message of the receive; with wildcards it may get another
	status mpi.Status
	data   []byte
}

// Run runs the steps of a rank, and checks what it received.
func (p *Program) Run(c *mpi.Comm) error {
	x := &runner{p: p, me: c.Rank(), comms: make([]*mpi.Comm, len(p.comms)), lost: map[*message]bool{}, kept: map[*persistentOp]*persistentRequest{}}
	x.comms[0] = c
	steps := p.of(x.me)
	c.AttachBuffer(make([]byte, room(steps)))
	for _, s := range steps {
		if x.now = s.when; s.turn < finish {
			x.now--
		}
		err := x.spend(s)
		if err == nil {
			err = s.do(x)
		}
		if err != nil {
			return fmt.Errorf("action %d: %v: %w", s.when, s, err)
		}
	}
	for _, k := range x.kept {
		k.request.Free()
	}
	c.DetachBuffer()
	c.Barrier()
	for i, c := range x.comms {
		if c == nil {
			continue
		}
		if st, ok := c.Iprobe(mpi.AnySource, mpi.AnyTag); ok {
			return fmt.Errorf("rank %d: a message is left in communicator %d: %+v", x.me, i, st)
		}
	}
	if err := x.check(); err != nil {
		return err
	}
	c.Barrier()
	return x.sendUnreceived()
}

// sendUnreceived sends messages that are not received, and cancels them. Their destinations do the
// same, compute, or have ended.
func (x *runner) sendUnreceived() error {
	c, draw := x.comms[0], rand.New(rand.NewPCG(x.p.Seed, uint64(x.me)))
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
				return fmt.Errorf("rank %d: a message that is not received has status %+v", x.me, st)
			}
			reqs = slices.Delete(reqs, i, i+1)
		}
	}
	return nil
}

// room returns the size of the attached buffer that a rank needs.
func room(steps []*step) int {
	n := 0
	for _, s := range steps {
		for _, m := range s.sends {
			if m.mode == model.BufferedMode {
				n += m.units*m.unit.size() + mpi.BsendOverhead
			}
		}
	}
	return n
}

// spend lets the rank compute or poll before a step, so that messages may arrive before their
// receives are posted, and requests may complete before the wait.
func (x *runner) spend(s *step) error {
	h := uint64(s.when)*0x9E3779B97F4A7C15 ^ uint64(x.me)<<8 ^ uint64(s.turn) ^ x.p.Seed<<32
	h = (h ^ h>>29) * 0xBF58476D1CE4E5B9
	switch h >> 60 {
	case 0, 1:
		for range 1 + h>>40%4 {
			x.comms[0].Compute(unit.Microsecond * unit.Time(1+h>>44%20))
		}
	case 2, 3:
		x.comms[0].Iprobe(mpi.AnySource, unreceivedTag)
	case 4:
		return x.some(x.open, h>>40%2 == 0)
	}
	return nil
}

// from returns the source and tag of a receive.
func (m *message) from() (src, tag int) {
	src, tag = m.comm.rank(m.src), m.tag
	if m.anySource {
		src = mpi.AnySource
	}
	if m.anyTag {
		tag = mpi.AnyTag
	}
	return src, tag
}

// sent is a message's buffer.
func (m *message) sent() mpi.Buffer { return m.out.holding(m.bytes(), -m.id) }

func (m *message) to() int { return m.comm.rank(m.dst) }

func (x *runner) send(m *message) error {
	c, b := x.comms[m.comm.id], m.sent()
	[...]func(mpi.Buffer, int, int){c.Send, c.Ssend, c.Rsend, c.Bsend}[m.mode](b, m.to(), m.tag)
	return m.unchanged(b)
}

// unchanged checks that a send buffer has not changed, and overwrites it.
func (m *message) unchanged(b mpi.Buffer) error {
	if !m.out.holds(b, m.out.count, -m.id, 0, m.bytes()) {
		return fmt.Errorf("%v: the sender's buffer has changed", m)
	}
	clear(b.Bytes)
	return nil
}

func (x *runner) start(m *message) error {
	if m.again[0] != nil {
		return x.again(m, false)
	}
	c, b := x.comms[m.comm.id], m.sent()
	r := [...]func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Irsend, c.Ibsend}[m.mode](b, m.to(), m.tag)
	if m.freed {
		r.Free()
		return nil
	}
	x.open = append(x.open, &underway{m: m, request: r, buffer: b, due: m.due})
	return nil
}

// receipt records a receive that is about to be posted, and returns memory for it.
func (x *runner) receipt(m *message) (*receipt, mpi.Buffer) {
	got := &receipt{m: m}
	x.got = append(x.got, got)
	return got, m.in.buffer(m.in.count, -m.id)
}

// receive receives a message, with or without a probe.
func (x *runner) receive(m *message) error {
	c := x.comms[m.comm.id]
	src, tag := m.from()
	if m.how[0]%5 == 4 {
		if cancelled, err := x.tryReceive(m, src, tag); !cancelled {
			return err
		}
	}
	seen := mpi.Status{}
	looked := true
	switch m.how[0] % 4 {
	case 0:
		seen = c.Probe(src, tag)
	case 1:
		for ok := false; !ok; {
			seen, ok = c.Iprobe(src, tag)
		}
	default:
		looked = false
	}
	if looked && m.how[1]%2 == 0 { // with source and tag of the probed message
		src, tag = seen.Source, seen.Tag
	}
	got, b := x.receipt(m)
	st := c.Recv(b, src, tag)
	if looked && st != seen {
		return fmt.Errorf("received %+v, and saw %+v before", st, seen)
	}
	return got.end(st, b)
}

func (x *runner) post(m *message) error {
	if m.again[1] != nil {
		return x.again(m, true)
	}
	src, tag := m.from()
	got, b := x.receipt(m)
	r := x.comms[m.comm.id].Irecv(b, src, tag)
	x.open = append(x.open, &underway{m: m, request: r, buffer: b, in: got, due: m.action})
	return nil
}

// again starts the persistent request of a message, after its previous operation has ended.
func (x *runner) again(m *message, incoming bool) error {
	s, fresh := m.again[0], m.sent
	if incoming {
		s, fresh = m.again[1], func() mpi.Buffer { return m.in.buffer(m.in.count, -m.id) }
	}
	k := x.kept[s]
	if k == nil {
		k = &persistentRequest{buffer: fresh()}
		k.request = x.init(m, k.buffer, incoming)
		x.kept[s] = k
	} else {
		if err := x.wait(k.last, incoming); err != nil {
			return err
		}
		copy(k.buffer.Bytes, fresh().Bytes)
	}
	k.last = m
	u := &underway{m: m, buffer: k.buffer, due: m.due}
	if incoming {
		u.in, _ = x.receipt(m)
		u.due = m.action
	}
	if m.how[0]%2 == 0 {
		k.request.Start()
	} else {
		mpi.StartAll([]mpi.Request{k.request})
	}
	u.request = k.request
	x.open = append(x.open, u)
	return nil
}

// init creates a persistent request.
func (x *runner) init(m *message, b mpi.Buffer, incoming bool) mpi.Request {
	c := x.comms[m.comm.id]
	if incoming {
		src, tag := m.from()
		return c.RecvInit(b, src, tag)
	}
	return [...]func(mpi.Buffer, int, int) mpi.Request{c.SendInit, c.SsendInit, c.RsendInit, c.BsendInit}[m.mode](b, m.to(), m.tag)
}

// cancel starts a message, cancels it, and tells the receiver whether it was cancelled.
func (x *runner) cancel(m, news *message) error {
	c, b := x.comms[m.comm.id], m.sent()
	r := [...]func(mpi.Buffer, int, int) mpi.Request{c.Isend, c.Issend, c.Irsend, c.Ibsend}[m.mode](b, m.to(), m.tag)
	for range m.how[0] % 3 {
		x.comms[0].Iprobe(mpi.AnySource, unreceivedTag)
	}
	r.Cancel()
	st := r.Wait()
	if err := m.unchanged(b); err != nil {
		return err
	}
	out := news.sent()
	if st.Cancelled {
		out.Bytes[out.Origin] ^= 1
	}
	x.comms[0].Send(out, news.dst, news.tag)
	return nil
}

// receiveUnlessCancelled receives the report whether a message was cancelled, and the message if it
// was not.
func (x *runner) receiveUnlessCancelled(m, news *message) error {
	got, b := x.receipt(news)
	st := x.comms[0].Recv(b, news.src, news.tag)
	if b.Bytes[b.Origin] != news.bytes()[0] {
		b.Bytes[b.Origin] ^= 1
		x.lost[m] = true
	}
	if err := got.end(st, b); err != nil || x.lost[m] {
		return err
	}
	return x.receive(m)
}

// tryReceive posts a receive and cancels it, and reports whether it was cancelled.
func (x *runner) tryReceive(m *message, src, tag int) (cancelled bool, err error) {
	got, b := x.receipt(m)
	r := x.comms[m.comm.id].Irecv(b, src, tag)
	for range m.how[1] % 4 {
		x.comms[0].Iprobe(mpi.AnySource, unreceivedTag)
	}
	r.Cancel()
	st := r.Wait()
	if !st.Cancelled {
		return false, got.end(st, b)
	}
	x.got = x.got[:len(x.got)-1]
	if !m.in.holds(b, m.in.count, -m.id, 0, nil) {
		return true, fmt.Errorf("%v: the receive was cancelled, and its buffer has changed", m)
	}
	return true, nil
}

// end records the message of a receive. No other byte may have changed.
func (g *receipt) end(st mpi.Status, b mpi.Buffer) error {
	in := g.m.in
	if st.Bytes < 0 || st.Bytes > in.count*in.size() {
		return fmt.Errorf("%v: received %+v", g.m, st)
	}
	g.status, g.data = st, in.take(b, in.count)[:st.Bytes]
	if !in.holds(b, in.count, -g.m.id, 0, g.data) {
		return fmt.Errorf("%v: more has changed than was received: %+v", g.m, st)
	}
	return nil
}

// exchange sends one message and receives another; either may be nil.
func (x *runner) exchange(t *communicator, out, in *message, replace bool) error {
	c := x.comms[t.id]
	dst, src, sendTag, tag := mpi.ProcNull, mpi.ProcNull, 0, 0
	var send, recv mpi.Buffer
	if replace && in == nil {
		recv = mpi.BufferOf([]int32{})
	}
	var got *receipt
	if in != nil {
		src, tag = in.from()
		got, recv = x.receipt(in)
	}
	if out != nil {
		dst, sendTag, send = out.to(), out.tag, out.sent()
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
		out.out.put(recv, 0, out.bytes())
		st = c.SendrecvReplace(recv, dst, sendTag, src, tag)
	}
	if in == nil {
		if st != (mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}) {
			return fmt.Errorf("received %+v from no rank", st)
		}
	}
	if out != nil && (in == nil || !replace) {
		if err := out.unchanged(send); err != nil {
			return err
		}
	}
	if in == nil {
		return nil
	}
	return got.end(st, recv)
}

// due returns the operations for which a rank may wait: their counterparts precede this point in
// the list.
func (x *runner) due() []*underway {
	var due []*underway
	for _, r := range x.open {
		if r.due <= x.now {
			due = append(due, r)
		}
	}
	return due
}

// wait waits for a message in a random way. Other operations may complete as well.
func (x *runner) wait(m *message, incoming bool) error {
	find := func(r *underway) bool { return r.m == m && (r.in != nil) == incoming }
	for {
		at := slices.IndexFunc(x.open, find)
		if at < 0 {
			return nil
		}
		r := x.open[at]
		how := m.how[0]
		if incoming {
			how = m.how[1]
		}
		var err error
		switch how % 8 {
		case 0:
			err = x.end(r, r.request.Wait())
		case 1:
			if st, ok := r.request.Test(); ok {
				err = x.end(r, st)
			}
		case 2, 3:
			err = x.some(x.open, how%8 == 2)
		case 4:
			err = x.all(x.due())
		case 5:
			err = x.any(x.open)
		case 6:
			st := make([]mpi.Status, 1)
			reqs := []mpi.Request{r.request}
			if mpi.TestAll(reqs, st) {
				err = x.end(r, st[0])
			}
		case 7:
			err = x.any(x.due())
		}
		if err != nil {
			return err
		}
	}
}

// requests returns the requests of operations.
func requests(list []*underway) []mpi.Request {
	reqs := make([]mpi.Request, len(list))
	for i, r := range list {
		reqs[i] = r.request
	}
	return reqs
}

// some completes finished operations of a list; if wait is set, at least one.
func (x *runner) some(list []*underway, wait bool) error {
	list = slices.Clone(list)
	reqs, index, sts := requests(list), make([]int, len(list)), make([]mpi.Status, len(list))
	n := 0
	if wait && len(list) > 0 && x.dueAny(list) {
		n = mpi.WaitSome(reqs, index, sts)
	} else {
		n = mpi.TestSome(reqs, index, sts)
	}
	for i := range max(n, 0) {
		if err := x.end(list[index[i]], sts[i]); err != nil {
			return err
		}
	}
	return nil
}

// dueAny reports whether a rank may wait for an operation of a list.
func (x *runner) dueAny(list []*underway) bool {
	return slices.ContainsFunc(list, func(r *underway) bool { return r.due <= x.now })
}

// any waits for one operation of a list.
func (x *runner) any(list []*underway) error {
	list = slices.Clone(list)
	i, st := mpi.WaitAny(requests(list))
	if i < 0 {
		return fmt.Errorf("WaitAny of %d requests: %d", len(list), i)
	}
	return x.end(list[i], st)
}

// all waits for all operations of a list.
func (x *runner) all(list []*underway) error {
	sts := make([]mpi.Status, len(list))
	mpi.WaitAll(requests(list), sts)
	for i, r := range list {
		if err := x.end(r, sts[i]); err != nil {
			return err
		}
	}
	return nil
}

// end records the end of an operation.
func (x *runner) end(r *underway, st mpi.Status) error {
	x.open = slices.DeleteFunc(x.open, func(o *underway) bool { return o == r })
	if r.in != nil {
		return r.in.end(st, r.buffer)
	}
	if st != (mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}) {
		return fmt.Errorf("%v: the send's status is %+v", r.m, st)
	}
	return r.m.unchanged(r.buffer)
}
