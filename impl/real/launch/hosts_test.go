package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/tcp"
	"github.com/loggp/loggp/model"
)

// fakeSSH makes a command that runs on this host what it is to run on another, and records its
// arguments and its process ID. All of 127.0.0.0/8 is this host, so there are hosts enough.
func fakeSSH(t *testing.T) (command []string, calls func() string) {
	t.Helper()
	if launch.IsRank() { // it comes through here on its way to the job and ends there, so its files would stay
		return nil, func() string { return "" }
	}
	dir := t.TempDir()
	ssh, log := filepath.Join(dir, "ssh"), filepath.Join(dir, "calls")
	script := `#!/bin/sh
line=$(printf '%s|' "$$" "$@")
printf '%s\n' "$line" >> ` + log + `
shift 2                 # an option
host=$1; shift
case $host in
refuses.*) echo "ssh: connect to host $host port 22: Connection refused" >&2; exit 255;;
silent.*)  exec sleep 1000;;
old.*)     OTHER_VERSION=.1; export OTHER_VERSION;;
esac
sh -c "$*"
`
	if err := os.WriteFile(ssh, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{ssh, "-o", "Some=option"}, func() string {
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// configure returns the configuration of a team of the tests.
func configure(ssh []string, hosts ...string) launch.TeamConfig {
	return launch.TeamConfig{Hosts: hosts, SSHCommand: ssh, ListenAddress: "127.0.0.1", Version: version(), AgentArgs: joinArgs}
}

// gather connects a team, which has to succeed.
func gather(t *testing.T, m launch.TeamConfig) *launch.Team {
	t.Helper()
	team, err := launch.GatherTeam(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(team.Close)
	return team
}

// runOnRanks runs a program on a team.
func runOnRanks(t *testing.T, team *launch.Team, program func(device.Port) error) error {
	t.Helper()
	w, err := tcp.New(launch.Config{Ranks: len(team.Hosts), Wait: launch.Block, Args: launchtest.Args(t), Team: team}, tcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return w.Run(program)
}

// leavesNothing checks at the end of the test that no child and no open file is left.
func leavesNothing(t *testing.T) {
	t.Helper()
	launch.BeginCommand(launchtest.Args(t))
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil { // the runtime opens files of its own for the first of all sockets
		l.Close()
	}
	before := files()
	if launch.IsRank() {
		return
	}
	t.Cleanup(func() {
		if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
			t.Errorf("there are children left: %v", err)
		}
		if now := files(); now > before {
			t.Errorf("%d files are open, %d before", now, before)
		}
	})
}

// Ranks on several hosts do what those of one host do, in one run after another, each on its host.
func TestJobOnSeveralHosts(t *testing.T) {
	leavesNothing(t)
	ssh, calls := fakeSSH(t)
	team := gather(t, configure(ssh, "user@127.0.0.2", "127.0.0.3", "127.0.0.3"))
	for range 3 {
		var pids []int
		err := runOnRanks(t, team, func(p device.Port) error {
			if p.Tier(2) != model.InterNode && p.Rank() < 2 || p.Rank() == 3 && p.Tier(2) != model.IntraNode {
				return fmt.Errorf("to rank %d, rank 2 is %v", p.Rank(), p.Tier(2))
			}
			p.Send(0, &device.Packet{Head: device.Head{uint64(os.Getpid())}})
			if p.Rank() == 0 {
				for range p.Size() {
					pids = append(pids, int(p.Recv(true).Head[0]))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(pids)
		if len(slices.Compact(pids)) != 4 || !slices.Contains(pids, os.Getpid()) {
			t.Errorf("the ranks are %v", pids)
		}
	}
	if h := team.Hosts; len(h) != 4 || h[1].Name != "user@127.0.0.2" || h[2].Name != "127.0.0.3" || h[3].Name != h[2].Name {
		t.Errorf("the hosts are %+v", h)
	}
	for r, h := range team.Hosts {
		if h.Address != "127.0.0.1" || len(h.Facts) == 0 {
			t.Errorf("host %d is %+v", r, h)
		}
	}
	lines := strings.Split(strings.TrimSpace(calls()), "\n")
	if len(lines) != 3 || !strings.Contains(calls(), "|-o|Some=option|user@127.0.0.2|'"+os.Args[0]) {
		t.Errorf("the calls were %q", calls())
	}
}

// The error of a program is that of the job, wherever the rank is, and the team can run another
// job.
func TestErrorsOfOtherHosts(t *testing.T) {
	leavesNothing(t)
	ssh, _ := fakeSSH(t)
	team := gather(t, configure(ssh, "127.0.0.2", "127.0.0.3"))
	for i := range 3 {
		err := runOnRanks(t, team, func(p device.Port) error {
			if p.Rank() == i {
				return fmt.Errorf("rank %d does not like it", i)
			}
			for {
				p.Recv(true)
			}
		})
		if want := fmt.Sprintf("rank %d does not like it", i); err == nil || err.Error() != want {
			t.Errorf("Run returned %v, want %s", err, want)
		}
	}
	err := runOnRanks(t, team, func(p device.Port) error {
		defer p.(device.ErrorDetailer).SetErrorDetail(fmt.Append(nil, "rank ", p.Rank()))
		p.Recv(true)
		return nil
	})
	var d *device.Deadlock
	if !errors.As(err, &d) || len(d.Ranks) != 3 {
		t.Fatalf("Run returned %v, want a deadlock", err)
	}
	for r := range 3 {
		if want := fmt.Sprint("rank ", r); string(d.RankDetails[r]) != want {
			t.Errorf("rank %d has left %q, want %q", r, d.RankDetails[r], want)
		}
	}
}

// The error names the host that cannot be reached and says why, and nothing is left on the others.
func TestAbsentHosts(t *testing.T) {
	ssh, _ := fakeSSH(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	with := func(change func(m *launch.TeamConfig), hosts ...string) launch.TeamConfig {
		m := configure(ssh, hosts...)
		change(&m)
		return m
	}
	for _, c := range []struct {
		name string
		m    launch.TeamConfig
		says []string
	}{
		{"refuses", configure(ssh, "127.0.0.2", "refuses.invalid"), []string{"host refuses.invalid: ssh ended by exit status 255 before loggp connected", "\n  ssh: connect to host refuses.invalid port 22: Connection refused"}},
		{"unknown", with(func(m *launch.TeamConfig) { m.ListenAddress = "" }, "127.0.0.2", "no.such.host.invalid"), []string{"host no.such.host.invalid: there is no address of that name"}},
		{"no ssh", with(func(m *launch.TeamConfig) { m.SSHCommand = []string{"/no/such/ssh"} }, "127.0.0.2"), []string{"host 127.0.0.2: cannot start an agent: ", "/no/such/ssh"}},
		{"no program", with(func(m *launch.TeamConfig) { m.ProgramPath = "/no/such/loggp" }, "127.0.0.2"), []string{"host 127.0.0.2: ssh ended by exit status 127", "is it installed there", "/no/such/loggp"}},
		{"another program", with(func(m *launch.TeamConfig) { m.ProgramPath = "/bin/true" }, "127.0.0.2"), []string{"host 127.0.0.2: ssh ended by exit status 0 before"}},
		{"another version", configure(ssh, "127.0.0.2", "old.invalid"), []string{"host old.invalid: it has loggp v1.1, and rank 0's host has v1"}},
		{"option", configure(ssh, "-oProxyCommand=touch here"), []string{"host -oProxyCommand=touch here: this is not the name of a host"}},
		{"command", configure(ssh, "a;b"), []string{"host a;b: this is not the name of a host"}},
		{"taken", with(func(m *launch.TeamConfig) { m.ListenAddress = taken.Addr().String() }, "127.0.0.2"), []string{"listen on " + taken.Addr().String() + ": another program has this port"}},
		{"all addresses", with(func(m *launch.TeamConfig) { m.ListenAddress = "0.0.0.0:7" }, "127.0.0.2"), []string{"listen on 0.0.0.0:7: name one address of this host"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			leavesNothing(t)
			team, err := launch.GatherTeam(t.Context(), c.m)
			if err == nil {
				team.Close()
				t.Fatal("they have come")
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want %q", err, want)
				}
			}
		})
	}
}

// GatherTeam ends when its context is done, and leaves nothing.
func TestCancelGather(t *testing.T) {
	leavesNothing(t)
	ssh, calls := fakeSSH(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for strings.Count(calls(), "\n") < 2 {
			time.Sleep(time.Millisecond)
		}
		connectAsStranger(t, regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(calls()))
		cancel(errors.New("enough"))
	}()
	_, err := launch.GatherTeam(ctx, configure(ssh, "127.0.0.2", "silent.invalid"))
	if err == nil || !strings.HasPrefix(err.Error(), "enough (one other connection was refused: from 127.0.0.1:") {
		t.Errorf("the error is %v", err)
	}
	checkEnded(t, pidsOf(calls()))
}

// connectAsStranger sends something to an address that is not for it, and waits until it is
// refused.
func connectAsStranger(t *testing.T, address string) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\nUser-Agent: some browser or other\r\n\r\n", address)
	c.Read(make([]byte, 1))
}

// pidsOf returns the processes of calls.
func pidsOf(calls string) (pids []int) {
	for line := range strings.Lines(calls) {
		word, _, _ := strings.Cut(line, "|")
		pid, _ := strconv.Atoi(word)
		pids = append(pids, pid)
	}
	return pids
}

// checkEnded checks that processes end soon.
func checkEnded(t *testing.T, pids []int) {
	t.Helper()
	if !launchtest.WaitForEnd(pids, 5*launchtest.DeathTimeout) {
		t.Fatalf("of %v some are left", pids)
	}
}

// passPacketsAround passes packets round forever, after each rank has told rank 0 its process and
// that of its agent.
func passPacketsAround(told func(rank, pid, agent int)) func(p device.Port) error {
	return func(p device.Port) error {
		p.Send(0, &device.Packet{Head: device.Head{uint64(p.Rank()), uint64(os.Getpid()), uint64(os.Getppid())}})
		if p.Rank() == 0 {
			for range p.Size() {
				h := p.Recv(true).Head
				told(int(h[0]), int(h[1]), int(h[2]))
			}
		}
		right := (p.Rank() + 1) % p.Size()
		for {
			p.Send(right, &device.Packet{})
			p.Recv(true)
		}
	}
}

// If a rank on another host or its agent is killed, at whatever moment, the job ends soon, names
// the rank, and leaves nothing.
func TestKilledProcessEndsJob(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 3
	}
	launch.BeginCommand(launchtest.Args(t))
	r := rand.New(rand.NewPCG(1, 1))
	for i := range rounds {
		ssh, calls := fakeSSH(t)
		m := configure(ssh, "127.0.0.2", "127.0.0.3")
		team, err := launch.GatherTeam(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		var pids []int
		killed := make(chan time.Time, 1)
		delay := time.Duration(r.IntN(10)) * time.Millisecond
		err = runOnRanks(t, team, passPacketsAround(func(rank, pid, agent int) {
			if rank == 0 {
				return
			}
			pids = append(pids, pid, agent)
			if rank != 2 {
				return
			}
			victim := []int{pid, agent}[i%2]
			time.AfterFunc(delay, func() {
				killed <- time.Now()
				syscall.Kill(victim, syscall.SIGKILL)
			})
		}))
		took := timeSince(killed)
		var d *launch.RankDeath
		if !errors.As(err, &d) || d.Rank != 2 || !strings.Contains(d.Status, "127.0.0.3") {
			t.Errorf("killed after %v: Run returned %v", delay, err)
		}
		if took > launchtest.DeathTimeout {
			t.Errorf("the job ended %v later", took)
		}
		if i%2 == 0 {
			if want := "rank 2 died: signal: killed, on host 127.0.0.3"; err.Error() != want {
				t.Errorf("Run returned %v, want %s", err, want)
			}
			if err := runOnRanks(t, team, func(p device.Port) error { return nil }); err != nil {
				t.Errorf("another run: %v", err)
			}
		}
		team.Close()
		checkEnded(t, slices.Concat(pids, pidsOf(calls())))
	}
}

// timeSince returns how long ago something has happened; in the process of another rank, where
// nothing does, it returns 0.
func timeSince(happened chan time.Time) time.Duration {
	select {
	case at := <-happened:
		return time.Since(at)
	default:
		return 0
	}
}

// The standard error of a rank comes from its host.
func TestStandardError(t *testing.T) {
	leavesNothing(t)
	ssh, _ := fakeSSH(t)
	team := gather(t, configure(ssh, "127.0.0.2"))
	err := runOnRanks(t, team, func(p device.Port) error {
		if p.Rank() == 1 {
			fmt.Fprintln(os.Stderr, "what a pity")
			os.Exit(3)
		}
		p.Recv(true)
		return nil
	})
	if want := "rank 1 died: exit status 3, on host 127.0.0.2; its standard error:\n  what a pity"; err == nil || err.Error() != want {
		t.Errorf("Run returned %v, want %s", err, want)
	}
}

// A context that is done ends the job on all hosts.
func TestCancel(t *testing.T) {
	leavesNothing(t)
	ssh, calls := fakeSSH(t)
	team := gather(t, configure(ssh, "127.0.0.2"))
	ctx, cancel := context.WithCancelCause(t.Context())
	w, err := tcp.New(launch.Config{Ranks: 2, Wait: launch.Block, Args: launchtest.Args(t), Team: team, Context: ctx}, tcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	err = w.Run(passPacketsAround(func(rank, pid, _ int) {
		if rank == 1 {
			pids = append(pids, pid)
			time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("enough")) })
		}
	}))
	if err == nil || err.Error() != "enough" {
		t.Errorf("Run returned %v", err)
	}
	team.Close()
	checkEnded(t, slices.Concat(pids, pidsOf(calls())))
}

// runEndlessJob is a job on two hosts that prints its process IDs and runs until it is interrupted.
// Its ssh command is in the environment.
func runEndlessJob() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	team, err := launch.GatherTeam(ctx, configure(strings.Fields(os.Getenv("TEST_SSH")), "127.0.0.2"))
	if err != nil {
		return err
	}
	defer team.Close()
	w, err := tcp.New(launch.Config{Ranks: 2, Wait: launch.Block, Team: team, Context: ctx}, tcp.Options{})
	if err != nil {
		return err
	}
	return w.Run(passPacketsAround(func(_, pid, parent int) { fmt.Println(pid, parent) }))
}

// When the user's process ends, by an interrupt or by being killed, all processes end on all hosts.
func TestAllEndWithUsersProcess(t *testing.T) {
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		ssh, calls := fakeSSH(t)
		cmd := exec.Command(os.Args[0], "forever")
		cmd.Env = append(os.Environ(), "TEST_SSH="+strings.Join(ssh, " "))
		pids := launchtest.SignalJob(t, cmd, by, 2)
		pids = slices.DeleteFunc(pids, func(pid int) bool { return pid == os.Getpid() })
		checkEnded(t, slices.Concat(pids, pidsOf(calls())))
	}
}

// External ranks join with the token, and not with another.
func TestExternal(t *testing.T) {
	leavesNothing(t)
	var external []*exec.Cmd
	m := launch.TeamConfig{ExternalRanks: 2, Version: version(), Announce: func(address string, token auth.Token, ranks []int) {
		if !slices.Equal(ranks, []int{1, 2}) {
			t.Errorf("the ranks are %v", ranks)
		}
		for _, as := range []struct {
			rank int
			text string
		}{{1, auth.NewToken().Text()}, {1, token.Text()}, {2, strings.ToUpper(token.Text())}} {
			cmd := exec.Command(os.Args[0], joinArgs(address, as.rank, false)...)
			cmd.Stdin = strings.NewReader(as.text + "\n")
			if as.rank == 1 && as.text != token.Text() {
				out, err := cmd.CombinedOutput()
				if err == nil || !strings.Contains(string(out), "the token is another's") {
					t.Errorf("%v: %s", err, out)
				}
				continue
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
			}
			external = append(external, cmd)
		}
	}}
	team := gather(t, m)
	if launch.IsRank() {
		external = nil
	}
	if err := runOnRanks(t, team, func(p device.Port) error { return nil }); err != nil {
		t.Error(err)
	}
	team.Close()
	for _, g := range external {
		if err := g.Wait(); err != nil {
			t.Errorf("a guest ended by %v", err)
		}
	}
}

// An agent starts what it is allowed to and nothing else, and ends when the connection to rank 0
// does.
func TestAgentRefuses(t *testing.T) {
	leavesNothing(t)
	token := auth.NewToken()
	id := auth.ID{Purpose: auth.Control, From: 1}
	for _, c := range []struct{ order, says string }{
		{`{"Kind":"run","Run":1,"Task":{"Rank":1,"Args":["rm","-rf"]}}`, "not allowed"},
		{`{"Kind":"run","Run":1,"Task":{"Rank":2,"Args":["-test.run=^$"]}}`, "the task is for rank 2"},
		{`{"Kind":"run","Run":1,"Task":{"Rank":1,"Args":["-test.run=^$"]}}`, "it ended before it came to the run"},
		{`{"Kind":"dance"}`, ""},
		{`not JSON`, ""},
		{``, ""},
	} {
		l, err := auth.Listen("", token, id)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		served := make(chan error, 1)
		go func() {
			a := launch.Agent{Address: l.Addr().String(), Rank: 1, Token: token, Version: "v1", Allow: allow}
			served <- a.Serve(t.Context())
		}()
		conn, err := l.Accept(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		received := make([]byte, 1<<16)
		if n, err := conn.Read(received); err != nil || !bytes.Contains(received[:n], []byte(`"Version":"v1"`)) {
			t.Errorf("the agent says %s: %v", received[:n], err)
		}
		conn.Write([]byte(`{"Kind":"accept"}`))
		if c.order != "" {
			conn.Write([]byte(c.order))
		}
		if c.says != "" {
			if n, err := conn.Read(received); err != nil || !strings.Contains(string(received[:n]), c.says) {
				t.Errorf("%s: the agent says %s: %v, want %q", c.order, received[:n], err, c.says)
			}
		}
		if c.says != "" || c.order == "" {
			conn.Close()
		}
		select {
		case err := <-served:
			if err == nil {
				t.Errorf("%s: the agent is content", c.order)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: the agent does not end", c.order)
		}
		conn.Close()
	}
}

// An agent that was started over ssh ends with that connection, whatever rank 0 does.
func TestAgentEndsWithInput(t *testing.T) {
	leavesNothing(t)
	token := auth.NewToken()
	id := auth.ID{Purpose: auth.Control, From: 1}
	l, err := auth.Listen("", token, id)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	stdin, hold := io.Pipe()
	served := make(chan error, 1)
	go func() {
		a := launch.Agent{Address: l.Addr().String(), Rank: 1, Token: token, Version: "v1", Allow: allow, ExitAtEOF: stdin}
		served <- a.Serve(t.Context())
	}()
	conn, err := l.Accept(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte(`{"Kind":"accept"}`))
	hold.Close()
	select {
	case err := <-served:
		if err == nil || err.Error() != "standard input has ended" {
			t.Errorf("the agent ended by %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("the agent does not end")
	}
}

// An agent that is stopped, or waits for a processor, is not given up: its kernel answers.
func TestStoppedProcessEndsNothing(t *testing.T) {
	if testing.Short() && !launch.IsRank() {
		t.Skip("waits for some seconds")
	}
	leavesNothing(t)
	ssh, _ := fakeSSH(t)
	team := gather(t, configure(ssh, "127.0.0.2"))
	err := runOnRanks(t, team, func(p device.Port) error {
		if p.Rank() == 1 {
			p.Send(0, &device.Packet{Head: device.Head{uint64(os.Getppid())}})
			p.Recv(true)
			return nil
		}
		agent := int(p.Recv(true).Head[0])
		syscall.Kill(agent, syscall.SIGSTOP)
		time.Sleep(4 * time.Second)
		syscall.Kill(agent, syscall.SIGCONT)
		p.Send(1, &device.Packet{})
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
