package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/process"
)

// remoteCommand is a command, such as ssh, that was run to start an agent on another host.
type remoteCommand struct {
	*process.Child
	name   string         // of the command
	stdin  io.WriteCloser // the agent ends with it
	output process.Output
}

// errCommandEnded is the error if a remote command ended before its agent connected.
var errCommandEnded = errors.New("it ended")

// startAgent runs ssh. The token goes through standard input, where other users of the hosts cannot
// see it.
func (cfg *TeamConfig) startAgent(host string, args []string, token auth.Token) (*remoteCommand, error) {
	if strings.HasPrefix(host, "-") || strings.ContainsAny(host, " \t\r\n'\"\\$`;&|<>(){}*?!") || host == "" {
		return nil, fmt.Errorf("this is not the name of a host")
	}
	var remote []string // quoted for the shell of the host
	for _, w := range append([]string{cfg.ProgramPath}, args...) {
		remote = append(remote, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	cmd := exec.Command(cfg.SSHCommand[0], append(cfg.SSHCommand[1:len(cfg.SSHCommand):len(cfg.SSHCommand)], host, strings.Join(remote, " "))...)
	c := &remoteCommand{name: filepath.Base(cmd.Path)}
	cmd.Stdout, cmd.Stderr = &c.output, &c.output
	var err error
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.Child, err = process.Start(cmd, syscall.SIGKILL); err != nil {
		c.stdin.Close()
		return nil, fmt.Errorf("cannot start an agent: %w", err)
	}
	go io.WriteString(c.stdin, token.Text()+"\n") // a command that fails does not read it
	return c, nil
}

// cancelOnEnd cancels when the command ends, until the function that it returns is called.
func (c *remoteCommand) cancelOnEnd(cancel context.CancelCauseFunc) (release func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-c.Ended():
			cancel(errCommandEnded)
		case <-done:
		}
	}()
	return func() { close(done) }
}

// endWithin waits until the command ends by itself, and kills it after the timeout.
func (c *remoteCommand) endWithin(timeout time.Duration) {
	c.stdin.Close()
	if !c.EndsWithin(timeout) {
		c.Kill()
		<-c.Ended()
	}
}

// startFailure returns the error if the command ended before its agent connected.
func (c *remoteCommand) startFailure() error {
	text := fmt.Sprintf("%s ended by %s before loggp connected from there", c.name, c.Status())
	var exit *exec.ExitError
	if errors.As(c.Err(), &exit) && exit.ExitCode() == 127 {
		text += " (its shell did not find the program: is it installed there, at this path?)"
	}
	if output := c.output.Indented(); output != "" {
		text += "; it wrote:\n" + output
	}
	return errors.New(text)
}
