package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
)

// launchFlags has the flags of the verb launch.
type launchFlags struct {
	address, tokenFile string
	rank               int
	exitsAtStdinEOF    bool
}

func launchCommand() *cobra.Command {
	var j launchFlags
	cmd := &cobra.Command{
		Use:    "launch --join ADDRESS:PORT --rank N",
		Short:  "Join a measurement that runs on another host",
		Hidden: true, // 'measure --expect' prints the command
		Long: `launch lets this host take part in a measurement over TCP that runs on another host, where 'loggp
measure --platform tcp --expect 1' prints the address, the rank and a token for this job. launch
asks for the token, or reads it from standard input or a file; do not put it on a command line,
which other users can see. It starts the rank's processes when the job begins, and ends with the
job.

A process that knows the token can make this host run 'loggp measure' as the user who joined, and
nothing else. 'loggp measure --hosts' runs launch over ssh by itself.`,
		Example: `  loggp measure --platform tcp --expect 1 --listen 192.168.1.5   # on the first host
  loggp launch --join 192.168.1.5:43211 --rank 1                 # on the second, as the first says`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return j.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&j.address, "join", "", "address and port that the other host shows")
	f.IntVar(&j.rank, "rank", 0, "rank to be, from 1 up")
	f.StringVar(&j.tokenFile, "token-file", "", "file that has the token (default: standard input)")
	f.BoolVar(&j.exitsAtStdinEOF, "until-eof", false, "end when standard input does, as with an ssh that is killed")
	return cmd
}

func (j *launchFlags) run(cmd *cobra.Command) error {
	if err := checkJoinAddress(j.address); err != nil {
		return cli.Usagef("--join %q: %w; name the address and port that the other host shows, such as 192.168.1.5:43211", j.address, err)
	}
	if !cmd.Flags().Changed("rank") {
		return cli.Usagef("--rank: name the rank that the other host shows")
	}
	if err := cli.CheckRange("--rank", j.rank, 1, launch.MaxRanks-1); err != nil {
		return err
	}
	in := bufio.NewReader(cmd.InOrStdin())
	token, err := j.readToken(cmd, in)
	if err != nil {
		return err
	}
	a := &launch.Agent{Address: j.address, Rank: j.rank, Token: token, Allow: checkOrderedMeasureArgs}
	if j.exitsAtStdinEOF {
		a.ExitAtEOF = in
	}
	return a.Serve(cmd.Context())
}

// checkJoinAddress checks that an address has a host and the number of a port.
func checkJoinAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	var wrong *net.AddrError
	switch n, notNumber := strconv.ParseUint(port, 10, 16); {
	case errors.As(err, &wrong):
		return errors.New(wrong.Err)
	case host == "":
		return errors.New("missing host")
	case notNumber != nil || n == 0:
		return fmt.Errorf("port %q is no number from 1 to 65535", port)
	}
	return nil
}

// readToken reads the token from where it is.
func (j *launchFlags) readToken(cmd *cobra.Command, in *bufio.Reader) (auth.Token, error) {
	if j.tokenFile != "" {
		f, err := os.Open(j.tokenFile)
		if err != nil {
			return auth.Token{}, fmt.Errorf("--token-file: %w", err)
		}
		defer f.Close()
		return auth.ReadToken(bufio.NewReader(f), "--token-file "+j.tokenFile)
	}
	if f, ok := cmd.InOrStdin().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(cmd.ErrOrStderr(), "Token: ")
		line, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return auth.Token{}, fmt.Errorf("read the token: %w", err)
		}
		return auth.ParseToken(string(line))
	}
	return auth.ReadToken(in, "standard input")
}

// checkOrderedMeasureArgs complains of a command that a rank of another host is not to run here:
// it measures over TCP, and writes no file.
func checkOrderedMeasureArgs(args []string) error {
	if len(args) == 0 || args[0] != "measure" {
		return errors.New("rank 0 sent another command than measure, the only one that a host that joins runs")
	}
	cmd := measureCommand()
	if err := cmd.ParseFlags(args[1:]); err != nil {
		return fmt.Errorf("rank 0 sent flags of measure that are unknown here: %w; use the same version of loggp on all hosts", err)
	}
	if platform := cmd.Flag("platform").Value.String(); platform != job.TCPPlatform || !slices.ContainsFunc([]string{"hosts", "expect"}, cmd.Flags().Changed) {
		return fmt.Errorf("rank 0 orders to measure %s, and not this host by TCP", platform)
	}
	return nil
}
