//go:build cgo && linux && amd64

package cprog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// fortranOptions are options that the suite needs with any compiler.
var fortranOptions = []string{"-cpp", "-w", "-fallow-argument-mismatch", "-ffree-line-length-none"}

// buildFortran compiles programs of testdata/fortran.
func buildFortran(t testing.TB, sources ...string) string {
	t.Helper()
	c, err := toolchain.NewFortran(t.Context())
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "program")
	command := c.Command(t.Context(), append(append([]string{"-g", "-fcheck=bounds", "-J", dir}, fortranOptions...), append(sources, "-o", path)...))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
	return path
}

// The Fortran programs print what they print with Open MPI and MPICH.
func TestFortranSuite(t *testing.T) {
	checkFortranSuite(t, buildFortran(t, "testdata/fortran/suite.f90", "testdata/fortran/old.f"), "fortran")
	checkFortranSuite(t, buildFortran(t, "testdata/fortran08/suite.f90"), "fortran08")
	checkFortranSuite(t, buildFortran(t, "testdata/fortran_files/suite.f90"), "fortran_files")
}

// Module mpi_f08 accepts counts of two kinds.
func TestFortranLargeCounts(t *testing.T) {
	path := buildFortran(t, "testdata/fortran08/large.f90")
	w, o := emulated(t, simple, 3)
	if out, err := run(t, w, o, &Program{Path: path}); out != "ok\n" || err != nil {
		t.Errorf("%v, output %q", err, out)
	}
}

// With module mpi_f08, array sections are sent and received as if they were contiguous copies, also
// by operations that have not ended when a call returns.
func TestFortranArraySections(t *testing.T) {
	path := buildFortran(t, "-O1", "testdata/fortran08/sections.f90")
	for _, ranks := range []int{1, 3} {
		w, o := emulated(t, simple, ranks)
		if out, err := run(t, w, o, &Program{Path: path}); out != "ok\n" || err != nil {
			t.Errorf("%d ranks: %v, output %q", ranks, err, out)
		}
	}
}

// Datatypes of Fortran kinds transfer and combine the compiler's numbers.
func TestFortranKinds(t *testing.T) {
	w, o := emulated(t, simple, 3)
	if out, err := run(t, w, o, &Program{Path: buildFortran(t, "testdata/fortran/kinds.f90")}); out != "ok\n" || err != nil {
		t.Errorf("%v, output %q", err, out)
	}
}

// What Fortran has beside C does what MPI 4.1 says in chapter 19.
func TestFortranInteroperability(t *testing.T) {
	w, o := emulated(t, simple, 3)
	if out, err := run(t, w, o, &Program{Path: buildFortran(t, "testdata/fortran/interop.f90")}); out != "ok\n" || err != nil {
		t.Errorf("%v, output %q", err, out)
	}
}

// Handles and addresses are the same in the Fortran and the C part of a program.
func TestFortranWithC(t *testing.T) {
	w, o := emulated(t, simple, 3)
	if out, err := run(t, w, o, &Program{Path: buildFortran(t, "testdata/fortran/mixed.f90", "testdata/fortran/mixed.c")}); out != "wrong 0\n" || err != nil {
		t.Errorf("%v, output %q", err, out)
	}
}

// Windows in Fortran. Open MPI 4.1 prints the same.
func TestFortranWindows(t *testing.T) {
	want, err := os.ReadFile("testdata/fortran/windows.txt")
	if err != nil {
		t.Fatal(err)
	}
	w, o := emulated(t, simple, 3)
	if out, err := run(t, w, o, &Program{Path: buildFortran(t, "testdata/fortran/windows.f90")}); out != string(want) || err != nil {
		t.Errorf("%v, output\n%swant\n%s", err, out, want)
	}
}

// A Fortran program spawns others, with each module. Open MPI 4.1 prints the same.
func TestStartedFortranPrograms(t *testing.T) {
	want, err := os.ReadFile("testdata/spawn/fortran.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range []string{"-DF90", "-DF08"} {
		if out, err := runWithSpare(t, simple, 3, 3, buildFortran(t, module, "testdata/spawn/suite.F90")); out != string(want) || err != nil {
			t.Errorf("%s: %v, output\n%swant\n%s", module, err, out, want)
		}
	}
}

func checkFortranSuite(t *testing.T, path, dir string) {
	for _, ranks := range []int{1, 2, 3, 4, 7} {
		w, o := emulated(t, simple, ranks)
		checkSuite(t, w, o, path, dir, ranks)
	}
}

// A fault in a Fortran program is an error of a rank, with the line of the call.
func TestWrongFortran(t *testing.T) {
	path := buildFortran(t, "testdata/fortran/wrong.f90")
	source, err := os.ReadFile("testdata/fortran/wrong.f90")
	if err != nil {
		t.Fatal(err)
	}
	line := bytes.Count(source[:bytes.Index(source, []byte("! deadlock"))], []byte("\n")) + 1
	for how, want := range map[string]string{
		"deadlock":         fmt.Sprintf(`MPI_Recv.*wrong\.f90:%d`, line),
		"bounds":           `rank 1: the program ended with exit status 2`,
		"stop":             `rank 1: the program ended with exit status 7`,
		"error stop":       `rank 1: the program ended with exit status 1`,
		"file":             `rank 1: the program ended with exit status 2`,
		"without finalize": `rank 1: the program ended without MPI_Finalize`,
	} {
		w, o := emulated(t, simple, 2)
		out, err := run(t, w, o, &Program{Path: path, Arguments: []string{how}})
		if err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s: %v", how, err)
		}
		if !strings.Contains(out, "before\n") {
			t.Errorf("%s: it printed %q", how, out)
		}
	}
}

// A missing procedure is an error at link time that names it.
func TestMissingProcedure(t *testing.T) {
	c, err := toolchain.NewFortran(t.Context())
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "x.f")
	if err := os.WriteFile(source, []byte("      call MPI_NOT_THERE()\n      end\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	command := c.Command(t.Context(), []string{source, "-o", filepath.Join(dir, "x")})
	out, err := command.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("undefined reference to `mpi_not_there_'")) {
		t.Errorf("linking: %v\n%s", err, out)
	}
}

// The module and mpif.h contain every function of the table.
func TestFortranHasAllFunctions(t *testing.T) {
	declaration := regexp.MustCompile(`(?m)(?:subroutine|function|external) (\w+)`)
	declared := func(module string) map[string]bool {
		names := map[string]bool{}
		for _, m := range declaration.FindAllStringSubmatch(module, -1) {
			names[strings.TrimSuffix(strings.TrimSuffix(m[1], "_f08ts"), "_f08")] = true
		}
		return names
	}
	module, later := declared(toolchain.FortranModule()), declared(toolchain.Fortran08Module())
	for _, f := range toolchain.Functions {
		if f.IsInFortran() && f.IntForm == "" && !module[f.Name] {
			t.Errorf("module mpi has no %s", f.Name)
		}
		if f.IsInFortran() && f.IntForm == "" && !f.IsDeprecated() && !later[f.Name] {
			t.Errorf("module mpi_f08 has no %s", f.Name)
		}
	}
}
