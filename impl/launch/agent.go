package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/auth"
	"github.com/loggp/loggp/impl/machine"
)

// Agent stands for a rank on its host: it joins a job, and starts the rank's processes, which are this program with the arguments that
// rank 0 orders.
type Agent struct {
	Address string // where rank 0 listens
	Rank    int
	Token   auth.Token
	Version string

	// Allow says what is wrong with arguments for which a rank is to be started. Who knows the token may order no others.
	Allow func(args []string) error

	Until io.Reader // the agent ends when this does; nil: it does not
}

// errUntil says that what the agent lives as long as has ended.
var errUntil = errors.New("standard input has ended")

// joining is how long an agent tries to come to rank 0.
const joining = 15 * time.Second

// Serve joins the job and takes part until it is over, which is no error. Nothing of the rank is left when it returns.
func (g *Agent) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if g.Until != nil {
		go func() {
			io.Copy(io.Discard, g.Until)
			cancel(errUntil)
		}()
	}
	err := g.serve(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (g *Agent) serve(ctx context.Context) error {
	c, err := g.join(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	defer context.AfterFunc(ctx, c.close)()
	return g.obey(c)
}

// join connects to rank 0, and is accepted.
func (g *Agent) join(ctx context.Context) (*control, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, joining, fmt.Errorf("rank 0 has not answered within %v", joining))
	defer cancel()
	conn, err := auth.Dial(ctx, g.Address, g.Token, controlID(g.Rank))
	if err != nil {
		return nil, err
	}
	c := newControl(conn)
	defer context.AfterFunc(ctx, c.close)()
	if err := g.introduce(c); err != nil {
		c.close()
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("join the job at %s: %w", g.Address, err)
	}
	return c, nil
}

// introduce has the first exchange with rank 0.
func (g *Agent) introduce(c *control) error {
	if err := c.say(hello{Version: g.Version, Host: machine.Host(), Facts: machine.Facts(), Processors: machine.Processors()}); err != nil {
		return err
	}
	var o order
	if err := c.hear(&o); err != nil {
		return err
	}
	if o.Kind != accepts {
		return fmt.Errorf("this host is refused: %s", o.Why)
	}
	return c.sendHeartbeats(word{})
}

// obey does what rank 0 orders until it says that the job is over.
func (g *Agent) obey(c *control) error {
	runs := 0
	var rank sync.WaitGroup
	defer rank.Wait()
	stop := func() {}
	defer func() { stop() }()
	var asks *bool
	for {
		var o order
		if err := c.hear(&o); err != nil {
			return fmt.Errorf("rank 0 is gone: %w", err)
		}
		switch o.Kind {
		case starts:
			if runs++; o.Run != runs {
				return outOfPlace(&o, runs)
			}
			rank.Wait()
			told := make(chan struct{})
			stop = sync.OnceFunc(func() { close(told) })
			asked := new(bool)
			asks = asked
			rank.Go(func() { g.run(c, &o, told, asked) })
		case stops:
			if o.Run != runs {
				return outOfPlace(&o, runs)
			}
			if asks != nil {
				*asks = o.Asks
			}
			stop()
		case nothing:
		case leaves:
			return nil
		case accepts, refuses:
			return fmt.Errorf("rank 0 says %q, which comes first and once: a message was repeated", o.Kind)
		default:
			return fmt.Errorf("rank 0 orders what this version does not know: %q", o.Kind)
		}
	}
}

func outOfPlace(o *order, run int) error {
	return fmt.Errorf("rank 0 says %q of run %d in place of run %d: a message was repeated or lost", o.Kind, o.Run, run)
}

// run starts the rank and tells rank 0 how it ends.
func (g *Agent) run(c *control, o *order, stop <-chan struct{}, asks *bool) {
	death := g.live(&o.Orders, o.Letter, stop, asks, func(r report) { c.say(word{Run: o.Run, Report: &r}) })
	c.say(word{Run: o.Run, Over: true, Death: death})
}

// live starts the rank and returns when it has ended.
func (g *Agent) live(o *orders, text []byte, stop <-chan struct{}, asks *bool, reported func(report)) *Death {
	p, err := g.start(o, text)
	if err != nil {
		return &Death{Rank: g.Rank, Status: fmt.Sprintf("it was not started: %v", err)}
	}
	return p.attend(stop, asks, reported)
}

func (g *Agent) start(o *orders, text []byte) (*rankProcess, error) {
	if o.Rank != g.Rank {
		return nil, fmt.Errorf("the orders are for rank %d", o.Rank)
	}
	if err := g.Allow(o.Args); err != nil {
		return nil, err
	}
	shared, err := letter(text)
	if err != nil {
		return nil, err
	}
	defer shared.Close()
	return startRank(*o, shared)
}
