package mpi

import (
	"encoding/binary"
	"slices"

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
	err       *Error // of the first message that is not what its receive wants
}

// newRound begins a collective operation on data of a type.
func (c *Comm) newRound(o collective.Operation, root int, of *Datatype) *round {
	tag := check.EncodeTag(o, 0, root)
	c.noteCollective(tag)
	r := &c.state.round
	if r.busy {
		r = new(round)
	}
	*r = round{Comm: c, operation: o, root: root, sign: engine.Signature(of.KindSign()), tag: tag, posted: r.posted[:0]}
	return r
}

// runSchedule runs an algorithm's schedule. in is what the rank gives and out what it gets, as they
// travel; nil where it has none.
func (r *round) runSchedule(j collective.Job, in, out []byte) {
	r.runAlgorithm(r.chooseAlgorithm(&j), j, in, out)
	r.raiseError()
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

// noteError keeps what is wrong with a message until the rank has done its part of the operation,
// so that the others go on: the program handles errors.
func (r *round) noteError(err *Error) {
	if r.err == nil {
		r.err = err
	}
}

// raiseError fails with the error that was noted.
func (r *round) raiseError() {
	if err := r.err; err != nil {
		r.err = nil
		panic(err)
	}
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
		if len(r.posted) > 0 {
			panic("mpi: scratch memory grows during a posted transfer")
		}
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
			got.Err = r.e.ReceiveError(x.Op)
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
		got.Err = r.e.ReceiveError(in)
		r.e.Release(in)
		r.checkMessage(st, got)
	}
}

// checkMessage fails if a message does not belong to the operation, and notes if it is not what the
// rank takes.
func (r *round) checkMessage(st *collective.Step, got engine.Status) {
	if got.Tag != r.tag || got.Bytes != st.Recv.Len || got.Err != nil {
		r.failMessage(st, got)
	}
}

// failMessage says what is wrong with a message. It is a function of its own so that checkMessage
// is inlined.
func (r *round) failMessage(st *collective.Step, got engine.Status) {
	if got.Tag != r.tag {
		r.failMismatch(got, r.tag)
	}
	err := got.Err
	if err == nil {
		err = r.e.NewErrorWithOtherCall(got.Source, engine.ErrTruncate, "%s sent %d bytes of %v where %d were expected: the ranks do not give as much as they take",
			r.state.rankName(got.Source, r.context), got.Bytes, r.operation, st.Recv.Len)
	}
	if !r.e.HandlesErrors() {
		panic(err)
	}
	r.noteError(err)
}

// failMismatch fails because another rank is in a different collective call.
func (c *Comm) failMismatch(got engine.Status, ours int) {
	class, text := check.DescribeDifference(c.state.rankName(got.Source, c.context), got.Tag, ours)
	c.e.FailWithOtherCall(got.Source, class, "%s", text)
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
		r.e.Port().ChargeOperations(len(data) / r.of.Size())
	}
}

// elementsInMemory returns data that travels as elements in memory, which it is unless the type has
// gaps.
func elementsInMemory(of *Datatype, flat []byte) Buffer {
	n := len(flat) / of.Size()
	if of.IsContiguous() {
		return Buffer{Bytes: flat, Origin: -of.TrueLowerBound(), Count: n, Type: of}
	}
	low, end := Buffer{Count: n, Type: of}.DataRange()
	b := Buffer{Bytes: make([]byte, max(end-low, n*of.Extent())), Origin: -low, Count: n, Type: of}
	b.Unpack(flat, 0)
	return b
}

// flatten puts elements to where they travel from, unless they are there.
func flatten(b Buffer, flat []byte) {
	if x, ok := b.ContiguousBytes(); ok {
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

// findNodes returns which ranks of the communicator are near each other. A rank knows only how near
// others are to itself, unless the launcher has told it more, so the first operation that needs it
// begins with an exchange: each rank gives the first rank of its node.
func (r *round) findNodes() *collective.Nodes {
	x := r.rareFieldsOf()
	if x.nodes != nil {
		return x.nodes
	}
	if known := r.state.nodes; known != nil {
		if x.nodes = known; r.members != nil {
			x.nodes = known.Part(r.members)
		}
		return x.nodes
	}
	first := 0
	for r.e.Port().Tier(r.jobRank(first)) != model.IntraNode {
		first++ // to the rank itself at most
	}
	const word = 4
	mine, all := make([]byte, word), make([]byte, word*r.size)
	binary.LittleEndian.PutUint32(mine, uint32(first))
	tell := &round{Comm: r.Comm, operation: r.operation, root: r.root, sign: engine.Signature(Byte.KindSign()), tag: r.tag}
	tell.runAlgorithm(bruckAllgather, collective.Job{Ranks: r.size, Bytes: word}, mine, all)
	tell.raiseError()
	names := make([]int, r.size)
	for i := range names {
		names[i] = int(binary.LittleEndian.Uint32(all[word*i:]))
	}
	x.nodes = collective.NewNodes(names)
	return x.nodes
}

var bruckAllgather = collective.Named(collective.Allgather, "bruck")
