package loggp

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/schedule"
)

// ringWorkload is ranks that each send 1 MiB to the next one.
func ringWorkload(t *testing.T, ranks int) *Workload {
	t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "num_ranks %d\n", ranks)
	for r := range ranks {
		fmt.Fprintf(&text, "rank %d {\na: send 1048576b to %d\nb: recv 1048576b from %d\n}\n", r, (r+1)%ranks, (r+ranks-1)%ranks)
	}
	s, err := schedule.Read(strings.NewReader(text.String()), "ring.goal", 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := WorkloadOfSchedule(s, "ring.goal")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Each switch has four hosts and two cables up, of which the digits of the destination choose one.
// Two jobs of two ranks, on the switches 0 and 1, send by one cable each if their destinations are
// of the same digit, and by two otherwise. On one switch they share nothing.
func TestJobsShareCables(t *testing.T) {
	pair := ringWorkload(t, 2)
	for _, c := range []struct {
		a, b     []int
		slowDown float64
		shared   string // one of the parts, "" if there is none
	}{
		{[]int{0, 4}, []int{2, 6}, 2, "switch"},
		{[]int{0, 4}, []int{1, 5}, 1, ""},
		{[]int{0, 1}, []int{2, 3}, 1, ""},
	} {
		s, err := SimulateJobs(t.Context(), []Job{{pair, "a", c.a}, {pair, "b", c.b}}, FlowOptions{Platform: treeFile})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range s.Jobs {
			if math.Abs(job.SlowDown()-c.slowDown) > 0.1 {
				t.Errorf("%v and %v: %s takes %g times as long, want %g", c.a, c.b, job.Name, job.SlowDown(), c.slowDown)
			}
		}
		if (len(s.Shared) > 0) != (c.shared != "") || len(s.Shared) > 0 && !strings.Contains(s.Shared[0].Name, c.shared) {
			t.Errorf("%v and %v share %v", c.a, c.b, s.Shared)
		}
	}
}

func TestWrongJobs(t *testing.T) {
	pair := ringWorkload(t, 2)
	for _, c := range []struct {
		jobs     []Job
		platform string
		want     string
	}{
		{[]Job{{pair, "a", []int{0, 1}}, {pair, "b", []int{1, 2}}}, treeFile, "rank 1 is one of a and of b"},
		{[]Job{{pair, "a", []int{0, 1, 2}}}, treeFile, "a has 2 ranks, and 3 are named"},
		{[]Job{{pair, "a", []int{0, 16}}}, treeFile, "has at most 16"},
		{[]Job{{pair, "a", []int{0, 1}}}, "", "name one"},
	} {
		if _, err := SimulateJobs(t.Context(), c.jobs, FlowOptions{Platform: c.platform}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	for _, text := range []string{"a.yaml", "@0-3", "a.yaml@", "a.yaml@3-1", "a.yaml@0-x", "a.yaml@-1"} {
		if _, _, err := SplitJob(text); err == nil || !strings.Contains(err.Error(), "as step.yaml@0-31,64-95") {
			t.Errorf("%s: error %v", text, err)
		}
	}
	file, ranks, err := SplitJob("b@x.yaml@0-2,8")
	if err != nil || file != "b@x.yaml" || fmt.Sprint(ranks) != "[0 1 2 8]" {
		t.Errorf("%s %v %v", file, ranks, err)
	}
}
