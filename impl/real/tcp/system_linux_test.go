package tcp_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/real/launch/launchtest"
)

// Without loopback a job fails at once, and says what to do.
func TestLoopbackDownIsNamed(t *testing.T) {
	cmd := exec.Command(os.Args[0], launchtest.EndlessJob)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
	}
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		t.Skip("this system lets no process have a network of its own: ", err)
	}
	end := time.AfterFunc(launchtest.DeathTimeout, func() { cmd.Process.Kill() })
	defer end.Stop()
	err := cmd.Wait()
	if err == nil || !strings.HasPrefix(out.String(), "tcp: ranks on this host cannot reach each other") || !strings.HasSuffix(strings.TrimSpace(out.String()), "ip link set lo up") {
		t.Errorf("after %v: %v, %q", time.Since(begin), err, out.String())
	}
}
