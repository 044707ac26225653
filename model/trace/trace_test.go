package trace

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/workload"
)

// openFiles returns the files of testdata that match a pattern.
func openFiles(t *testing.T, pattern string) []File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(names) == 0 {
		t.Fatal(pattern, err)
	}
	var files []File
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, File{name, bytes.NewReader(text)})
	}
	return files
}

func simulate(t *testing.T, w *workload.Workload, params string) (*schedule.Schedule, *schedule.Result) {
	t.Helper()
	s, err := w.Schedule(workload.Expansion{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := schedule.ParseParams(params)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Simulate(schedule.Options{Params: p})
	if err != nil {
		t.Fatal(err)
	}
	return s, res
}

// sentBytes returns the messages and bytes that each rank sends.
func sentBytes(s *schedule.Schedule) (messages, bytes []int) {
	messages, bytes = make([]int, s.CountRanks()), make([]int, s.CountRanks())
	for rank := range messages {
		for _, o := range s.OpsOfRank(rank) {
			if o.Kind == schedule.Send {
				messages[rank]++
				bytes[rank] += int(o.Size)
			}
		}
	}
	return messages, bytes
}

// switchOfH100 is the switch of the samples: two links of 936.25 ns, and 400 GB/s.
const switchOfH100 = "L=1872.5ns,G=0.0025ns"

func TestSamplesSendWhatTheirCollectivesNeed(t *testing.T) {
	const mib = 1 << 20
	step := func(bytes, G float64) float64 { return 1872.5 + (bytes-1)*G } // L + (k-1) G, in ns
	for _, c := range []struct {
		files           string
		messages, bytes int
		ns              float64
	}{
		{"all_reduce_8.*.et", 14, 14 * mib / 8, 14 * step(mib/8, 0.0025)},
		{"all_to_all_4.*.et", 3, 3 * mib / 4, 3 * step(mib/4, 0.0025)},
		{"ring_allreduce_8.*.et", 14, 14 * mib / 8, 14*step(mib/8, 0.0025) + 7*7000}, // each part is combined in 7 us
	} {
		w, report, err := Read(openFiles(t, c.files), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Warnings()) > 0 {
			t.Errorf("%s: %q", c.files, report.Warnings())
		}
		s, res := simulate(t, w, switchOfH100)
		messages, bytes := sentBytes(s)
		for rank := range messages {
			if messages[rank] != c.messages || bytes[rank] != c.bytes {
				t.Errorf("%s: rank %d sends %d messages and %d bytes, want %d and %d", c.files, rank, messages[rank], bytes[rank], c.messages, c.bytes)
			}
		}
		if ns := res.LastFinish.Micros() * 1000; math.Abs(ns-c.ns) > 0.02 { // times are whole picoseconds
			t.Errorf("%s: it takes %.3f ns, want %.3f", c.files, ns, c.ns)
		}
	}
}

// The step computes for 292.828 ms on stream 7 of the device. On the device of one rank collective
// operations take no time.
func TestTrainingStep(t *testing.T) {
	for _, ranks := range []int{1, 8} {
		w, report, err := Read(openFiles(t, "training_step.0.et.gz"), Options{Ranks: ranks})
		if err != nil {
			t.Fatal(err)
		}
		want := Report{Files: 1, Nodes: 3664, HostOps: 2448, Streams: 4, StreamEdges: report.StreamEdges, DroppedDependencies: 1277, DroppedControl: 982, UntimedNodes: 157, HostCalls: 14, RepeatedRanks: ranks - 1}
		if *report != want {
			t.Errorf("%d ranks: report %+v, want %+v", ranks, *report, want)
		}
		_, res := simulate(t, w, switchOfH100)
		if ms := res.LastFinish.Micros() / 1000; ms < 292.828 || ms > 320 {
			t.Errorf("%d ranks: the step takes %g ms", ranks, ms)
		}
		if n := countCollectives(w); n != 7*ranks {
			t.Errorf("%d ranks: %d collective operations, want %d", ranks, n, 7*ranks)
		}
	}
}

func countCollectives(w *workload.Workload) (n int) {
	for _, r := range w.Ranks {
		for _, o := range r.Program.Ops() {
			if o.Kind == workload.Collective {
				n++
			}
		}
	}
	return n
}
