package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// This file has epochs that the rank whose memory it is takes no part in: locks and flushes.

// LockType is how a rank locks memory of another one.
type LockType uint8

// The types of locks.
const (
	LockShared LockType = iota
	LockExclusive
)

// Assert is what a program promises about an epoch, any of the values together (MPI-3.1, section
// 11.5.5).
type Assert uint

// The assertions.
const (
	NoCheck   Assert = 1 << iota // nobody else holds a lock, or the calls of the other side have been made
	NoStore                      // this rank has not stored to its memory
	NoPut                        // others will not write this rank's memory
	NoPrecede                    // no rank has made accesses since the last fence
	NoSucceed                    // no rank makes accesses before the next fence
)

func (w *Window) checkAssert(a, allowed Assert) {
	if a&^allowed != 0 {
		w.c.e.Fail(ErrAssert, "assertion %#x is not for this call", uint(a&^allowed))
	}
}

// Lock begins an epoch in which the rank may access memory of another one (MPI_Win_lock). It need
// not wait: accesses wait at the other rank until the lock is granted. For memory to which the rank
// can load and store, its own and that of a shared window, it waits.
func (w *Window) Lock(kind LockType, rank int, a Assert) {
	w.enter("Window.Lock")
	if kind > LockExclusive {
		w.c.e.Fail(ErrLockType, "lock type %d is neither LockShared nor LockExclusive", kind)
	}
	w.checkAssert(a, NoCheck)
	if rank == ProcNull {
		w.beginLockEpoch(lockEpoch)
		return
	}
	w.c.checkRank(rank)
	t := w.targetOf(rank)
	if w.origin.epoch == lockEpoch && t.lock != unlocked {
		w.failSync("rank %d is locked already", rank)
	}
	w.beginLockEpoch(lockEpoch)
	w.origin.locks++
	if a&NoCheck != 0 {
		t.lock = lockedNoCheck
		return
	}
	w.lock(t, kind == LockExclusive, rank == w.c.rank || w.direct)
}

// beginLockEpoch fails if another epoch is open, unless that is one of fences without accesses.
func (w *Window) beginLockEpoch(x epoch) {
	switch o := &w.origin; {
	case o.epoch == lockEpoch && x == lockEpoch:
		return
	case o.epoch == noEpoch, o.epoch == fenceEpoch && !o.used:
		o.epoch, o.used = x, false
		return
	}
	w.failSync("%v is open", w.origin.epoch)
}

// lock asks for a lock of a rank's memory, and waits for it if wait is set.
func (w *Window) lock(t *targetState, exclusive, wait bool) {
	t.lock, t.exclusive = locked, exclusive
	if w.counter != nil && w.tryLock(t.rank, exclusive, false) {
		return
	}
	if t.rank == w.c.rank {
		s := w.originOf(t.rank)
		s.lock = originLock{exclusive: exclusive, waits: true}
		w.requestLock(s)
		w.c.e.AwaitService(w.waitFor(engine.WaitLock, t.rank), func() bool { return !s.lock.waits })
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

// sendControl sends a request that has neither data nor a layout.
func (w *Window) sendControl(to int, h *requestHeader) {
	if h.serial == 0 {
		w.nextSerial(h)
	}
	b := w.c.e.ScratchBuffer(requestHeaderBytes)
	h.encode(b)
	w.addPending(w.c.e.ServiceSend(b, true, w.c.jobRank(to), w.c.context, requestTag), to)
}

// sendForReply sends a request, and returns the operation that receives the reply.
func (w *Window) sendForReply(to int, h *requestHeader) *engine.Op {
	w.nextSerial(h)
	reply := w.c.e.ServiceReceive(nil, nil, w.c.jobRank(to), w.c.context, h.replyTag())
	w.sendControl(to, h)
	return reply
}

// awaitReply waits for the reply to a request.
func (w *Window) awaitReply(cause engine.WaitCause, from int, reply *engine.Op) {
	w.c.e.AwaitService(w.waitFor(cause, from), reply.IsFinished)
	w.c.e.ReleaseService(reply)
}

// Unlock ends the epoch of Lock: accesses to the rank are complete, here and there
// (MPI_Win_unlock).
func (w *Window) Unlock(rank int) {
	w.enter("Window.Unlock")
	if w.origin.epoch != lockEpoch {
		w.failSync("rank %d is not locked", rank)
	}
	if rank != ProcNull {
		w.c.checkRank(rank)
		t := w.targetOf(rank)
		if t.lock == unlocked {
			w.failSync("rank %d is not locked", rank)
		}
		if w.direct {
			w.completeLocal(rank)
		}
		w.unlock([]int{rank})
		w.completeLocal(rank)
		w.origin.locks--
	}
	if w.origin.locks == 0 {
		w.origin.epoch = noEpoch
	}
}

// unlock completes accesses to ranks, and gives back their locks.
func (w *Window) unlock(ranks []int) {
	for _, rank := range ranks {
		w.forgetAccesses(rank, false)
	}
	if w.counter != nil {
		w.unlockRegisters(ranks)
		return
	}
	replies := make([]*engine.Op, len(ranks))
	for i, rank := range ranks {
		t := w.targetOf(rank)
		state := t.lock
		t.lock = unlocked
		switch {
		case rank == w.c.rank && state == locked:
			w.releaseLock(w.originOf(rank))
		case rank != w.c.rank && state == locked:
			replies[i] = w.sendForReply(rank, &requestHeader{kind: unlockRequest})
		case rank != w.c.rank && t.unacked:
			replies[i] = w.sendForReply(rank, &requestHeader{kind: flushRequest})
		}
	}
	w.awaitReplies(ranks, replies)
}

// awaitReplies waits until accesses to ranks are complete there, and reports whether it had to.
func (w *Window) awaitReplies(ranks []int, replies []*engine.Op) (waited bool) {
	for i, rank := range ranks {
		if replies[i] != nil {
			w.awaitReply(engine.WaitAccess, rank, replies[i])
			waited = true
		}
		w.targetOf(rank).unacked = false
	}
	return waited
}

// LockAll begins an epoch in which the rank may access memory of all (MPI_Win_lock_all), by shared
// locks. A rank's memory is locked when it is accessed first.
func (w *Window) LockAll(a Assert) {
	w.enter("Window.LockAll")
	w.checkAssert(a, NoCheck)
	w.beginLockEpoch(lockAllEpoch)
	w.origin.noCheck = a&NoCheck != 0
	if w.flavor == SharedWindow && !w.origin.noCheck { // any memory may be loaded and stored to
		for rank := range w.c.size {
			w.lock(w.targetOf(rank), false, true)
		}
	}
}

// UnlockAll ends the epoch of LockAll (MPI_Win_unlock_all).
func (w *Window) UnlockAll() {
	w.enter("Window.UnlockAll")
	if w.origin.epoch != lockAllEpoch {
		w.failSync("LockAll was not called: this is %v", w.origin.epoch)
	}
	if w.direct {
		w.completeLocal(AnySource)
	}
	w.unlock(slices.Clone(w.origin.touched))
	w.completeLocal(AnySource)
	w.origin.epoch = noEpoch
}

// Flush completes accesses to a rank, here and there, in an epoch of Lock or LockAll
// (MPI_Win_flush).
func (w *Window) Flush(rank int) {
	w.enter("Window.Flush")
	if w.enterFlush(rank) {
		w.flush([]int{rank})
		w.completeLocal(rank)
	}
}

// FlushAll is Flush for all ranks.
func (w *Window) FlushAll() {
	w.enter("Window.FlushAll")
	w.checkPassive()
	w.flush(slices.Clone(w.origin.touched))
	w.completeLocal(AnySource)
}

func (w *Window) flush(ranks []int) {
	for _, rank := range ranks {
		w.forgetAccesses(rank, false)
	}
	replies := make([]*engine.Op, len(ranks))
	for i, rank := range ranks {
		if w.targetOf(rank).unacked && rank != w.c.rank {
			replies[i] = w.sendForReply(rank, &requestHeader{kind: flushRequest})
		}
	}
	if !w.awaitReplies(ranks, replies) {
		w.poll()
	}
}

// FlushLocal completes accesses to a rank at this one: the program may use its own memory again
// (MPI_Win_flush_local).
func (w *Window) FlushLocal(rank int) {
	w.enter("Window.FlushLocal")
	if w.enterFlush(rank) {
		w.completeLocal(rank)
		w.forgetAccesses(rank, true)
		w.poll()
	}
}

// FlushLocalAll is FlushLocal for all ranks.
func (w *Window) FlushLocalAll() {
	w.enter("Window.FlushLocalAll")
	w.checkPassive()
	w.completeLocal(AnySource)
	w.forgetAccesses(AnySource, true)
	w.poll()
}

// enterFlush checks the arguments of a flush, and reports whether there is anything to do.
func (w *Window) enterFlush(rank int) bool {
	w.checkPassive()
	if rank == ProcNull {
		return false
	}
	w.c.checkRank(rank)
	if w.origin.epoch == lockEpoch && w.targetOf(rank).lock == unlocked {
		w.failSync("rank %d is not locked", rank)
	}
	return true
}

func (w *Window) checkPassive() {
	if w.origin.epoch != lockEpoch && w.origin.epoch != lockAllEpoch {
		w.failSync("Lock or LockAll was not called: this is %v", w.origin.epoch)
	}
}

// poll makes progress, for programs that call in a loop until another rank has done something.
func (w *Window) poll() {
	w.c.e.PollService(w.waitFor(engine.WaitAccess, w.c.rank), func() bool { return false })
}

// windowLocks are the locks of a rank's memory.
type windowLocks struct {
	holders   int
	exclusive bool
	waiting   []*originState // in the order in which they asked
}

// originLock is a lock that a rank has asked for.
type originLock struct {
	exclusive bool
	waits     bool
	reply     requestHeader // to be answered if it has replyFlag
}

func originLockOf(r *request) originLock {
	return originLock{exclusive: r.flags&exclusiveFlag != 0, waits: true, reply: r.requestHeader}
}

// requestLock grants a lock, or lets the rank wait for it.
func (w *Window) requestLock(s *originState) {
	w.target.locks.waiting = append(w.target.locks.waiting, s)
	w.grantLocks()
}

// grantLocks grants the locks that have waited, in order, as far as they do not exclude each other.
func (w *Window) grantLocks() {
	l := &w.target.locks
	for len(l.waiting) > 0 {
		s := l.waiting[0]
		if !w.takeOwnLock(s.lock.exclusive) {
			return
		}
		l.waiting = slices.Delete(l.waiting, 0, 1)
		s.lock.waits = false
		if s.lock.reply.flags&replyFlag != 0 {
			w.sendReply(s.rank, &s.lock.reply)
		}
		w.advance(s)
	}
}

// takeOwnLock takes the lock of this rank's memory for one that has waited, if it is free.
func (w *Window) takeOwnLock(exclusive bool) bool {
	if w.counter != nil {
		return w.tryLock(w.c.rank, exclusive, true)
	}
	l := &w.target.locks
	if l.holders > 0 && (l.exclusive || exclusive) {
		return false
	}
	l.holders++
	l.exclusive = exclusive
	return true
}

// releaseLock takes back the lock of a rank.
func (w *Window) releaseLock(s *originState) {
	w.target.locks.holders--
	s.lock = originLock{}
	w.grantLocks()
}
