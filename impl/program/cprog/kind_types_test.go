//go:build cgo && linux && (amd64 || arm64)

package cprog

import "testing"

// Reductions, accumulates and packing of number types that Go does not have give the compiler's
// results.
func TestKindsOfNumbers(t *testing.T) {
	path := build(t, "kinds.c")
	for _, machine := range []string{simple, "t3d"} {
		w, o := emulated(t, machine, 3)
		if out, err := run(t, w, o, &Program{Path: path}); out != "ok\n" || err != nil {
			t.Errorf("%s: %v, output %q", machine, err, out)
		}
	}
}
