package launchtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/model/unit"
)

// DeathTimeout is how long a job may take to end when a rank has died.
const DeathTimeout = 2 * time.Second

// A rank that dies ends the job with an error that has its number, how it died, and its standard
// error.
func reportsDeath(t *testing.T, x *testedTransport) {
	for _, c := range []struct {
		name   string
		die    func()
		status string
		stderr string
	}{
		{"exits", func() { fmt.Fprintln(os.Stderr, "what a pity"); os.Exit(3) }, "exit status 3", "what a pity"},
		{"exits as if all were well", func() { os.Exit(0) }, "exit status 0 before its program returned: does that call os.Exit?", ""},
		{"is killed", func() { syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }, "signal: killed", ""},
		{"crashes", func() { go panic("no goroutine of ours"); select {} }, "exit status 2", "panic: no goroutine of ours"},
		{"says much", func() {
			fmt.Fprintln(os.Stderr, "first "+strings.Repeat("blah ", 10000)+"last")
			os.Exit(1)
		}, "exit status 1", "last"},
	} {
		for _, wait := range []launch.Wait{launch.Auto, launch.Block} {
			w := x.newWorld(t, launch.Config{Ranks: 3, Wait: wait})
			var begin time.Time // of rank 0, which all others have come to
			err := w.Run(passPacketsForever(func(p device.Port) error {
				begin = time.Now()
				p.Delay(5 * unit.Millisecond)
				if p.Rank() == 2 {
					c.die()
				}
				return nil
			}))
			took := time.Since(begin)
			var d *launch.RankDeath
			if !errors.As(err, &d) || d.Rank != 2 || d.Status != c.status || !strings.Contains(d.Stderr, c.stderr) {
				t.Errorf("rank 2 %s: Run returned %q, want a death of rank 2 by %q with %q", c.name, err, c.status, c.stderr)
			}
			if took > DeathTimeout {
				t.Errorf("rank 2 %s: the job ended %v later", c.name, took)
			}
			if len(fmt.Sprint(err)) > 3000 {
				t.Errorf("rank 2 %s: the error has %d bytes", c.name, len(fmt.Sprint(err)))
			}
		}
	}
}

// attemptCount is how often something is tried at a random time.
func attemptCount() int {
	if testing.Short() {
		return 8
	}
	return 40
}

// Whatever a rank does when it is killed, the others do not wait for it.
func endsWhenRankIsKilled(t *testing.T, x *testedTransport) {
	r := rand.New(rand.NewPCG(1, 1))
	for i := range attemptCount() {
		wait := []launch.Wait{launch.Spin, launch.Block}[i%2]
		delay := time.Duration(r.IntN(3000)) * time.Microsecond
		size := 1 << r.IntN(20)
		err := x.newWorld(t, launch.Config{Ranks: 2, Wait: wait}).Run(func(p device.Port) error {
			if p.Rank() == 1 {
				p.Send(0, &device.Packet{Head: device.Head{uint64(os.Getpid())}})
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
		var d *launch.RankDeath
		if !errors.As(err, &d) || d.Rank != 1 || d.Status != "signal: killed" {
			t.Fatalf("round %d, killed after %v with packets of %d bytes: Run returned %v", i, delay, size, err)
		}
	}
}

// Nor do they while ranks still connect to each other.
func endsWhenKilledConnecting(t *testing.T, x *testedTransport) {
	r := rand.New(rand.NewPCG(2, 2))
	for i := range attemptCount() {
		delay := time.Duration(r.IntN(10_000)) * time.Microsecond
		if os.Getenv("LOGGP_RANK") == "2" { // each process has the rounds for itself
			time.AfterFunc(delay, func() { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
		}
		begin := time.Now()
		err := x.newWorld(t, launch.Config{Ranks: 4, Wait: launch.Block}).Run(passPacketsForever(func(device.Port) error { return nil }))
		var d *launch.RankDeath
		if !errors.As(err, &d) || d.Rank != 2 || d.Status != "signal: killed" {
			t.Fatalf("round %d, killed after %v: Run returned %v", i, delay, err)
		}
		if took := time.Since(begin); took > delay+20*time.Second {
			t.Errorf("round %d, killed after %v: the job ended after %v", i, delay, took)
		}
	}
}

// The job does not wait for a rank that never reaches the run.
func endsWithoutMissingRank(t *testing.T, x *testedTransport) {
	err := x.newWorld(t, launch.Config{Ranks: 2, Args: []string{"-test.run=^$"}}).Run(func(device.Port) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "rank 1 died: it ended before it came to the run") {
		t.Errorf("Run returned %v", err)
	}
}
