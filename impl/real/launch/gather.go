package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/host"
)

// TeamConfig describes the hosts of a team. The ranks from 1 up are first those on Hosts, in their
// order, then the external ones.
type TeamConfig struct {
	Hosts         []string // where agents are started over ssh; a host may appear several times
	ExternalRanks int      // further ranks, whose agents the user or a process manager starts

	ExternalHosts []string // where these are, if known: rank 0 listens at the address at which they reach it

	SSHCommand    []string // the command; nil: ssh -o BatchMode=yes
	ProgramPath   string   // this program's path on the hosts; "": the same as on this one
	ListenAddress string   // address for agents, with or without a port; "": the address from which the hosts are reached, or loopback
	Version       string   // of this program, which agents must have too; "": that of the build

	// AgentArgs returns the arguments with which this program becomes the agent of a rank. It reads
	// the token from its standard input, and ends with it if untilEOF is set.
	AgentArgs func(address string, rank int, untilEOF bool) []string

	// Announce tells the user, or the process manager, the address to which the external ranks
	// connect.
	Announce func(address string, token auth.Token, ranks []int)
}

// connectTimeout is how long a host may take to connect. External ranks have no limit.
const connectTimeout = 30 * time.Second

var errNotConnected = fmt.Errorf("it has not connected within %v", connectTimeout)

// GatherTeam connects a team. In the process of another rank it returns the hosts alone. The error
// names the host that cannot be reached.
func GatherTeam(ctx context.Context, cfg TeamConfig) (*Team, error) {
	me, err := thisRank()
	switch {
	case err != nil:
		return nil, err
	case me != nil:
		return &Team{Hosts: me.Hosts}, nil
	}
	if cfg.SSHCommand == nil {
		cfg.SSHCommand = []string{"ssh", "-o", "BatchMode=yes"}
	}
	if cfg.ProgramPath == "" {
		if cfg.ProgramPath, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	address, err := cfg.chooseListenAddress(ctx)
	if err != nil {
		return nil, err
	}
	return cfg.acceptAgents(ctx, address)
}

// acceptAgents listens until the agents have connected.
func (cfg *TeamConfig) acceptAgents(ctx context.Context, address string) (*Team, error) {
	token := auth.NewToken()
	n := len(cfg.Hosts) + cfg.ExternalRanks
	var external []int
	ids := make([]auth.ID, n)
	for i := range ids {
		ids[i] = controlID(i + 1)
		if i >= len(cfg.Hosts) {
			external = append(external, i+1)
		}
	}
	l, err := auth.Listen(address, token, ids...)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if external != nil {
		cfg.Announce(l.Addr().String(), token, external)
	}
	t := &Team{Hosts: make([]Host, n+1), agents: make([]*remoteAgent, n)}
	t.Hosts[0] = Host{Name: host.Name(), Address: l.Addr().IP.String(), Facts: host.Facts(), Processors: host.Processors()}
	user := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for i := range t.agents {
		a := &remoteAgent{rank: i + 1}
		t.agents[i] = a
		all.Go(func() {
			if err := cfg.connectAgent(ctx, a, l, token); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		if refused := l.Refused(); refused != "" && (user.Err() != nil || errors.Is(err, errNotConnected)) { // they may explain it
			err = fmt.Errorf("%w (%s)", err, refused)
		}
		t.abortAgents()
		return nil, err
	}
	for i, a := range t.agents {
		t.Hosts[i+1] = a.host
	}
	return t, nil
}

// controlID names the connection of a rank's agent.
func controlID(rank int) auth.ID { return auth.ID{Purpose: auth.Control, From: uint32(rank)} }

// connectAgent waits for an agent, which it starts unless the agent is external.
func (cfg *TeamConfig) connectAgent(ctx context.Context, a *remoteAgent, l *auth.Listener, token auth.Token) (err error) {
	if a.rank <= len(cfg.Hosts) {
		a.host.Name = cfg.Hosts[a.rank-1]
		defer func() {
			if err != nil {
				err = fmt.Errorf("host %s: %w", a.host.Name, err)
			}
		}()
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, connectTimeout, errNotConnected)
		defer cancel()
		if a.remote, err = cfg.startAgent(a.host.Name, cfg.AgentArgs(l.Addr().String(), a.rank, true), token); err != nil {
			return err
		}
		var ended context.CancelCauseFunc
		ctx, ended = context.WithCancelCause(ctx)
		defer ended(nil)
		defer a.remote.cancelOnEnd(ended)()
	}
	conn, err := l.Accept(ctx, controlID(a.rank))
	if err != nil {
		return cfg.errorCause(ctx, a, err)
	}
	a.control = newControlConnection(conn)
	return cfg.errorCause(ctx, a, a.handshake(ctx, cmp.Or(cfg.Version, programIdentity())))
}

// errorCause returns the cause of an error of an agent.
func (cfg *TeamConfig) errorCause(ctx context.Context, a *remoteAgent, err error) error {
	var refused refusalError
	if err == nil || ctx.Err() == nil || errors.As(err, &refused) {
		return err
	}
	err = context.Cause(ctx)
	if a.remote != nil && errors.Is(err, errCommandEnded) {
		return a.remote.startFailure()
	}
	return err
}

// abortAgents ends the agents that have connected.
func (t *Team) abortAgents() {
	var all sync.WaitGroup
	for _, a := range t.agents {
		if a.control != nil {
			a.control.close()
		}
		if a.remote != nil {
			all.Go(func() { a.remote.endWithin(0) })
		}
	}
	all.Wait()
}

// chooseListenAddress returns the user's address to listen at, or the address of this host from
// which all hosts are reached.
func (cfg *TeamConfig) chooseListenAddress(ctx context.Context) (string, error) {
	if cfg.ListenAddress != "" {
		host, _, err := net.SplitHostPort(cfg.ListenAddress)
		if err != nil {
			host = cfg.ListenAddress
		}
		if ip := net.ParseIP(strings.Trim(host, "[]")); ip != nil && ip.IsUnspecified() {
			return "", fmt.Errorf("listen on %s: name one address of this host by which the others reach it", cfg.ListenAddress)
		}
		return cfg.ListenAddress, nil
	}
	address := ""
	hosts := slices.Concat(cfg.Hosts, cfg.ExternalHosts)
	for _, host := range hosts {
		from, err := localAddressTowards(ctx, host)
		switch {
		case err != nil:
			return "", fmt.Errorf("host %s: %w", host, err)
		case address != "" && address != from:
			return "", fmt.Errorf("host %s reaches this one at %s, and %s at %s: name the address to listen at", hosts[0], address, host, from)
		}
		address = from
	}
	return address, nil
}

// localAddressTowards returns the address of this host from which another one is reached. Nothing
// is sent.
func localAddressTowards(ctx context.Context, host string) (string, error) {
	if _, bare, user := strings.Cut(host, "@"); user {
		host = bare
	}
	c, err := new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(host, "9"))
	if err != nil {
		var unknown *net.DNSError
		if errors.As(err, &unknown) {
			return "", fmt.Errorf("there is no address of that name (%s); if ssh knows it by another, name the address to listen at", unknown.Err)
		}
		return "", err
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).IP.String(), nil
}
