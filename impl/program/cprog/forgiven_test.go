//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/library/mpi"
)

// Programs that violate the standard and run with most implementations end normally, with a warning
// that names the MPI function and the line. With a strict check it is an error.
func TestForgivenPrograms(t *testing.T) {
	path := build(t, "forgiven.c")
	source, err := os.ReadFile("testdata/forgiven.c")
	if err != nil {
		t.Fatal(err)
	}
	line := func(text string) int { return strings.Count(strings.SplitN(string(source), text, 2)[0], "\n") + 1 }
	for what, want := range map[string]struct {
		kind          mpi.WarningKind
		warns, strict string
	}{
		"receives": {mpi.OverlappingReceives, fmt.Sprintf(`^rank 1: MPI_Irecv \(forgiven.c:%d\): bytes 0 to 3 of this call and bytes 0 to 3 of MPI_Irecv \(forgiven.c:%[1]d\)`, line("else MPI_Irecv")), "rank 1: MPI_Irecv (forgiven.c:"},
		"open":     {mpi.RequestsLeftOpen, fmt.Sprintf(`^rank 1: MPI_Finalize \(forgiven.c:%d\): 2 requests were neither completed nor freed; the first, of MPI_Irecv \(forgiven.c:%d\), waits for a message from rank 0 with tag 7$`, line("MPI_Finalize"), line("MPI_Irecv(never")), "rank 1: Finalize: "},
		"logical":  {mpi.LogicalOfFloats, fmt.Sprintf(`^rank 1: MPI_Reduce_local \(forgiven.c:%d\): Lxor is not for elements of LongDouble: `, line("MPI_Reduce_local")), "rank 1: MPI_Reduce_local (forgiven.c:"},
	} {
		run := func(check mpi.CheckMode) (string, []mpi.Warning, error) {
			var warnings []mpi.Warning
			w, o := emulated(t, "t3d", 2)
			o.Check, o.OnWarning = check, func(w mpi.Warning) { warnings = append(warnings, w) }
			out, err := run(t, w, o, &Program{Path: path, Arguments: []string{what}})
			lines := strings.Split(strings.TrimSpace(out), "\n")
			slices.Sort(lines)
			return strings.Join(lines, ", "), warnings, err
		}
		for _, check := range []mpi.CheckMode{mpi.CheckOff, mpi.CheckWarn} {
			out, warnings, err := run(check)
			if err != nil || out != "0 ends, 1 ends" || len(warnings) != int(check) {
				t.Fatalf("%s, check %v: %q, %v, with the warnings %v", what, check, out, err, warnings)
			}
			for _, w := range warnings {
				if w.Kind != want.kind || !regexp.MustCompile(want.warns).MatchString(w.String()) {
					t.Errorf("%s: the warning is %v, want %s", what, w, want.warns)
				}
			}
		}
		if _, warnings, err := run(mpi.CheckStrict); err == nil || !strings.HasPrefix(err.Error(), want.strict) || !strings.Contains(err.Error(), "--check=warn") || warnings != nil {
			t.Errorf("%s, strict: %v, with the warnings %v", what, err, warnings)
		}
	}
}
