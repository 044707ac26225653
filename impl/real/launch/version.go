package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// modulePath is the module of this package.
const modulePath = "github.com/loggp/loggp"

// ProgramVersion returns the version of the loggp module in this program, as the go command knows
// it.
func ProgramVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}

// programIdentity returns what two copies of this program have in common that can take part in one
// job: the version, and where that does not say which sources it was built from, the program
// itself.
func programIdentity() string {
	info, _ := debug.ReadBuildInfo()
	v := ProgramVersion()
	if info != nil && info.Main.Path == modulePath && v != "(devel)" && !strings.Contains(v, "+dirty") {
		return v
	}
	return v + ", build " + programHash()
}

// programHash returns the beginning of a hash of the program.
var programHash = sync.OnceValue(func() string {
	exe, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	f, err := os.Open(exe)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
})
