package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/pmi"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
)

// hosts has the flags that say on which hosts ranks are.
type hosts struct {
	names, ssh, program, listen, sharedDir string
	expect                                 int

	manager *pmi.Job     // that has started the ranks; nil: none has
	team    *launch.Team // nil: all ranks are on this host
}

// hostFlags are their names.
var hostFlags = []string{"hosts", "expect", "ssh", "remote-program", "listen", "shared-dir"}

func (h *hosts) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&h.names, "hosts", "", "with --platform tcp: hosts of the ranks from 1 up, started over ssh, such as node2,me@node3; rank 0 is this process")
	f.IntVar(&h.expect, "expect", 0, "with --platform tcp: how many further ranks to wait for that are started by hand, with 'loggp launch'")
	f.StringVar(&h.ssh, "ssh", "ssh -o BatchMode=yes", "command that runs one on a host of --hosts")
	f.StringVar(&h.program, "remote-program", "", "path of loggp on those hosts (default: as here)")
	f.StringVar(&h.listen, "listen", "", "address, with or without a port, at which ranks of other hosts reach this one (default: that of the way to --hosts; loopback with --expect alone)")
	f.StringVar(&h.sharedDir, "shared-dir", "", "with mpirun or srun: directory that the hosts share, by which ranks find each other (default: the manager's key-value space, or on one host a directory of its own)")
}

// mostGuests is how many ranks may be on other hosts.
const mostGuests = launch.MaxRanks - 1

// asked reports whether others than this process start ranks.
func (h *hosts) asked() bool { return h.names != "" || h.expect > 0 || h.manager != nil }

// apart reports whether ranks are, or may be, on several hosts.
func (h *hosts) apart() bool {
	if h.manager == nil || h.team == nil {
		return h.asked()
	}
	n := len(h.team.Hosts)
	return h.team.RanksOnHost(0, n) < n
}

// list returns the hosts of --hosts.
func (h *hosts) list() []string {
	if h.names == "" {
		return nil
	}
	return words(h.names)
}

// check complains of flags that do not go together.
func (h *hosts) check(cmd *cobra.Command, platform string) error {
	given := cmd.Flags().Changed
	if err := h.checkManaged(given); err != nil {
		return err
	}
	for _, flag := range hostFlags {
		if given(flag) && platform != job.TCP {
			return fmt.Errorf("--%s: it is for --platform %s", flag, job.TCP)
		}
		if given(flag) && !h.asked() {
			return fmt.Errorf("--%s: it is for ranks on other hosts: name them with --hosts, or wait for them with --expect", flag)
		}
	}
	if given("hosts") && (h.names == "" || slices.Contains(h.list(), "")) {
		return errors.New("--hosts: a list of hosts, such as node2,node3")
	}
	if h.expect < 0 || h.guests() > mostGuests {
		return fmt.Errorf("--hosts, --expect: %d ranks beside this one, and there may be from 1 to %d", h.guests(), mostGuests)
	}
	return nil
}

// guests returns how many ranks there are beside this process.
func (h *hosts) guests() int {
	if h.manager != nil {
		return h.manager.Size - 1
	}
	return len(h.list()) + h.expect
}

// count returns the number of ranks, which a flag may repeat.
func (h *hosts) count(cmd *cobra.Command, ranks int) (int, error) {
	n := 1 + h.guests()
	if cmd.Flags().Changed("ranks") && ranks != n {
		if h.manager != nil {
			return 0, fmt.Errorf("--ranks %d: %s has started %d", ranks, h.manager.Manager, n)
		}
		return 0, fmt.Errorf("--ranks %d: this process, --hosts and --expect are %d ranks", ranks, n)
	}
	return n, nil
}

// gather gets the ranks' agents together.
func (h *hosts) gather(cmd *cobra.Command) error {
	if h.manager != nil && !launch.IsRank() {
		return h.meet(cmd.Context())
	}
	ssh, err := probe.Words(h.ssh)
	if err == nil && len(ssh) == 0 {
		err = errors.New("it names no command")
	}
	if err != nil {
		return misuse(cmd, fmt.Errorf("--ssh: %w", err))
	}
	h.team, err = launch.GatherTeam(cmd.Context(), launch.TeamConfig{
		Hosts: h.list(), ExternalRanks: h.expect, SSHCommand: ssh, ProgramPath: h.program, ListenAddress: h.listen,
		Version:   identity(),
		AgentArgs: joinArguments,
		Announce: func(address string, token auth.Token, ranks []int) {
			invite(cmd.ErrOrStderr(), address, token, ranks)
		},
	})
	return err
}

// close ends the agents.
func (h *hosts) close() {
	h.disband()
	if h.team != nil {
		h.team.Close()
	}
}

// invite tells the user how ranks join that are not started over ssh.
func invite(w io.Writer, address string, token auth.Token, ranks []int) {
	for _, r := range ranks {
		fmt.Fprintf(w, "Rank %d joins by this command on its host, which asks for the token:\n  loggp %s\n", r, strings.Join(joinArguments(address, r, false), " "))
	}
	fmt.Fprintf(w, "The token, which is for this job alone: %s\n", token.Text())
	if strings.HasPrefix(address, "127.") || strings.HasPrefix(address, "[::1]") {
		fmt.Fprintln(w, "Only this host can reach that address: --listen ADDRESS names another.")
	}
}

// joinArguments are those with which this program joins a job as an agent. One that is held ends
// with its standard input.
func joinArguments(address string, rank int, held bool) []string {
	args := []string{"launch", "--join", address, "--rank", strconv.Itoa(rank)}
	if held {
		args = append(args, "--until-eof")
	}
	return args
}

// clockFacts returns what is known of the clock of P2's host, relative to that of P1's.
func clockFacts(bounds []microbench.ClockOffset) []sample.Fact {
	if len(bounds) == 0 {
		return nil
	}
	facts := []sample.Fact{{Key: "clock_offset_us", Value: "not identifiable"}, {Key: "clock_drift_ppm", Value: "not identifiable"}}
	first := bounds[0]
	if middle, ok := first.Middle(); ok {
		facts[0].Value = fmt.Sprintf("%s, within %s..%s at the first launch", middle.MicrosString(), first.Low.MicrosString(), first.High.MicrosString())
	}
	if low, high, ok := microbench.DriftBounds(bounds); ok {
		facts[1].Value = fmt.Sprintf("%.2f, within %.2f..%.2f, from %d launches", (low+high)/2, low, high, len(bounds))
	}
	return facts
}
