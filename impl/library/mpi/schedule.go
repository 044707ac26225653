package mpi

import (
	"encoding/binary"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/impl/library/reduction"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Op combines elements.
type Op = reduction.Op

// Collective operations are schedules of package collective. Their messages have a context of their
// own and name the operation in their tags, so that ranks which call different operations find out.

// round is a collective operation under way. A rank has one at a time, or one within another.
type round struct {
	*Comm
	script    collective.Script
	busy      bool
	operation collective.Operation
	root      int
	areas     [3][]byte
	op        *Op
	of        *Datatype              // elements that op combines
	combine   func(in, inout []byte) // how, where they lie as they travel; nil: by op
	sign      engine.Signature
	tag       int // of the operation's messages
	posted    []postedTransfer
	commutes  bool
}

// newRound begins a collective operation on data of a type.
func (c *Comm) newRound(o collective.Operation, root int, of *Datatype) *round {
	tag := check.Tag(o, 0, root)
	c.noteCollective(tag)
	r := &c.state.round
	if r.busy {
		r = new(round)
	}
	*r = round{Comm: c, operation: o, root: root, sign: engine.Signature(of.Sign()), tag: tag, posted: r.posted[:0]}
	return r
}

// runSchedule runs an algorithm's schedule. in is what the rank gives and out what it gets, as they
// travel; nil where it has none.
func (r *round) runSchedule(j collective.Job, in, out []byte) {
	r.runAlgorithm(r.chooseAlgorithm(&j), j, in, out)
}

func (r *round) runAlgorithm(a *collective.Algorithm, j collective.Job, in, out []byte) {
	r.areas = [3][]byte{collective.In: in, collective.Out: out, collective.Tmp: r.state.work}
	if out == nil {
		if j.Bytes > len(r.state.scratch) {
			r.state.scratch = make([]byte, j.Bytes)
		}
		r.areas[collective.Out] = r.state.scratch[:j.Bytes] // of ranks that get nothing, Out is memory to work in
	}
	r.script.By, r.busy = r, true
	a.Perform(j, r.rank, &r.script)
	r.areas, r.busy = [3][]byte{}, false
}

// tuningTable returns the rules of the communicator, or of the job.
func (r *round) tuningTable() *collective.Tuning {
	if r.extras != nil && r.extras.tuning != nil {
		return r.extras.tuning
	}
	return r.state.tuning
}

// chooseAlgorithm returns the algorithm for a job. If the table depends on where ranks are, it adds
// that to the job.
func (r *round) chooseAlgorithm(j *collective.Job) *collective.Algorithm {
	t := r.tuningTable()
	if t.NeedsNodes(r.operation) {
		j.Nodes = r.findNodes()
	}
	return t.Choose(r.operation, j, r.commutes)
}

// spanBytes returns the memory of a span. There is as much of Tmp as a schedule wants.
func (r *round) spanBytes(s collective.Span) []byte {
	end := s.From + s.Len
	if s.Area == collective.Tmp && end > len(r.areas[collective.Tmp]) {
		work := slices.Grow(r.state.work, end-len(r.state.work)) // keeps the contents
		r.state.work = work[:cap(work)]
		r.areas[collective.Tmp] = r.state.work
	}
	return r.areas[s.Area][s.From:end]
}

// Do does one step of a schedule.
func (r *round) Do(st *collective.Step) bool {
	switch st.Kind {
	case collective.Copy:
		r.e.Port().Copy(r.spanBytes(st.Recv), r.spanBytes(st.Send))
	case collective.FoldLeft:
		r.fold(r.spanBytes(st.Send), r.spanBytes(st.Recv))
	case collective.FoldRight:
		r.foldRight(r.spanBytes(st.Send), r.spanBytes(st.Recv))
	case collective.Transfer:
		if st.Post {
			r.postTransfer(st)
		} else {
			r.transfer(st)
		}
	case collective.Wait:
		r.waitPosted()
	}
	return true
}

// postedTransfer is a transfer that has begun.
type postedTransfer struct {
	*engine.Op
	step collective.Step
}

// postTransfer begins to send or to receive.
func (r *round) postTransfer(st *collective.Step) {
	if st.From == collective.None {
		r.startSend(st.To, r.spanBytes(st.Send))
	} else {
		r.startRecv(st.From, r.spanBytes(st.Recv))
	}
}

// startSend begins to send to a rank, and startRecv to receive from one.
func (r *round) startSend(to int, b []byte) {
	r.posted = append(r.posted, postedTransfer{step: collective.Step{To: to, From: collective.None},
		Op: r.e.Isend(model.StandardMode, b, r.sign, r.jobRank(to), r.context+1, r.tag)})
}

func (r *round) startRecv(from int, b []byte) {
	r.posted = append(r.posted, postedTransfer{step: collective.Step{To: collective.None, From: from, Recv: collective.Span{Len: len(b)}},
		Op: r.e.Irecv(b, r.sign, r.jobRank(from), r.context+1, AnyTag)})
}

// waitPosted ends all transfers that have begun, in their order.
func (r *round) waitPosted() {
	for i := range r.posted {
		x := &r.posted[i]
		r.e.Wait(x.Op)
		var got engine.Status
		if x.step.From != collective.None {
			got, _ = x.Received()
		}
		r.e.Release(x.Op)
		if x.step.From != collective.None {
			r.checkMessage(&x.step, got)
		}
	}
	clear(r.posted)
	r.posted = r.posted[:0]
}

// transfer sends, receives, or does both at the same time.
func (r *round) transfer(st *collective.Step) {
	switch {
	case st.From == collective.None:
		r.e.Send(model.StandardMode, r.spanBytes(st.Send), r.sign, r.jobRank(st.To), r.context+1, r.tag)
	case st.To == collective.None:
		r.checkMessage(st, r.e.Recv(r.spanBytes(st.Recv), r.sign, r.jobRank(st.From), r.context+1, AnyTag))
	default:
		in := r.e.Irecv(r.spanBytes(st.Recv), r.sign, r.jobRank(st.From), r.context+1, AnyTag)
		r.e.Send(model.StandardMode, r.spanBytes(st.Send), r.sign, r.jobRank(st.To), r.context+1, r.tag)
		r.e.Wait(in)
		got, _ := in.Received()
		r.e.Release(in)
		r.checkMessage(st, got)
	}
}

// checkMessage fails if a message does not belong to the operation.
func (r *round) checkMessage(st *collective.Step, got engine.Status) {
	if got.Tag != r.tag || got.Bytes != st.Recv.Len {
		r.failMessage(st, got)
	}
}

// failMessage says what is wrong with a message. It is a function of its own so that checkMessage
// is inlined.
func (r *round) failMessage(st *collective.Step, got engine.Status) {
	if got.Tag != r.tag {
		r.failMismatch(got, r.tag)
	}
	r.e.FailWith(got.Source, engine.ErrTruncate, "%s sent %d bytes of %v where %d were expected: the ranks do not give as much as they take",
		r.state.rankName(got.Source, r.context), got.Bytes, r.operation, st.Recv.Len)
}

// failMismatch fails because another rank is in a different collective call.
func (c *Comm) failMismatch(got engine.Status, ours int) {
	class, text := check.Difference(c.state.rankName(got.Source, c.context), got.Tag, ours)
	c.e.FailWith(got.Source, class, "%s", text)
}

// fold leaves in ∘ inout in inout.
func (r *round) fold(in, inout []byte) {
	r.chargeReduction(inout)
	if r.combine != nil {
		r.combine(in, inout)
		return
	}
	result := elementsInMemory(r.of, inout)
	r.op.Apply(elementsInMemory(r.of, in), result)
	flatten(result, inout)
}

// foldRight leaves inout ∘ in in inout.
func (r *round) foldRight(in, inout []byte) {
	if r.op.Commutes() {
		r.fold(in, inout)
		return
	}
	r.chargeReduction(inout)
	result := elementsInMemory(r.of, append([]byte(nil), in...))
	r.op.Apply(elementsInMemory(r.of, inout), result)
	flatten(result, inout)
}

// chargeReduction charges an operation for each element of data that is combined.
func (r *round) chargeReduction(data []byte) {
	if len(data) > 0 {
		r.e.Port().Operate(len(data) / r.of.Size())
	}
}

// elementsInMemory returns data that travels as elements in memory, which it is unless the type has
// gaps.
func elementsInMemory(of *Datatype, flat []byte) Buffer {
	n := len(flat) / of.Size()
	if of.Contiguous() {
		return Buffer{Bytes: flat, Origin: -of.TrueLower(), Count: n, Type: of}
	}
	low, end := Buffer{Count: n, Type: of}.DataRange()
	b := Buffer{Bytes: make([]byte, max(end-low, n*of.Extent())), Origin: -low, Count: n, Type: of}
	b.Unpack(flat, 0)
	return b
}

// flatten puts elements to where they travel from, unless they are there.
func flatten(b Buffer, flat []byte) {
	if x, ok := b.Flat(); ok {
		copy(flat, x)
		return
	}
	b.Pack(flat, 0)
}

// Tune sets by which algorithms the collective operations of this communicator are carried out from
// now on, instead of the job's table: all ranks call it, with the same rules. nil brings the job's
// back. Communicators that are made of this one know nothing of it.
func (c *Comm) Tune(rules []collective.Rule) {
	c.enterCall("Tune")
	c.rareFieldsOf().tuning = nil
	if rules != nil {
		c.extras.tuning = collective.Tuned(rules)
	}
}

// Barrier returns when all ranks have called it. If the engine has no barrier of its own messages
// go up a binomial tree to rank 0 and down again, unless the job is tuned to another way, so rank 0
// leaves first; to let another rank be the root, reorder the communicator with Create.
func (c *Comm) Barrier() {
	c.enterCall("Barrier")
	c.checkIntra()
	r := c.newRound(collective.Barrier, 0, Byte)
	if r.runOwnMethod(func(o Collectives, k *Call) bool { return o.Barrier(k) }) {
		return
	}
	if !r.tuningTable().Asked(collective.Barrier) && c.e.Barrier(c.size, c.rank, c.jobRank) {
		return
	}
	j := collective.Job{Ranks: c.size}
	a := r.chooseAlgorithm(&j)
	if a == binomialBarrier {
		c.convergeOnTree(nil, nil, nil) // on fewer frames: a job may have a million ranks
		return
	}
	r.runAlgorithm(a, j, nil, nil)
}

var binomialBarrier = collective.Named(collective.Barrier, "binomial")

// convergeOnTree reduces and broadcasts on a binomial tree: merge folds a child's theirs into mine,
// rank 0 has the result, and mine of all ranks becomes that.
func (c *Comm) convergeOnTree(mine, theirs []byte, merge func()) {
	mask := 1
	for ; mask < c.size && c.rank&mask == 0; mask <<= 1 {
		if child := c.rank | mask; child < c.size {
			c.recvConverge(theirs, child)
			if merge != nil {
				merge()
			}
		}
	}
	if c.rank != 0 {
		c.e.Send(model.StandardMode, mine, 0, c.jobRank(c.rank^mask), c.context+1, 0)
		c.recvConverge(mine, c.rank^mask)
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if child := c.rank | mask; child < c.size {
			c.e.Send(model.StandardMode, mine, 0, c.jobRank(child), c.context+1, 0)
		}
	}
}

// recvConverge receives a message of converge, which has the tag of a barrier.
func (c *Comm) recvConverge(b []byte, src int) {
	if got := c.e.Recv(b, 0, c.jobRank(src), c.context+1, AnyTag); got.Tag != 0 {
		c.failMismatch(got, 0)
	}
}

// findNodes returns which ranks of the communicator are near each other. A rank knows only how near
// others are to itself, so the first operation that needs it begins with an exchange: each rank
// gives the first rank of its node.
func (r *round) findNodes() *collective.Nodes {
	x := r.rareFieldsOf()
	if x.nodes != nil {
		return x.nodes
	}
	first := 0
	for r.e.Port().Tier(r.jobRank(first)) != model.IntraNode {
		first++ // to the rank itself at most
	}
	const word = 4
	mine, all := make([]byte, word), make([]byte, word*r.size)
	binary.LittleEndian.PutUint32(mine, uint32(first))
	tell := &round{Comm: r.Comm, operation: r.operation, root: r.root, sign: engine.Signature(Byte.Sign()), tag: r.tag}
	tell.runAlgorithm(bruckAllgather, collective.Job{Ranks: r.size, Bytes: word}, mine, all)
	names := make([]int, r.size)
	for i := range names {
		names[i] = int(binary.LittleEndian.Uint32(all[word*i:]))
	}
	x.nodes = collective.NewNodes(names)
	return x.nodes
}

var bruckAllgather = collective.Named(collective.Allgather, "bruck")

// runOwnMethod lets the library carry out the operation in a way of its own, and reports whether it
// has one. Somebody who asks for an algorithm gets that.
func (r *round) runOwnMethod(by func(o Collectives, k *Call) bool) bool {
	o := r.state.own
	if o == nil || r.tuningTable().Asked(r.operation) {
		return false
	}
	r.busy = true
	done := by(o, &Call{r: r})
	r.busy = false
	return done
}

// Carry makes a collective call that is not MPI's but of a library beside it. f carries it out, and
// gets the data of buffers as it travels. The messages of an operation have the tag of one that MPI
// has.
func (c *Comm) Carry(call string, o collective.Operation, root int, in, out []Buffer, f func(own Collectives, k *Call, in, out [][]byte)) {
	c.enterCall(call)
	c.checkIntra()
	c.checkRank(root)
	for _, b := range slices.Concat(in, out) {
		c.checkBuffer(b)
	}
	c.checkShared(in, out)
	r := c.newRound(o, root, Packed)
	from, to := c.flatParts(in, true), c.flatParts(out, false)
	r.busy = true
	f(c.state.own, &Call{r: r}, from, to)
	r.busy = false
	c.unflattenParts(out, to)
}

// Call is a collective operation that is carried out by Collectives.
type Call struct {
	r      *round
	within [2]*round // the barriers in it, and the broadcasts
}

// Comm is the communicator of the call, and Root its root.
func (k *Call) Comm() *Comm { return k.r.Comm }
func (k *Call) Root() int   { return k.r.root }

// JobRank returns the rank in the job of a rank of the communicator.
func (k *Call) JobRank(rank int) int { return k.r.jobRank(rank) }

// Port is the rank's port.
func (k *Call) Port() device.Port { return k.r.e.Port() }

// Transfer sends to one rank and receives from another at the same time; either may be
// collective.None. The received message is as long as in.
func (k *Call) Transfer(to int, out []byte, from int, in []byte) {
	k.r.sendAndReceive(to, out, from, in)
}

// Send starts to send to a rank, and Receive to receive from one; Wait ends all that has been
// started.
func (k *Call) Send(to int, b []byte) { k.r.startSend(to, b) }

// Receive starts to receive from a rank.
func (k *Call) Receive(from int, b []byte) { k.r.startRecv(from, b) }

// Wait waits for all sends and receives that have been started.
func (k *Call) Wait() { k.r.waitPosted() }

// Barrier is a barrier of the communicator within the call.
func (k *Call) Barrier() {
	r := k.r
	if !r.tuningTable().Asked(collective.Barrier) && r.e.Barrier(r.size, r.rank, r.jobRank) {
		return
	}
	j := collective.Job{Ranks: r.size}
	in := k.round(0, collective.Barrier)
	in.runAlgorithm(in.chooseAlgorithm(&j), j, nil, nil)
}

// Bcast is a broadcast of the communicator within the call, by an algorithm.
func (k *Call) Bcast(by *collective.Algorithm, root int, b []byte) {
	k.round(1, collective.Bcast).runAlgorithm(by, collective.Job{Ranks: k.r.size, Root: root, Bytes: len(b)}, nil, b)
}

func (k *Call) round(i int, o collective.Operation) *round {
	if k.within[i] == nil {
		k.within[i] = &round{Comm: k.r.Comm, operation: o, sign: k.r.sign, tag: k.r.tag}
	}
	return k.within[i]
}

// Highest returns the largest of the numbers that the ranks of the communicator give.
func (k *Call) Highest(v uint32) uint32 {
	v = k.r.allreduceMax(v)
	k.r.e.ExpectCollectiveTag(k.r.tag)
	return v
}

// NewContext returns a number that no two groups of ranks with a rank in common have, which all
// ranks of the communicator agree upon. It is that of a communicator which is not made.
func (k *Call) NewContext() uint32 {
	context := k.r.newContext()
	k.r.e.ExpectCollectiveTag(k.r.tag)
	return context
}

// Context returns the number of the communicator, as NewContext does.
func (k *Call) Context() uint32 { return k.r.context }

// Progress lets messages go on, and reports whether there was something to do.
func (k *Call) Progress() bool { return k.r.e.Progress() }

// Fail ends the rank: the call cannot be carried out.
func (k *Call) Fail(class engine.Class, format string, args ...any) {
	k.r.e.Fail(class, format, args...)
}
