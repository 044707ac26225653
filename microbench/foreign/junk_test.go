package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Of a large file, patterns are tried on the lines that have the literal of a format, each once,
// and on none that is too long to be a tool's.
func TestPatternsAreTriedOnFewLines(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "line %d of a log\n", i)
	}
	text.WriteString("algbw algbw algbw\nno algbw" + strings.Repeat(" long", maxLineBytes) + "\nthe last: algbw")
	var tried []string
	matches := func(line string) bool {
		tried = append(tried, line)
		return strings.HasPrefix(line, "the last")
	}
	if !hasLine(text.String(), "algbw", matches) {
		t.Error("the last line was not found")
	}
	if got := strings.Join(tried, "; "); got != "algbw algbw algbw; the last: algbw" {
		t.Errorf("tried were %.200s", got)
	}
}

// Words that stand for patterns are in each line that these match.
func TestWordsAreInAllMatches(t *testing.T) {
	for _, line := range []string{
		"mpirun -n 4 ./a", "mpiexec -n 4 ./a", "mpiexec.hydra -n 4 ./a", "mpirun_rsh -n 4 ./a", "orterun -n 4 ./a", "prterun -n 4 ./a", "prun -n 4 ./a", "srun -n 4 ./a", "aprun -n 4 ./a", "jsrun -n 4 ./a", "lrun -n 4 ./a", "ibrun -n 4 ./a", "flux run -n 4 ./a", "flux mini run -n 4 ./a",
		"$ osu_latency", "$ IMB-MPI1", "$ all_reduce_perf", "$ all_reduce_perf_mpi", "$ ib_send_lat", "$ fi_pingpong", "$ ucx_perftest", "$ ucxx_perftest", "$ mpiBench", "$ network_test", "$ network_load_test",
	} {
		if launcherPattern.FindString(" "+line) == "" && benchmarkProgramPattern.FindString(line) == "" {
			t.Errorf("%s is no command", line)
		}
		if !containsAny(line, commandLiterals) {
			t.Errorf("%s has none of %q", line, commandLiterals)
		}
	}
	for _, line := range []string{"openmpi/4.1", "Open MPI: 4.1", "MPICH: 4.0", "mvapich2/2.3", "MVAPICH-Plus/3.0", "intel-mpi/2021.1", "intel-oneapi-mpi@2021.1", "impi/2019", "hpcx-mpi/2.1", "HPCX/2.1", "cray-mpich/8.1", "spectrum-mpi/10.4", "MPT/2.25"} {
		if name, version := findLibrary(line); name == "" || version == "" {
			t.Errorf("%s names no library", line)
		}
	}
}

// BenchmarkImportJunk imports 64 MiB that no tool has printed, and the same behind a table.
func BenchmarkImportJunk(b *testing.B) {
	table, err := os.ReadFile(filepath.Join("testdata", "osu-latency.txt"))
	if err != nil {
		b.Fatal(err)
	}
	const line = "some words of a log that is no table: 12 34 x\n"
	junk := strings.Repeat(line, (MaxFileBytes-len(table))/len(line))
	for name, text := range map[string]string{"junk": junk, "table": string(table) + junk} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Import([]File{{"junk.txt", strings.NewReader(text)}}, Options{})
			}
		})
	}
}
