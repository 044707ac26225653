package journeys_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
)

// runPage runs the C program jacobi and returns the page of the run and its trace events.
func runPage(t *testing.T, platform, ranks string, program ...string) (page, events string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "page")
	commandtest.MustRun(t, "", append([]string{"run", "--platform", platform, "-n", ranks, "--profile", "-o", dir}, program...)...)
	var texts []string
	for _, name := range []string{"index.html", "trace.json"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	return texts[0], texts[1]
}

// The first sentence of the page of a run names the call in which ranks wait, and the rank for
// which they do: a rank computes 1.4 times as long as the others, 14 ms of each round of about
// 14.5.
func TestRunPageNamesBottleneck(t *testing.T) {
	t.Parallel()
	if !commandtest.CanCompile(t) {
		t.Skip("C programs cannot be compiled here")
	}
	path := filepath.Join(t.TempDir(), "jacobi")
	commandtest.MustRun(t, "", "cc", "-g", "-w", "../../../impl/program/cprog/testdata/jacobi.c", "-o", path)
	for _, platform := range []string{"t3d", "hdr-fattree"} {
		page, events := runPage(t, platform, "64", path, "20", "17")
		answer := strings.ReplaceAll(regexp.MustCompile(`<p class="answer">(.*?)</p>`).FindString(page), "\u00a0", " ")
		want := regexp.MustCompile(`<p class="answer">(2[5-9]) % of the time ranks wait in MPI_Allreduce for rank 17, which computes 1\.4 times as long as the median rank\. The run takes 2[89]\d(\.\d)? ms`)
		if !want.MatchString(answer) {
			t.Errorf("%s: the answer is %q", platform, answer)
		}
		for _, want := range []string{">MPI_Waitall<", ">MPI_Isend<", ">MPI_Cart_create<", "Communication matrix"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: the page does not have %q", platform, want)
			}
		}
		for _, wrong := range []string{"WaitAll", "Settle", "Topology", "DrainOperations", "are left out"} {
			if strings.Contains(page, wrong) {
				t.Errorf("%s: the page has %q", platform, wrong)
			}
		}
		if len(page) > 3<<20 || len(events) > 5_000_000 {
			t.Errorf("%s: the page has %d bytes, its trace events %d", platform, len(page), len(events))
		}
	}
}

// A page of thousands of ranks is short, and says for which part of the run it has calls and
// messages.
func TestRunPageOfThousandsOfRanks(t *testing.T) {
	t.Parallel()
	commandtest.SkipShort(t, "thousands of ranks")
	page, events := runPage(t, "hdr-fattree", "4096", "--rounds", "2", "stencil")
	if len(page) > 6<<20 || len(events) > 5_000_000 {
		t.Errorf("the page has %d bytes, its trace events %d", len(page), len(events))
	}
	if !strings.Contains(page, "Each row is 8 ranks") {
		t.Error("the page does not say what its rows are")
	}
}
