package launch_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
)

// The ranks of tests are this binary, and so are their agents, and the user's process that is
// killed.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")) // else the race detector lets every rank sleep for a second at its end
	if len(os.Args) > 1 {
		if do, ok := map[string]func() error{"join": joinAsAgent, "forever": runEndlessJob}[os.Args[1]]; ok {
			if err := do(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return
		}
	}
	os.Exit(m.Run())
}

// joinArgs are the arguments of joinAsAgent.
func joinArgs(address string, rank int, held bool) []string {
	return []string{"join", address, strconv.Itoa(rank), strconv.FormatBool(held)}
}

// version is that of this program, unless a test wants another on the other host.
func version() string { return "v1" + os.Getenv("OTHER_VERSION") }

// joinAsAgent runs this binary as an agent.
func joinAsAgent() error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	token, err := auth.ParseToken(line)
	if err != nil {
		return err
	}
	rank, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	a := launch.Agent{Address: os.Args[2], Rank: rank, Token: token, Version: version(), Allow: allow}
	if os.Args[4] == "true" {
		a.ExitAtEOF = in
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return a.Serve(ctx)
}

// allow allows tests, and the job that is killed.
func allow(args []string) error {
	if args[0] != "forever" && !strings.HasPrefix(args[0], "-test.run=") {
		return fmt.Errorf("%q is not allowed", args)
	}
	return nil
}
