//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"unsafe"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Non-blocking collective operations. All messages of an operation are started at once: each rank
// sends its data directly to every rank that needs it, and data is combined when the operation is
// completed. So an operation makes progress in any call, as messages do. With many ranks it has
// more messages than the algorithms of blocking operations.

// pending is an operation under way.
type pending struct {
	r      *rank
	c      *comm
	aside  *mpi.Comm // carries the messages, apart from the program's
	ranks  int       // of the communicator, or of the other group
	me     int       // this rank among them; -1: it is of the other group
	tag    int
	reqs   []mpi.Request
	finish func() // called when all messages have arrived; nil: nothing
	done   bool
	status *mpi.Status  // nil: it has none
	g      *generalized // nil: it is not a generalized request
}

// generalized is an operation of the program's own: its functions and their argument.
type generalized struct {
	query, free, cancel, extra uintptr
	freed                      bool // by MPI_Request_free, before it was complete
}

func grequestStart(r *rank, a args) {
	r.collectives++ // lists are looked at one by one
	(&pending{r: r, g: &generalized{query: a[0], free: a[1], cancel: a[2], extra: a[3]}}).under(a[4])
}

func grequestComplete(r *rank, a args) {
	h := a[0]
	x := r.requests.get(kindRequest, h)
	if x == nil || x.p == nil || x.p.g == nil {
		r.fail(mpi.ErrRequest, "the request is not a generalized request")
	}
	p := x.p
	if p.done = true; p.g.freed {
		r.drop(uintptr(unsafe.Pointer(&h)))
	}
}

// tags is how many operations of a communicator can be under way.
const tags = 1 << 20

// pending begins an operation on a communicator.
func (r *rank) pending(h uintptr) *pending {
	c := r.comm(h)
	r.collectives++
	c.started = (c.started + 1) % tags
	p := &pending{r: r, c: c, aside: c.Aside(), ranks: c.Size(), me: c.Rank(), tag: c.started}
	if c.IsInter() {
		p.ranks, p.me = c.RemoteSize(), -1
	}
	return p
}

// at waits for an operation that another handler starts, which has one argument more: where its
// request goes.
func at(start handler, request int) handler {
	return func(r *rank, a args) {
		b, h := new([16]uintptr), new(uintptr)
		copy(b[:], a[:request])
		b[request] = uintptr(unsafe.Pointer(h))
		start(r, b)
		r.waitOne(b[request])
	}
}

// between makes a handler of an operation which is another one between two groups. comm is where
// its communicator is.
func between(within, start handler, comm int) handler {
	across := at(start, comm+1)
	return func(r *rank, a args) {
		if r.comm(a[comm]).IsInter() {
			across(r, a)
			return
		}
		within(r, a)
	}
}

func (p *pending) send(b mpi.Buffer, to int) {
	p.reqs = append(p.reqs, p.aside.Isend(b, to, p.tag))
}
func (p *pending) recv(b mpi.Buffer, from int) {
	p.reqs = append(p.reqs, p.aside.Irecv(b, from, p.tag))
}

// The root of an operation between two groups is here, or one of the other group's, or a rank
// beside this one.
const (
	rootHere   = -4 // MPI_ROOT
	rootBeside = procNull
)

// root fails if the root is not one of the ranks. It is this one if here says so, and has nothing
// to do with this one if neither does there.
func (p *pending) root(n uintptr) (root int, here, there bool) {
	root = int(n)
	switch {
	case p.me < 0 && (root == rootHere || root == rootBeside):
		return root, root == rootHere, false
	case root < 0 || root >= p.ranks:
		p.r.fail(mpi.ErrRoot, "root %d is not in a group of %d", root, p.ranks)
	}
	return root, root == p.me, root != p.me
}

// under stores a request for the operation at an address.
func (p *pending) under(at uintptr) { set(at, p.r.requests.add(kindRequest, request{p: p})) }

// wait waits until the operation is complete.
func (p *pending) wait() {
	switch {
	case p.done:
	case p.g != nil:
		p.r.fail(mpi.ErrPending, "the rank waits for a generalized request that only the rank itself can complete")
	default:
		mpi.WaitAll(p.reqs, nil)
		p.complete()
	}
}

// test reports whether it is.
func (p *pending) test() bool {
	if !p.done && p.g == nil && mpi.TestAll(p.reqs, nil) {
		p.complete()
	}
	return p.done
}

func (p *pending) complete() {
	if p.done = true; p.finish != nil {
		p.finish()
	}
}

// result returns the status of an operation that is complete.
func (p *pending) result() mpi.Status {
	switch {
	case p.status != nil:
		return *p.status
	case p.g != nil:
		at := uintptr(unsafe.Pointer(&p.r.h.scratch[4]))
		setStatus(at, mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag})
		p.r.callback(p.g.query, p.g.extra, at)
		return getStatus(at)
	}
	return mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
}

// zero is the buffer of a message without data.
var zero = mpi.Buffer{Type: mpi.Byte}

func ibarrier(r *rank, a args) {
	p := r.pending(a[0])
	p.fromAll(true, func(int) mpi.Buffer { return zero })
	p.toAll(true, func(int) mpi.Buffer { return zero })
	p.under(a[1])
}

func ibcast(r *rank, a args) {
	p := r.pending(a[4])
	p.broadcast(func() mpi.Buffer { return r.buffer(a[0], int(a[1]), a[2]) }, a[3])
	p.under(a[5])
}

func (p *pending) broadcast(b func() mpi.Buffer, at uintptr) {
	switch root, here, there := p.root(at); {
	case here:
		all := b()
		p.toAll(true, func(int) mpi.Buffer { return all })
	case there:
		p.recv(b(), root)
	}
}

// block returns the part of rank i of a buffer that has as much for each rank.
func block(b mpi.Buffer, i int) mpi.Buffer { return b.Part(i*b.Count, b.Count) }

func igather(r *rank, a args) {
	p := r.pending(a[7])
	root, here, there := p.root(a[6])
	if here {
		all := r.blocks(p.ranks, a[3], int(a[4]), a[5])
		p.fromAll(a[0] == inPlace, func(i int) mpi.Buffer { return block(all, i) })
	}
	if there || p.alsoMine(here, a[0]) {
		p.send(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	p.under(a[8])
}

func igatherv(r *rank, a args) {
	p := r.pending(a[8])
	root, here, there := p.root(a[7])
	if here {
		p.fromAll(a[0] == inPlace, r.parts(p.ranks, a[3], a[4], a[5], a[6]).part)
	}
	if there || p.alsoMine(here, a[0]) {
		p.send(r.buffer(a[0], int(a[1]), a[2]), root)
	}
	p.under(a[9])
}

// alsoMine reports whether a root has a part of its own, which is not in place.
func (p *pending) alsoMine(here bool, buffer uintptr) bool {
	return here && p.me >= 0 && buffer != inPlace
}

// fromAll receives a part from each rank, but from this one itself if its part is in place.
func (p *pending) fromAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.me {
			p.recv(part(i), i)
		}
	}
}

// toAll sends a part to each rank in the same way.
func (p *pending) toAll(placed bool, part func(i int) mpi.Buffer) {
	for i := range p.ranks {
		if !placed || i != p.me {
			p.send(part(i), i)
		}
	}
}

func iscatter(r *rank, a args) {
	p := r.pending(a[7])
	root, here, there := p.root(a[6])
	if there || p.alsoMine(here, a[3]) {
		p.recv(r.buffer(a[3], int(a[4]), a[5]), root)
	}
	if here {
		all := r.blocks(p.ranks, a[0], int(a[1]), a[2])
		p.toAll(a[3] == inPlace, func(i int) mpi.Buffer { return block(all, i) })
	}
	p.under(a[8])
}

func iscatterv(r *rank, a args) {
	p := r.pending(a[8])
	root, here, there := p.root(a[7])
	if there || p.alsoMine(here, a[4]) {
		p.recv(r.buffer(a[4], int(a[5]), a[6]), root)
	}
	if here {
		p.toAll(a[4] == inPlace, r.parts(p.ranks, a[0], a[1], a[2], a[3]).part)
	}
	p.under(a[9])
}

func iallgather(r *rank, a args) {
	p := r.pending(a[6])
	all := r.blocks(p.ranks, a[3], int(a[4]), a[5])
	p.gatherAll(a[0] == inPlace, a, func(i int) mpi.Buffer { return block(all, i) })
	p.under(a[7])
}

func iallgatherv(r *rank, a args) {
	p := r.pending(a[7])
	p.gatherAll(a[0] == inPlace, a, r.parts(p.ranks, a[3], a[4], a[5], a[6]).part)
	p.under(a[8])
}

// gatherAll receives a part from each rank and sends this rank's part to each.
func (p *pending) gatherAll(placed bool, a args, part func(i int) mpi.Buffer) {
	p.fromAll(placed, part)
	var mine mpi.Buffer
	if placed {
		mine = part(p.me)
	} else {
		mine = p.r.buffer(a[0], int(a[1]), a[2])
	}
	p.toAll(placed, func(int) mpi.Buffer { return mine })
}

func ialltoall(r *rank, a args) {
	p := r.pending(a[6])
	into := r.blocks(p.ranks, a[3], int(a[4]), a[5])
	from := clone(into)
	if a[0] != inPlace {
		from = r.blocks(p.ranks, a[0], int(a[1]), a[2])
	}
	p.fromAll(false, func(i int) mpi.Buffer { return block(into, i) })
	p.toAll(false, func(i int) mpi.Buffer { return block(from, i) })
	p.under(a[7])
}

func ialltoallv(r *rank, a args) {
	p := r.pending(a[8])
	into := r.parts(p.ranks, a[4], a[5], a[6], a[7])
	from := into
	if a[0] == inPlace {
		from.all = clone(into.all)
	} else {
		from = r.parts(p.ranks, a[0], a[1], a[2], a[3])
	}
	p.fromAll(false, into.part)
	p.toAll(false, from.part)
	p.under(a[9])
}

func ialltoallw(r *rank, a args) {
	p := r.pending(a[8])
	into := r.buffers(a[4], a[5], ints(a[6], p.ranks), a[7])
	from := make([]mpi.Buffer, len(into))
	if a[0] == inPlace {
		for i := range into {
			from[i] = flatCopy(into[i])
		}
	} else {
		from = r.buffers(a[0], a[1], ints(a[2], p.ranks), a[3])
	}
	p.fromAll(false, func(i int) mpi.Buffer { return into[i] })
	p.toAll(false, func(i int) mpi.Buffer { return from[i] })
	p.under(a[9])
}

// combine receives operands of the ranks from first on, up to and without last, and leaves their
// combination, in the order of ranks, in out when all are there. mine is that of this rank.
func (p *pending) combine(first, last int, mine, out mpi.Buffer, o *mpi.Op, datatype uintptr) {
	operands := make([]mpi.Buffer, last-first)
	for i := range operands {
		if first+i == p.me {
			operands[i] = flatCopy(mine)
			continue
		}
		operands[i] = flatCopy(out)
		p.recv(operands[i], first+i)
	}
	p.finish = func() {
		if len(operands) == 0 || out.Count == 0 {
			return
		}
		p.r.combined = datatype
		result := operands[len(operands)-1]
		for i := len(operands) - 2; i >= 0; i-- {
			p.c.Combine(o, operands[i], result)
		}
		flat := make([]byte, result.Len())
		result.Pack(flat, 0)
		out.Unpack(flat, 0)
	}
}

// checkOp fails if an operation is not for elements of a type.
func (r *rank) checkOp(o *mpi.Op, b mpi.Buffer) {
	if err := o.Check(b.Type); err != nil {
		r.fail(mpi.ErrOp, "%v", err)
	}
}

func ireduce(r *rank, a args) {
	p := r.pending(a[6])
	o := r.op(a[4], a[3])
	switch root, here, there := p.root(a[5]); {
	case there:
		b := r.buffer(a[0], int(a[2]), a[3])
		r.checkOp(o, b)
		p.send(b, root)
	case here && p.me < 0:
		out := r.buffer(a[1], int(a[2]), a[3])
		r.checkOp(o, out)
		p.combine(0, p.ranks, out, out, o, a[3])
	case here:
		in, out := r.pair(a[0], a[1], int(a[2]), a[3])
		r.checkOp(o, out)
		p.combine(0, p.ranks, in, out, o, a[3])
	}
	p.under(a[7])
}

func iallreduce(r *rank, a args) {
	p := r.pending(a[5])
	o := r.op(a[4], a[3])
	in, out := r.pair(a[0], a[1], int(a[2]), a[3])
	r.checkOp(o, out)
	p.combine(0, p.ranks, in, out, o, a[3])
	p.toAll(true, func(int) mpi.Buffer { return in })
	p.under(a[6])
}

func iscan(r *rank, a args)   { r.scan(a, 1) }
func iexscan(r *rank, a args) { r.scan(a, 0) }

// scan combines the operands of the ranks before this one, and of as many behind.
func (r *rank) scan(a args, own int) {
	p := r.pending(a[5])
	o := r.op(a[4], a[3])
	in, out := r.pair(a[0], a[1], int(a[2]), a[3])
	r.checkOp(o, out)
	me := p.c.Rank()
	p.combine(0, me+own, in, out, o, a[3])
	for i := me + 1; i < p.c.Size(); i++ {
		p.send(in, i)
	}
	p.under(a[6])
}

func ireduceScatter(r *rank, a args) {
	p := r.pending(a[5])
	counts := ints(a[2], p.c.Size())
	for _, n := range counts {
		if n < 0 {
			r.fail(mpi.ErrCount, "%d elements: a count is not negative", n)
		}
	}
	p.reduceParts(a, counts)
}

func ireduceScatterBlock(r *rank, a args) {
	p := r.pending(a[5])
	counts := make([]int, p.c.Size())
	for i := range counts {
		counts[i] = r.count(a[2])
	}
	p.reduceParts(a, counts)
}

func (p *pending) reduceParts(a args, counts []int) {
	r, o := p.r, p.r.op(a[4], a[3])
	offsets, total := make([]int, len(counts)), 0
	for i, n := range counts {
		offsets[i] = total
		total += n
	}
	var in mpi.Buffer
	if a[0] == inPlace {
		in = flatCopy(r.buffer(a[1], total, a[3]))
	} else {
		in = r.buffer(a[0], total, a[3])
	}
	out := r.buffer(a[1], counts[p.c.Rank()], a[3])
	r.checkOp(o, out)
	if p.me < 0 { // the other group divides it in another way: it gets all
		whole := flatCopy(in)
		p.combine(0, p.ranks, whole, whole, o, a[3])
		all := p.finish
		p.finish = func() {
			all()
			mine := whole.Part(offsets[p.c.Rank()], counts[p.c.Rank()])
			flat := make([]byte, mine.Len())
			mine.Pack(flat, 0)
			out.Unpack(flat, 0)
		}
		p.toAll(true, func(int) mpi.Buffer { return in })
		p.under(a[6])
		return
	}
	part := func(i int) mpi.Buffer { return in.Part(offsets[i], counts[i]) }
	p.combine(0, p.ranks, part(p.me), out, o, a[3])
	p.toAll(true, part)
	p.under(a[6])
}

// Lists with such operations are looked at one by one.

// finished completes the request at an address if it can be. It reports whether there was one to
// wait for, and whether it is complete.
func (r *rank) finished(at uintptr) (s mpi.Status, there, done bool) {
	q, x := r.request(at)
	s = mpi.Status{Source: mpi.AnySource, Tag: mpi.AnyTag}
	switch {
	case x == nil:
		return s, false, true
	case x.p != nil:
		if done = x.p.test(); done {
			s = x.p.result()
			r.drop(at)
		}
		return s, true, done
	case !q.Active():
		return s, false, true
	}
	if s, done = q.Test(); done {
		r.keep(at, q)
	}
	return s, true, done
}

// drop ends the use of a request.
func (r *rank) drop(at uintptr) {
	h := ptr[uintptr](at)
	g := r.requests.get(kindRequest, *h).p.g
	r.requests.remove(*h)
	*h = requestNull
	if g != nil {
		r.callback(g.free, g.extra)
	}
}

// mixed reports whether a list has such operations.
func (r *rank) mixed(count, at uintptr) bool {
	if r.collectives == 0 {
		return false
	}
	for i := range int(count) {
		if x := r.requests.get(kindRequest, *ptr[uintptr](at + uintptr(i*pointer))); x != nil && x.p != nil {
			return true
		}
	}
	return false
}

// waitOne waits for the request at an address.
func (r *rank) waitOne(at uintptr) mpi.Status {
	q, x := r.request(at)
	if x != nil && x.p != nil {
		x.p.wait()
		s := x.p.result()
		r.drop(at)
		return s
	}
	s := q.Wait()
	r.keep(at, q)
	return s
}

// sweep completes at most so many requests of a list, as far as they are ready, and calls found for
// each. It returns how many requests were active.
func (r *rank) sweep(count, at uintptr, most int, found func(i int, s mpi.Status)) (open int) {
	for i := range int(count) {
		s, there, done := r.finished(at + uintptr(i*pointer))
		if there {
			open++
		}
		if there && done {
			found(i, s)
			if most--; most == 0 {
				break
			}
		}
	}
	return open
}

// sweepUntil is sweep until one is found.
func (r *rank) sweepUntil(count, at uintptr, most int, found func(i int, s mpi.Status)) (open int) {
	for any := false; !any; {
		open = r.sweep(count, at, most, func(i int, s mpi.Status) { any = true; found(i, s) })
		if open == 0 {
			break
		}
	}
	return open
}

// allReady reports whether all operations of a list are complete, and leaves them.
func (r *rank) allReady(count, at uintptr) bool {
	all := true
	for i := range int(count) {
		q, x := r.request(at + uintptr(i*pointer))
		switch {
		case x == nil:
		case x.p != nil:
			all = x.p.test() && all
		case q.Active():
			all = q.Complete() && all
		}
	}
	return all
}
