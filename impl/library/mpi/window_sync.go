package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model/collective"
)

// This file has active target communication: fences, and post-start-complete-wait.

// Fence completes all accesses since the last fence, at origins and targets, and starts the next
// epoch (MPI_Win_fence). All ranks of the window call it.
func (w *Window) Fence(a Assert) {
	w.enterCall("Window.Fence")
	w.checkAssert(a, NoStore|NoPut|NoPrecede|NoSucceed)
	o := &w.origin
	if o.epoch != noEpoch && o.epoch != fenceEpoch {
		w.failSync("%v is open", o.epoch)
	}
	if w.target.postGroup != nil {
		w.failSync("the memory is exposed by Post, and Wait was not called")
	}
	if a&NoPrecede != 0 {
		if o.epoch == fenceEpoch && o.hasAccesses {
			w.failSync("NoPrecede, and there were accesses since the last fence")
		}
		w.comm.barrier()
	} else if w.hasDirectAccess {
		w.flushRanks(o.targetRanks)
		w.completeLocal(AnySource)
		w.comm.barrier()
	} else {
		w.completeFence()
	}
	w.target.endedAfterFence[o.fenceCount%2] = 0
	o.fenceCount++
	o.epoch, o.hasAccesses = fenceEpoch, false
	w.forgetFence(o.fenceCount)
	if a&NoSucceed != 0 {
		o.epoch = noEpoch
	}
	early := w.target.earlyOrigins
	w.target.earlyOrigins = nil
	for _, s := range early {
		w.beginQueuedRequests(s)
	}
}

// completeFence waits until all accesses since the last fence have ended. The ranks exchange the
// numbers of their accesses.
func (w *Window) completeFence() {
	o := &w.origin
	if o.issuedByRank == nil {
		o.issuedByRank = make([]int64, w.comm.size)
	}
	expected := w.comm.sumAndScatter(o.issuedByRank)
	clear(o.issuedByRank)
	have := &w.target.endedAfterFence[o.fenceCount%2]
	w.comm.engine.AwaitService(engine.WaitDescription{Cause: engine.WaitAccessEnd, Peer: engine.AnySourceOrTag, Context: w.comm.context, Tag: engine.AnySourceOrTag}, func() bool { return *have >= expected })
	w.completeLocal(AnySource)
	for _, rank := range o.targetRanks {
		w.targetOf(rank).mayHaveIncomplete = false
	}
}

// sumAndScatter sums each over all ranks, and returns the element with this rank's index.
func (c *Comm) sumAndScatter(each []int64) int64 {
	r := c.newReductionOperation(collective.ReduceScatter, 0, TypeOf[int64](), Sum)
	sum := []int64{0}
	r.runSchedule(r.collectiveJob(BytesOf(sum)), BytesOf(each), BytesOf(sum))
	return sum[0]
}

// barrier is Barrier within a call, by messages, so that the rank serves requests meanwhile.
func (c *Comm) barrier() {
	c.beginCollective(check.EncodeTag(collective.Barrier, 0, 0))
	c.allreduceOnTree(0, nil, nil, nil)
}

// windowRanks returns the ranks in the window of the members of a group.
func (w *Window) windowRanks(g Group) []int {
	members := g.checkValid(w.comm.engine.Call()).members
	ranks := make([]int, len(members))
	for i, m := range members {
		if ranks[i] = w.comm.rankOf(m); ranks[i] < 0 || ranks[i] >= w.comm.size {
			w.comm.engine.Fail(engine.ErrGroup, "rank %d of the job is in the group and not in the window", m)
		}
	}
	return ranks
}

// Post exposes this rank's memory to the origins in a group until Wait (MPI_Win_post). It does not
// wait.
func (w *Window) Post(g Group, a Assert) {
	w.enterCall("Window.Post")
	w.checkAssert(a, NoCheck|NoStore|NoPut)
	if w.target.postGroup != nil {
		w.failSync("the memory is exposed already: call Wait before")
	}
	ranks := w.windowRanks(g)
	w.endEmptyFence()
	w.target.postGroup = ranks
	if a&NoCheck != 0 {
		return
	}
	for _, rank := range ranks {
		if rank == w.comm.rank {
			w.targetOf(rank).unusedPosts++
		} else {
			w.sendControl(rank, &requestHeader{kind: postRequest})
		}
	}
}

// endEmptyFence ends a fence epoch without accesses, so that another kind of epoch can start.
func (w *Window) endEmptyFence() {
	if w.origin.epoch == fenceEpoch {
		if w.origin.hasAccesses {
			w.failSync("accesses since the last fence are not complete: call Fence before")
		}
		w.origin.epoch = noEpoch
	}
}

// Start starts an access epoch for the targets in a group, until Complete (MPI_Win_start). The
// first access to a target waits until the target has called Post.
func (w *Window) Start(g Group, a Assert) {
	w.enterCall("Window.Start")
	w.checkAssert(a, NoCheck)
	ranks := w.windowRanks(g)
	w.endEmptyFence()
	if w.origin.epoch != noEpoch {
		w.failSync("%v is open", w.origin.epoch)
	}
	w.origin.epoch, w.origin.hasAccesses, w.origin.startGroup = startEpoch, false, ranks
	for _, rank := range ranks {
		w.targetOf(rank).awaitsExposure = a&NoCheck == 0
	}
}

// awaitExposure waits until a target of Start has exposed its memory.
func (w *Window) awaitExposure(t *targetState) {
	if !t.awaitsExposure {
		return
	}
	w.comm.engine.AwaitService(w.describeWait(engine.WaitExposure, t.rank), func() bool { return t.unusedPosts > 0 })
	t.unusedPosts--
	t.awaitsExposure = false
}

// Complete ends the epoch of Start (MPI_Win_complete). Accesses are then complete at this rank;
// they are complete at a target when its Wait returns.
func (w *Window) Complete() {
	w.enterCall("Window.Complete")
	if w.origin.epoch != startEpoch {
		w.failSync("Start was not called: this is %v", w.origin.epoch)
	}
	if w.hasDirectAccess {
		w.completeLocal(AnySource)
	}
	for _, rank := range w.origin.startGroup {
		t := w.targetOf(rank)
		w.awaitExposure(t)
		t.mayHaveIncomplete = false
		if rank == w.comm.rank {
			w.noteCompleted(rank)
		} else {
			w.sendControl(rank, &requestHeader{kind: completeRequest})
		}
	}
	w.completeLocal(AnySource)
	w.origin.epoch, w.origin.startGroup = noEpoch, nil
	w.forgetStarted()
}

// noteCompleted records that an origin has ended an epoch of Start.
func (w *Window) noteCompleted(rank int) {
	if w.target.completeCounts == nil {
		w.target.completeCounts = make([]int, w.comm.size)
	}
	w.target.completeCounts[rank]++
}

// Wait waits until all origins in the group of Post have called Complete and their accesses to this
// rank's memory are complete (MPI_Win_wait).
func (w *Window) Wait() {
	w.enterCall("Window.Wait")
	w.checkExposed()
	for _, rank := range w.target.postGroup {
		w.comm.engine.AwaitService(w.describeWait(engine.WaitAccessEnd, rank), func() bool { return w.hasRankCompleted(rank) })
	}
	w.endExposure()
}

// Test is Wait without waiting (MPI_Win_test). It reports whether the exposure epoch has ended.
func (w *Window) Test() bool {
	w.enterCall("Window.Test")
	w.checkExposed()
	rank := w.comm.rank
	all := w.comm.engine.PollService(w.describeWait(engine.WaitAccessEnd, rank), func() bool {
		return !slices.ContainsFunc(w.target.postGroup, func(r int) bool { return !w.hasRankCompleted(r) })
	})
	if all {
		w.endExposure()
	}
	return all
}

func (w *Window) checkExposed() {
	if w.target.postGroup == nil {
		w.failSync("the memory is not exposed: Post was not called")
	}
}

func (w *Window) hasRankCompleted(rank int) bool {
	return w.target.completeCounts != nil && w.target.completeCounts[rank] > 0
}

func (w *Window) endExposure() {
	for _, rank := range w.target.postGroup {
		w.target.completeCounts[rank]--
	}
	w.target.postGroup = nil
	w.forgetExposure()
}
