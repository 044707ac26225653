//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	random "github.com/loggp/loggp/impl/engine/enginetest/program"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
)

var (
	randomCount = flag.Int("programs", 24, "number of random programs")
	randomFirst = flag.Uint64("first", 1, "seed of the first random program")
)

// Ranks of random C programs receive the messages that MPI's matching rules allow, with each
// engine.
func TestRandomPrograms(t *testing.T) {
	var all []*random.Program
	for i := range uint64(*randomCount) {
		all = append(all, random.New(*randomFirst+i, 9))
	}
	dir := t.TempDir()
	source, path := filepath.Join(dir, "random.c"), filepath.Join(dir, "random")
	if err := os.WriteFile(source, []byte(random.SourceInC(all)), 0o666); err != nil {
		t.Fatal(err)
	}
	compile(t, source, path, "-g")
	libraries := []string{"none", "queue", "mbcf", "start"}
	for i, p := range all {
		j, err := job.Open("loggp", libraries[i%len(libraries)], p.Ranks, 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := j.World(t.Context(), p.Seed)
		if err != nil {
			t.Fatal(err)
		}
		o := j.MPIOptions("")
		o.Check = mpi.CheckStrict
		out, err := run(t, w, o, &Program{Path: path, Arguments: []string{fmt.Sprint(i)}})
		if err == nil {
			err = p.CheckOutputOfC([]byte(out))
		}
		if err != nil {
			t.Fatalf("seed %d, library %s: %v\nof the program\n%v", p.Seed, j.Library.Name, err, p)
		}
	}
}

// Random C programs with windows of each flavor find the expected values and no conflicts.
func TestRandomWindowsInC(t *testing.T) {
	path := build(t, "random_windows.c")
	platforms := []struct{ name, library string }{{"t3d", ""}, {"convex", ""}, {"mbcf-switch", ""}, {"now", ""}, {"loggp", "queue"}, {"loggp", "start"}, {"smp-torus", ""}}
	for i := range 3 * len(platforms) {
		x, seed := platforms[i%len(platforms)], *randomFirst+uint64(i)
		j, err := job.Open(x.name, x.library, 2+i%3, 0)
		if err != nil {
			t.Fatal(err)
		}
		w, err := j.World(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		o := j.MPIOptions("")
		o.Check = mpi.CheckStrict
		if out, err := run(t, w, o, &Program{Path: path, Arguments: []string{fmt.Sprint(seed)}}); err != nil || out != "0 errors\n" {
			t.Errorf("seed %d on %s, library %s, %d ranks: %v\n%s", seed, x.name, j.Library.Name, 2+i%3, err, out)
		}
	}
}
