package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/real/host"
)

// Team is the hosts of a job whose ranks are not all on this one. Each rank but the first has an
// Agent on its host, which starts the rank's processes, one for each run.
type Team struct {
	Hosts []Host // by rank

	runs   int      // that were started
	agents []*agent // of the ranks from 1 up; nil in the process of a rank, which knows the hosts alone
}

// Host is where a rank runs.
type Host struct {
	Name       string      // as the user calls it, or as it calls itself
	Address    string      // IP address: of rank 0 where others reach it, of others from where they came
	Facts      []host.Fact // about it
	Processors []int       // on which the rank may run
}

// places returns the information about the hosts that a rank needs, by rank; without a team,
// nothing.
func (t *Team) places() []Host {
	if t == nil {
		return nil
	}
	places := make([]Host, len(t.Hosts))
	for i, h := range t.Hosts {
		places[i] = Host{Name: h.Name, Processors: h.Processors}
	}
	return places
}

// SameHost reports whether two ranks are on one host; those of no team are.
func (t *Team) SameHost(a, b int) bool { return t == nil || t.Hosts[a].Name == t.Hosts[b].Name }

// RanksOnHost returns how many of the first ranks are on the host of one.
func (t *Team) RanksOnHost(rank, ranks int) int {
	n := 0
	for r := range ranks {
		if t.SameHost(rank, r) {
			n++
		}
	}
	return n
}

// Address returns the IP address of rank 0's host by which the others reach it; of no team "", for
// loopback.
func (t *Team) Address() string {
	if t == nil {
		return ""
	}
	return t.Hosts[0].Address
}

// Close ends the agents. When it returns nothing of the team is left on this host, and on the
// others soon.
func (t *Team) Close() {
	var all sync.WaitGroup
	for _, a := range t.agents {
		all.Go(func() {
			a.control.send(command{Kind: cmdExit})
			a.control.close()
			if a.remote != nil {
				a.remote.end(exitTimeout)
			}
		})
	}
	all.Wait()
}

// agent is the agent of a rank, as rank 0 sees it.
type agent struct {
	rank    int
	host    Host
	control *control
	remote  *remoteCommand // that has started it, or nil
}

// exitTimeout is how long an agent may take to end the rank that it was told to end.
const exitTimeout = time.Second

// supervise is rankProcess.supervise for a rank on another host.
func (a *agent) supervise(run int, stop <-chan struct{}, explain *bool, reported func(report)) *Death {
	over := make(chan struct{})
	var stopper sync.WaitGroup
	stopper.Go(func() { a.stop(run, stop, explain, over) })
	defer stopper.Wait()
	defer close(over)
	for {
		var u update
		if err := a.control.receive(&u); err != nil {
			return a.lost(err)
		}
		if (u.Report != nil || u.Over) && u.Run != run {
			return a.lost(fmt.Errorf("it reports of run %d in run %d: a message was repeated or lost", u.Run, run))
		}
		if u.Report != nil {
			reported(*u.Report)
		}
		if d := u.Death; u.Over && d != nil {
			return &Death{a.rank, d.Status + ", on host " + a.host.Name, d.Stderr}
		} else if u.Over {
			return nil
		}
	}
}

// stop stops the rank when stop is closed before the run is over. It closes the connection to an
// agent that does not answer, which ends the agent.
func (a *agent) stop(run int, stop <-chan struct{}, explain *bool, over <-chan struct{}) {
	select {
	case <-stop:
	case <-over:
		return
	}
	timeout := exitTimeout
	if *explain {
		timeout += explainTimeout
	}
	a.control.send(command{Kind: cmdStop, Run: run, Explain: *explain})
	select {
	case <-time.After(timeout):
		a.control.close()
	case <-over:
	}
}

// remoteTimeout is how long the command that has started an agent may take to end when the agent
// has.
const remoteTimeout = 500 * time.Millisecond

// lost describes the loss of the connection to the agent.
func (a *agent) lost(err error) *Death {
	d := &Death{Rank: a.rank, Status: fmt.Sprintf("host %s has closed the connection", a.host.Name)}
	if !errors.Is(err, io.EOF) {
		d.Status = fmt.Sprintf("host %s is lost: %v", a.host.Name, err)
	}
	if a.remote != nil && a.remote.EndsWithin(remoteTimeout) {
		d.Status += fmt.Sprintf(" (%s: %s)", a.remote.name, a.remote.Status())
		d.Stderr = a.remote.output.Indented()
	}
	return d
}

// helloTimeout is how long an agent that has connected may take to say hello.
var helloTimeout = 5 * time.Second

// refusal says why an agent was refused. It is the error of the host even if the command that has
// started the agent has ended since.
type refusal string

func (why refusal) Error() string { return string(why) }

// greet exchanges the first messages with an agent.
func (a *agent) greet(ctx context.Context, version string) error {
	defer context.AfterFunc(ctx, a.control.close)()
	var h hello
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
		return refusal(why)
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
