// Package process starts child processes that do not outlive this one, ends them, and keeps parts
// of their output.
//
// A child is the first of a process group of its own, so that a signal from the terminal reaches
// only this process, and ending the child ends its group. On Linux the kernel signals the child
// when this process ends, for any reason.
package process

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// maxOutputDelay is how long processes that a child has started may hold its output open after its
// end.
const maxOutputDelay = 500 * time.Millisecond

// Child is a process that was started.
type Child struct {
	cmd      *exec.Cmd
	hasEnded chan struct{}
	err      error // when it has ended
}

// starterThread runs functions on a thread that lasts as long as this process: the kernel treats
// the end of the thread that started a child as the end of its parent.
var starterThread = sync.OnceValue(func() chan<- func() {
	functions := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range functions {
			f()
		}
	}()
	return functions
})

// Start starts a command, whose pipes and files the caller has set. If this process ends the child
// gets the signal.
func Start(cmd *exec.Cmd, orphaned syscall.Signal) (*Child, error) {
	cmd.SysProcAttr = processGroup(orphaned)
	cmd.WaitDelay = maxOutputDelay
	started := make(chan error)
	starterThread() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	c := &Child{cmd: cmd, hasEnded: make(chan struct{})}
	go func() {
		c.err = cmd.Wait()
		if errors.Is(c.err, exec.ErrWaitDelay) {
			c.err = nil // it has succeeded, and a process that it has started holds its output
		}
		close(c.hasEnded)
	}()
	return c, nil
}

// Ended is closed when the child has ended and its output was read.
func (c *Child) Ended() <-chan struct{} { return c.hasEnded }

// Err waits for the end of the child and returns nil if it was exit status 0, else an
// *exec.ExitError or the error of copying its output.
func (c *Child) Err() error {
	<-c.hasEnded
	return c.err
}

// Status waits for the end of the child and describes it, such as "exit status 1" or "signal:
// killed".
func (c *Child) Status() string {
	if err := c.Err(); err != nil {
		return err.Error()
	}
	return "exit status 0"
}

// EndsWithin waits for the end of the child and reports whether it came in time.
func (c *Child) EndsWithin(d time.Duration) bool {
	select {
	case <-c.hasEnded:
		return true
	case <-time.After(d):
		return false
	}
}

// Kill kills the group of the child.
func (c *Child) Kill() { signalGroup(c.cmd.Process, syscall.SIGKILL) }

// Wait waits for the end of the child. If the context is done it asks the group to end, and kills
// it after the grace. When it returns no process of the group is left.
func (c *Child) Wait(ctx context.Context, grace time.Duration) error {
	select {
	case <-c.hasEnded:
	case <-ctx.Done():
		signalGroup(c.cmd.Process, syscall.SIGTERM)
		c.EndsWithin(grace)
	}
	c.Kill()
	return c.Err()
}
