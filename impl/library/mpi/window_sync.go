package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/library/mpi/check"
	"github.com/loggp/loggp/model/collective"
)

// This file has epochs that the rank whose memory it is takes part in: fences, and
// post-start-complete-wait.

// Fence completes all accesses since the last fence, those of the rank and those of others to its
// memory, and begins an epoch of the next ones (MPI_Win_fence). All ranks of the window call it.
func (w *Window) Fence(a Assert) {
	w.enter("Window.Fence")
	w.checkAssert(a, NoStore|NoPut|NoPrecede|NoSucceed)
	o := &w.origin
	if o.epoch != noEpoch && o.epoch != fenceEpoch {
		w.failSync("%v is open", o.epoch)
	}
	if w.target.exposed != nil {
		w.failSync("the memory is exposed by Post, and Wait was not called")
	}
	if a&NoPrecede != 0 {
		if o.used {
			w.failSync("NoPrecede, and there were accesses since the last fence")
		}
		w.c.barrier()
	} else if w.direct {
		w.flush(o.touched)
		w.completeLocal(AnySource)
		w.c.barrier()
	} else {
		w.completeFence()
	}
	w.target.fenced[o.fences%2] = 0
	o.fences++
	o.epoch, o.used = fenceEpoch, false
	w.forgetFence(o.fences)
	if a&NoSucceed != 0 {
		o.epoch = noEpoch
	}
	early := w.target.early
	w.target.early = nil
	for _, s := range early {
		w.advance(s)
	}
}

// completeFence waits until all accesses since the last fence have ended. The ranks tell each other
// how many there were.
func (w *Window) completeFence() {
	o := &w.origin
	if o.issued == nil {
		o.issued = make([]int64, w.c.size)
	}
	expected := w.c.sumParts(o.issued)
	clear(o.issued)
	have := &w.target.fenced[o.fences%2]
	w.c.e.AwaitService(engine.WaitDescription{Cause: engine.WaitAccessEnd, Peer: engine.AnySourceOrTag, Context: w.c.context, Tag: engine.AnySourceOrTag}, func() bool { return *have >= expected })
	w.completeLocal(AnySource)
	for _, rank := range o.touched {
		w.targetOf(rank).unacked = false
	}
}

// sumParts adds up what the ranks give, and returns the number that has this rank's place.
func (c *Comm) sumParts(each []int64) int64 {
	r := c.newReductionRound(collective.ReduceScatter, 0, Of(each), Sum)
	sum := []int64{0}
	r.runSchedule(r.collectiveJob(Raw(sum)), Raw(each), Raw(sum))
	return sum[0]
}

// barrier is Barrier within a call, by messages during which others are served.
func (c *Comm) barrier() {
	c.noteCollective(check.EncodeTag(collective.Barrier, 0, 0))
	c.convergeOnTree(0, nil, nil, nil)
}

// windowRanks returns the ranks in the window of a group.
func (w *Window) windowRanks(g Group) []int {
	members := g.checkValid(w.c.e.Call()).members
	ranks := make([]int, len(members))
	for i, m := range members {
		if ranks[i] = w.c.rankOf(m); ranks[i] < 0 || ranks[i] >= w.c.size {
			w.c.e.Fail(engine.ErrGroup, "rank %d of the job is in the group and not in the window", m)
		}
	}
	return ranks
}

// Post exposes this rank's memory to accesses of a group, until Wait (MPI_Win_post). It does not
// wait.
func (w *Window) Post(g Group, a Assert) {
	w.enter("Window.Post")
	w.checkAssert(a, NoCheck|NoStore|NoPut)
	if w.target.exposed != nil {
		w.failSync("the memory is exposed already: call Wait before")
	}
	ranks := w.windowRanks(g)
	w.endEmptyFence()
	w.target.exposed = ranks
	if a&NoCheck != 0 {
		return
	}
	for _, rank := range ranks {
		if rank == w.c.rank {
			w.targetOf(rank).posts++
		} else {
			w.sendControl(rank, &requestHeader{kind: postRequest})
		}
	}
}

// endEmptyFence ends an epoch of fences in which the rank has made no accesses, for one of another
// kind.
func (w *Window) endEmptyFence() {
	if w.origin.epoch == fenceEpoch {
		if w.origin.used {
			w.failSync("accesses since the last fence are not complete: call Fence before")
		}
		w.origin.epoch = noEpoch
	}
}

// Start begins accesses to memory of a group, until Complete (MPI_Win_start). The first access to a
// rank waits until that has called Post.
func (w *Window) Start(g Group, a Assert) {
	w.enter("Window.Start")
	w.checkAssert(a, NoCheck)
	ranks := w.windowRanks(g)
	w.endEmptyFence()
	if w.origin.epoch != noEpoch {
		w.failSync("%v is open", w.origin.epoch)
	}
	w.origin.epoch, w.origin.used, w.origin.started = startEpoch, false, ranks
	for _, rank := range ranks {
		w.targetOf(rank).waitsIn = a&NoCheck == 0
	}
}

// awaitExposure waits until a rank of the group of Start has exposed its memory.
func (w *Window) awaitExposure(t *targetState) {
	if !t.waitsIn {
		return
	}
	w.c.e.AwaitService(w.waitFor(engine.WaitExposure, t.rank), func() bool { return t.posts > 0 })
	t.posts--
	t.waitsIn = false
}

// Complete ends the epoch of Start: the rank's accesses are complete here, and at the others when
// Wait returns there (MPI_Win_complete).
func (w *Window) Complete() {
	w.enter("Window.Complete")
	if w.origin.epoch != startEpoch {
		w.failSync("Start was not called: this is %v", w.origin.epoch)
	}
	if w.direct {
		w.completeLocal(AnySource)
	}
	for _, rank := range w.origin.started {
		t := w.targetOf(rank)
		w.awaitExposure(t)
		t.unacked = false
		if rank == w.c.rank {
			w.noteCompleted(rank)
		} else {
			w.sendControl(rank, &requestHeader{kind: completeRequest})
		}
	}
	w.completeLocal(AnySource)
	w.origin.epoch, w.origin.started = noEpoch, nil
	w.forgetStarted()
}

// noteCompleted notes that a rank has ended an epoch of Start.
func (w *Window) noteCompleted(rank int) {
	if w.target.completed == nil {
		w.target.completed = make([]int, w.c.size)
	}
	w.target.completed[rank]++
}

// Wait waits until all ranks of the group of Post have called Complete, and their accesses to this
// rank's memory are complete (MPI_Win_wait).
func (w *Window) Wait() {
	w.enter("Window.Wait")
	w.checkExposed()
	for _, rank := range w.target.exposed {
		w.c.e.AwaitService(w.waitFor(engine.WaitAccessEnd, rank), func() bool { return w.hasCompleted(rank) })
	}
	w.endExposure()
}

// Test is Wait that does not wait: it reports whether all have called Complete, and the exposure
// has ended if so (MPI_Win_test).
func (w *Window) Test() bool {
	w.enter("Window.Test")
	w.checkExposed()
	rank := w.c.rank
	all := w.c.e.PollService(w.waitFor(engine.WaitAccessEnd, rank), func() bool {
		return !slices.ContainsFunc(w.target.exposed, func(r int) bool { return !w.hasCompleted(r) })
	})
	if all {
		w.endExposure()
	}
	return all
}

func (w *Window) checkExposed() {
	if w.target.exposed == nil {
		w.failSync("the memory is not exposed: Post was not called")
	}
}

func (w *Window) hasCompleted(rank int) bool {
	return w.target.completed != nil && w.target.completed[rank] > 0
}

func (w *Window) endExposure() {
	for _, rank := range w.target.exposed {
		w.target.completed[rank]--
	}
	w.target.exposed = nil
	w.forgetExposure()
}
