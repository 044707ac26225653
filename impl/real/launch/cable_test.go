package launch_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
)

// virtualCable makes another host of this system, a network namespace with a cable to it, and
// returns the addresses, a command that runs others there, and a function that sets the cable up or
// down. The test is skipped if that is not allowed.
func virtualCable(t *testing.T) (here, there string, ssh []string, link func(state string)) {
	t.Helper()
	switch {
	case launch.IsRank(): // it was made
		return "", "", nil, nil
	case testing.Short():
		t.Skip("seconds without a sign of life")
	case os.Geteuid() != 0:
		t.Skip("it takes the superuser to make another host of this system")
	}
	name := fmt.Sprintf("loggp%d", os.Getpid())
	here, there = "198.18.77.1", "198.18.77.2" // a network that is for tests (RFC 2544)
	t.Cleanup(func() {
		exec.Command("ip", "link", "del", name+"a").Run()
		exec.Command("ip", "netns", "del", name).Run()
	})
	for _, line := range []string{
		"netns add " + name,
		"link add " + name + "a type veth peer name " + name + "b netns " + name,
		"addr add " + here + "/30 dev " + name + "a",
		"link set " + name + "a up",
		"-n " + name + " addr add " + there + "/30 dev " + name + "b",
		"-n " + name + " link set " + name + "b up",
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Skipf("ip %s: %v: %s", line, err, out)
		}
	}
	script := filepath.Join(t.TempDir(), "ssh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nshift\nexec ip netns exec "+name+" sh -c \"$*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return here, there, []string{script}, func(state string) { exec.Command("ip", "link", "set", name+"a", state).Run() }
}

// A host that vanishes, as if it is switched off, ends the job; and the agent there, which misses
// rank 0, leaves nothing.
func TestCutCableEndsJob(t *testing.T) {
	here, there, ssh, link := virtualCable(t)
	leavesNothing(t)
	m := configure(ssh, there)
	m.ListenAddress = here
	team := gather(t, m)
	var pids []int
	happened := make(chan time.Time, 1)
	err := runOnRanks(t, team, passPacketsAround(func(rank, pid, agent int) {
		if rank == 1 {
			pids = append(pids, pid, agent)
			time.AfterFunc(10*time.Millisecond, func() {
				happened <- time.Now()
				link("down")
			})
		}
	}))
	took := timeSince(happened)
	var d *launch.RankDeath
	if !errors.As(err, &d) || d.Rank != 1 || !strings.Contains(d.Status, "host "+there+" is lost: its machine does not answer") {
		t.Errorf("Run returned %v", err)
	}
	if took > 2800*time.Millisecond { // the kernel's own probes would take 3 s
		t.Errorf("the job ended %v later", took)
	}
	checkEnded(t, pids)
}

// A cable that fails for less than the time in which a heartbeat is sent three times does not end
// the job.
func TestFlickeringCableEndsNothing(t *testing.T) {
	here, there, ssh, link := virtualCable(t)
	leavesNothing(t)
	m := configure(ssh, there)
	m.ListenAddress = here
	team := gather(t, m)
	err := runOnRanks(t, team, func(p device.Port) error {
		if p.Rank() == 0 {
			for range 6 { // at other times after a heartbeat
				link("down")
				time.Sleep(450 * time.Millisecond)
				link("up")
				time.Sleep(450 * time.Millisecond)
			}
			p.Send(1, &device.Packet{})
			return nil
		}
		p.Recv(true)
		return nil
	})
	if err != nil {
		t.Errorf("Run returned %v", err)
	}
}
