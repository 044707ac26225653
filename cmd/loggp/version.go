package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  loggp version",
		Args:    nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "loggp %s, built with %s\n", version(), info.GoVersion)
			return err
		},
	}
}

// version returns the module's version, as the go command knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// identity returns what two copies of this program have in common that can take part in one job:
// the version, and where that does not say which sources it was built from, the program itself.
func identity() string {
	v := version()
	if v != "(devel)" && !strings.Contains(v, "+dirty") {
		return v
	}
	return v + ", build " + build()
}

// build returns the beginning of a hash of the program.
var build = sync.OnceValue(func() string {
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
