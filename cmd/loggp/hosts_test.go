package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/microbench/sample"
)

var printedToken = regexp.MustCompile(`The token, which is for this job alone: (\S+)\n`)

// small is as little of a measurement as there is.
var small = []string{"--modes", "send", "--sizes", "0,1KB", "--reps", "8", "--launches", "2", "--wait", "block"}

// Ranks on other hosts are measured as those of this one, with who they were, and the token is
// nowhere where others could see it.
func TestMeasureHosts(t *testing.T) {
	callsFile, tokensFile := commandtest.FakeSSH(t)
	t.Chdir(t.TempDir())
	commandtest.CheckNumbers(t, mustRun(t, append([]string{"measure", "--platform", "tcp", "--hosts", "me@127.0.0.2,127.0.0.3", "-o", "hosts.csv"}, small...)...))
	set, err := sample.ReadFile("hosts.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range set.Series {
		if s.Platform != "tcp" || s.Place != "inter" {
			t.Fatalf("a series is of %+v", s.Key)
		}
	}
	if len(set.Series) == 0 {
		t.Error("there are no series")
	}
	for fact, want := range map[string]string{"host_0": "; 127.0.0.1; ", "host_1": "me@127.0.0.2; 127.0.0.1; ", "host_2": "127.0.0.3; 127.0.0.1; ", sample.PairFact: "0 2", sample.RanksFact: "3"} {
		if got, _ := set.Fact(fact); !strings.Contains(got, want) {
			t.Errorf("the fact %s is %q, want %q", fact, got, want)
		}
	}
	bounded := regexp.MustCompile(`^-?[0-9.]+, within (-?[0-9.]+)\.\.(-?[0-9.]+)(,| at)`)
	for _, fact := range []string{"clock_offset_us", "clock_drift_ppm"} { // of one clock, of which all processes of this host read the same
		value, _ := set.Fact(fact)
		m := bounded.FindStringSubmatch(value)
		if m == nil {
			t.Errorf("the fact %s is %q", fact, value)
			continue
		}
		low, _ := strconv.ParseFloat(m[1], 64)
		high, _ := strconv.ParseFloat(m[2], 64)
		if low > 0 || high < 0 {
			t.Errorf("the fact %s is %q, and it is 0", fact, value)
		}
	}
	calls, err := os.ReadFile(callsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(calls), "-o|BatchMode=yes|me@127.0.0.2|'"+os.Args[0]) {
		t.Errorf("ssh was called by %.200s", calls)
	}
	tokens, err := os.ReadFile(tokensFile)
	if err != nil || len(bytes.Fields(tokens)) != 2 {
		t.Fatalf("the agents of two hosts got the tokens %q: %v", tokens, err)
	}
	for _, token := range bytes.Fields(tokens) {
		if bytes.Contains(calls, token) {
			t.Error("the token can be seen in arguments or environment")
		}
	}
}

// Hosts that do not come end the command with one message, status 1, and no file.
func TestHostsFail(t *testing.T) {
	commandtest.FakeSSH(t)
	t.Chdir(t.TempDir())
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--hosts", "127.0.0.2,127.0.0.9"}, "loggp: host 127.0.0.9: ssh ended by exit status 255 before loggp connected from there; it wrote:\n  Permission denied (publickey).\n"},
		{[]string{"--hosts", "no.such.host.invalid"}, "loggp: host no.such.host.invalid: there is no address of that name"},
		{[]string{"--hosts", "127.0.0.2", "--ssh", "no-such-ssh"}, "loggp: host 127.0.0.2: cannot start an agent: "},
		{[]string{"--hosts", "127.0.0.2", "--remote-program", "/no/such/loggp"}, "loggp: host 127.0.0.2: ssh ended by exit status 127"},
		{[]string{"--hosts", "127.0.0.2", "--remote-program", "/bin/true"}, "loggp: host 127.0.0.2: ssh ended by exit status 0 before loggp connected from there\n"},
		{[]string{"--hosts", "127.0.0.2", "--listen", taken.Addr().String()}, "loggp: listen on " + taken.Addr().String() + ": another program has this port"},
		{[]string{"--expect", "1", "--listen", "192.0.2.1"}, "loggp: listen on 192.0.2.1:0: this host does not have this address"},
	} {
		var out, errs buffer
		args := append(append([]string{"measure", "--platform", "tcp", "-o", "hosts.csv"}, c.flags...), small...)
		if status := runCommandLine(t.Context(), args, &out, &errs); status != exitFailure || !strings.HasPrefix(errs.String(), c.says) || out.Len() > 0 {
			t.Errorf("%q: status %d, %s", c.flags, status, errs.String())
		}
		sees(t, ".")
	}
}

// Ranks join by hand with the address and the token that they are told, and with no other.
func TestJoinByHand(t *testing.T) {
	t.Chdir(t.TempDir())
	told, say := io.Pipe()
	status := make(chan int, 1)
	var out buffer
	go func() {
		status <- runCommandLine(t.Context(), append([]string{"measure", "--platform", "tcp", "--expect", "1", "-o", "hosts.csv"}, small...), &out, say)
		say.Close()
	}()
	text := ""
	for b := make([]byte, 4096); !printedToken.MatchString(text); {
		n, err := told.Read(b)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		text += string(b[:n])
	}
	go io.Copy(io.Discard, told)
	command := regexp.MustCompile(`loggp (launch --join 127\.0\.0\.1:\d+ --rank 1)\n`).FindStringSubmatch(text)
	if command == nil {
		t.Fatalf("no command is shown: %s", text)
	}
	for _, c := range []struct{ token, says string }{
		{"", "loggp: standard input: the token is empty"},
		{"abc", "loggp: standard input: a token has 24 letters"},
		{auth.NewToken().Text(), "the token is another's"},
		{strings.ToUpper(printedToken.FindStringSubmatch(text)[1]), ""},
	} {
		cmd := exec.Command(os.Args[0], strings.Fields(command[1])...)
		cmd.Stdin = strings.NewReader(c.token + "\n")
		said, err := cmd.CombinedOutput()
		if (err == nil) != (c.says == "") || !strings.Contains(string(said), c.says) || c.says == "" && len(said) > 0 {
			t.Errorf("with %q: %v, %s", c.token, err, said)
		}
	}
	if s := <-status; s != exitSuccess {
		t.Fatalf("status %d", s)
	}
	sees(t, ".", "hosts.csv")
}

// Nobody waits for ranks that do not come longer than he likes, nor for one that cannot reach the
// first.
func TestNobodyJoins(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var out, errs buffer
	if status := runCommandLine(ctx, append([]string{"measure", "--platform", "tcp", "--expect", "1", "-o", "hosts.csv"}, small...), &out, &errs); status != exitFailure || !strings.HasSuffix(errs.String(), "interrupted; nothing was written\n") {
		t.Errorf("status %d, %s", status, errs.String())
	}
	sees(t, ".")
	write(t, "token", auth.NewToken().Text())
	errs.Reset()
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if status := runCommandLine(ctx, []string{"launch", "--join", "127.0.0.1:1", "--rank", "1", "--token-file", "token"}, &out, &errs); status != exitFailure {
		t.Errorf("status %d, %s", status, errs.String())
	}
}

// Who knows the token may order to measure this host, and nothing else.
func TestAllowed(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"measure --platform tcp --hosts a", ""},
		{"measure --platform tcp --expect 1 --modes send -o x.csv", ""},
		{"", "another command than measure"},
		{"report x.csv -o /tmp", "another command than measure"},
		{"measure --platform mpi --launcher rm", "orders to measure mpi"},
		{"measure --platform t3d -o x.csv", "orders to measure t3d"},
		{"measure --platform tcp -o x.csv", "orders to measure tcp, and not this host"},
		{"measure --platform tcp --hosts a --platform shm", "orders to measure shm"},
		{"measure --no-such-flag", "flags of measure that are unknown here"},
	} {
		err := checkOrderedMeasureArgs(strings.Fields(c.line))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.line, err, c.says)
		}
	}
}
