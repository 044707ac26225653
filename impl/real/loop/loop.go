// Package loop runs ranks as goroutines of one process. It is the smallest real transport, the
// template for the others, and the only one with all optional capabilities of package device: code
// that uses them is tested here, with faults, before a machine offers them.
//
// Each rank has an inbox, a list of buffers behind a lock, into which senders put copies of their
// packets. There is always room, so a send never waits. The other capabilities are lists and memory
// behind locks, too. Time is the computer's monotonic clock.
package loop

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/loggp/loggp/impl/device"
)

// New returns a world of the given number of ranks.
func New(ranks int) device.World { return NewFaulty(ranks, Faults{}) }

// NewFaulty returns a world whose optional capabilities have faults.
func NewFaulty(ranks int, f Faults) device.World {
	if ranks < 1 {
		panic("loop: a world needs a rank")
	}
	return world{ranks, f}
}

type world struct {
	ranks  int
	faults Faults
}

func (w world) Run(program func(device.Port) error) error {
	j := newJob(w)
	for _, p := range j.ports {
		j.goroutines.Go(func() {
			defer j.countIdle()
			defer p.finish()
			j.guardProgram(p.Rank(), func() error { return program(p) })
		})
	}
	j.goroutines.Wait()
	return j.firstFailure
}

// job is one run of a world.
type job struct {
	ports   []*port
	faults  Faults
	buffers bufferPool

	barrierArrivals atomic.Int64 // ranks at barriers, in all
	control         controlNetworkState
	goroutines      sync.WaitGroup // ranks, and operations and handlers that run beside them
	idleCount       atomic.Int32   // ranks that wait or have ended, minus operations and handlers under way

	failOnce     sync.Once
	firstFailure error
	failed       atomic.Bool
	stopped      chan struct{} // closed when the job has failed
}

func newJob(w world) *job {
	j := &job{ports: make([]*port, w.ranks), faults: w.faults, stopped: make(chan struct{})}
	for r := range j.ports {
		j.ports[r] = newPort(j, r)
	}
	return j
}

// guardProgram runs a part of the program of a rank. If that fails, so does the job.
func (j *job) guardProgram(rank int, part func() error) {
	returned := false
	defer func() {
		if v := recover(); v != nil {
			j.fail(&device.Failure{Rank: rank, Value: v, Stack: debug.Stack()})
		} else if !returned {
			j.fail(fmt.Errorf("loop: the program of rank %d ended its goroutine", rank))
		}
	}()
	err := part()
	returned = true
	if err != nil {
		j.fail(err)
	}
}

// fail ends the job with err unless it has failed already, and stops the ranks that wait.
func (j *job) fail(err error) {
	j.failOnce.Do(func() {
		j.firstFailure = err
		j.failed.Store(true)
		close(j.stopped)
		for _, p := range j.ports {
			p.inbox.close()
		}
	})
}

// countIdle counts one more rank that waits or has ended. A rank that is woken is taken off the
// count first, and an access or a handler that runs beside the ranks is taken off before it starts.
// So the count does not reach the number of ranks while anything may wake a rank. When it does,
// nothing can happen any more.
func (j *job) countIdle() {
	if int(j.idleCount.Add(1)) != len(j.ports) {
		return
	}
	var waiting []int
	for _, p := range j.ports {
		if p.inbox.isWaiting() {
			waiting = append(waiting, p.Rank())
		}
	}
	if waiting != nil {
		j.fail(&device.Deadlock{Ranks: waiting, TotalRanks: len(j.ports)})
	}
}
