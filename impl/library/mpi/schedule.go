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

// Op is a reduction operation (MPI_Op).
type Op = reduction.Op

// Collective operations are schedules of package collective. Their messages have a context of their
// own, and tags that encode the operation, so that ranks detect calls that differ.

// collectiveOperation is a collective operation under way. A rank runs one at a time, or one nested
// in another.
type collectiveOperation struct {
	*Comm
	schedule        collective.Script
	inUse           bool
	operation       collective.Operation
	root            int
	areaMemory      [3][]byte
	op              *Op
	elementType     *Datatype              // type of the elements that op combines
	combine         func(in, inout []byte) // combines elements in travel order; nil: op does
	signature       engine.Signature
	tag             int // of the operation's messages
	postedTransfers []postedTransfer
	steps           stepList   // that follow
	phase           stepPhase  // of the next step
	completed       int        // posted transfers that the next step has completed
	send, recv      *engine.Op // of the next step
	commutes        bool
	isSizeOnly      bool   // the data of the operation is size-only (device.SizeOnly)
	err             *Error // of the first message that does not fit its receive
}

// newCollectiveOperation starts a collective operation on data of a type.
func (c *Comm) newCollectiveOperation(o collective.Operation, root int, of *Datatype) *collectiveOperation {
	tag := check.EncodeTag(o, 0, root)
	c.beginCollective(tag)
	r := &c.state.operation
	if r.inUse {
		r = new(collectiveOperation)
	}
	r.steps.clear()
	*r = collectiveOperation{Comm: c, operation: o, root: root, signature: engine.Signature(of.KindSign()), tag: tag, postedTransfers: r.postedTransfers[:0], steps: r.steps}
	return r
}

// runSchedule runs the schedule of an algorithm. in is the rank's contribution and out its result,
// both in travel order. Either may be nil.
func (r *collectiveOperation) runSchedule(j collective.Job, in, out []byte) {
	r.runAlgorithm(r.chooseAlgorithm(&j), &j, in, out)
	r.raiseError()
}

func (r *collectiveOperation) runAlgorithm(a *collective.Algorithm, j *collective.Job, in, out []byte) {
	r.setAreas(j, in, out)
	r.schedule.Performer, r.inUse = r, true
	a.RunSchedule(*j, r.rank, &r.schedule)
	r.runSteps()
	r.areaMemory, r.inUse = [3][]byte{}, false
}

// setAreas sets the memory that the spans of the schedule's steps refer to.
func (r *collectiveOperation) setAreas(j *collective.Job, in, out []byte) {
	r.isSizeOnly = device.IsSizeOnly(in) || device.IsSizeOnly(out)
	if out == nil {
		if j.Bytes >= len(r.state.scratchBuffer) {
			r.state.scratchBuffer = make([]byte, j.Bytes+1)
		}
		out = device.SizeOnlyIf(r.isSizeOnly, r.state.scratchBuffer[:j.Bytes]) // a rank without a result uses Out as work space
	}
	r.areaMemory[collective.In], r.areaMemory[collective.Out] = in, out
	r.setWorkArea()
}

// setWorkArea makes the rank's work buffer the work space of the schedule: all but a byte of it for
// size-only data, which needs one behind it.
func (r *collectiveOperation) setWorkArea() {
	b := r.state.workBuffer
	if r.isSizeOnly && len(b) > 0 {
		b = device.SizeOnly(b[:len(b)-1])
	}
	r.areaMemory[collective.Tmp] = b
}

// failedSender is a bit in the tag of a message whose sender has received wrong data in the same
// operation. The tags of EncodeTag are smaller.
const failedSender = 1 << 30

// noteError records a message error until this rank has done its part of the operation, so that the
// other ranks can continue: the program handles errors. Ranks that receive what this rank sends
// from now on fail, too, because its data may be wrong.
func (r *collectiveOperation) noteError(err *Error) {
	if r.err == nil {
		r.err = err
	}
	r.tag |= failedSender
}

// raiseError fails with the recorded error.
func (r *collectiveOperation) raiseError() {
	if err := r.err; err != nil {
		r.err = nil
		panic(err)
	}
}

// tuningTable returns the algorithm rules of the communicator, or else of the job.
func (r *collectiveOperation) tuningTable() *collective.Tuning {
	if r.optional != nil && r.optional.tuning != nil {
		return r.optional.tuning
	}
	return r.state.tuning
}

// chooseAlgorithm returns the algorithm for a collective job. If the rules depend on the placement
// of ranks, it adds the nodes to the job.
func (r *collectiveOperation) chooseAlgorithm(j *collective.Job) *collective.Algorithm {
	t := r.tuningTable()
	if t.NeedsNodes(r.operation) {
		j.Nodes = r.findNodes()
	}
	return t.ChooseAlgorithm(r.operation, j, r.commutes)
}

// spanBytes returns the memory of a span. It extends the work buffer if the span needs more.
func (r *collectiveOperation) spanBytes(s collective.Span) []byte {
	end := s.Offset + s.Bytes
	if s.Area == collective.Tmp && end > len(r.areaMemory[collective.Tmp]) {
		if len(r.postedTransfers) > 0 {
			panic("mpi: scratch memory grows during a posted transfer")
		}
		work := r.state.workBuffer
		if r.isSizeOnly {
			work = make([]byte, max(end+1, 2*len(work)))
		} else {
			work = slices.Grow(work, end-len(work)) // Grow keeps the contents
		}
		r.state.workBuffer = work[:cap(work)]
		r.setWorkArea()
	}
	return r.areaMemory[s.Area][s.Offset:end]
}

// ExecuteStep adds a step to those that follow. A rank can wait while they are carried out, and its
// stack is 0.5 KB deeper while its schedule is being written, so most schedules are written before.
func (r *collectiveOperation) ExecuteStep(st *collective.Step) bool {
	if r.steps.isFull() {
		r.runSteps()
	}
	r.steps.add(st, r.size)
	return true
}

// runSteps carries out the steps that follow. A function of the program that combines elements must
// run in the goroutine of the rank. A single step ends with its last packet, for which the rank is
// resumed in any case.
func (r *collectiveOperation) runSteps() {
	r.engine.RunSteps(r, r.steps.count <= 1 || r.op != nil && r.op.IsUserFunction())
	r.steps.clear()
}

// stepPhase is how far a step has been carried out.
type stepPhase uint8

const (
	stepNotStarted stepPhase = iota
	stepSending              // its send has been started
	stepReceiving            // its send has ended, and its receive has been started
)

// Advance implements engine.Steps.
func (r *collectiveOperation) Advance() *engine.Op {
	var st collective.Step
	for r.steps.first < len(r.steps.code) {
		end := r.steps.decodeFirst(&st)
		switch st.Kind {
		case collective.Copy:
			r.engine.Port().Copy(r.spanBytes(st.Recv), r.spanBytes(st.Send))
		case collective.CombineLeft:
			r.combineInto(r.spanBytes(st.Send), r.spanBytes(st.Recv))
		case collective.CombineRight:
			r.combineSwapped(r.spanBytes(st.Send), r.spanBytes(st.Recv))
		case collective.Transfer:
			if st.IsPosted {
				r.postTransfer(&st)
			} else if o := r.advanceTransfer(&st); o != nil {
				return o
			}
		case collective.Wait:
			if o := r.advanceWait(); o != nil {
				return o
			}
		}
		r.steps.first = end
	}
	return nil
}

// postedTransfer is a send or a receive that has been started.
type postedTransfer struct {
	*engine.Op
	step collective.Step
}

// postTransfer starts the send or the receive of a step.
func (r *collectiveOperation) postTransfer(st *collective.Step) {
	if st.From == collective.NoRank {
		r.startSend(st.To, r.spanBytes(st.Send))
	} else {
		r.startRecv(st.From, r.spanBytes(st.Recv))
	}
}

// startSend starts to send b to a rank.
func (r *collectiveOperation) startSend(to int, b []byte) {
	r.postedTransfers = append(r.postedTransfers, postedTransfer{step: collective.Step{To: to, From: collective.NoRank},
		Op: r.engine.Isend(model.StandardMode, b, r.signature, r.jobRank(to), r.context+1, r.tag)})
}

func (r *collectiveOperation) startRecv(from int, b []byte) {
	r.postedTransfers = append(r.postedTransfers, postedTransfer{step: collective.Step{To: collective.NoRank, From: from, Recv: collective.Span{Bytes: len(b)}},
		Op: r.engine.Irecv(b, r.signature, r.jobRank(from), r.context+1, AnyTag)})
}

// waitPosted completes all started transfers, in their order.
func (r *collectiveOperation) waitPosted() { r.transfer(&collective.Step{Kind: collective.Wait}) }

// transfer carries out a single step, which is not local.
func (r *collectiveOperation) transfer(st *collective.Step) {
	r.steps.add(st, r.size)
	r.runSteps()
}

// advanceWait completes started transfers, in their order. It returns the first that is not
// finished, or nil.
func (r *collectiveOperation) advanceWait() *engine.Op {
	for ; r.completed < len(r.postedTransfers); r.completed++ {
		x := &r.postedTransfers[r.completed]
		if !x.IsFinished() {
			return x.Op
		}
		r.engine.Wait(x.Op)
		if x.step.From == collective.NoRank {
			r.engine.Release(x.Op)
		} else {
			r.checkMessage(&x.step, r.engine.EndIrecv(x.Op))
		}
	}
	clear(r.postedTransfers)
	r.postedTransfers, r.completed = r.postedTransfers[:0], 0
	return nil
}

// advanceTransfer carries out a step that sends, receives, or does both at the same time. It
// returns an operation that must be finished first, or nil.
func (r *collectiveOperation) advanceTransfer(st *collective.Step) *engine.Op {
	receives, sends := st.From != collective.NoRank, st.To != collective.NoRank
	if r.phase == stepNotStarted {
		r.phase = stepReceiving
		switch {
		case !sends:
			r.recv = r.engine.BeginRecv(r.spanBytes(st.Recv), r.signature, r.jobRank(st.From), r.context+1, AnyTag)
		case receives:
			r.recv = r.engine.Irecv(r.spanBytes(st.Recv), r.signature, r.jobRank(st.From), r.context+1, AnyTag)
		}
		if sends {
			r.phase = stepSending
			r.send = r.engine.BeginSend(r.spanBytes(st.Send), r.signature, r.jobRank(st.To), r.context+1, r.tag)
		}
	}
	if r.phase == stepSending {
		if r.send != nil && !r.send.IsFinished() {
			return r.send
		}
		r.engine.EndSend(r.send)
		r.phase, r.send = stepReceiving, nil
	}
	if receives {
		in := r.recv
		if !in.IsFinished() {
			return in
		}
		var got engine.Status
		if sends {
			r.engine.Wait(in)
			got = r.engine.EndIrecv(in)
		} else {
			got = r.engine.EndRecv(in)
		}
		r.recv = nil
		r.checkMessage(st, got)
	}
	r.phase = stepNotStarted
	return nil
}

// checkMessage fails if a message does not belong to the operation. It records an error if the
// length or the type is wrong.
func (r *collectiveOperation) checkMessage(st *collective.Step, got engine.Status) {
	if got.Tag != r.tag || got.Bytes != st.Recv.Bytes || got.Err != nil {
		r.failMessage(st, got)
	}
}

// failMessage reports what is wrong with a message, if anything is. It is a separate function so
// that checkMessage is inlined.
func (r *collectiveOperation) failMessage(st *collective.Step, got engine.Status) {
	senderHasFailed := got.Tag&failedSender != 0
	if got.Tag &^= failedSender; got.Tag != r.tag&^failedSender {
		r.failMismatch(got, r.tag&^failedSender)
	}
	err := got.Err
	switch {
	case err != nil:
	case got.Bytes != st.Recv.Bytes:
		err = r.engine.NewErrorWithOtherCall(got.Source, engine.ErrTruncate, "%s sent %d bytes of %v where %d were expected: the ranks do not give as much as they take",
			r.state.rankName(got.Source, r.context), got.Bytes, r.operation, st.Recv.Bytes)
	case senderHasFailed:
		err = r.engine.NewErrorWithOtherCall(got.Source, engine.ErrOther, "%s has received wrong data in this %v, and sends on what it has",
			r.state.rankName(got.Source, r.context), r.operation)
	default:
		return
	}
	if !r.engine.HandlesErrors() {
		panic(err)
	}
	r.noteError(err)
}

// failMismatch fails because another rank is in a different collective call. ours is the tag of
// this rank's operation.
func (c *Comm) failMismatch(got engine.Status, ours int) {
	class, text := check.DescribeDifference(c.state.rankName(got.Source, c.context), got.Tag, ours)
	c.engine.FailWithOtherCall(got.Source, class, "%s", text)
}

// combineInto stores in ∘ inout in inout.
func (r *collectiveOperation) combineInto(in, inout []byte) {
	r.chargeReduction(inout)
	switch {
	case device.IsSizeOnly(inout):
		return
	case r.combine != nil:
		r.combine(in, inout)
		return
	}
	result := elementsInMemory(r.elementType, inout)
	r.op.Apply(elementsInMemory(r.elementType, in), result)
	flattenBuffer(result, inout)
}

// combineSwapped stores inout ∘ in in inout.
func (r *collectiveOperation) combineSwapped(in, inout []byte) {
	if r.op.Commutes() {
		r.combineInto(in, inout)
		return
	}
	r.chargeReduction(inout)
	if device.IsSizeOnly(inout) {
		return
	}
	result := elementsInMemory(r.elementType, append([]byte(nil), in...))
	r.op.Apply(elementsInMemory(r.elementType, inout), result)
	flattenBuffer(result, inout)
}

// chargeReduction charges the time of combining data, element by element.
func (r *collectiveOperation) chargeReduction(data []byte) {
	if len(data) > 0 {
		r.engine.Port().ChargeOperations(len(data) / r.elementType.Size())
	}
}

// elementsInMemory returns data in travel order as elements of a datatype. It copies only if the
// type has gaps.
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

// flattenBuffer copies elements back to travel order, unless they are already there.
func flattenBuffer(b Buffer, flat []byte) {
	if x, ok := b.ContiguousBytes(); ok {
		copy(flat, x)
		return
	}
	b.Pack(flat, 0)
}

// SetCollectiveRules replaces the job's algorithm rules for the collective operations of this
// communicator. All ranks call it with the same rules. nil restores the job's rules. Communicators
// created from this one do not inherit them.
func (c *Comm) SetCollectiveRules(rules []collective.Rule) {
	c.enterCall("SetCollectiveRules")
	c.ensureOptional().tuning = nil
	if rules != nil {
		c.optional.tuning = collective.NewTuning(rules)
	}
}

// findNodes returns which ranks of the communicator share a node. Unless the launcher has provided
// this, a rank knows only its own distance to each other rank, so the ranks exchange it in the
// first operation that needs it: each contributes the first rank of its node.
func (r *collectiveOperation) findNodes() *collective.Nodes {
	x := r.ensureOptional()
	if x.nodes != nil {
		return x.nodes
	}
	if known := r.state.nodes; known != nil {
		if x.nodes = known; r.members != nil {
			x.nodes = known.Subset(r.members)
		}
		return x.nodes
	}
	first := 0
	for r.engine.Port().Tier(r.jobRank(first)) != model.IntraNode {
		first++ // ends at the rank itself at the latest
	}
	const word = 4
	mine, all := make([]byte, word), make([]byte, word*r.size)
	binary.LittleEndian.PutUint32(mine, uint32(first))
	tell := &collectiveOperation{Comm: r.Comm, operation: r.operation, root: r.root, signature: engine.Signature(Byte.KindSign()), tag: r.tag}
	tell.runAlgorithm(bruckAllgather, &collective.Job{Ranks: r.size, Bytes: word}, mine, all)
	tell.raiseError()
	names := make([]int, r.size)
	for i := range names {
		names[i] = int(binary.LittleEndian.Uint32(all[word*i:]))
	}
	x.nodes = collective.NewNodes(names)
	return x.nodes
}

var bruckAllgather = collective.AlgorithmNamed(collective.Allgather, "bruck")
