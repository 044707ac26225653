package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// This file has passive target communication: locks and flushes.

// LockType is the type of a lock on a target's memory.
type LockType uint8

// The lock types.
const (
	LockShared LockType = iota
	LockExclusive
)

// Assert is a set of assertions of the program about an epoch (MPI-3.1, section 11.5.5). Combine
// them with bitwise or.
type Assert uint

// The assertions.
const (
	NoCheck   Assert = 1 << iota // no other rank holds a conflicting lock, or the matching call has already been made
	NoStore                      // this rank has not stored to its memory
	NoPut                        // other ranks will not write this rank's memory
	NoPrecede                    // no rank has made accesses since the last fence
	NoSucceed                    // no rank makes accesses before the next fence
)

func (w *Window) checkAssert(a, allowed Assert) {
	if a&^allowed != 0 {
		w.comm.engine.Fail(ErrAssert, "assertion %#x is not for this call", uint(a&^allowed))
	}
}

// Lock starts an access epoch for one target (MPI_Win_lock). It need not wait: accesses wait at the
// target until the lock is granted. It does wait for memory to which this rank can load and store:
// its own, and that of a shared window.
func (w *Window) Lock(kind LockType, rank int, a Assert) {
	w.enterCall("Window.Lock")
	if kind > LockExclusive {
		w.comm.engine.Fail(ErrLockType, "lock type %d is neither LockShared nor LockExclusive", kind)
	}
	w.checkAssert(a, NoCheck)
	if rank == ProcNull {
		w.beginLockEpoch(lockEpoch)
		return
	}
	w.comm.checkRank(rank)
	t := w.targetOf(rank)
	if w.origin.epoch == lockEpoch && t.lock != unlocked {
		w.failSync("rank %d is locked already", rank)
	}
	w.beginLockEpoch(lockEpoch)
	w.origin.lockedCount++
	if a&NoCheck != 0 {
		t.lock = lockedNoCheck
		return
	}
	w.acquireLock(t, kind == LockExclusive, rank == w.comm.rank || w.hasDirectAccess)
}

// beginLockEpoch fails if another epoch is open, except a fence epoch without accesses.
func (w *Window) beginLockEpoch(x epoch) {
	switch o := &w.origin; {
	case o.epoch == lockEpoch && x == lockEpoch:
		return
	case o.epoch == noEpoch, o.epoch == fenceEpoch && !o.hasAccesses:
		o.epoch, o.hasAccesses = x, false
		return
	}
	w.failSync("%v is open", w.origin.epoch)
}

// acquireLock requests the lock of a target's memory, and waits for it if wait is set.
func (w *Window) acquireLock(t *targetState, exclusive, wait bool) {
	t.lock, t.exclusive = locked, exclusive
	if w.lockCounters != nil && w.tryLock(t.rank, exclusive, false) {
		return
	}
	if t.rank == w.comm.rank {
		s := w.originOf(t.rank)
		s.lock = originLock{exclusive: exclusive, isQueued: true}
		w.grantOrQueueLock(s)
		w.comm.engine.AwaitService(w.describeWait(engine.WaitLock, t.rank), func() bool { return !s.lock.isQueued })
		return
	}
	h := requestHeader{kind: lockRequest}
	if exclusive {
		h.flags |= exclusiveFlag
	}
	if !wait {
		w.sendControl(t.rank, &h)
		return
	}
	h.flags |= replyFlag
	w.awaitReply(engine.WaitLock, t.rank, w.sendForReply(t.rank, &h))
}

// sendControl sends a request without data or layout.
func (w *Window) sendControl(to int, h *requestHeader) {
	if h.serial == 0 {
		w.nextSerial(h)
	}
	b := w.comm.engine.ScratchBuffer(requestHeaderBytes)
	h.encode(b)
	w.trackOperation(w.comm.engine.ServiceSend(b, true, w.comm.jobRank(to), w.comm.context, requestTag), to)
}

// sendForReply sends a request, and returns the operation that receives the reply.
func (w *Window) sendForReply(to int, h *requestHeader) *engine.Op {
	w.nextSerial(h)
	reply := w.comm.engine.ServiceReceive(nil, nil, w.comm.jobRank(to), w.comm.context, h.replyTag())
	w.sendControl(to, h)
	return reply
}

// awaitReply waits for the reply to a request.
func (w *Window) awaitReply(cause engine.WaitCause, from int, reply *engine.Op) {
	w.comm.engine.AwaitService(w.describeWait(cause, from), reply.IsFinished)
	w.comm.engine.ReleaseService(reply)
}

// Unlock ends the epoch of Lock (MPI_Win_unlock). Accesses are then complete at this rank and at
// the target.
func (w *Window) Unlock(rank int) {
	w.enterCall("Window.Unlock")
	if w.origin.epoch != lockEpoch {
		w.failSync("rank %d is not locked", rank)
	}
	if rank != ProcNull {
		w.comm.checkRank(rank)
		t := w.targetOf(rank)
		if t.lock == unlocked {
			w.failSync("rank %d is not locked", rank)
		}
		if w.hasDirectAccess {
			w.completeLocal(rank)
		}
		w.releaseLocks([]int{rank})
		w.completeLocal(rank)
		w.origin.lockedCount--
	}
	if w.origin.lockedCount == 0 {
		w.origin.epoch = noEpoch
	}
}

// releaseLocks completes accesses to targets and releases their locks.
func (w *Window) releaseLocks(ranks []int) {
	for _, rank := range ranks {
		w.forgetAccesses(rank, false)
	}
	if w.lockCounters != nil {
		w.releaseRegisterLocks(ranks)
		return
	}
	replies := make([]*engine.Op, len(ranks))
	for i, rank := range ranks {
		t := w.targetOf(rank)
		state := t.lock
		t.lock = unlocked
		switch {
		case rank == w.comm.rank && state == locked:
			w.releaseHeldLock(w.originOf(rank))
		case rank != w.comm.rank && state == locked:
			replies[i] = w.sendForReply(rank, &requestHeader{kind: unlockRequest})
		case rank != w.comm.rank && t.mayHaveIncomplete:
			replies[i] = w.sendForReply(rank, &requestHeader{kind: flushRequest})
		}
	}
	if !w.awaitReplies(ranks, replies) {
		w.pollProgress()
	}
}

// awaitReplies waits until accesses to targets are complete there, and reports whether it waited.
func (w *Window) awaitReplies(ranks []int, replies []*engine.Op) (waited bool) {
	for i, rank := range ranks {
		if replies[i] != nil {
			w.awaitReply(engine.WaitAccess, rank, replies[i])
			waited = true
		}
		w.targetOf(rank).mayHaveIncomplete = false
	}
	return waited
}

// LockAll starts an access epoch for all targets with shared locks (MPI_Win_lock_all). It locks
// each target at the first access to it.
func (w *Window) LockAll(a Assert) {
	w.enterCall("Window.LockAll")
	w.checkAssert(a, NoCheck)
	w.beginLockEpoch(lockAllEpoch)
	w.origin.noCheck = a&NoCheck != 0
	if w.flavor == SharedWindow && !w.origin.noCheck { // the program may load from and store to any memory of the window
		for rank := range w.comm.size {
			w.acquireLock(w.targetOf(rank), false, true)
		}
	}
}

// UnlockAll ends the epoch of LockAll (MPI_Win_unlock_all).
func (w *Window) UnlockAll() {
	w.enterCall("Window.UnlockAll")
	if w.origin.epoch != lockAllEpoch {
		w.failSync("LockAll was not called: this is %v", w.origin.epoch)
	}
	if w.hasDirectAccess {
		w.completeLocal(AnySource)
	}
	w.releaseLocks(slices.Clone(w.origin.targetRanks))
	w.completeLocal(AnySource)
	w.origin.epoch = noEpoch
}

// Flush completes accesses to a target, at this rank and at the target, in an epoch of Lock or
// LockAll (MPI_Win_flush).
func (w *Window) Flush(rank int) {
	w.enterCall("Window.Flush")
	if w.enterFlush(rank) {
		w.flushRanks([]int{rank})
		w.completeLocal(rank)
	}
}

// FlushAll is Flush for all targets (MPI_Win_flush_all).
func (w *Window) FlushAll() {
	w.enterCall("Window.FlushAll")
	w.checkPassiveEpoch()
	w.flushRanks(slices.Clone(w.origin.targetRanks))
	w.completeLocal(AnySource)
}

func (w *Window) flushRanks(ranks []int) {
	for _, rank := range ranks {
		w.forgetAccesses(rank, false)
	}
	replies := make([]*engine.Op, len(ranks))
	for i, rank := range ranks {
		if w.targetOf(rank).mayHaveIncomplete && rank != w.comm.rank {
			replies[i] = w.sendForReply(rank, &requestHeader{kind: flushRequest})
		}
	}
	if !w.awaitReplies(ranks, replies) {
		w.pollProgress()
	}
}

// FlushLocal completes accesses to a target at this rank only: the program may reuse its own memory
// (MPI_Win_flush_local).
func (w *Window) FlushLocal(rank int) {
	w.enterCall("Window.FlushLocal")
	if w.enterFlush(rank) {
		w.completeLocal(rank)
		w.forgetAccesses(rank, true)
		w.pollProgress()
	}
}

// FlushLocalAll is FlushLocal for all targets (MPI_Win_flush_local_all).
func (w *Window) FlushLocalAll() {
	w.enterCall("Window.FlushLocalAll")
	w.checkPassiveEpoch()
	w.completeLocal(AnySource)
	w.forgetAccesses(AnySource, true)
	w.pollProgress()
}

// enterFlush checks the arguments of a flush. It returns false if there is nothing to complete.
func (w *Window) enterFlush(rank int) bool {
	w.checkPassiveEpoch()
	if rank == ProcNull {
		return false
	}
	w.comm.checkRank(rank)
	if w.origin.epoch == lockEpoch && w.targetOf(rank).lock == unlocked {
		w.failSync("rank %d is not locked", rank)
	}
	return true
}

func (w *Window) checkPassiveEpoch() {
	if w.origin.epoch != lockEpoch && w.origin.epoch != lockAllEpoch {
		w.failSync("Lock or LockAll was not called: this is %v", w.origin.epoch)
	}
}

// pollProgress makes progress, for programs that call Flush, or lock their own memory, in a loop
// until another rank has changed memory.
func (w *Window) pollProgress() {
	w.comm.engine.PollService(w.describeWait(engine.WaitAccess, w.comm.rank), func() bool { return false })
}

// windowLocks is the state of the lock on this rank's memory.
type windowLocks struct {
	holders   int
	exclusive bool
	waiting   []*originState // in the order of their requests
}

// originLock is a lock that an origin has requested.
type originLock struct {
	exclusive bool
	isQueued  bool
	reply     requestHeader // answered if it has replyFlag
}

func originLockOf(r *windowRequest) originLock {
	return originLock{exclusive: r.flags&exclusiveFlag != 0, isQueued: true, reply: r.requestHeader}
}

// grantOrQueueLock grants the lock to an origin, or queues the origin.
func (w *Window) grantOrQueueLock(s *originState) {
	w.target.locks.waiting = append(w.target.locks.waiting, s)
	w.grantLocks()
}

// grantLocks grants the lock to queued origins in order, until one must wait.
func (w *Window) grantLocks() {
	l := &w.target.locks
	for len(l.waiting) > 0 {
		s := l.waiting[0]
		if !w.tryOwnLock(s.lock.exclusive) {
			return
		}
		l.waiting = slices.Delete(l.waiting, 0, 1)
		s.lock.isQueued = false
		if s.lock.reply.flags&replyFlag != 0 {
			w.sendEmptyReply(s.rank, &s.lock.reply)
		}
		w.beginQueuedRequests(s)
	}
}

// tryOwnLock takes the lock of this rank's own memory for a queued origin, if the lock is free.
func (w *Window) tryOwnLock(exclusive bool) bool {
	if w.lockCounters != nil {
		return w.tryLock(w.comm.rank, exclusive, true)
	}
	l := &w.target.locks
	if l.holders > 0 && (l.exclusive || exclusive) {
		return false
	}
	l.holders++
	l.exclusive = exclusive
	return true
}

// releaseHeldLock releases the lock that an origin holds.
func (w *Window) releaseHeldLock(s *originState) {
	w.target.locks.holders--
	s.lock = originLock{}
	w.grantLocks()
}
