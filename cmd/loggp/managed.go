package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
)

// findManagedJob returns this process's place in a job that mpirun or srun has started and that
// measures over TCP, or nil. ended says that this process has nothing else to do: it has served as
// an agent.
func findManagedJob(cmd *cobra.Command, platform, sharedDir string) (m *launch.ManagedJob, ended bool, err error) {
	m, err = launch.FindManagedJob()
	switch {
	case err != nil || m == nil:
		return nil, false, err
	case platform == job.TCPPlatform && m.IsAgent():
		m.Directory = sharedDir // as Measure tells rank 0
		return nil, true, m.ServeAgent(cmd.Context(), processArgs(cmd))
	case platform == job.TCPPlatform:
		return m, false, nil
	case !slices.Contains(job.LocalPlatforms, platform) || launch.IsRank():
		return nil, false, nil
	case m.Rank > 0:
		return nil, true, nil // rank 0 complains
	}
	return nil, false, cli.Usagef("--platform %s starts its ranks itself, and %s has started %d processes: start one, or take --platform %s", platform, m.Manager, m.Size, job.TCPPlatform)
}

// printJoinInstructions tells the user how ranks join that are not started over ssh.
func printJoinInstructions(w io.Writer, address string, token auth.Token, ranks []int) {
	for _, r := range ranks {
		fmt.Fprintf(w, "Rank %d joins by this command on its host, which asks for the token:\n  loggp %s\n", r, strings.Join(agentCommandArgs(address, r, false), " "))
	}
	fmt.Fprintf(w, "The token, which is for this job alone: %s\n", token.Text())
	if strings.HasPrefix(address, "127.") || strings.HasPrefix(address, "[::1]") {
		fmt.Fprintln(w, "Only this host can reach that address: --listen ADDRESS names another.")
	}
}

// agentCommandArgs are those with which this program joins a job as an agent, which ends with its
// standard input if untilEOF is set.
func agentCommandArgs(address string, rank int, untilEOF bool) []string {
	args := []string{"launch", "--join", address, "--rank", strconv.Itoa(rank)}
	if untilEOF {
		args = append(args, "--until-eof")
	}
	return args
}
