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

func lockHolder(exclusive bool) int64 {
	if exclusive {
		return exclusiveHolder
	}
	return sharedHolder
}

// chooseRegister takes a register that no rank of the window uses for another window, of those that
// are in use at any of them; without one locks are messages.
func (w *Window) chooseRegister(used uint) {
	w.counter = nil
	if r := bits.TrailingZeros(^used); w.direct && r < device.CountersPerRank && w.c.size <= maxRegisterRanks {
		if w.counter = w.c.e.Port().Counters(); w.counter != nil {
			w.register = r
			w.c.state.lockRegisters |= 1 << r
		}
	}
}

// releaseRegister ends the use of the register, when no rank uses the window any more.
func (w *Window) releaseRegister() {
	if w.counter != nil {
		w.counter.FetchAndStore(w.c.jobRank(w.c.rank), w.register, 0)
		w.c.state.lockRegisters &^= 1 << w.register
	}
}

// tryLock takes the lock of a rank's memory if that is free. If it is not, and the attempt is for
// one that does not yet wait, that waits from then on.
func (w *Window) tryLock(rank int, exclusive, waits bool) bool {
	to, self := w.c.jobRank(rank), lockHolder(exclusive)
	old := w.counter.FetchAndAdd(to, w.register, self)
	isFree := old%lockWaiter/exclusiveHolder == 0 && (!exclusive || old%exclusiveHolder == 0)
	switch {
	case isFree && waits:
		w.counter.FetchAndAdd(to, w.register, -lockWaiter)
	case waits:
		w.counter.FetchAndAdd(to, w.register, -self)
	case !isFree || old >= lockWaiter:
		w.counter.FetchAndAdd(to, w.register, lockWaiter-self)
		return false
	}
	return isFree
}

// unlockRegister gives back the lock of a rank's memory, to which accesses are complete.
func (w *Window) unlockRegister(t *targetState) {
	if old := w.counter.FetchAndAdd(w.c.jobRank(t.rank), w.register, -lockHolder(t.exclusive)); old < lockWaiter {
		return
	}
	if t.rank == w.c.rank {
		w.grantLocks()
		return
	}
	o := &w.origin
	o.releases = slices.DeleteFunc(o.releases, func(p pendingAccess) bool {
		finished := p.op.IsFinished()
		if finished {
			w.c.e.ReleaseService(p.op)
		}
		return finished
	})
	o.releases = append(o.releases, pendingAccess{op: w.sendForReply(t.rank, &requestHeader{kind: releasedRequest}), target: t.rank})
}

// completeReleases waits until other ranks have heard of the locks that this one has given back.
func (w *Window) completeReleases() {
	for _, p := range w.origin.releases {
		w.awaitReply(engine.WaitAccess, p.target, p.op)
	}
	w.origin.releases = nil
}

// unlockRegisters completes accesses to ranks, and gives back their locks.
func (w *Window) unlockRegisters(ranks []int) {
	replies := make([]*engine.Op, len(ranks))
	for i, rank := range ranks {
		if rank != w.c.rank && w.targetOf(rank).unacked {
			replies[i] = w.sendForReply(rank, &requestHeader{kind: flushRequest})
		}
	}
	w.awaitReplies(ranks, replies)
	for _, rank := range ranks {
		t := w.targetOf(rank)
		if t.lock == locked {
			w.unlockRegister(t)
		}
		t.lock = unlocked
	}
}
