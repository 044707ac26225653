package cli

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/cobra"
)

// AddGoProfileFlags gives a verb the hidden flags --cpuprofile and --memprofile: profiles of loggp
// itself for 'go tool pprof', written when the verb has ended without an error.
func AddGoProfileFlags(cmd *cobra.Command) {
	var cpuFile, memoryFile string
	f := cmd.Flags()
	AddOutput(cmd, &cpuFile, "cpuprofile", "", "write where loggp itself spends processor time to this file, for 'go tool pprof'", nil)
	AddOutput(cmd, &memoryFile, "memprofile", "", "write what memory loggp itself has allocated to this file, for 'go tool pprof'", nil)
	f.MarkHidden("cpuprofile")
	f.MarkHidden("memprofile")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cpuFile != "" {
			out, err := os.Create(cpuFile)
			if err != nil {
				return fmt.Errorf("--cpuprofile: %w", err)
			}
			defer out.Close()
			if err := pprof.StartCPUProfile(out); err != nil {
				return fmt.Errorf("--cpuprofile %s: %w", cpuFile, err)
			}
			defer pprof.StopCPUProfile()
		}
		if err := run(cmd, args); err != nil || memoryFile == "" {
			return err
		}
		runtime.GC() // the profile has what was allocated before the last collection
		return WriteFile(cmd, memoryFile, func(w io.Writer) error { return pprof.Lookup("allocs").WriteTo(w, 0) }, "memory profile")
	}
}
