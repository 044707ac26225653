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

	"github.com/loggp/loggp/impl/auth"
	"github.com/loggp/loggp/impl/process"
)

// call is a command, such as ssh, that was run to start an agent on another host.
type call struct {
	*process.Child
	name   string         // of the command
	stdin  io.WriteCloser // the agent ends with it
	output process.Output
}

// errEnded says that a call has, before the agent came.
var errEnded = errors.New("it ended")

// call runs the user's ssh. The token goes by standard input, where nobody else on either host sees it.
func (m *Muster) call(host string, args []string, token auth.Token) (*call, error) {
	if strings.HasPrefix(host, "-") || strings.ContainsAny(host, " \t\r\n'\"\\$`;&|<>(){}*?!") || host == "" {
		return nil, fmt.Errorf("this is no name of a host")
	}
	remote := shell(append([]string{m.Program}, args...))
	cmd := exec.Command(m.SSH[0], append(m.SSH[1:len(m.SSH):len(m.SSH)], host, remote)...)
	c := &call{name: filepath.Base(cmd.Path)}
	cmd.Stdout, cmd.Stderr = &c.output, &c.output
	var err error
	if c.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.Child, err = process.Start(cmd, syscall.SIGKILL); err != nil {
		c.stdin.Close()
		return nil, fmt.Errorf("cannot be called: %w", err)
	}
	go io.WriteString(c.stdin, token.Text()+"\n") // one that ends does not read it
	return c, nil
}

// shell quotes words for the shell of another host.
func shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// onEnd cancels when the call ends, until the function that it returns is called.
func (c *call) onEnd(cancel context.CancelCauseFunc) (enough func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-c.Ended():
			cancel(errEnded)
		case <-done:
		}
	}()
	return func() { close(done) }
}

// end ends the call, which may take a while to end by itself.
func (c *call) end(patience time.Duration) {
	c.stdin.Close()
	if !c.EndsWithin(patience) {
		c.Kill()
		<-c.Ended()
	}
}

// failure says why no agent came, after the call has ended.
func (c *call) failure() error {
	text := fmt.Sprintf("%s ended by %s before loggp came from there", c.name, c.Status())
	var exit *exec.ExitError
	if errors.As(c.Err(), &exit) && exit.ExitCode() == 127 {
		text += " (its shell did not find the program: is it installed there, at this path?)"
	}
	if output := c.output.Indented(); output != "" {
		text += "; it wrote:\n" + output
	}
	return errors.New(text)
}
