package launchtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
)

// A context that is done ends the job.
func cancelled(t *testing.T, x *transport) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := x.world(t, Settings{Ranks: 2, Context: ctx}).Run(round(func(p device.Port) error {
		if p.Rank() == 0 {
			time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		}
		return nil
	}))
	if err == nil || err.Error() != cause.Error() { // a rank that comes here finds it as text
		t.Errorf("Run returned %v, want %v", err, cause)
	}
}

// When all is over, nothing is left in the process: no child, no file, so no connection either, and no memory that was shared.
func nothingLeft(t *testing.T, x *transport) {
	w := x.world(t, Settings{Ranks: 3})
	if err := w.Run(func(device.Port) error { return nil }); err != nil {
		t.Fatal(err)
	}
	before, _ := held(t)
	for i := range 6 {
		err := x.world(t, Settings{Ranks: 3}).Run(round(func(p device.Port) error {
			if p.Rank() == i%3 {
				return errors.New("over")
			}
			return nil
		}))
		if err == nil || err.Error() != "over" {
			t.Fatalf("Run returned %v", err)
		}
	}
	if files, maps := held(t); files > before || maps > 0 {
		t.Errorf("%d files are open, %d before, and %d segments mapped", files, before, maps)
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("there are children left: %v", err)
	}
}

// held counts what this process has open and what memory without a name it maps.
func held(t *testing.T) (files, maps int) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return len(list), strings.Count(string(text), "memfd:loggp")
}

// When the user's process ends, by an interrupt or without a chance to do anything, its ranks end with it.
func ends(t *testing.T, _ *transport) {
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		cmd := exec.Command(os.Args[0], Forever)
		pids := End(t, cmd, by, 3)
		if !slices.Contains(pids, cmd.Process.Pid) {
			t.Fatalf("the ranks are %v of %d", pids, cmd.Process.Pid)
		}
		if !Ended(pids, Soon) {
			t.Fatalf("by %v: of %v some are left", by, pids)
		}
	}
}

// End starts a job and ends its first process by a signal as soon as it has printed so many lines, which are processes. It returns these. A job that is interrupted has
// to say so, and exit with status 1.
func End(t *testing.T, cmd *exec.Cmd, by syscall.Signal, lines int) (pids []int) {
	t.Helper()
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	for range lines {
		if !s.Scan() {
			t.Fatalf("%v after %v: %s", s.Err(), pids, words.String())
		}
		for word := range strings.FieldsSeq(s.Text()) {
			pid, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	cmd.Process.Signal(by)
	cmd.Wait()
	if by == syscall.SIGINT && (cmd.ProcessState.ExitCode() != 1 || strings.TrimSpace(words.String()) != "context canceled" && !strings.Contains(words.String(), "interrupt")) {
		t.Errorf("interrupted: %v, %q", cmd.ProcessState, words.String())
	}
	return pids
}

// Ended waits until processes have ended, and reports whether they have in time.
func Ended(pids []int, limit time.Duration) bool {
	for end := time.Now().Add(limit); slices.ContainsFunc(pids, alive); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// alive reports whether there is such a process that has not ended; one that has may wait to be buried.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// Who sets the variables by hand is no rank, and is told so.
func posing(t *testing.T, _ *transport) {
	cmd := exec.Command(os.Args[0], Forever)
	cmd.Env = append(os.Environ(), "LOGGP_RANK=1", "LOGGP_TOKEN=guess")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "this process was not started as a rank") {
		t.Errorf("%v: %s", err, out)
	}
}
