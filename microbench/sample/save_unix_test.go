//go:build unix

package sample

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is no ordinary file is written, not replaced. A pipe stands for all such: never point this
// test at a device of the machine, which a fault in Save would replace.
func TestSavePipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // both ends, so that nobody waits for the other
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	if err := Save(path, func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		t.Fatalf("the pipe was replaced: %v, %v", info, err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(pipe, got); err != nil || string(got) != "text" {
		t.Errorf("read %q, %v", got, err)
	}
}
