// Package loop runs ranks as goroutines of one process. It is the smallest real transport and the template for the
// others.
//
// Each rank has an inbox, a list of parcels behind a lock, into which senders put copies of their packets. There is
// no room to run out of, so a send never waits. Remote memory and counters are those of the process. Time is the
// process's monotonic clock, and work takes the time that it takes.
package loop

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/device"
)

// New returns a world of the given number of ranks.
func New(ranks int) device.World {
	if ranks < 1 {
		panic("loop: a world needs a rank")
	}
	return world(ranks)
}

type world int

func (w world) Run(program func(device.Port) error) error {
	j := newJob(int(w))
	for _, p := range j.ports {
		j.running.Add(1)
		go j.run(p, program)
	}
	j.running.Wait()
	return j.err
}

// job is one run of a world.
type job struct {
	ports   []*port
	start   time.Time
	parcels pool

	running sync.WaitGroup
	idle    atomic.Int32 // ranks that wait or have ended

	fail sync.Once
	err  error         // the first failure
	stop chan struct{} // closed by it
}

func newJob(ranks int) *job {
	j := &job{ports: make([]*port, ranks), start: time.Now(), stop: make(chan struct{})}
	for r := range j.ports {
		j.ports[r] = newPort(j, r)
	}
	return j
}

// run is the life of a rank.
func (j *job) run(p *port, program func(device.Port) error) {
	defer j.running.Done()
	var err error
	returned := false
	defer func() {
		if v := recover(); v != nil {
			err = &device.Failure{Rank: p.rank, Value: v, Stack: debug.Stack()}
		} else if !returned {
			err = fmt.Errorf("loop: the program of rank %d ended its goroutine", p.rank)
		}
		if err != nil {
			j.end(err)
		}
		p.end()
		j.rest()
	}()
	err = program(p)
	returned = true
}

// end ends the job with err unless it has failed already, and stops the ranks that wait.
func (j *job) end(err error) {
	j.fail.Do(func() {
		j.err = err
		close(j.stop)
		for _, p := range j.ports {
			p.inbox.close()
		}
	})
}

// leave ends the calling rank if the job has failed.
//
// Note: it could panic with a value that run knows, but a program that recovers from panics would swallow that and go
// on.
func (j *job) leave() {
	select {
	case <-j.stop:
		runtime.Goexit()
	default:
	}
}

// rest counts one more rank that waits or has ended. Who wakes a rank takes it off the count before going on, so
// while anyone is on the way to wake another the count is not full: when it is full, nothing can happen any more.
func (j *job) rest() {
	if int(j.idle.Add(1)) != len(j.ports) {
		return
	}
	var waiting []int
	for _, p := range j.ports {
		if p.inbox.waits() {
			waiting = append(waiting, p.rank)
		}
	}
	if waiting != nil {
		j.end(&device.Deadlock{Ranks: waiting, Of: len(j.ports)})
	}
}
