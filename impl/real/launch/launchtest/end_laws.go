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
	"github.com/loggp/loggp/impl/real/launch"
)

// A context that is done ends the job.
func endsOnCancel(t *testing.T, x *testedTransport) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := x.newWorld(t, launch.Config{Ranks: 2, Context: ctx}).Run(passPacketsForever(func(p device.Port) error {
		if p.Rank() == 0 {
			time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		}
		return nil
	}))
	if err == nil || err.Error() != cause.Error() { // a rank that comes here finds it as text
		t.Errorf("Run returned %v, want %v", err, cause)
	}
}

// A job that has ended leaves nothing in the process: no child, open file, connection or shared
// memory.
func leavesNothing(t *testing.T, x *testedTransport) {
	w := x.newWorld(t, launch.Config{Ranks: 3})
	if err := w.Run(func(device.Port) error { return nil }); err != nil {
		t.Fatal(err)
	}
	before, _ := openResources(t)
	for i := range 6 {
		err := x.newWorld(t, launch.Config{Ranks: 3}).Run(passPacketsForever(func(p device.Port) error {
			if p.Rank() == i%3 {
				return errors.New("over")
			}
			return nil
		}))
		if err == nil || err.Error() != "over" {
			t.Fatalf("Run returned %v", err)
		}
	}
	if files, maps := openResources(t); files > before || maps > 0 {
		t.Errorf("%d files are open, %d before, and %d segments mapped", files, before, maps)
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("there are children left: %v", err)
	}
}

// openResources counts the open files of this process and the mappings of shared memory.
func openResources(t *testing.T) (files, maps int) {
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

// When the user's process ends, by an interrupt or by being killed, its ranks end with it.
func ranksEndWithParent(t *testing.T, _ *testedTransport) {
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		cmd := exec.Command(os.Args[0], EndlessJob)
		pids := SignalJob(t, cmd, by, 3)
		if !slices.Contains(pids, cmd.Process.Pid) {
			t.Fatalf("the ranks are %v of %d", pids, cmd.Process.Pid)
		}
		if !WaitForEnd(pids, DeathTimeout) {
			t.Fatalf("by %v: of %v some are left", by, pids)
		}
	}
}

// SignalJob starts a job and sends its first process a signal as soon as it has printed that many
// lines of process IDs, which it returns. A job that is interrupted has to say so, and exit with
// status 1.
func SignalJob(t *testing.T, cmd *exec.Cmd, by syscall.Signal, lines int) (pids []int) {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
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
			t.Fatalf("%v after %v: %s", s.Err(), pids, stderr.String())
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
	if by == syscall.SIGINT && (cmd.ProcessState.ExitCode() != 1 || strings.TrimSpace(stderr.String()) != "context canceled" && !strings.Contains(stderr.String(), "interrupt")) {
		t.Errorf("interrupted: %v, %q", cmd.ProcessState, stderr.String())
	}
	return pids
}

// WaitForEnd waits until processes have ended, and reports whether they have in time.
func WaitForEnd(pids []int, limit time.Duration) bool {
	for end := time.Now().Add(limit); slices.ContainsFunc(pids, isAlive); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// isAlive reports whether a process exists and is not a zombie.
func isAlive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// A process whose variables were set by hand is not a rank, and gets an error that says so.
func rejectsForgedRank(t *testing.T, _ *testedTransport) {
	cmd := exec.Command(os.Args[0], EndlessJob)
	cmd.Env = append(os.Environ(), "LOGGP_RANK=1", "LOGGP_TOKEN=guess")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "this process was not started as a rank") {
		t.Errorf("%v: %s", err, out)
	}
}
