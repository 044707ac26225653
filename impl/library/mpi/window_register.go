package mpi

import (
	"math/bits"
	"slices"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
)

// This file has locks in registers of the machine, with which a rank can lock memory of a target
// that computes (Gerstenberger et al. 2013, section 2.3).
//
// A target's register counts the holders of its lock. An origin adds itself. If the lock is not
// free, it subtracts itself again, increments the count of waiting ranks, and sends a request. The
// target tries to take the lock for its queued origins, in order, after each message. A rank that
// unlocks while others wait sends a message to the target. Every failed attempt is followed by a
// message, so no origin waits forever.

// A register has three counts: shared holders, exclusive holders and waiting ranks.
const (
	sharedHolder    = 1
	exclusiveHolder = 1 << 20
	lockWaiter      = 1 << 40
)

// maxRegisterRanks is the largest number of ranks that can use a register.
const maxRegisterRanks = exclusiveHolder - 1

func lockRegisterIncrement(exclusive bool) int64 {
	if exclusive {
		return exclusiveHolder
	}
	return sharedHolder
}

// allocateLockRegister allocates a register that no rank of the window uses for another window.
// used has the registers in use. If none is free, locks are messages.
func (w *Window) allocateLockRegister(used uint) {
	w.lockCounters = nil
	if r := bits.TrailingZeros(^used); w.hasDirectAccess && r < device.CountersPerRank && w.comm.size <= maxRegisterRanks {
		if w.lockCounters = w.comm.engine.Port().Counters(); w.lockCounters != nil {
			w.lockRegister = r
			w.comm.state.lockRegisters |= 1 << r
		}
	}
}

// freeLockRegister frees the register after all ranks have stopped using the window.
func (w *Window) freeLockRegister() {
	if w.lockCounters != nil {
		w.lockCounters.FetchAndStoreRegister(w.comm.jobRank(w.comm.rank), w.lockRegister, 0)
		w.comm.state.lockRegisters &^= 1 << w.lockRegister
	}
}

// tryLock takes the lock of a target's memory if it is free. Otherwise it counts the caller as a
// waiting rank, unless waits says that it already is one.
func (w *Window) tryLock(rank int, exclusive, waits bool) bool {
	to, self := w.comm.jobRank(rank), lockRegisterIncrement(exclusive)
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

// releaseRegisterLock releases the lock of a target to which all accesses are complete.
func (w *Window) releaseRegisterLock(t *targetState) {
	if old := w.lockCounters.FetchAndAddRegister(w.comm.jobRank(t.rank), w.lockRegister, -lockRegisterIncrement(t.exclusive)); old < lockWaiter {
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

// completeReleases waits until targets have received this rank's notifications of released locks.
func (w *Window) completeReleases() {
	for _, p := range w.origin.pendingReleases {
		w.awaitReply(engine.WaitAccess, p.target, p.op)
	}
	w.origin.pendingReleases = nil
}

// releaseRegisterLocks completes accesses to targets and releases their locks.
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
		if t.lock = unlocked; rank == w.comm.rank {
			w.pollProgress()
		}
	}
}
