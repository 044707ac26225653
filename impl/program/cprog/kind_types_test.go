//go:build cgo && linux && (amd64 || arm64)

package cprog

import "testing"

// Reductions, accumulates and packing of the numbers that Go has no type for give what the compiler
// computes.
func TestKindsOfNumbers(t *testing.T) {
	path := build(t, "kinds.c")
	for _, machine := range []string{simple, "t3d"} {
		w, o := emulated(t, machine, 3)
		if out, err := run(t, w, o, &Program{Path: path}); out != "ok\n" || err != nil {
			t.Errorf("%s: %v, output %q", machine, err, out)
		}
	}
}
