// Package launch runs jobs whose ranks are processes.
//
// The process that the user started is rank 0. For each run it starts the other ranks: the same
// executable with the same arguments, which executes the same code until it reaches the same run.
// There it takes part as its rank, and exits. So a program is a closure in every process and need
// not be sent; what rank 0's closure has gathered is the result.
//
// In the process of another rank, earlier runs return at once what they returned in rank 0. Between
// runs, therefore, code may depend on arguments, files and errors of runs, but not on what programs
// gathered, on random numbers or on the time.
//
// A Transport connects the ranks. This package starts them, learns how they end, and ensures that
// they do not outlive the job: a rank that dies ends the job, rank 0 kills the ranks of a job that
// has failed, and the kernel kills the children of a process that dies.
package launch

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// Config describes a job.
type Config struct {
	Ranks   int             // from 1 to MaxRanks
	Wait    Wait            // how ranks wait for each other
	Args    []string        // arguments of the ranks that are started; nil: those of this process
	Pin     bool            // each rank's thread stays on a processor of its own
	Context context.Context // ends the job when it is done; nil: none does
	Team    *Team           // where the ranks from 1 up are; nil: on this host
	Output  *os.File        // standard output of the ranks that are started on this host, whose standard error is then this process's; nil: none

	// check gets the error details of all ranks when they have ended well; its error is the
	// run's. nil: nothing is checked.
	check func(details [][]byte) error
}

// Transport connects ranks.
type Transport interface {
	// Create returns rank 0's node. The other ranks inherit the file; ranks on other hosts get a
	// file with the same contents, of at most 64 KiB.
	Create() (Node, *os.File, error)

	// Join returns another rank's node, which owns the file.
	Join(rank int, inherited *os.File) (Node, error)
}

// Node is a rank's end of a transport. Methods may be called concurrently and at any time until
// Close, except those of Port.
type Node interface {
	// Port returns the rank's port. When the job is stopped, or the transport fails, its calls end
	// the goroutine that makes them.
	Port() device.Port

	// Failure returns the error by which the transport has failed, or nil.
	Failure() error

	Connect()               // waits until all ranks are connected, or the job is stopped; the rank calls it before its program
	Finish()                // the rank has ended: packets for it are dropped
	Stop()                  // ends ranks at their next call, and wakes them for it
	DeadlockedRanks() []int // the waiting ranks of a deadlock, or nil
	Close()                 // called when no rank of this process uses the port any more
}

// IsRank reports whether this process was started as a rank of a job. It is also true if the
// environment variables were set by mistake; Run then fails.
func IsRank() bool {
	me, err := thisRank()
	return me != nil || err != nil
}

// runOnRanks runs a program on every rank, as device.World asks for. In a process that was started
// as a rank for this run it does not return.
func runOnRanks(c Config, t Transport, program func(device.Port) error) error {
	if c.Args == nil {
		c.Args = os.Args[1:]
	}
	if c.Context == nil {
		c.Context = context.Background()
	}
	me, err := thisRank()
	switch {
	case err != nil:
		return err
	case me != nil:
		return me.reachRun(c, t, program)
	case !pastRuns.TryLock():
		return errors.New("launch: a process takes part in one run at a time, and one is under way")
	}
	defer pastRuns.Unlock()
	if err := c.Context.Err(); err != nil {
		return err
	}
	detail, err := runJob(c, t, program)
	pastRuns.ended[argsKey(c.Args)] = append(pastRuns.ended[argsKey(c.Args)], newReport(0, err, detail))
	return err
}

// pastRuns are the reports of this process's runs, by the arguments of their ranks. For a rank with
// these arguments they are the runs before its own.
var pastRuns = struct {
	sync.Mutex // held during a run
	ended      map[string][]report
}{ended: make(map[string][]report)}

// BeginCommand marks the start of a command with these arguments. Earlier runs with the same
// arguments belong to other commands, which a rank that is started for this command does not
// execute. A process that runs one command need not call it.
func BeginCommand(args []string) {
	pastRuns.Lock()
	defer pastRuns.Unlock()
	delete(pastRuns.ended, argsKey(args))
}

// argsKey joins arguments, which have no zero bytes, to one string.
func argsKey(args []string) string { return strings.Join(args, "\x00") }
