package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/real/host"
)

// Team is the hosts of a job whose ranks are not all on this one. Each rank but the first has an
// Agent on its host, which starts the rank's processes, one for each run.
type Team struct {
	Hosts []Host // by rank

	runCount int            // that were started
	agents   []*remoteAgent // of the ranks from 1 up; nil in the process of another rank, which knows only the hosts
}

// Host is where a rank runs.
type Host struct {
	Name       string      // the user's name for it, or its own
	Address    string      // IP address: of rank 0 the one at which others reach it, of others the one that they connected from
	Facts      []host.Fact // about it
	Processors []int       // on which the rank may run
}

// rankHosts returns the part of the hosts that a rank needs, by rank, or nil without a team.
func (t *Team) rankHosts() []Host {
	if t == nil {
		return nil
	}
	places := make([]Host, len(t.Hosts))
	for i, h := range t.Hosts {
		places[i] = Host{Name: h.Name, Processors: h.Processors}
	}
	return places
}

// SameHost reports whether two ranks are on one host. Without a team they are.
func (t *Team) SameHost(a, b int) bool { return t == nil || t.Hosts[a].Name == t.Hosts[b].Name }

// RanksOnHost returns how many of the first ranks are on the same host as one.
func (t *Team) RanksOnHost(rank, ranks int) int {
	n := 0
	for r := range ranks {
		if t.SameHost(rank, r) {
			n++
		}
	}
	return n
}

// RanksOnProcessors returns how many ranks share processors with rank 0, itself included: a process
// manager may bind each to its own.
func (t *Team) RanksOnProcessors() int {
	n := 0
	for r, host := range t.Hosts {
		if t.SameHost(0, r) && slices.ContainsFunc(host.Processors, func(p int) bool { return slices.Contains(t.Hosts[0].Processors, p) }) {
			n++
		}
	}
	return n
}

// Address returns the IP address at which others reach rank 0, or "" without a team, for loopback.
func (t *Team) Address() string {
	if t == nil {
		return ""
	}
	return t.Hosts[0].Address
}

// Close ends the agents. When it returns no process of the team is left on this host; those on
// other hosts end soon.
func (t *Team) Close() {
	var all sync.WaitGroup
	for _, a := range t.agents {
		all.Go(func() {
			a.control.send(command{Kind: cmdExit})
			a.control.close()
			if a.remote != nil {
				a.remote.endWithin(rankExitTimeout)
			}
		})
	}
	all.Wait()
}

// remoteAgent is the agent of a rank, as rank 0 sees it.
type remoteAgent struct {
	rank    int
	host    Host
	control *controlConnection
	remote  *remoteCommand // that has started it, or nil
}

// rankExitTimeout is how long an agent may take to end its rank on command.
const rankExitTimeout = time.Second

// superviseRun is rankProcess.supervise for a rank on another host.
func (a *remoteAgent) superviseRun(run int, stop <-chan struct{}, explain *bool, reported func(report)) *RankDeath {
	over := make(chan struct{})
	var stopper sync.WaitGroup
	stopper.Go(func() { a.stopRun(run, stop, explain, over) })
	defer stopper.Wait()
	defer close(over)
	for {
		var u runUpdate
		if err := a.control.receive(&u); err != nil {
			return a.lossError(err)
		}
		if (u.Report != nil || u.IsOver) && u.Run != run {
			return a.lossError(fmt.Errorf("it reports of run %d in run %d: a message was repeated or lost", u.Run, run))
		}
		if u.Report != nil {
			reported(*u.Report)
		}
		if d := u.Death; u.IsOver && d != nil {
			return &RankDeath{a.rank, d.Status + ", on host " + a.host.Name, d.Stderr}
		} else if u.IsOver {
			return nil
		}
	}
}

// stopRun stops the rank if stop is closed before the run is over. If the agent does not answer it
// closes the connection, which ends the agent.
func (a *remoteAgent) stopRun(run int, stop <-chan struct{}, explain *bool, over <-chan struct{}) {
	select {
	case <-stop:
	case <-over:
		return
	}
	timeout := rankExitTimeout
	if *explain {
		timeout += explainTimeout
	}
	a.control.send(command{Kind: cmdStop, Run: run, ExplainWait: *explain})
	select {
	case <-time.After(timeout):
		a.control.close()
	case <-over:
	}
}

// commandExitTimeout is how long the command that has started an agent may run after the agent has
// ended.
const commandExitTimeout = 500 * time.Millisecond

// lossError describes the loss of the connection to the agent.
func (a *remoteAgent) lossError(err error) *RankDeath {
	d := &RankDeath{Rank: a.rank, Status: fmt.Sprintf("host %s has closed the connection", a.host.Name)}
	if !errors.Is(err, io.EOF) {
		d.Status = fmt.Sprintf("host %s is lost: %v", a.host.Name, err)
	}
	if a.remote != nil && a.remote.EndsWithin(commandExitTimeout) {
		d.Status += fmt.Sprintf(" (%s: %s)", a.remote.name, a.remote.Status())
		d.Stderr = a.remote.output.Indented()
	}
	return d
}

// helloTimeout is how long an agent that has connected may take to say hello.
var helloTimeout = 5 * time.Second

// refusalError is the reason why an agent was refused. It is the error of the host even if the
// command that started the agent has ended since.
type refusalError string

func (why refusalError) Error() string { return string(why) }

// handshake exchanges the first messages with an agent.
func (a *remoteAgent) handshake(ctx context.Context, version string) error {
	defer context.AfterFunc(ctx, a.control.close)()
	var h agentHello
	a.control.SetReadDeadline(time.Now().Add(helloTimeout))
	if err := a.control.receive(&h); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("rank %d has connected from %v and not identified itself within %v: is its agent stopped?", a.rank, a.control.RemoteAddr(), helloTimeout)
	} else if err != nil {
		return err
	}
	a.control.SetReadDeadline(time.Time{})
	if h.Version != version {
		why := fmt.Sprintf("it has loggp %s, and rank 0's host has %s: a job needs the same on all hosts", h.Version, version)
		a.control.send(command{Kind: cmdRefuse, Why: why})
		return refusalError(why)
	}
	if a.host.Name == "" {
		a.host.Name = h.Host
	}
	a.host.Address = a.control.RemoteAddr().(*net.TCPAddr).IP.String()
	a.host.Facts, a.host.Processors = h.Facts, h.Processors
	if err := a.control.send(command{Kind: cmdAccept}); err != nil {
		return err
	}
	return a.control.startHeartbeats(command{Kind: cmdHeartbeat})
}
