//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The first interrupt ends every verb that computes, wherever it is: here each waits for input that never comes. It is interrupted when it
// has opened that input, so that nothing depends on how fast the machine is.
func TestInterruptAnalysis(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	loggp := filepath.Join(dir, "loggp-command") // TestMain
	if err := os.Symlink(exe, loggp); err != nil {
		t.Fatal(err)
	}
	for i, command := range []string{
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
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := filepath.Join(dir, "input.csv")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Skip(err)
			}
			cmd := exec.CommandContext(t.Context(), loggp, strings.Fields(strings.ReplaceAll(command, "PIPE", "input.csv"))...)
			cmd.Dir = dir
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			opened := make(chan *os.File, 1)
			go func() { ended <- cmd.Wait() }()
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
			cmd.Process.Signal([]os.Signal{os.Interrupt, syscall.SIGTERM}[i%2])
			select {
			case <-ended:
			case <-time.After(time.Minute):
				cmd.Process.Kill()
				t.Fatal("it did not end")
			}
			if got := out.String(); cmd.ProcessState.ExitCode() != failed || !strings.HasSuffix(got, interrupted+"\n") {
				t.Errorf("%v: %s", cmd.ProcessState, got)
			}
			if left, _ := os.ReadDir(dir); len(left) != 1 {
				t.Errorf("left: %v", left)
			}
		})
	}
}
