package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

var (
	attacks     = flag.Int("attacks", 20, "command lines with random faults to run")
	firstAttack = flag.Uint64("first-attack", 1, "seed of the first")
)

// Bounds of one attack. Memory is that of the process itself; programs of the race detector take
// several times as much.
const (
	attackTimeout = 2 * time.Minute
	attackMemory  = 3 << 30
)

// attackFiles are correct files, of which attacks spoil copies.
func attackFiles(t *testing.T, dir string) {
	t.Helper()
	osu := commandtest.ExampleFiles(t, "../..")["osu-latency.txt"]
	t.Chdir(dir)
	mustRun(t, "measure", "--platform", "t3d", "--modes", "send", "--sizes", "0,8,1KB,16KB", "--reps", "3", "-o", "samples.csv")
	mustRun(t, "fit", "samples.csv", "-o", "params.csv")
	mustRun(t, "schedule", "bcast", "-n", "8", "--size", "4KiB", "-o", "bcast.goal")
	for name, text := range map[string]string{
		"noise.txt": "# detours\n10 2\n50 1\n100\n",
		"osu.txt":   osu,
		"mesh.yaml": mustRun(t, "platforms", "show", "t3d", "--yaml"),
	} {
		write(t, name, text)
	}
}

// attackCommands are correct command lines on these files.
var attackCommands = []string{
	"fit samples.csv",
	"fit samples.csv -o out.csv",
	"report samples.csv -o page",
	"compare samples.csv samples.csv --fail-over 5%",
	"compare --platform t3d --schedule bcast.goal",
	"predict --params params.csv --sizes 8,1KiB",
	"predict --platform t3d --collective bcast --ranks 16 --sizes 8,1KB",
	"export simgrid params.csv",
	"import osu.txt -o out.csv",
	"simulate bcast.goal",
	"simulate bcast.goal --noise noise.txt --seed 3",
	"simulate bcast.goal --sweep L=0..10us/1us",
	"simulate bcast.goal --loggops L=1us,o=200ns,g=300ns,G=0.1ns,S=16KiB --critical-path",
	"schedule check bcast.goal",
	"schedule append bcast.goal bcast.goal -o both.goal",
	"schedule halo -n 16 --size 8KiB --rounds 3 --compute 50us -o halo.goal",
	"run --platform t3d ring --ranks 4",
	"run --platform t3d bcast.goal",
	"run --platform cc-cluster stencil --ranks 8 --seed 2",
	"run --platform mesh.yaml ring",
	"measure --platform t3d --modes send --sizes 0,1KB --reps 3 -o out.csv",
	"platforms show t3d",
	"platforms check mesh.yaml",
	"trace --platform t3d --mode send --size 1KB",
}

// attackWords replace words of command lines, and parts of them.
var attackWords = []string{"", "-", "--", "-1", "0", "1e9", "nan", "inf", "9223372036854775807", "9223372036854775808", "-0", "0x10", "1..2", "4294967295", "1KiB", "999999999GiB", "1e400", "\x00", "\xff\xfe", "é", "--help", "--seed", "/dev/null", "/dev/zero", "/", ".", "nowhere/file", "samples.csv", "bcast.goal", "t3d", "L=1us", "1us", "9e9s", "100%", ",", "=", "all"}

// spoilText changes a text at random places.
func spoilText(r *rand.Rand, text []byte) []byte {
	b := bytes.Clone(text)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(b) + 1)
		end := min(len(b), at+r.IntN(20))
		word := []byte(attackWords[r.IntN(len(attackWords))])
		switch r.IntN(6) {
		case 0: // cut off
			b = b[:at]
		case 1: // removed
			b = append(b[:at:at], b[end:]...)
		case 2: // replaced
			b = bytes.Join([][]byte{b[:at], word, b[end:]}, nil)
		case 3: // repeated
			b = bytes.Join([][]byte{b[:end], bytes.Repeat(b[at:end], 1+r.IntN(2000)), b[end:]}, nil)
		case 4: // a bit
			if at < len(b) {
				b[at] ^= 1 << r.IntN(8)
			}
		case 5: // a number
			if n := regexp.MustCompile(`\d+`).FindIndex(b[at:]); n != nil {
				b = bytes.Join([][]byte{b[:at+n[0]], word, b[at+n[1]:]}, nil)
			}
		}
	}
	return b
}

// spoilWords changes words of a command line at random.
func spoilWords(r *rand.Rand, words []string) []string {
	words = append([]string(nil), words...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(words))
		word := attackWords[r.IntN(len(attackWords))]
		switch r.IntN(4) {
		case 0:
			words[at] = word
		case 1:
			words = append(words[:at:at], append([]string{word}, words[at:]...)...)
		case 2:
			words = append(words[:at:at], words[min(at+1, len(words)):]...)
		case 3:
			words[at] = string(spoilText(r, []byte(words[at])))
		}
		if len(words) == 0 {
			words = []string{word}
		}
	}
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, "\x00", "") // which no command line can have
	}
	return words
}

// TestAttacks runs correct command lines, and such with faults in their words and in the files that
// they read, in processes of their own. Whatever they are, each ends in bounded time and memory
// with one of the exit statuses, says why on standard error if it fails, prints no trace of Go,
// prints the same when it is repeated if it succeeds, and leaves no process and no temporary file
// behind.
func TestAttacks(t *testing.T) {
	long(t)
	files := t.TempDir()
	attackFiles(t, files)
	loggp := linkCommand(t)
	for seed := *firstAttack; seed < *firstAttack+uint64(*attacks); seed++ {
		r := rand.New(rand.NewPCG(seed, 32))
		words := strings.Fields(attackCommands[r.IntN(len(attackCommands))])
		if r.IntN(2) == 0 {
			words = spoilWords(r, words)
		}
		if measuresThisMachine(words) {
			continue
		}
		spoilsFiles := r.IntN(2) == 0
		var said [2]string
		for i := range said {
			if said[i] = attack(t, seed, loggp, files, words, spoilsFiles); said[i] == "" {
				break // it fails
			}
		}
		if said[1] != "" && said[0] != said[1] {
			t.Errorf("seed %d: loggp %q prints something else when it is repeated", seed, words)
		}
	}
}

// measuresThisMachine reports whether a command line would measure this machine, or start other
// programs than loggp.
func measuresThisMachine(words []string) bool {
	all := strings.Join(words, " ")
	return len(words) < 3 && words[0] == "measure" || strings.Contains(all, "measure") && !strings.Contains(all, "t3d") || words[0] == "doctor" || words[0] == "reproduce"
}

// attack runs a command line in a copy of the files, and checks what it leaves. It returns what a
// command that succeeds prints.
func attack(t *testing.T, seed uint64, loggp, files string, words []string, spoilsFiles bool) string {
	t.Helper()
	dir, temp := t.TempDir(), t.TempDir()
	entries, err := os.ReadDir(files)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 33))
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(files, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if spoilsFiles {
			b = spoilText(r, b)
		}
		if r.IntN(4) == 0 {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			z.Write(b)
			z.Close()
			b = packed.Bytes()
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	end := runAttack(t, fmt.Sprintf("seed %d", seed), dir, temp, loggp, words)
	switch {
	case end.status != exitSuccess && end.status != exitFailure && end.status != exitUsage && end.status >= 0:
		end.fail("status %d", end.status)
	case end.status > exitSuccess && !strings.Contains(end.errs, "loggp"):
		end.fail("status %d without an error", end.status)
	}
	if end.status != exitSuccess {
		return ""
	}
	return runTime.ReplaceAllString(end.out, "") + "\n"
}

// attackEnd is how an attack ended.
type attackEnd struct {
	status    int // -1: it did not end
	out, errs string
	fail      func(format string, args ...any)
}

// runAttack runs a command line in a directory and with another for temporary files. It is an error
// if it does not end, takes much memory, prints a trace of Go, or leaves processes or files behind.
func runAttack(t *testing.T, name, dir, temp, loggp string, words []string) attackEnd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), attackTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, loggp, words...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+temp, "GOMEMLIMIT=2GiB")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second // a process that is left behind may hold the output
	var out, errs buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: loggp %q: %s\n%.2000s", name, words, fmt.Sprintf(format, args...), errs.String())
	}
	end := attackEnd{-1, out.String(), errs.String(), fail}
	for _, pid := range processesWith(t, "TMPDIR="+temp) {
		syscall.Kill(pid, syscall.SIGKILL)
		fail("it leaves process %d behind", pid)
	}
	if ctx.Err() != nil {
		fail("it does not end")
		return end
	}
	if cmd.ProcessState == nil {
		t.Fatalf("%s: %v", name, err)
	}
	if end.status = cmd.ProcessState.ExitCode(); end.status < 0 {
		fail("%v", err)
	}
	if goTrace.MatchString(end.errs) || goTrace.MatchString(end.out) {
		fail("it prints a trace of Go")
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && usage.Maxrss<<10 > attackMemory {
		fail("it takes %d MiB", usage.Maxrss>>10)
	}
	for _, where := range []string{temp, dir} {
		left, err := os.ReadDir(where)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range left {
			if where == temp || strings.HasSuffix(e.Name(), ".tmp") {
				fail("it leaves %s behind", e.Name())
			}
		}
	}
	return end
}

// processesWith returns the processes that were started with a variable in their environment.
func processesWith(t *testing.T, variable string) (pids []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(variable+"\x00")) { // of a process that has ended it is empty, or gone
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

var (
	goTrace = regexp.MustCompile(`(?m)^goroutine \d+ \[|^panic: |runtime error:|^fatal error: |\.go:\d+ \+0x`)
	runTime = regexp.MustCompile(`emulated in [^\n]*|simulated in [^\n]*`)
)
