package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
)

// job is a run as rank 0 sees it.
type job struct {
	Config
	node            Node
	supervisedRanks sync.WaitGroup // that are supervised
	details         [][]byte       // error details of ranks

	failOnce     sync.Once
	firstFailure error         // the first failure
	explainStop  bool          // ranks that are stopped report where they were
	stop         chan struct{} // closed when the job has failed and err and explain are set
}

// Times of a job that fails.
const (
	watchInterval  = 50 * time.Millisecond // between checks for a deadlock
	explainTimeout = 2 * time.Second       // for a rank of a deadlock to leave its program and report where it was
)

// runJob runs a program in the process of rank 0, and also returns the error detail of that rank.
func runJob(c Config, t Transport, program func(device.Port) error) ([]byte, error) {
	if c.Team != nil && len(c.Team.Hosts) != c.Ranks {
		return nil, fmt.Errorf("launch: the team is of %d ranks, and the job of %d", len(c.Team.Hosts), c.Ranks)
	}
	node, shared, err := t.Create()
	if err != nil {
		return nil, err
	}
	defer node.Close()
	defer shared.Close()
	j := &job{Config: c, node: node, stop: make(chan struct{}), details: make([][]byte, c.Ranks)}
	start := j.startLocalRanks
	if j.Team != nil {
		start = j.startRemoteRanks
	}
	if err := start(shared); err != nil {
		j.endWith(err)
	}
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() { j.watchForEnd(over) })
	if err := runProgram(node, 0, c.Pin, program); err != nil {
		j.endWith(err)
	}
	j.details[0] = errorDetail(node)
	node.Finish()
	j.supervisedRanks.Wait()
	close(over)
	watching.Wait()
	if d, ok := j.firstFailure.(*device.Deadlock); ok {
		d.RankDetails = make(map[int][]byte)
		for _, r := range d.Ranks {
			if j.details[r] != nil {
				d.RankDetails[r] = j.details[r]
			}
		}
	}
	if j.firstFailure == nil && c.check != nil {
		j.firstFailure = c.check(j.details)
	}
	return j.details[0], j.firstFailure
}

// startLocalRanks starts all ranks but the first on this host.
func (j *job) startLocalRanks(shared *os.File) error {
	for rank := 1; rank < j.Ranks; rank++ {
		p, err := startRank(j.taskOf(rank), shared, j.Output)
		if err != nil {
			return fmt.Errorf("launch: start rank %d: %w", rank, err)
		}
		j.superviseRank(func() *RankDeath { return p.superviseProcess(j.stop, &j.explainStop, j.takeReport) })
	}
	return nil
}

// startRemoteRanks starts all ranks but the first where their agents are.
func (j *job) startRemoteRanks(shared *os.File) error {
	contents, err := io.ReadAll(io.NewSectionReader(shared, 0, maxInheritedSize+1))
	if err == nil && len(contents) > maxInheritedSize {
		err = fmt.Errorf("it has more than %d bytes", maxInheritedSize)
	}
	if err != nil {
		return fmt.Errorf("launch: send the data that ranks share at their start to another host: %w", err)
	}
	j.Team.runCount++
	run := j.Team.runCount
	for _, a := range j.Team.agents {
		if err := a.control.send(command{Kind: cmdRun, Run: run, Task: j.taskOf(a.rank), Inherited: contents}); err != nil {
			return a.lossError(err)
		}
		j.superviseRank(func() *RankDeath { return a.superviseRun(run, j.stop, &j.explainStop, j.takeReport) })
	}
	return nil
}

// maxInheritedSize is the largest number of bytes that a rank on another host inherits.
const maxInheritedSize = 64 << 10

func (j *job) taskOf(rank int) task {
	return task{Rank: rank, Ranks: j.Ranks, Args: j.Args, EarlierRuns: pastRuns.ended[argsKey(j.Args)], Hosts: j.Team.rankHosts()}
}

// superviseRank ends the job if a rank dies.
func (j *job) superviseRank(wait func() *RankDeath) {
	j.supervisedRanks.Go(func() {
		if d := wait(); d != nil {
			j.endWith(d)
		}
	})
}

// takeReport records the report of a rank. It is called before other ranks notice that this one has
// ended.
func (j *job) takeReport(r report) {
	if uint(r.Rank) < uint(len(j.details)) {
		j.details[r.Rank] = r.Detail
	}
	if r.Kind != reportDone {
		j.endWith(r.toError())
	}
}

// endWith ends the job with err unless it has failed already.
func (j *job) endWith(err error) {
	j.failOnce.Do(func() {
		j.firstFailure = err
		_, j.explainStop = err.(*device.Deadlock)
		j.node.Stop()
		close(j.stop)
	})
}

// watchForEnd ends the job when its context is done, or in a deadlock.
func (j *job) watchForEnd(over chan struct{}) {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case <-j.stop:
			return
		case <-j.Context.Done():
			j.endWith(context.Cause(j.Context))
		case <-tick.C:
			if ranks := j.node.DeadlockedRanks(); ranks != nil {
				j.endWith(&device.Deadlock{Ranks: ranks, TotalRanks: j.Ranks})
			}
		}
	}
}

// runProgram runs the program of a rank on a thread of its own, and returns how it ended.
func runProgram(n Node, rank int, pin bool, program func(device.Port) error) error {
	end := make(chan error, 1)
	go func() {
		err := fmt.Errorf("launch: the program of rank %d ended its goroutine", rank) // if it does
		defer func() {
			if v := recover(); v != nil {
				err = &device.Failure{Rank: rank, Value: v, Stack: debug.Stack()}
			} else if problem := n.Failure(); problem != nil {
				err = problem
			}
			end <- err
		}()
		runtime.LockOSThread() // and not unlocked: a thread that was pinned ends with the rank
		if pin {
			if problem := host.Pin(host.RankProcessor(rank)); problem != nil {
				err = fmt.Errorf("launch: rank %d: %w", rank, problem)
				return
			}
		}
		n.Connect()
		err = program(n.Port())
	}()
	return <-end
}
