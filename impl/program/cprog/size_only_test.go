//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
)

// A program takes the same time, to the picosecond, whether its messages have contents or lengths
// alone. What the library itself sends, and one-sided communication, has contents.
func TestSizeOnlyDataTakesTheSameTime(t *testing.T) {
	path := build(t, "size_only.c")
	for _, platform := range []string{"t3d", "start-x", "mbcf-switch", "challenge", "now", "hdr-fattree", "c5n-efa"} {
		t.Run(platform, func(t *testing.T) {
			for _, size := range []int{64, 40000} {
				all, out := recordSizeOnly(t, platform, path, size, false)
				sizes, withoutData := recordSizeOnly(t, platform, path, size, true)
				if out != strings.Repeat("2\n", 4) || withoutData != strings.Repeat("0\n", 4) {
					t.Errorf("of two messages of each rank came, with data, %q, and without, %q", out, withoutData)
				}
				for rank := range all.Ranks {
					if a, b := all.Ranks[rank].Totals, sizes.Ranks[rank].Totals; a != b {
						t.Errorf("%d bytes: rank %d takes %v with data and %v without", size, rank, a, b)
					}
				}
			}
		})
	}
}

// recordSizeOnly runs a program on four ranks and returns its times and its output.
func recordSizeOnly(t *testing.T, platform, path string, size int, sizeOnly bool) (*model.Timeline, string) {
	t.Helper()
	j, err := job.Open(platform, "", 4, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := &Program{Path: path, Arguments: []string{strconv.Itoa(size)}, SizeOnlyMessages: sizeOnly, Stdout: &out, Stderr: &out}
	main, err := p.Main()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	times, err := j.RecordProgram(t.Context(), 1, "", -1, func(c *mpi.Comm) error { return main(c) })
	if err != nil {
		t.Fatalf("%s, %d bytes, sizes only: %v: %v\n%s", platform, size, sizeOnly, err, out.String())
	}
	if err := p.ExitError(); err != nil {
		t.Fatalf("%s: %v", platform, err)
	}
	return times, out.String()
}
