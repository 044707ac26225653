package shm_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/launch"
	"github.com/loggp/loggp/impl/shm"
	"github.com/loggp/loggp/model/unit"
)

// soon is within what time a job has to end whose rank has died.
const soon = 2 * time.Second

// together returns a program in which all ranks pass a token round forever, each after it has done something.
func together(first func(p device.Port) error) func(p device.Port) error {
	return func(p device.Port) error {
		if err := first(p); err != nil {
			return err
		}
		right := (p.Rank() + 1) % p.Size()
		for {
			p.Send(right, &device.Packet{})
			p.Recv(true)
		}
	}
}

// A rank that dies ends the job with its rank, how it died, and what it said.
func TestDeath(t *testing.T) {
	for _, c := range []struct {
		name   string
		die    func()
		status string
		words  string
	}{
		{"exits", func() { fmt.Fprintln(os.Stderr, "what a pity"); os.Exit(3) }, "exit status 3", "what a pity"},
		{"is killed", func() { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }, "signal: killed", ""},
		{"crashes", func() { go panic("no goroutine of ours"); select {} }, "exit status 2", "panic: no goroutine of ours"},
		{"says much", func() {
			fmt.Fprintln(os.Stderr, "first "+strings.Repeat("blah ", 10000)+"last")
			os.Exit(1)
		}, "exit status 1", "last"},
	} {
		for _, wait := range []shm.Wait{shm.Auto, shm.Block} {
			w := worlds(t, shm.Config{Wait: wait})(3)
			var begin time.Time // of rank 0, which all others have come to
			err := w.Run(together(func(p device.Port) error {
				begin = time.Now()
				p.Delay(5 * unit.Millisecond)
				if p.Rank() == 2 {
					c.die()
				}
				return nil
			}))
			took := time.Since(begin)
			var d *launch.Death
			if !errors.As(err, &d) || d.Rank != 2 || d.Status != c.status || !strings.Contains(d.Words, c.words) {
				t.Errorf("rank 2 %s: Run returned %q, want a death of rank 2 by %q with %q", c.name, err, c.status, c.words)
			}
			if took > soon {
				t.Errorf("rank 2 %s: the job ended %v later", c.name, took)
			}
			if len(fmt.Sprint(err)) > 3000 {
				t.Errorf("rank 2 %s: the error has %d bytes", c.name, len(fmt.Sprint(err)))
			}
		}
	}
}

// Whatever a rank is at when it is killed, the others do not wait for it.
func TestKilledAtAnyTime(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i := range rounds {
		wait := []shm.Wait{shm.Spin, shm.Block}[i%2]
		delay := time.Duration(r.IntN(3000)) * time.Microsecond
		size := 1 << r.IntN(20)
		err := worlds(t, shm.Config{Wait: wait})(2).Run(func(p device.Port) error {
			if p.Rank() == 1 {
				p.Send(0, &device.Packet{Head: [device.Words]uint64{uint64(os.Getpid())}})
			} else {
				pid := int(p.Recv(true).Head[0])
				go func() {
					time.Sleep(delay)
					syscall.Kill(pid, syscall.SIGKILL)
				}()
			}
			for {
				p.Send(1-p.Rank(), &device.Packet{Data: make([]byte, size)})
				p.Recv(true)
			}
		})
		var d *launch.Death
		if !errors.As(err, &d) || d.Rank != 1 || d.Status != "signal: killed" {
			t.Fatalf("round %d, killed after %v with packets of %d bytes: Run returned %v", i, delay, size, err)
		}
	}
}

// A rank that never comes to the run is not waited for.
func TestAbsent(t *testing.T) {
	err := open(shm.Config{Args: []string{"-test.run=^$"}}, 2).Run(func(device.Port) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "rank 1 died: it ended before it came to the run") {
		t.Errorf("Run returned %v", err)
	}
}

// A context that is done ends the job.
func TestCancel(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := worlds(t, shm.Config{Context: ctx})(2).Run(together(func(p device.Port) error {
		if p.Rank() == 0 {
			time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		}
		return nil
	}))
	if err == nil || err.Error() != cause.Error() { // a rank that comes here finds it as text
		t.Errorf("Run returned %v, want %v", err, cause)
	}
}

// When all is over, nothing is left in the process: no child, no file, no mapping.
func TestNothingLeft(t *testing.T) {
	open := worlds(t, shm.Config{})
	count := func() (files, maps int) {
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
	if err := open(3).Run(func(device.Port) error { return nil }); err != nil {
		t.Fatal(err)
	}
	files, _ := count()
	for i := range 6 {
		err := open(3).Run(together(func(p device.Port) error {
			if p.Rank() == i%3 {
				return errors.New("over")
			}
			return nil
		}))
		if err == nil || err.Error() != "over" {
			t.Fatalf("Run returned %v", err)
		}
	}
	if now, maps := count(); now > files || maps > 0 {
		t.Errorf("%d files are open, %d before, and %d segments mapped", now, files, maps)
	}
	if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("there are children left: %v", err)
	}
}

const foreverJob = "forever"

// forever is a job of three that tells its processes and does not end, but for an interrupt.
func forever() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return open(shm.Config{Context: ctx}, 3).Run(together(func(p device.Port) error {
		p.Send(0, &device.Packet{Head: [device.Words]uint64{uint64(os.Getpid())}})
		if p.Rank() == 0 {
			for range 3 {
				fmt.Println(p.Recv(true).Head[0])
			}
		}
		return nil
	}))
}

// When the user's process ends, by an interrupt or without a chance to do anything, its ranks end with it.
func TestEnds(t *testing.T) {
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		cmd := exec.Command(os.Args[0], foreverJob)
		var words strings.Builder
		cmd.Stderr = &words
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var pids []int
		for s := bufio.NewScanner(out); len(pids) < 3 && s.Scan(); {
			pid, err := strconv.Atoi(s.Text())
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
		if len(pids) < 3 || !slices.Contains(pids, cmd.Process.Pid) {
			t.Fatalf("the ranks are %v of %d: %s", pids, cmd.Process.Pid, words.String())
		}
		cmd.Process.Signal(by)
		cmd.Wait()
		if by == syscall.SIGINT && (cmd.ProcessState.ExitCode() != 1 || strings.TrimSpace(words.String()) != "context canceled" && !strings.Contains(words.String(), "interrupt")) {
			t.Errorf("interrupted: %v, %q", cmd.ProcessState, words.String())
		}
		for end := time.Now().Add(soon); slices.ContainsFunc(pids, alive); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("by %v: of %v some are left", by, pids)
			}
		}
	}
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
func TestPosing(t *testing.T) {
	cmd := exec.Command(os.Args[0], foreverJob)
	cmd.Env = append(os.Environ(), "LOGGP_RANK=1", "LOGGP_TOKEN=guess")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "this process was not started as a rank") {
		t.Errorf("%v: %s", err, out)
	}
}

// A system without room for the memory says so in one line, and no rank is started.
func TestNoMemory(t *testing.T) {
	cmd := exec.Command("sh", "-c", `trap '' XFSZ; ulimit -f 8; exec "$0" "$1"`, os.Args[0], foreverJob)
	out, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); err == nil || !strings.HasPrefix(text, "shm: memory for 3 ranks: the system does not give ") || strings.Contains(text, "\n") {
		t.Errorf("%v: %s", err, out)
	}
}
