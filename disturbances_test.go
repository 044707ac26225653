package loggp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// A run whose computing is measured looks at this machine before, by the checks of measurements,
// and says on its page what it found. Other runs are not disturbed.
func TestMeasuredComputingWarnsOfDisturbances(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "hello.c"), filepath.Join(dir, "hello")
	if err := os.WriteFile(source, []byte("#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); return 0; }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := toolchain.New(t.Context())
	if err != nil {
		t.Skip(err)
	}
	if out, err := c.Command(t.Context(), []string{source, "-o", program}).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asked := 0
	before := quickWarnings
	defer func() { quickWarnings = before }()
	quickWarnings = func(context.Context, int) []string {
		asked++
		return []string{"load: 7.5 of 2 processors"}
	}
	for _, x := range []struct {
		compute string
		place   []string
		want    bool
	}{
		{"none", nil, false}, {"measured", nil, true}, {"measured*2", []string{"4", "2+2"}, true}, {"150MHz", nil, true},
	} {
		asked = 0
		e, err := RunProgram(t.Context(), ProgramOptions{RunOptions: RunOptions{Platform: "smp-torus"}, Program: program, Parameters: map[string]string{"compute": x.compute}, Place: x.place})
		if err != nil {
			if strings.Contains(err.Error(), "cgo") {
				t.Skip(err)
			}
			t.Fatal(err)
		}
		page := false
		for _, s := range e.Document().Sections {
			page = page || len(s.Warnings) == 1 && s.Warnings[0].Cases[0].String() == "load: 7.5 of 2 processors"
		}
		if got := len(e.Disturbances) == 1 && asked == 1 && page; got != x.want || !x.want && asked+len(e.Disturbances) > 0 {
			t.Errorf("--compute %s: asked %d times, disturbances %q, on the page: %v", x.compute, asked, e.Disturbances, page)
		}
	}
}
