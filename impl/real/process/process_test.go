//go:build unix

package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startShell starts a shell and returns it with a reader of its output.
func startShell(t *testing.T, script string) (*Child, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = in
	c, err := Start(cmd, syscall.SIGKILL)
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Kill()
		out.Close()
	})
	return c, bufio.NewReader(out)
}

// checkPipeEnds checks that all processes that hold the other end of a pipe end soon.
func checkPipeEnds(t *testing.T, r io.Reader) {
	t.Helper()
	over := make(chan struct{})
	go func() {
		io.Copy(io.Discard, r)
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(30 * time.Second):
		t.Error("some processes are left")
	}
}

func TestStatusOfChild(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"exit 0", "exit status 0"},
		{"exit 3", "exit status 3"},
		{"kill -9 $$", "signal: killed"},
		{"sleep 30 & exit 0", "exit status 0"},
	} {
		var output Output
		cmd := exec.Command("sh", "-c", c.script)
		cmd.Stdout, cmd.Stderr = &output, &output // sleep holds it
		child, err := Start(cmd, syscall.SIGKILL)
		if err != nil {
			t.Fatal(err)
		}
		if !child.EndsWithin(20 * time.Second) {
			t.Errorf("%s: it does not end", c.script)
		}
		if got := child.Status(); got != c.want {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
		child.Kill()
	}
	if _, err := Start(exec.Command("/no/such/program"), syscall.SIGKILL); err == nil {
		t.Error("a program that is not there was started")
	}
}

// Processes that a child has started end with it, whether it is killed or ends by itself.
func TestGroupEndsWithChild(t *testing.T) {
	c, out := startShell(t, "sleep 1000 & echo begun; wait")
	out.ReadString('\n')
	c.Kill()
	checkPipeEnds(t, out)
	if got := c.Status(); got != "signal: killed" {
		t.Error(got)
	}
	c, out = startShell(t, "sleep 1000 & echo begun")
	if err := c.Wait(t.Context(), time.Hour); err != nil {
		t.Error(err)
	}
	checkPipeEnds(t, out)
}

// When the context is done the group is asked to end, and killed if it does not.
func TestWaitGivesGrace(t *testing.T) {
	for _, c := range []struct {
		script, status, says string
		grace                time.Duration
	}{
		{"trap 'echo asked; exit 5' TERM; echo begun; while :; do sleep 0.01; done", "exit status 5", "asked\n", time.Hour},
		{"trap '' TERM; echo begun; while :; do sleep 0.01; done", "signal: killed", "", 50 * time.Millisecond},
	} {
		child, out := startShell(t, c.script)
		out.ReadString('\n')
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := child.Wait(ctx, c.grace); err == nil || err.Error() != c.status {
			t.Errorf("%s: %v, want %s", c.script, err, c.status)
		}
		if rest, _ := io.ReadAll(out); string(rest) != c.says {
			t.Errorf("%s: it said %q, want %q", c.script, rest, c.says)
		}
	}
}

// The main thread is kept from starting children, since it does not end.
func init() {
	if os.Getenv("LOGGP_TEST_PARENT") != "" {
		runtime.LockOSThread()
	}
}

// Children end with this process even if that is killed, and not with the goroutine or thread that
// has started them.
func TestOrphansAreSignalled(t *testing.T) {
	if os.Getenv("LOGGP_TEST_PARENT") != "" {
		for range 4 {
			done := make(chan *Child)
			go func() {
				cmd := exec.Command("sh", "-c", "trap 'echo asked; exit' TERM; echo begun; while :; do sleep 0.01; done")
				cmd.Stdout = os.Stdout
				c, err := Start(cmd, syscall.SIGTERM)
				if err != nil {
					panic(err)
				}
				done <- c
			}()
			if c := <-done; c.EndsWithin(20 * time.Millisecond) {
				fmt.Println("ended early:", c.Status())
			}
		}
		for range 100 { // threads end; one of them may have started a child
			go func() {
				runtime.LockOSThread()
				time.Sleep(time.Millisecond)
			}()
		}
		time.Sleep(50 * time.Millisecond)
		fmt.Println("goes on")
		select {}
	}
	if runtime.GOOS != "linux" {
		t.Skip("the kernel sends no signal to orphans")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOrphansAreSignalled$")
	cmd.Env = append(os.Environ(), "LOGGP_TEST_PARENT=1")
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	r := bufio.NewReader(out)
	for range 4 {
		if line, err := r.ReadString('\n'); line != "begun\n" {
			t.Errorf("a child said %q: %v", line, err)
		}
	}
	if line, err := r.ReadString('\n'); line != "goes on\n" {
		t.Errorf("before this process has ended a child said %q: %v", line, err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	rest, _ := io.ReadAll(r)
	if got := strings.Count(string(rest), "asked\n"); got != 4 {
		t.Errorf("of 4 children %d were asked to end: %q", got, rest)
	}
}

// Of long output the beginning and the end are kept, of short output all.
func TestOutputKeepsBothEnds(t *testing.T) {
	const limit = 1 << 10
	for _, n := range []int{0, 1, limit - 1, limit, limit + 1, 2 * limit, 2*limit + 1, 3 * limit, 100_000} {
		for _, at := range []int{1, 7, 5000} {
			var text strings.Builder
			for i := 0; text.Len() < n; i++ {
				text.WriteString(strconv.Itoa(i))
			}
			want := text.String()[:n]
			var o Output
			for rest := want; len(rest) > 0; rest = rest[min(at, len(rest)):] {
				o.Write([]byte(rest[:min(at, len(rest))]))
			}
			if n > 2*limit {
				want = want[:limit] + "\n…\n" + want[n-limit:]
			}
			if got := o.String(); got != want {
				t.Errorf("%d bytes, %d at a time: %d were kept: %.60q…", n, at, len(got), got)
			}
			if len(o.head)+len(o.tail) > 3*limit {
				t.Errorf("%d bytes, %d at a time: %d are in memory", n, at, len(o.head)+len(o.tail))
			}
		}
	}
	var o Output
	fmt.Fprint(&o, "\n one\ntwo\n\n")
	if got := o.Indented(); got != "  one\n  two" {
		t.Errorf("got %q", got)
	}
}
