//go:build cgo && linux && amd64

package cprog

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	others = flag.Int("others", 0, "run the suite with Open MPI and MPICH, too, on at most so many ranks")
	update = flag.Bool("update", false, "write what it prints there to testdata")
)

// Programs spawn others with Open MPI, with the output in testdata. Each runs by itself, because
// Open MPI 4.1 hangs after many spawns, and in the omitted program always. MPICH with UCX cannot
// spawn programs.
func TestStartedProgramsWithOthers(t *testing.T) {
	if *others == 0 {
		t.Skip("it takes a minute: -others 7")
	}
	path := filepath.Join(t.TempDir(), "suite")
	if out, err := exec.Command("mpicc.openmpi", "testdata/spawn/suite.c", "-w", "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	source, err := os.ReadFile("testdata/spawn/suite.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, ranks := range []int{1, 2, 3, 4, 7} {
		want, err := os.ReadFile(fmt.Sprintf("testdata/spawn/%d.txt", ranks))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`RUN\((\w+)\)`).FindAllSubmatch(source, -1) {
			name := string(m[1])
			// Open MPI 4.1 always hangs in the first, and sometimes in the second, which spawns 20
			// programs in a row. For the third it searches the current directory alone, whatever
			// the key path says.
			if ranks > *others || slices.Contains([]string{"freed_parent", "tasks", "searched"}, name) {
				continue
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			cmd := exec.CommandContext(ctx, "mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader,tcp", "--mca", "osc", "^rdma,ucx", "--mca", "mpi_yield_when_idle", "1", "-n", fmt.Sprint(ranks), path, name)
			cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
			got, err := cmd.Output()
			if own := strings.Join(regexp.MustCompile(`(?m)^`+name+` .*\n`).FindAllString(string(want), -1), ""); err != nil || string(got) != own {
				t.Errorf("%s, %d ranks: %v: %s\nwant %s", name, ranks, err, got, own)
			}
		}
	}
}

// With other implementations the suite prints the output in testdata. A flag rewrites testdata.
func TestSuiteWithOthers(t *testing.T) {
	if *update {
		*others = 7
	}
	if *others == 0 {
		t.Skip("it takes half a minute: -others 7")
	}
	for _, mpi := range []struct {
		name string
		run  []string
		cpp  string
	}{
		{"openmpi", []string{"--oversubscribe", "--mca", "btl", "self,vader", "--mca", "osc", "^rdma,ucx", "--mca", "mpi_yield_when_idle", "1"}, "-DOPEN_MPI"},
		{"mpich", nil, "-DMPICH"},
	} {
		suite := func(dir, with, compiler string, sources ...string) func(t *testing.T) {
			return func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "suite")
				cmd := exec.Command(compiler+"."+mpi.name, append(sources, "-w", "-o", path)...)
				if compiler != "mpicc" {
					cmd.Args = append(cmd.Args, append(fortranOptions, mpi.cpp, "-J", filepath.Dir(path))...)
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				for _, ranks := range []int{1, 2, 3, 4, 7} {
					if ranks > *others {
						break
					}
					ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
					defer stop()
					var stderr bytes.Buffer
					cmd := exec.CommandContext(ctx, "mpirun."+mpi.name, append(mpi.run, "-n", fmt.Sprint(ranks), path)...)
					cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
					cmd.Stderr = &stderr
					got, err := cmd.Output()
					if err != nil {
						t.Fatalf("%d ranks: %v\n%s", ranks, err, stderr.Bytes())
					}
					file := fmt.Sprintf("testdata/%s/%d.txt", dir, ranks)
					if *update && strings.HasPrefix(with, mpi.name) {
						if err := os.WriteFile(file, got, 0o666); err != nil {
							t.Fatal(err)
						}
					}
					if want, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d ranks: %v: %s is not what %s prints", ranks, err, file, mpi.name)
					}
				}
			}
		}
		for _, s := range suites {
			if strings.Contains(s.with, mpi.name) {
				t.Run(mpi.name+" "+s.dir, suite(s.dir, s.with, "mpicc", "testdata/"+s.dir+"/suite.c", mpi.cpp))
			}
		}
		t.Run(mpi.name+" in Fortran", suite("fortran", "openmpi mpich", "mpif90", "testdata/fortran/suite.f90", "testdata/fortran/old.f"))
		t.Run(mpi.name+" fortran_files", suite("fortran_files", "openmpi mpich", "mpif90", "testdata/fortran_files/suite.f90"))
		t.Run(mpi.name+" fortran08", suite("fortran08", "openmpi mpich", "mpif90", "testdata/fortran08/suite.f90"))
	}
}
