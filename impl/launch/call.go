package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/loggp/loggp/impl/auth"
)

// call is a command that was run to start an agent on another host.
type call struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser // the agent ends with it
	words words
	ended chan struct{} // closed at its end
	err   error         // how it ended
}

// errEnded says that a call has, before the agent came.
var errEnded = errors.New("it ended")

// grace is how long the output of a process that has ended may be held open by what it has started.
const grace = 500 * time.Millisecond

// call runs the user's ssh. The token goes by standard input, where nobody else on either host sees it.
func (m *Muster) call(host string, args []string, token auth.Token) (*call, error) {
	if strings.HasPrefix(host, "-") || strings.ContainsAny(host, " \t\r\n'\"\\$`;&|<>(){}*?!") || host == "" {
		return nil, fmt.Errorf("this is no name of a host")
	}
	remote := shell(append([]string{m.Program}, args...))
	c := &call{cmd: exec.Command(m.SSH[0], append(m.SSH[1:len(m.SSH):len(m.SSH)], host, remote)...), ended: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.words, &c.words
	c.cmd.WaitDelay = grace
	bind(c.cmd)
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	var alive sync.WaitGroup
	alive.Add(1)
	if err := onThread(c.cmd.Start, &alive); err != nil {
		alive.Done()
		c.stdin.Close()
		return nil, fmt.Errorf("cannot be called: %w", err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.ended)
		alive.Done()
	}()
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
		case <-c.ended:
			cancel(errEnded)
		case <-done:
		}
	}()
	return func() { close(done) }
}

// wait waits for the end of the call, and reports whether it came in time.
func (c *call) wait(limit time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// end ends the call, which may take a while to do so by itself.
func (c *call) end(patience time.Duration) {
	c.stdin.Close()
	if !c.wait(patience) {
		c.cmd.Process.Kill()
		<-c.ended
	}
}

// name returns the command's.
func (c *call) name() string { return filepath.Base(c.cmd.Path) }

// status says how the call ended, which it has.
func (c *call) status() string {
	if c.err == nil || errors.Is(c.err, exec.ErrWaitDelay) {
		return "exit status 0"
	}
	return c.err.Error()
}

// failure says why no agent came, after the call has ended.
func (c *call) failure() error {
	text := fmt.Sprintf("%s ended by %s before loggp came from there", c.name(), c.status())
	var exit *exec.ExitError
	if errors.As(c.err, &exit) && exit.ExitCode() == 127 {
		text += " (its shell did not find the program: is it installed there, at this path?)"
	}
	if words := c.words.String(); words != "" {
		text += "; its last words:\n" + words
	}
	return errors.New(text)
}
