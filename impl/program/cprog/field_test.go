//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"runtime/debug"
	"testing"
)

// Programs of testdata/field have failed for users, each for a reason of its own, which its first
// line says.
var fieldPrograms = []struct {
	source string
	ranks  int
	args   []string
	want   string // output of the run
}{
	{source: "intercoll_corruption.c", ranks: 8, want: "ok\n"},
}

// They print what they print with other implementations, also if memory is collected, and stacks
// of goroutines are moved, all the time.
func TestFieldPrograms(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	for _, c := range fieldPrograms {
		t.Run(c.source, func(t *testing.T) {
			w, o := emulated(t, simple, c.ranks)
			out, err := run(t, w, o, &Program{Path: build(t, "field/"+c.source), Arguments: c.args})
			if err != nil || out != c.want {
				t.Errorf("error %v, output %q, want %q", err, out, c.want)
			}
		})
	}
}
