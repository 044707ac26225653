//go:build cgo && linux && (amd64 || arm64)

package cprog

import "testing"

// Libraries of the system are shared by ranks. A directory whose name begins in the same way is not
// one of the system.
func TestLibrariesOfTheSystem(t *testing.T) {
	for path, want := range map[string]bool{
		"/lib/x86_64-linux-gnu/libz.so": true, "/lib64/libz.so": true, "/usr/lib/libz.so": true, "/usr/lib64/openblas/libz.so": true,
		"/library/libz.so": false, "/usr/libraries/libz.so": false, "/usr/local/lib/libz.so": false, "/home/lib/libz.so": false,
	} {
		if isOfSystem(path) != want {
			t.Errorf("%s belongs to the system: %v, want %v", path, !want, want)
		}
	}
}
