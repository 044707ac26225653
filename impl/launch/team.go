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

	"github.com/loggp/loggp/impl/machine"
)

// Team is the hosts of a job whose ranks are not all on this one: each rank but the first has an agent on its host, which is this program
// (Agent) and starts the rank's processes, one for each run.
type Team struct {
	Hosts []Host // by rank

	runs   int      // that were started
	agents []*agent // of the ranks from 1 up; nil in the process of a rank, which has the names of the hosts alone
}

// Host is where a rank runs.
type Host struct {
	Name    string         // as the user calls it, or as it calls itself
	Address string         // IP address: of rank 0 where others reach it, of others from where they came
	Facts   []machine.Fact // about it

	Processors []int // on which the rank may run
}

// places returns what a rank needs to know of the hosts, by rank; of no team, nothing.
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

// Together reports whether two ranks are on one host; those of no team are.
func (t *Team) Together(a, b int) bool { return t == nil || t.Hosts[a].Name == t.Hosts[b].Name }

// Beside returns how many of some ranks are on the host of one.
func (t *Team) Beside(rank, ranks int) int {
	n := 0
	for r := range ranks {
		if t.Together(rank, r) {
			n++
		}
	}
	return n
}

// Address returns the IP address of rank 0's host by which the others reach it; of no team "", for loopback.
func (t *Team) Address() string {
	if t == nil {
		return ""
	}
	return t.Hosts[0].Address
}

// Close sends the agents home. When it returns nothing of the team is left on this host; on the others nothing is in a moment.
func (t *Team) Close() {
	var all sync.WaitGroup
	for _, a := range t.agents {
		all.Go(a.dismiss)
	}
	all.Wait()
}

// agent is a rank's, as rank 0 sees it.
type agent struct {
	rank    int
	host    Host
	control *control
	call    *call // that started it, or nil
}

// farewell is how long an agent may take to end what it was told to.
const farewell = time.Second

// dismiss ends an agent.
func (a *agent) dismiss() {
	a.control.say(order{Kind: leaves})
	a.control.close()
	if a.call != nil {
		a.call.end(farewell)
	}
}

// send sends a run to the agents.
func (j *job) send(shared *os.File) error {
	text, err := io.ReadAll(io.NewSectionReader(shared, 0, maxLetter+1))
	if err != nil || len(text) > maxLetter {
		return fmt.Errorf("launch: what ranks of this transport inherit cannot be sent to another host (%v)", err)
	}
	j.Team.runs++
	run := j.Team.runs
	for _, a := range j.Team.agents {
		if err := a.control.say(order{Kind: starts, Run: run, Orders: j.orders(a.rank), Letter: text}); err != nil {
			return a.lost(err)
		}
		j.ranks.Go(func() {
			if d := a.attend(run, j.stop, &j.asks, j.reported); d != nil {
				j.end(d)
			}
		})
	}
	return nil
}

// maxLetter is the most that a rank on another host inherits.
const maxLetter = 64 << 10

// attend stays with a rank as that of a process does.
func (a *agent) attend(run int, stop <-chan struct{}, asks *bool, reported func(report)) *Death {
	over := make(chan struct{})
	var stopper sync.WaitGroup
	stopper.Go(func() { a.stop(run, stop, asks, over) })
	defer stopper.Wait()
	defer close(over)
	for {
		var w word
		if err := a.control.hear(&w); err != nil {
			return a.lost(err)
		}
		if (w.Report != nil || w.Over) && w.Run != run {
			return a.lost(fmt.Errorf("it reports of run %d in run %d: a message was repeated or lost", w.Run, run))
		}
		if w.Report != nil {
			reported(*w.Report)
		}
		if w.Over {
			return a.death(w.Death)
		}
	}
}

// stop stops the rank if it is to be before it is over. An agent that does not answer is left alone: it ends when its connection does.
func (a *agent) stop(run int, stop <-chan struct{}, asks *bool, over <-chan struct{}) {
	select {
	case <-stop:
	case <-over:
		return
	}
	patience := farewell
	if *asks {
		patience += leaveTimeout
	}
	a.control.say(order{Kind: stops, Run: run, Asks: *asks})
	select {
	case <-time.After(patience):
		a.control.close()
	case <-over:
	}
}

// death says where a rank died.
func (a *agent) death(d *Death) *Death {
	if d == nil {
		return nil
	}
	return &Death{a.rank, d.Status + ", on host " + a.host.Name, d.Stderr}
}

// callTimeout is how long the command that has started an agent may take to end when the agent is gone.
const callTimeout = 500 * time.Millisecond

// lost says that the agent is.
func (a *agent) lost(err error) *Death {
	d := &Death{Rank: a.rank, Status: fmt.Sprintf("host %s has closed the connection", a.host.Name)}
	if !errors.Is(err, io.EOF) {
		d.Status = fmt.Sprintf("host %s is lost: %v", a.host.Name, err)
	}
	if a.call != nil && a.call.EndsWithin(callTimeout) {
		d.Status += fmt.Sprintf(" (%s: %s)", a.call.name, a.call.Status())
		d.Stderr = a.call.output.Indented()
	}
	return d
}

// helloTimeout is how long an agent that has connected may take to say hello.
var helloTimeout = 5 * time.Second

// refusal says why an agent that came may not stay. Whether its call has ended since does not matter.
type refusal string

func (why refusal) Error() string { return string(why) }

// greet has the first exchange with an agent.
func (a *agent) greet(ctx context.Context, version string) error {
	defer context.AfterFunc(ctx, a.control.close)()
	var h hello
	a.control.SetReadDeadline(time.Now().Add(helloTimeout))
	if err := a.control.hear(&h); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("rank %d has connected from %v and not identified itself within %v: is its agent stopped?", a.rank, a.control.RemoteAddr(), helloTimeout)
	} else if err != nil {
		return err
	}
	a.control.SetReadDeadline(time.Time{})
	if h.Version != version {
		why := fmt.Sprintf("it has loggp %s, and rank 0's host has %s: a job takes the same on all hosts", h.Version, version)
		a.control.say(order{Kind: refuses, Why: why})
		return refusal(why)
	}
	if a.host.Name == "" {
		a.host.Name = h.Host
	}
	a.host.Address = a.control.RemoteAddr().(*net.TCPAddr).IP.String()
	a.host.Facts, a.host.Processors = h.Facts, h.Processors
	if err := a.control.say(order{Kind: accepts}); err != nil {
		return err
	}
	return a.control.sendHeartbeats(order{Kind: nothing})
}
