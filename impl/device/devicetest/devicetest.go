// Package devicetest states the laws of package device as tests, which every world has to pass.
//
// A law is a program, or a few, that returns an error where the world breaks it. Ranks of a world
// may be processes, so the programs share nothing but what they send: no variable, no testing.T.
// TestWorld does not ask whether time is virtual; TestVirtualTime is for worlds where it is.
package devicetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
)

// A law tells how the worlds that open returns break it, if they do.
type law struct {
	name  string
	check func(open func(ranks int) device.World) error
}

// laws are those that all worlds keep.
var laws = []law{
	{"every rank runs once", checkEveryRankRunsOnce},
	{"near and far", checkTiersAgree},
	{"names of nodes", checkNodeNames},
	{"order of a pair", checkPacketOrder},
	{"bytes arrive as they were", checkDataUnchanged},
	{"head and source", checkHeadAndSource},
	{"to itself", checkSendToSelf},
	{"data stays until the next receive", checkReceivedDataStays},
	{"received data can be sent on", checkForwarding},
	{"polling", checkPolling},
	{"waiting", checkBlockingRecv},
	{"handling packets while waiting", checkPacketHandling},
	{"many to one", checkManyToOne},
	{"flood", checkAllToAllBeforeReceive},
	{"after an exit", checkSendAfterExit},
	{"exits", checkExitNotices},
	{"exits again", checkRepeatedExitNotices},
	{"places of data", checkDataPlacement},

	{"clock", checkClockMonotonic},
	{"step of the clock", checkClockTick},
	{"delay", checkDelay},
	{"waiting by the clock", checkWaitingByClock},
	{"work", checkSpendAndCopy},

	{"error", checkErrorEndsJob},
	{"first error", checkFirstErrorReturned},
	{"panic", checkPanicReported},
	{"stopping", checkRanksStopAfterFailure},
	{"run again", checkRunsIndependent},
	{"one rank at a time", checkRanksSerialized},

	{"put", checkPut},
	{"put without a completion", checkPutWithoutCompletion},
	{"get", checkGet},
	{"own memory", checkOwnMemory},
	{"empty memory", checkEmptyMemory},
	{"completions", checkCompletions},
	{"put, then send", checkPutPrecedesSend},
	{"transfers without help", checkTransfersProgressAlone},
	{"random transfers", checkRandomTransfers},
	{"order of puts", checkPutOrder},
	{"outside of memory", checkAccessOutsideMemory},
	{"withdrawn memory", checkWithdrawnMemory},

	{"barrier", checkBarrier},
	{"broadcasts of a control network", checkControlBroadcasts},
	{"combinations of a control network", checkControlCombinations},

	{"counters are atomic", checkCountersAtomic},
	{"counters are separate", checkCountersSeparate},
	{"counters begin at zero", checkCountersBeginAtZero},
	{"swap of counters", checkCounterSwaps},

	{"flags in memory", checkFlagsNotLost},
	{"flags behind data", checkFlagFollowsData},
	{"whole words", checkWordsAtomic},
	{"packets are events", checkPacketsAreEvents},
	{"deadlines", checkWatchDeadlines},
	{"load of what is not exposed", checkLoadOutsideMemory},

	{"entries of queues", checkQueueEntries},
	{"full queues", checkFullQueue},
	{"queues without gaps", checkNoGapAfterRefusal},
	{"quiet entries", checkEntriesWithoutCompletion},
	{"put, then enqueue", checkPutPrecedesEntry},
	{"no such queue", checkMissingQueue},
	{"entries are events", checkEntriesAreEvents},
	{"limits", checkSizeLimits},

	{"signals without help", checkSignalInterruptsComputing},
	{"order of signals", checkSignalOrder},
	{"masked signals", checkSignalMask},
	{"calls of handlers", checkCallsInHandler},
	{"signals are events", checkSignalsAreEvents},
	{"put, then signal", checkPutPrecedesSignal},
	{"ends of handlers", checkHandlerEnds},

	{"order of a channel", checkChannelOrder},
	{"priorities", checkChannelPriorities},
	{"messages after an exit", checkChannelSendAfterExit},
	{"messages are events", checkChannelEvents},

	{"datagrams", checkDatagrams},
	{"deadlines of datagrams", checkDatagramDeadlines},
	{"multicast", checkMulticast},
	{"groups", checkGroupLimit},
	{"datagrams are events", checkDatagramsAreEvents},
}

// deadlockLaws are the laws of worlds that can see all of their ranks.
var deadlockLaws = []law{
	{"all wait", checkDeadlockOfAll},
	{"those that wait", checkDeadlockOfSome},
	{"no false deadlock", checkNoFalseDeadlock},
	{"waiting for exits", checkDeadlockInExitWait},
	{"error details", checkErrorDetails},
	{"waiting for events", checkDeadlockInWatch},
	{"waiting for signals", checkDeadlockWithSignal},
}

// TestWorld tests that the worlds which open returns keep the laws of package device. Laws of
// optional capabilities are skipped where there are none.
func TestWorld(t *testing.T, open func(ranks int) device.World) { testLaws(t, laws, open) }

// TestDeadlock tests that the worlds which open returns find deadlocks, and find them only where
// they are.
func TestDeadlock(t *testing.T, open func(ranks int) device.World) { testLaws(t, deadlockLaws, open) }

func testLaws(t *testing.T, laws []law, open func(ranks int) device.World) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			err := l.check(open)
			if isMissingCapability(err) {
				t.Skip(err)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// jobTimeLimit is how long a job may take. The longest needs less than a second on an idle machine.
var jobTimeLimit = 5 * time.Minute

// runWithinLimit runs program on w and gives up if it does not end.
func runWithinLimit(w device.World, program func(*rank) error) error {
	return RunWithin(jobTimeLimit, func() error {
		return w.Run(func(p device.Port) error { return program(&rank{Port: p}) })
	})
}

// RunWithin runs a job and gives up if it has not ended after a time.
func RunWithin(limit time.Duration, job func() error) error {
	end := make(chan error, 1)
	go func() { end <- job() }()
	select {
	case err := <-end:
		return err
	case <-time.After(limit):
		return fmt.Errorf("the job has not ended after %v", limit)
	}
}

// checkFailure returns an error unless got is a *device.Failure of the rank with the text in its
// value.
func checkFailure(got error, rank int, text string) error {
	var f *device.Failure
	switch {
	case !errors.As(got, &f):
		return fmt.Errorf("the job returned %v, want a *device.Failure", got)
	case f.Rank != rank:
		return fmt.Errorf("the failure is of rank %d, want %d: %v", f.Rank, rank, f.Value)
	}
	return checkErrorContains(fmt.Sprint(f.Value), text)
}
