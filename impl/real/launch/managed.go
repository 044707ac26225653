package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/pmi"
)

// ManagedJob is this process's place in a job whose processes mpirun or srun has started: rank 0 as
// a user would start it, and the others as agents, which learn by the manager's exchange where rank
// 0 listens, and the token. In the first round each tells its host, in the second rank 0 tells the
// rest.
type ManagedJob struct{ *pmi.Job }

// exchangeRounds is how many rounds the exchange has.
const exchangeRounds = 2

// FindManagedJob returns this process's place, or nil if no manager has started it together with
// others.
func FindManagedJob() (*ManagedJob, error) {
	j, err := pmi.Find()
	if err != nil || j == nil {
		return nil, err
	}
	return &ManagedJob{j}, nil
}

// IsAgent reports whether this process is the agent of a rank.
func (m *ManagedJob) IsAgent() bool { return m.Rank > 0 && !IsRank() }

// ServeAgent serves as the agent of this process's rank until the job is over. The job's other
// processes have been started with the same arguments. Rank 0 tells the user what has gone wrong
// elsewhere, and that the job was interrupted.
func (m *ManagedJob) ServeAgent(ctx context.Context, args []string) error {
	err := m.serveAgent(ctx, args)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("rank %d on %s: %w", m.Rank, host.Name(), err)
}

func (m *ManagedJob) serveAgent(ctx context.Context, args []string) error {
	defer m.Close()
	if _, err := m.Allgather(ctx, host.Name()); err != nil {
		return err
	}
	texts, err := m.Allgather(ctx, "")
	if err != nil {
		return err
	}
	m.Close()
	address, text, ok := strings.Cut(texts[0], " ")
	if !ok {
		return nil // rank 0 has failed
	}
	token, err := auth.ParseToken(text)
	if err != nil {
		return err
	}
	a := &Agent{Address: address, Rank: m.Rank, Token: token, Allow: func(ordered []string) error {
		if !slices.Equal(ordered, args) {
			return fmt.Errorf("it was started with the arguments %q, and rank 0 with %q", args, ordered)
		}
		return nil
	}}
	return a.Serve(ctx)
}

// Gather connects the agents of the job's other ranks.
func (m *ManagedJob) Gather(ctx context.Context, cfg TeamConfig) (*Team, error) {
	names, err := m.Allgather(ctx, host.Name())
	if err != nil {
		return nil, err
	}
	cfg.ExternalRanks = m.Size - 1
	cfg.ExternalHosts = slices.DeleteFunc(names, func(name string) bool { return name == host.Name() })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cfg.Announce = func(address string, token auth.Token, _ []int) {
		if _, err := m.Allgather(ctx, address+" "+token.Text()); err != nil {
			cancel(err)
		}
		time.AfterFunc(agentTimeout, func() { cancel(errAgentMissing) })
	}
	team, err := GatherTeam(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return team, m.Close()
}

// agentTimeout is how long agents have to connect to rank 0 when they know where it listens.
const agentTimeout = 30 * time.Second

var errAgentMissing = fmt.Errorf("not all ranks have come to rank 0 within %v, though all have been started: can their hosts reach the address where it listens (--listen)?", agentTimeout)

// Disband ends the exchange. Agents that wait for rank 0 are told that it has failed.
func (m *ManagedJob) Disband() {
	if m.Rank > 0 || IsRank() {
		return
	}
	for m.Round < exchangeRounds {
		if _, err := m.Allgather(context.Background(), ""); err != nil {
			break
		}
	}
	m.Close()
}
