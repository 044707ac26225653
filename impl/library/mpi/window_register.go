package mpi

import (
	"math/bits"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
)

// This file has locks in registers of the machine, so that a rank can lock memory of one that
// computes (as Gerstenberger et al. 2013, section 2.3, do).
//
// The register of a rank counts those that hold the lock of its memory. A rank adds itself. If that
// is in vain it takes itself back, adds itself to those that wait, and asks by a message. The rank
// whose memory it is tries for those that wait, in order, after each message; a rank that unlocks
// sends one if others wait. As each vain attempt is followed by a message, none that waits is
// forgotten.

// A register has three counts.
const (
	sharedHolder    = 1
	exclusiveHolder = 1 << 20
	lockWaiter      = 1 << 40
)

// maxRegisterRanks is how many ranks can use a register.
const maxRegisterRanks = exclusiveHolder - 1

func holderCount(exclusive bool) int64 {
	if exclusive {
		return exclusiveHolder
	}
	return sharedHolder
}

// allocateLockRegister takes a register that no rank of the window uses for another window, of
// those that are in use at any of them; without one locks are messages.
func (w *Window) allocateLockRegister(used uint) {
	w.lockCounters = nil
	if r := bits.TrailingZeros(^used); w.hasDirectAccess && r < device.CountersPerRank && w.comm.size <= maxRegisterRanks {
		if w.lockCounters = w.comm.engine.Port().Counters(); w.lockCounters != nil {
			w.lockRegister = r
			w.comm.state.lockRegisters |= 1 << r
		}
	}
}

// freeLockRegister ends the use of the register, when no rank uses the window any more.
func (w *Window) freeLockRegister() {
	if w.lockCounters != nil {
		w.lockCounters.FetchAndStoreRegister(w.comm.jobRank(w.comm.rank), w.lockRegister, 0)
		w.comm.state.lockRegisters &^= 1 << w.lockRegister
	}
}

// tryLock takes the lock of a rank's memory if that is free. If it is not, and the attempt is for
// one that does not yet wait, that waits from then on.
func (w *Window) tryLock(rank int, exclusive, waits bool) bool {
	to, self := w.comm.jobRank(rank), holderCount(exclusive)
	old := w.lockCounters.FetchAndAddRegister(to, w.lockRegister, self)
	isFree := old%lockWaiter/exclusiveHolder == 0 && (!exclusive || old%exclusiveHolder == 0)
	switch {
	case isFree && waits:
		w.lockCounters.FetchAndAddRegister(to, w.lockRegister, -lockWaiter)
	case waits:
		w.lockCounters.FetchAndAddRegister(to, w.lockRegister, -self)
	case !isFree || old >= lockWaiter:
		w.lockCounters.FetchAndAddRegister(to, w.lockRegister, lockWaiter-self)
		return false
	}
	return isFree
}

// releaseRegisterLock gives back the lock of a rank's memory, to which accesses are complete.
func (w *Window) releaseRegisterLock(t *targetState) {
	if old := w.lockCounters.FetchAndAddRegister(w.comm.jobRank(t.rank), w.lockRegister, -holderCount(t.exclusive)); old < lockWaiter {
		return
	}
	if t.rank == w.comm.rank {
		w.grantLocks()
		return
	}
	o := &w.origin
	o.pendingReleases = slices.DeleteFunc(o.pendingReleases, func(p pendingAccess) bool {
		finished := p.op.IsFinished()
		if finished {
			w.comm.engine.ReleaseService(p.op)
		}
		return finished
	})
	o.pendingReleases = append(o.pendingReleases, pendingAccess{op: w.sendForReply(t.rank, &requestHeader{kind: registerFreeRequest}), target: t.rank})
}

// completeReleases waits until other ranks have heard of the locks that this one has given back.
func (w *Window) completeReleases() {
	for _, p := range w.origin.pendingReleases {
		w.awaitReply(engine.WaitAccess, p.target, p.op)
	}
	w.origin.pendingReleases = nil
}

// releaseRegisterLocks completes accesses to ranks, and gives back their locks.
func (w *Window) releaseRegisterLocks(ranks []int) {
	replies := make([]*engine.Op, len(ranks))
	for i, rank := range ranks {
		if rank != w.comm.rank && w.targetOf(rank).mayHaveIncomplete {
			replies[i] = w.sendForReply(rank, &requestHeader{kind: flushRequest})
		}
	}
	w.awaitReplies(ranks, replies)
	for _, rank := range ranks {
		t := w.targetOf(rank)
		if t.lock == locked {
			w.releaseRegisterLock(t)
		}
		t.lock = unlocked
	}
}
