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
	{"every rank runs once", ranks},
	{"near and far", tiers},
	{"names of nodes", nodes},
	{"order of a pair", order},
	{"bytes arrive as they were", integrity},
	{"head and source", head},
	{"to itself", self},
	{"data stays until the next receive", receivedDataStays},
	{"received data can be sent on", forward},
	{"polling", poll},
	{"waiting", wait},
	{"many to one", manyToOne},
	{"flood", flood},
	{"after an exit", afterExit},
	{"exits", exits},
	{"exits again", exitsAgain},
	{"places of data", places},

	{"clock", clock},
	{"step of the clock", step},
	{"delay", delay},
	{"waiting by the clock", clockLoop},
	{"work", work},

	{"error", failing},
	{"first error", firstError},
	{"panic", panicking},
	{"stopping", stopping},
	{"run again", again},

	{"put", put},
	{"put without a completion", quietPut},
	{"get", get},
	{"own memory", ownMemory},
	{"empty memory", emptyMemory},
	{"completions", completions},
	{"put, then send", putThenSend},
	{"transfers without help", withoutHelp},
	{"random transfers", randomTransfers},
	{"order of puts", putOrder},
	{"outside of memory", outside},
	{"withdrawn memory", withdrawn},

	{"barrier", barrier},
	{"broadcasts of a control network", controlBroadcasts},
	{"combinations of a control network", controlCombines},

	{"counters are atomic", atomicCounters},
	{"counters are separate", separateCounters},
	{"counters begin at zero", countersBeginAtZero},
	{"swap of counters", swapCounters},

	{"flags in memory", flags},
	{"flags behind data", flagBehindData},
	{"whole words", wholeWords},
	{"packets are events", packetEvents},
	{"deadlines", deadlines},
	{"load of what is not exposed", loadOutside},

	{"entries of queues", entries},
	{"full queues", fullQueue},
	{"queues without gaps", gaplessQueue},
	{"quiet entries", quietQueue},
	{"put, then enqueue", putThenEnqueue},
	{"no such queue", noQueue},
	{"entries are events", queueEvents},
	{"limits", limits},

	{"signals without help", signalWithoutHelp},
	{"order of signals", signalOrder},
	{"masked signals", masks},
	{"calls of handlers", handlerCalls},
	{"signals are events", signalEvents},
	{"put, then signal", putThenSignal},
	{"ends of handlers", signalEnds},

	{"order of a channel", channelOrder},
	{"priorities", priorities},
	{"messages after an exit", channelExit},
	{"messages are events", channelEvents},

	{"datagrams", datagrams},
	{"deadlines of datagrams", datagramDeadlines},
	{"multicast", multicast},
	{"groups", groups},
	{"datagrams are events", datagramEvents},
}

// deadlocks are the laws of worlds that can see all of their ranks.
var deadlocks = []law{
	{"all wait", allWait},
	{"those that wait", someWait},
	{"no false deadlock", noFalseDeadlock},
	{"waiting for exits", waitsForExit},
	{"error details", errorDetails},
	{"waiting for events", waitsForEvents},
	{"waiting for signals", waitsForSignal},
}

// TestWorld tests that the worlds which open returns keep the laws of package device. Laws of
// optional capabilities are skipped where there are none.
func TestWorld(t *testing.T, open func(ranks int) device.World) { test(t, laws, open) }

// TestDeadlock tests that the worlds which open returns find deadlocks, and find them only where
// they are.
func TestDeadlock(t *testing.T, open func(ranks int) device.World) { test(t, deadlocks, open) }

func test(t *testing.T, laws []law, open func(ranks int) device.World) {
	for _, l := range laws {
		t.Run(l.name, func(t *testing.T) {
			err := l.check(open)
			if isMissing(err) {
				t.Skip(err)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// patience is how long a job may take. The longest needs less than a second on an idle machine.
var patience = 5 * time.Minute

// run runs program on w and gives up if it does not end.
func run(w device.World, program func(*rank) error) error {
	return RunWithin(patience, func() error {
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

// wantFailure returns an error unless got is a *device.Failure of the rank with the text in its
// value.
func wantFailure(got error, rank int, text string) error {
	var f *device.Failure
	switch {
	case !errors.As(got, &f):
		return fmt.Errorf("the job returned %v, want a *device.Failure", got)
	case f.Rank != rank:
		return fmt.Errorf("the failure is of rank %d, want %d: %v", f.Rank, rank, f.Value)
	}
	return contains(fmt.Sprint(f.Value), text)
}
