package loggp

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/schedule/pattern"
)

func workloadOfPattern(t *testing.T, name string, c pattern.Config) *Workload {
	t.Helper()
	s, err := pattern.Make(name, c)
	if err != nil {
		t.Fatal(err)
	}
	w, err := WorkloadOfSchedule(s, name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// LogGOPS is enough for a message alone, flows are for many messages to one rank, and what is too
// large for packets is left out with the reason.
func TestLevelThatIsEnough(t *testing.T) {
	alone, err := schedule.Read(strings.NewReader("num_ranks 2\nrank 0 {\na: send 1000b to 1\n}\nrank 1 {\na: recv 1000b from 0\n}\n"), "alone.goal", 0)
	if err != nil {
		t.Fatal(err)
	}
	one, err := WorkloadOfSchedule(alone, "alone.goal")
	if err != nil {
		t.Fatal(err)
	}
	step := stepWorkload(t, "model: {layers: 2, hidden: 256, heads: 8, vocabulary: 64, sequence: 128}\nparallel: {tensor: 4, data: 2}\nrate: 1e14\n")
	for _, c := range []struct {
		w    *Workload
		want string
	}{
		{one, "LogGOPS is enough: within 10 % of packets."},
		{workloadOfPattern(t, "incast", pattern.Config{Ranks: 16, Size: 1 << 20}), "Flows are enough: within 10 % of packets."},
		{workloadOfPattern(t, "incast", pattern.Config{Ranks: 64, Size: 1 << 30, Rounds: 8}), "Flows are needed"},
	} {
		levels, err := CompareLevels(t.Context(), c.w, FlowOptions{Platform: "dgx-h100"})
		if err != nil {
			t.Fatal(err)
		}
		if got := levels.Document().Answer; !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q: %+v", got, c.want, levels.Levels)
		}
	}
	levels, err := CompareLevels(t.Context(), step, FlowOptions{Platform: treeFile})
	if err != nil || levels.Levels[2].Finish == 0 {
		t.Errorf("packets do not carry the collective operations of a step: %v, %+v", err, levels.Levels)
	}
	if _, err := CompareLevels(t.Context(), one, FlowOptions{}); err == nil || !strings.Contains(err.Error(), "name one") {
		t.Errorf("error %v", err)
	}
}

// Where nothing is shared, a long message by LogGOPS takes what it takes as packets: G is that of
// long messages, also where a rendezvous costs less than three messages.
func TestLogGOPSOfLongMessages(t *testing.T) {
	for _, platform := range []string{"t3d", "now", "convex", "start-x", "cc-cluster", "hdr-fattree", "slingshot-dragonfly", "roce-clos", "c5n-efa", "ethernet-tcp", "dgx-h100", "gh200"} {
		levels, err := CompareLevels(t.Context(), workloadOfPattern(t, "incast", pattern.Config{Ranks: 2, Size: 1 << 20}), FlowOptions{Platform: platform})
		if err != nil {
			t.Fatal(err)
		}
		if simple, packets := levels.Levels[0].Finish.Micros(), levels.Levels[2].Finish.Micros(); simple < 0.95*packets || simple > 1.12*packets {
			t.Errorf("%s: %g us by LogGOPS, %g us by packets", platform, simple, packets)
		}
	}
}

// Buffers of a step were registered before. Short messages then take by flows what they take as
// packets, and messages that arrive by several rails do not wait for one interface.
func TestFlowsAreNearPacketsWhereBuffersAreRegistered(t *testing.T) {
	for _, c := range []struct {
		name string
		size int
	}{{"ring", 8}, {"halo", 8}, {"exchange", 8}, {"halo", 4 << 10}, {"halo", 8 << 10}, {"incast", 8}, {"incast", 1 << 20}} {
		levels, err := CompareLevels(t.Context(), workloadOfPattern(t, c.name, pattern.Config{Ranks: 16, Size: c.size, Rounds: 1}), FlowOptions{Platform: "dgx-h100"})
		if err != nil {
			t.Fatal(err)
		}
		flows, packets := levels.Levels[1].Finish.Micros(), levels.Levels[2].Finish.Micros()
		if flows < 0.9*packets || flows > 1.1*packets {
			t.Errorf("%s of %d bytes: %g us by flows, %g us by packets", c.name, c.size, flows, packets)
		}
	}
}
