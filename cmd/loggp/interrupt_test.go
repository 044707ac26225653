//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

// waiting are verbs that read a file. Here they wait for input that never comes, and are
// interrupted when they have opened it, so that nothing depends on how fast the machine is.
var waiting = []string{
	"fit PIPE -o out",
	"report PIPE -o out",
	"compare --samples PIPE --params params.csv -o out",
	"import osu PIPE -o out",
	"predict --params PIPE -o out",
	"export json PIPE -o out",
	"calibrate ./PIPE -o out",
	"platforms sensitivity ./PIPE",
	"simulate PIPE",
	"schedule check PIPE",
	"platforms validate ./PIPE",
}

// working are verbs with work for hours. They are interrupted when they have used processor time.
var working = []string{
	"measure --platform t3d --reps 1000000 -o out",
	"measure --platform t3d -n 64 --collective alltoall --sizes 64KB --reps 10000 -o out",
	"run --platform t3d -n 64 --rounds 1000000 --size 64 ring",
	"patterns --platform t3d -n 512 --sizes 1MiB --patterns all-to-all",
	"reproduce altawil-moritz --reps 1000000 -o out",
}

// Each verb is among these, or its interrupt is tested elsewhere, or it ends by itself at once.
func TestInterruptVerbs(t *testing.T) {
	rest := map[string]string{
		"launch": "launchtest states it", "cc": "TestInterruptCompiler", "c++": "as cc", "fc": "as cc",
		"doctor": "two seconds", "trace": "one message", "completion": "at once", "help": "at once", "version": "at once",
	}
	for _, command := range slices.Concat(waiting, working) {
		rest[strings.Fields(command)[0]] = command
	}
	for _, verb := range newRootCommand().Commands() {
		if rest[verb.Name()] == "" {
			t.Errorf("no interrupt of %s is tested", verb.Name())
		}
	}
}

// started starts loggp with a command line in a directory. ended has its outcome.
func started(t *testing.T, dir, command string, env ...string) (cmd *exec.Cmd, out *bytes.Buffer, ended chan error) {
	t.Helper()
	loggp := linkCommand(t)
	cmd = exec.CommandContext(t.Context(), loggp, strings.Fields(command)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, ended = new(bytes.Buffer), make(chan error, 1)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { ended <- cmd.Wait() }()
	return cmd, out, ended
}

// interrupt sends a signal and checks that the command ends with the message and leaves so many
// files.
func interrupt(t *testing.T, cmd *exec.Cmd, out *bytes.Buffer, ended chan error, signal os.Signal, files int) {
	t.Helper()
	cmd.Process.Signal(signal)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		cmd.Process.Kill()
		t.Fatal("it did not end")
	}
	if got := out.String(); cmd.ProcessState.ExitCode() != exitFailure || !strings.HasSuffix(got, interruptedMessage+"\n") {
		t.Errorf("%v: %s", cmd.ProcessState, got)
	}
	if left, _ := os.ReadDir(cmd.Dir); len(left) != files {
		t.Errorf("left: %v", left)
	}
}

var signals = []os.Signal{os.Interrupt, syscall.SIGTERM}

func TestInterruptAnalysis(t *testing.T) {
	t.Parallel()
	for i, command := range waiting {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "input.csv")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skip(err)
			}
			cmd, out, ended := started(t, dir, strings.ReplaceAll(command, "PIPE", "input.csv"))
			opened := make(chan *os.File, 1)
			go func() {
				f, _ := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the verb reads
				opened <- f
			}()
			select {
			case err := <-ended:
				t.Fatalf("ended without reading: %v\n%s", err, out.String())
			case f := <-opened:
				defer f.Close()
			case <-time.After(time.Minute):
				cmd.Process.Kill()
				t.Fatal("it does not read its input")
			}
			interrupt(t, cmd, out, ended, signals[i%2], 1)
		})
	}
}

func TestInterruptWork(t *testing.T) {
	long(t)
	t.Parallel()
	for i, command := range working {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			cmd, out, ended := started(t, t.TempDir(), command)
			for begin := time.Now(); !worked(cmd.Process.Pid); time.Sleep(20 * time.Millisecond) {
				if len(ended) > 0 || time.Since(begin) > time.Minute {
					cmd.Process.Kill()
					t.Fatalf("it does not work: %v\n%s", <-ended, out.String())
				}
			}
			interrupt(t, cmd, out, ended, signals[i%2], 0)
		})
	}
}

// worked says whether a process has used 0.2 s of processor time. Where there is no /proc it waits
// for a second.
func worked(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		time.Sleep(time.Second)
		return true
	}
	_, after, _ := strings.Cut(string(text), ") ")
	var state string
	var n [10]int
	var user, system int // hundredths of a second
	fmt.Sscan(after, &state, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &n[9], &user, &system)
	return user+system >= 20
}

// A compiler that goes on is ended too.
func TestInterruptCompiler(t *testing.T) {
	if !commandtest.CanCompile(t) {
		t.Skip("C programs cannot be compiled here")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.c"), "int main(void) { return 0; }\n")
	compiler := filepath.Join(t.TempDir(), "compiler")
	begun := compiler + ".begun"
	if err := os.WriteFile(compiler, []byte("#!/bin/sh\n: >"+begun+"\nexec sleep 1000\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd, out, ended := started(t, dir, "cc a.c -o a", "CC="+compiler)
	for {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		if len(ended) > 0 {
			t.Fatalf("the compiler was not run: %v\n%s", <-ended, out.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
	interrupt(t, cmd, out, ended, os.Interrupt, 1)
}

// linkCommand returns a path by which this program is loggp (TestMain).
func linkCommand(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(t.TempDir(), "loggp-command")
	if err := os.Symlink(exe, command); err != nil {
		t.Fatal(err)
	}
	return command
}
