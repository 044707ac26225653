package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/host"
)

// Agent starts the processes of a rank on another host than rank 0's, as rank 0 commands: this
// program with the arguments that rank 0 sends.
type Agent struct {
	Address string // where rank 0 listens
	Rank    int
	Token   auth.Token
	Version string

	// Allow returns an error for arguments with which a rank must not be started, even by a process
	// that knows the token.
	Allow func(args []string) error

	ExitAtEOF io.Reader // the agent ends when this ends; nil: it does not
}

var errInputEnded = errors.New("standard input has ended")

// joinTimeout is how long an agent tries to join a job.
const joinTimeout = 15 * time.Second

// Serve joins the job and takes part until it ends, which is not an error. When Serve returns the
// rank has ended.
func (g *Agent) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if g.ExitAtEOF != nil {
		go func() {
			io.Copy(io.Discard, g.ExitAtEOF)
			cancel(errInputEnded)
		}()
	}
	c, err := g.joinJob(ctx)
	if err == nil {
		defer c.close()
		defer context.AfterFunc(ctx, c.close)()
		err = g.executeCommands(c)
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// joinJob connects to rank 0 and is accepted.
func (g *Agent) joinJob(ctx context.Context) (*controlConnection, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, joinTimeout, fmt.Errorf("rank 0 has not answered within %v", joinTimeout))
	defer cancel()
	conn, err := auth.Dial(ctx, g.Address, g.Token, controlID(g.Rank))
	if err != nil {
		return nil, err
	}
	c := newControlConnection(conn)
	defer context.AfterFunc(ctx, c.close)()
	if err := g.handshake(c); err != nil {
		c.close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("join the job at %s: %w", g.Address, err)
	}
	return c, nil
}

// handshake exchanges the first messages with rank 0.
func (g *Agent) handshake(c *controlConnection) error {
	if err := c.send(agentHello{Version: cmp.Or(g.Version, programIdentity()), Host: host.Name(), Facts: host.Facts(), Processors: host.Processors()}); err != nil {
		return err
	}
	var m command
	if err := c.receive(&m); err != nil {
		return err
	}
	if m.Kind != cmdAccept {
		return fmt.Errorf("this host is refused: %s", m.Why)
	}
	return c.startHeartbeats(runUpdate{})
}

// executeCommands executes the commands of rank 0 until the job is over.
func (g *Agent) executeCommands(c *controlConnection) error {
	var rank sync.WaitGroup
	defer rank.Wait()
	stop := func() {}
	defer func() { stop() }()
	runs := 0
	explain := new(bool) // of the run that is stopped
	for {
		var m command
		if err := c.receive(&m); err != nil {
			return fmt.Errorf("the connection to rank 0 has ended: %w", err)
		}
		if m.Kind == cmdRun {
			runs++
		}
		switch {
		case (m.Kind == cmdRun || m.Kind == cmdStop) && m.Run != runs:
			return fmt.Errorf("rank 0 sent the command %q for run %d in run %d: a message was repeated or lost", m.Kind, m.Run, runs)
		case m.Kind == cmdRun:
			rank.Wait()
			stopped, asked := make(chan struct{}), new(bool)
			stop = sync.OnceFunc(func() { close(stopped) })
			explain = asked
			rank.Go(func() {
				var death *RankDeath
				if p, err := g.startRank(&m); err != nil {
					death = &RankDeath{Rank: g.Rank, Status: fmt.Sprintf("it was not started: %v", err)}
				} else {
					death = p.superviseProcess(stopped, asked, func(r report) { c.send(runUpdate{Run: m.Run, Report: &r}) })
				}
				c.send(runUpdate{Run: m.Run, IsOver: true, Death: death})
			})
		case m.Kind == cmdStop:
			*explain = m.ExplainWait
			stop()
		case m.Kind == cmdHeartbeat:
		case m.Kind == cmdExit:
			return nil
		case m.Kind == cmdAccept || m.Kind == cmdRefuse:
			return fmt.Errorf("rank 0 sent the command %q, which comes first and once: a message was repeated", m.Kind)
		default:
			return fmt.Errorf("rank 0 sent the command %q, which this version does not know", m.Kind)
		}
	}
}

// startRank starts the rank, with the task that rank 0 has sent.
func (g *Agent) startRank(m *command) (*rankProcess, error) {
	if m.Task.Rank != g.Rank {
		return nil, fmt.Errorf("the task is for rank %d", m.Task.Rank)
	}
	if err := g.Allow(m.Task.Args); err != nil {
		return nil, err
	}
	shared, err := host.NewMemoryFile(m.Inherited)
	if err != nil {
		return nil, err
	}
	defer shared.Close()
	return startRank(m.Task, shared, nil)
}
