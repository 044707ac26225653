// Package launch runs jobs whose ranks are processes.
//
// The process that the user started is rank 0. For each run it starts the other ranks: the same executable with the same
// arguments, which executes the same code until it comes to the same run. There it takes part as the rank that it is, and exits. So a
// program is a closure in every process, and nothing of it is sent; what rank 0's closure has gathered is the result.
//
// A process that is a rank finds earlier runs over: they return at once what they returned in rank 0. Between runs, therefore, code may depend
// on arguments, files and errors of runs, and not on what programs gathered, on random numbers or on the time.
//
// How ranks talk to each other is a Transport's. This package gives each its place, sees how it ends, and lets none outlive the
// job: a rank that dies ends it, the ranks of a process that dies are killed by the kernel, and those of a job that has failed by rank 0.
package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/device"
)

// Config says what a job is.
type Config struct {
	Ranks   int
	Args    []string        // arguments of the ranks that are started; nil: those of this process
	Pin     bool            // each rank's thread stays on a processor of its own
	Context context.Context // ends the job when it is done; nil: none does
	Team    *Team           // where the ranks but the first are; nil: on this host

	// Check gets what ranks have left as error details when all have ended well; its error is the
	// run's. nil: nothing is checked.
	Check func(details [][]byte) error
}

// Transport makes ranks meet.
type Transport interface {
	// Create makes what ranks meet in, and returns it as rank 0 sees it. The file is what the others inherit; those on other hosts get one with the
	// same text, of 64 KiB at most.
	Create() (Node, *os.File, error)

	// Join returns it as another rank sees it. The node owns the file.
	Join(rank int, inherited *os.File) (Node, error)
}

// Node is a process's place in a job. Methods may be called at any time until Close, but for Port's.
type Node interface {
	// Port is that of the process's rank. When the job is stopped its calls end the goroutine that makes them, and so they do when
	// the transport fails.
	Port() device.Port

	// Failure says how the transport failed, or returns nil.
	Failure() error

	Start()       // waits until all ranks are there, or the job is stopped; called by the rank before its program
	End()         // the rank has ended: what is sent to it is dropped
	Stop()        // ranks leave at their next call, and wake up for it
	Stuck() []int // the ranks that wait, if nothing can happen any more; else nil
	Close()       // called when no rank of this process uses the port any more
}

// IsRank reports whether this process was started as a rank of a job, or somebody wants it to believe that.
func IsRank() bool {
	me, err := self()
	return me != nil || err != nil
}

// glance is how often the job is looked at.
const glance = 50 * time.Millisecond

// leaveTimeout is how long a rank of a deadlock may take to leave its program and say where it was.
const leaveTimeout = 2 * time.Second

// Run runs a program on every rank, as device.World asks for. In a process that is a rank it does not return if the run is the one that the
// process was started for.
func Run(c Config, t Transport, program func(device.Port) error) error {
	if c.Args == nil {
		c.Args = os.Args[1:]
	}
	if c.Context == nil {
		c.Context = context.Background()
	}
	me, err := self()
	switch {
	case err != nil:
		return err
	case me != nil:
		return me.run(c, t, program)
	case !runs.TryLock():
		return errors.New("launch: a run is under way, and a process takes part in one at a time")
	}
	defer runs.Unlock()
	if err := c.Context.Err(); err != nil {
		return err
	}
	words, err := lead(c, t, program)
	runs.over(c.Args, err, words)
	return err
}

// lead is a run in the process of rank 0, and returns also what words that has left.
func lead(c Config, t Transport, program func(device.Port) error) ([]byte, error) {
	if c.Team != nil && len(c.Team.Hosts) != c.Ranks {
		return nil, fmt.Errorf("launch: the team is of %d ranks, and the job of %d", len(c.Team.Hosts), c.Ranks)
	}
	node, shared, err := t.Create()
	if err != nil {
		return nil, err
	}
	defer node.Close()
	defer shared.Close()
	j := &job{Config: c, node: node, stop: make(chan struct{}), words: make([][]byte, c.Ranks)}
	if err := j.start(shared); err != nil {
		j.end(err)
	}
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { j.watch(over) })
	if err := live(node, 0, c.Pin, program); err != nil {
		j.end(err)
	}
	j.words[0] = left(node)
	node.End()
	j.ranks.Wait()
	close(over)
	watching.Wait()
	err = j.told()
	if err == nil && c.Check != nil {
		err = c.Check(j.words)
	}
	return j.words[0], err
}

// told returns how the job has failed, with what ranks have said of a deadlock, or nil.
func (j *job) told() error {
	if d, ok := j.err.(*device.Deadlock); ok {
		d.Details = make(map[int][]byte)
		for _, r := range d.Ranks {
			if w := j.words[r]; w != nil {
				d.Details[r] = w
			}
		}
	}
	return j.err
}

// job is a run as rank 0 sees it.
type job struct {
	Config
	node  Node
	ranks sync.WaitGroup // those that were started, and have not been buried
	words [][]byte       // that ranks have left

	fail sync.Once
	err  error         // the first failure
	asks bool          // ranks that are stopped have something to say
	stop chan struct{} // closed by it, after both are set
}

// end ends the job with err unless it has failed already.
func (j *job) end(err error) {
	j.fail.Do(func() {
		j.err = err
		_, j.asks = err.(*device.Deadlock)
		j.node.Stop()
		close(j.stop)
	})
}

// watch ends the job when its context is done, or its ranks wait for each other.
func (j *job) watch(over chan struct{}) {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-j.stop:
			return
		case <-j.Context.Done():
			j.end(context.Cause(j.Context))
		case <-tick.C:
			if ranks := j.node.Stuck(); ranks != nil {
				j.end(&device.Deadlock{Ranks: ranks, Of: j.Ranks})
			}
		}
	}
}

// Death says that the process of a rank has ended before its program.
type Death struct {
	Rank   int
	Status string // how: exit status 3, or signal: killed
	Stderr string // the beginning and the end of what it has written to its standard error
}

// Error shows the standard error on lines of its own.
func (d *Death) Error() string {
	text := fmt.Sprintf("rank %d died: %s", d.Rank, d.Status)
	if d.Stderr != "" {
		text += "; its standard error:\n" + d.Stderr
	}
	return text
}
