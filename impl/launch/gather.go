package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/auth"
	"github.com/loggp/loggp/impl/machine"
)

// Muster says how a team comes together. Ranks are first those of the hosts, in their order, then the guests.
type Muster struct {
	Hosts  []string // where agents are started over ssh; a host may be named again
	Guests int      // further ranks, whose agents others start: the user by hand, or a process manager

	GuestHosts []string // where these are, if that is known: rank 0 listens where they reach it

	SSH     []string // the command; nil: ssh -o BatchMode=yes
	Program string   // this program's path on the hosts; "": as here
	Listen  string   // address where agents come to, with or without a port; "": that by which the hosts are reached, loopback for guests alone
	Version string   // of this program, which agents must have too

	// Join returns the arguments with which this program becomes the agent of a rank. It reads the token from its standard input. The agent
	// that is held ends when that does.
	Join func(address string, rank int, held bool) []string

	// Invite asks the user to start the guests.
	Invite func(address string, token auth.Token, ranks []int)
}

// arrival is how long a host may take to come. Guests have all the time of the world.
const arrival = 30 * time.Second

var errSilent = fmt.Errorf("nothing came from it within %v", arrival)

// Gather gets a team together. In a process that is a rank it returns what that needs to know. The error says which host does not come.
func Gather(ctx context.Context, m Muster) (*Team, error) {
	me, err := self()
	switch {
	case err != nil:
		return nil, err
	case me != nil:
		return &Team{Hosts: me.Hosts}, nil
	}
	if m.SSH == nil {
		m.SSH = []string{"ssh", "-o", "BatchMode=yes"}
	}
	if m.Program == "" {
		if m.Program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	address, err := m.address(ctx)
	if err != nil {
		return nil, err
	}
	return m.gather(ctx, address)
}

// gather listens until the agents have come.
func (m *Muster) gather(ctx context.Context, address string) (*Team, error) {
	token := auth.NewToken()
	n := len(m.Hosts) + m.Guests
	var guests []int
	ids := make([]auth.ID, n)
	for i := range ids {
		ids[i] = controlID(i + 1)
		if i >= len(m.Hosts) {
			guests = append(guests, i+1)
		}
	}
	d, err := auth.Listen(address, token, ids...)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if guests != nil {
		m.Invite(d.Addr().String(), token, guests)
	}
	t := &Team{Hosts: make([]Host, n+1), agents: make([]*agent, n)}
	t.Hosts[0] = Host{Name: machine.Host(), Address: d.Addr().IP.String(), Facts: machine.Facts(), Processors: machine.Processors()}
	user := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range t.agents {
		a := &agent{rank: i + 1}
		t.agents[i] = a
		all.Go(func() {
			if err := m.fetch(ctx, a, d, token); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		if user.Err() != nil || errors.Is(err, errSilent) { // it may be that others came instead
			err = noted(err, d.Refused())
		}
		t.abandon()
		return nil, err
	}
	for i, a := range t.agents {
		t.Hosts[i+1] = a.host
	}
	return t, nil
}

// noted adds a note to an error, if there is one.
func noted(err error, note string) error {
	if note == "" {
		return err
	}
	return fmt.Errorf("%w (%s)", err, note)
}

// controlID names the connection of a rank's agent.
func controlID(rank int) auth.ID { return auth.ID{Purpose: auth.Control, From: uint32(rank)} }

// fetch waits for an agent, which it starts if that is not for the user to do.
func (m *Muster) fetch(ctx context.Context, a *agent, d *auth.Listener, token auth.Token) (err error) {
	if a.rank <= len(m.Hosts) {
		a.host.Name = m.Hosts[a.rank-1]
		defer func() {
			if err != nil {
				err = fmt.Errorf("host %s: %w", a.host.Name, err)
			}
		}()
		var hungUp context.CancelFunc
		ctx, hungUp = context.WithTimeoutCause(ctx, arrival, errSilent)
		defer hungUp()
		if a.call, err = m.call(a.host.Name, m.Join(d.Addr().String(), a.rank, true), token); err != nil {
			return err
		}
		var ended context.CancelCauseFunc
		ctx, ended = context.WithCancelCause(ctx)
		defer ended(nil)
		defer a.call.onEnd(ended)()
	}
	conn, err := d.Accept(ctx, controlID(a.rank))
	if err != nil {
		return m.problem(ctx, a, err)
	}
	a.control = newControl(conn)
	return m.problem(ctx, a, a.greet(ctx, m.Version))
}

// problem says what an error of an agent comes from.
func (m *Muster) problem(ctx context.Context, a *agent, err error) error {
	var refused refusal
	if err == nil || ctx.Err() == nil || errors.As(err, &refused) {
		return err
	}
	err = context.Cause(ctx)
	if a.call != nil && errors.Is(err, errEnded) {
		return a.call.failure()
	}
	return err
}

// abandon leaves those that have come.
func (t *Team) abandon() {
	var all sync.WaitGroup
	for _, a := range t.agents {
		if a.control != nil {
			a.control.close()
		}
		if a.call != nil {
			all.Go(func() { a.call.end(0) })
		}
	}
	all.Wait()
}

// address returns where to listen: as the user says, or the address of this host from which all hosts are reached.
func (m *Muster) address(ctx context.Context) (string, error) {
	if m.Listen != "" {
		host, _, err := net.SplitHostPort(m.Listen)
		if err != nil {
			host = m.Listen
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); ip != nil && ip.IsUnspecified() {
			return "", fmt.Errorf("listen on %s: name one address of this host, by which the others reach it", m.Listen)
		}
		return m.Listen, nil
	}
	address := ""
	hosts := slices.Concat(m.Hosts, m.GuestHosts)
	for _, host := range hosts {
		from, err := source(ctx, host)
		switch {
		case err != nil:
			return "", fmt.Errorf("host %s: %w", host, err)
		case address != "" && address != from:
			return "", fmt.Errorf("host %s reaches this one at %s, and %s at %s: say where to listen", hosts[0], address, host, from)
		}
		address = from
	}
	return address, nil
}

// source returns the address of this host from which another is reached. Nothing is sent to it.
func source(ctx context.Context, host string) (string, error) {
	if _, bare, user := strings.Cut(host, "@"); user {
		host = bare
	}
	c, err := new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(host, "9"))
	if err != nil {
		var unknown *net.DNSError
		if errors.As(err, &unknown) {
			return "", fmt.Errorf("there is no address of that name (%s); if ssh knows it by another, say where to listen", unknown.Err)
		}
		return "", err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).IP.String(), nil
}
