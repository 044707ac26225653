package loggp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/platform/edit"
	"github.com/loggp/loggp/model/schedule"
)

// randomSchedule is rounds in which each rank sends to some others, as many messages as it
// receives, and then computes. A round begins at a rank when it has ended the one before.
func randomSchedule(t *testing.T, random *rand.Rand, ranks int) *schedule.Schedule {
	t.Helper()
	ops := make([][]string, ranks) // of the last round, by rank
	text := make([]strings.Builder, ranks)
	number := make([]int, ranks)
	add := func(rank int, op string, before []string) string {
		name := fmt.Sprint("o", number[rank])
		number[rank]++
		fmt.Fprintf(&text[rank], "%s: %s\n", name, op)
		for _, b := range before {
			fmt.Fprintf(&text[rank], "%s requires %s\n", name, b)
		}
		return name
	}
	for range 1 + random.IntN(4) {
		next := make([][]string, ranks)
		size := 1 << random.IntN(21)
		for range 1 + random.IntN(5) {
			shift := 1 + random.IntN(ranks-1)
			for r := range ranks {
				to, from := (r+shift)%ranks, (r+ranks-shift)%ranks
				next[r] = append(next[r], add(r, fmt.Sprintf("recv %db from %d", size, from), ops[r]))
				next[r] = append(next[r], add(r, fmt.Sprintf("send %db to %d", size, to), ops[r]))
			}
		}
		ops = next
	}
	var goal strings.Builder
	fmt.Fprintf(&goal, "num_ranks %d\n", ranks)
	for r := range ranks {
		fmt.Fprintf(&goal, "rank %d {\n%s}\n", r, text[r].String())
	}
	s, err := schedule.Read(strings.NewReader(goal.String()), "random.goal", 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withoutRegistration writes a platform whose interfaces know all buffers, as closed forms assume,
// and returns its file.
func withoutRegistration(t *testing.T, name string) string {
	t.Helper()
	d, err := edit.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	var free []edit.Assumption
	for _, n := range d.Numbers {
		if strings.HasSuffix(n.Path, ".register.start") || strings.HasSuffix(n.Path, ".register.page_time") {
			free = append(free, edit.Assumption{Path: n.Path, Value: "0ns", Why: "a test"})
		}
	}
	text, err := d.Assume(free)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "platform.yaml")
	if err := os.WriteFile(file, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// Flows share processors, interfaces and links as packets do: of random exchanges by eager messages
// and rendezvous they take nearly as long.
func TestFlowsAreNearPackets(t *testing.T) {
	for _, name := range []string{"dgx-h100", "hdr-fattree", "roce-clos", "gh200", "c5n-efa", treeFile} {
		const seed = 3
		random := rand.New(rand.NewPCG(seed, 5))
		p, err := LoadPlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		ranks, file := min(12, p.Machine.Ranks.Max), withoutRegistration(t, name)
		j, err := openScheduleJob(file, "", ranks, nil)
		if err != nil {
			t.Fatal(err)
		}
		var ratios []float64
		for range 6 {
			s := randomSchedule(t, random, ranks)
			w, err := WorkloadOfSchedule(s, "random")
			if err != nil {
				t.Fatal(err)
			}
			flows, err := SimulateFlows(t.Context(), w, FlowOptions{Platform: file})
			if err != nil {
				t.Fatal(err)
			}
			finish, err := runSchedule(t.Context(), j, s)
			if err != nil {
				t.Fatal(err)
			}
			ratios = append(ratios, flows.Result.Finish.Micros()/slices.Max(finish).Micros())
		}
		slices.Sort(ratios)
		t.Logf("%s: flows / packets %.2f", name, ratios)
		if ratios[0] < 0.7 || ratios[len(ratios)-1] > 1.25 || ratios[len(ratios)/2] < 0.8 {
			t.Errorf("%s, seed %d: flows take %.2f of the times of packets", name, seed, ratios)
		}
	}
}
