package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/pmi"
)

// A process manager such as mpirun or srun may start the processes of a measurement over TCP: rank
// 0 as a user would, and the others as agents, which learn by the manager's exchange where rank 0
// listens, and the token. In the first round each tells its host, in the second rank 0 tells the
// rest.

// rounds is how many rounds the exchange has.
const rounds = 2

// managed finds out whether a process manager has started this process together with others. It
// reports whether this one has to serve as an agent.
func (h *hosts) managed(cmd *cobra.Command, platform string) (agent bool, err error) {
	j, err := pmi.Find()
	if err != nil || j == nil {
		return false, err
	}
	agent = j.Rank > 0 && !launch.IsRank()
	switch {
	case platform == job.TCP:
		j.Directory = h.sharedDir
		h.manager = j
	case !isHere(platform):
		agent = false
	case !agent && !launch.IsRank():
		return false, misuse(cmd, fmt.Errorf("--platform %s starts its ranks itself, and %s has started %d processes: start one, or take --platform %s", platform, j.Manager, j.Size, job.TCP))
	}
	return agent, nil
}

// serve serves as an agent until the measurement is over. Rank 0 says what has gone wrong
// elsewhere, and that the measurement was interrupted.
func (h *hosts) serve(cmd *cobra.Command) error {
	if h.manager == nil {
		return nil
	}
	err := h.agent(cmd)
	if err == nil || cmd.Context().Err() != nil {
		return nil
	}
	return fmt.Errorf("rank %d on %s: %w", h.manager.Rank, host.Name(), err)
}

func (h *hosts) agent(cmd *cobra.Command) error {
	defer h.manager.Close()
	ctx := cmd.Context()
	if _, err := h.manager.Allgather(ctx, host.Name()); err != nil {
		return err
	}
	texts, err := h.manager.Allgather(ctx, "")
	if err != nil {
		return err
	}
	h.manager.Close()
	address, text, ok := strings.Cut(texts[0], " ")
	if !ok {
		return nil // rank 0 has failed
	}
	token, err := auth.ParseToken(text)
	if err != nil {
		return err
	}
	a := &launch.Agent{Address: address, Rank: h.manager.Rank, Token: token, Version: identity(), Allow: func(args []string) error {
		if own := commandLine(cmd); !slices.Equal(args, own) {
			return fmt.Errorf("it was started with the arguments %q, and rank 0 with %q", own, args)
		}
		return nil
	}}
	return a.Serve(ctx)
}

// meet lets the agents come that a process manager has started.
func (h *hosts) meet(ctx context.Context) error {
	names, err := h.manager.Allgather(ctx, host.Name())
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == host.Name() })
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h.team, err = launch.GatherTeam(ctx, launch.TeamConfig{
		ExternalRanks: h.manager.Size - 1, ExternalHosts: names, ListenAddress: h.listen, Version: identity(),
		Announce: func(address string, token auth.Token, _ []int) {
			if _, err := h.manager.Allgather(ctx, address+" "+token.Text()); err != nil {
				cancel(err)
			}
			time.AfterFunc(joinTime, func() { cancel(errAbsent) })
		},
	})
	if err != nil {
		return err
	}
	return h.manager.Close()
}

// sharing returns how many ranks share the processors of this one: a process manager may bind each
// to its own.
func (h *hosts) sharing() int {
	n := 0
	for r, host := range h.team.Hosts {
		if h.team.SameHost(0, r) && slices.ContainsFunc(host.Processors, func(p int) bool { return slices.Contains(h.team.Hosts[0].Processors, p) }) {
			n++
		}
	}
	return n
}

// joinTime is how long agents have to come to rank 0 when they know where it listens.
const joinTime = 30 * time.Second

var errAbsent = fmt.Errorf("not all ranks have come to rank 0 within %v, though all have been started: can their hosts reach the address where it listens (--listen)?", joinTime)

// disband ends the exchange. Agents that wait for rank 0 are told that it has failed.
func (h *hosts) disband() {
	if h.manager == nil || h.manager.Rank > 0 || launch.IsRank() {
		return
	}
	for h.manager.Round < rounds {
		if _, err := h.manager.Allgather(context.Background(), ""); err != nil {
			break
		}
	}
	h.manager.Close()
}

// checkManaged complains of flags that do not go with a process manager.
func (h *hosts) checkManaged(given func(string) bool) error {
	if h.manager == nil {
		if given("shared-dir") {
			return errors.New("--shared-dir: it is for ranks that mpirun or srun has started")
		}
		return nil
	}
	for _, flag := range []string{"hosts", "expect", "ssh", "remote-program"} {
		if given(flag) {
			return fmt.Errorf("--%s: %s has started the ranks of this job", flag, h.manager.Manager)
		}
	}
	return nil
}
