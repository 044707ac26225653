package loggp

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/schedule/pattern"
	"github.com/loggp/loggp/model/unit"
)

// treeFile is a fat tree of two levels, four cables down of a switch, two up, and 16 hosts.
const treeFile = "model/platform/testdata/fabric.yaml"

// shiftWorkload is messages of 1 MiB from each of 16 ranks to the one four further, which is below
// the next switch.
func shiftWorkload(t *testing.T) *Workload {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, "num_ranks 16")
	for r := range 16 {
		fmt.Fprintf(&text, "rank %d {\na: send 1048576b to %d\nb: recv 1048576b from %d\n}\n", r, (r+4)%16, (r+12)%16)
	}
	s, err := schedule.Read(strings.NewReader(text.String()), "shift.goal", 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := WorkloadOfSchedule(s, "shift.goal")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func stepWorkload(t *testing.T, text string) *Workload {
	t.Helper()
	file := filepath.Join(t.TempDir(), "step.yaml")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := ReadWorkload([]string{file}, WorkloadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func sweepFlows(t *testing.T, w *Workload, o FlowOptions, sweep string) *FlowSweep {
	t.Helper()
	s, err := SweepFlows(t.Context(), w, o, sweep)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Four messages share 4, 2 or 1 cables up, and the busiest part is one of those. With more
// bandwidth they take less, and a failed top switch leaves half of the cables.
func TestSweepOfTheNetwork(t *testing.T) {
	w, o := shiftWorkload(t), FlowOptions{Platform: treeFile}
	s := sweepFlows(t, w, o, "taper=1,2,4")
	for i, p := range s.Points {
		want := float64(int(1)<<i) * s.Points[0].Finish.Micros()
		if got := p.Finish.Micros(); math.Abs(got/want-1) > 0.05 {
			t.Errorf("taper %s: %g us, want %g", p.Value, got, want)
		}
		if i > 0 && !strings.Contains(p.BusiestPart, "switch") || p.BusyShare < 0.9 {
			t.Errorf("taper %s: the busiest part is %s, %g of the time", p.Value, p.BusiestPart, p.BusyShare)
		}
	}
	rates := sweepFlows(t, w, o, "links.bandwidth=10GB/s,20GB/s").Points
	if ratio := rates[0].Finish.Micros() / rates[1].Finish.Micros(); ratio < 1.8 || ratio > 2 {
		t.Errorf("twice the bandwidth is %g times as fast", ratio)
	}
	o.Fail = []string{"switch 4"}
	failing := sweepFlows(t, w, o, "fabric.switch.latency=0.1us").Points[0]
	if ratio := failing.Finish.Micros() / s.Points[1].Finish.Micros(); math.Abs(ratio-2) > 0.1 {
		t.Errorf("without one of two top switches it takes %g times as long", ratio)
	}
}

// A machine of more nodes has a larger network.
func TestSweepOfNodes(t *testing.T) {
	w := shiftWorkload(t)
	for _, name := range []string{treeFile, "hdr-fattree", "dgx-h100", "slingshot-dragonfly"} {
		p, err := LoadPlatform(name)
		if err != nil {
			t.Fatal(err)
		}
		perNode := 1
		if n := p.Machine.Nodes; n != nil {
			perNode = n.Ranks
		}
		larger, err := MachineChanges{Nodes: p.Machine.Ranks.Max/perNode + 1}.change(name, "", "")
		if err != nil || larger.Machine.Ranks.Max != p.Machine.Ranks.Max/perNode*perNode+perNode {
			t.Errorf("%s: %v", name, err)
		}
	}
	points := sweepFlows(t, w, FlowOptions{Platform: treeFile}, "nodes=16,64").Points
	if points[0].Finish != points[1].Finish {
		t.Errorf("ranks in the first nodes take %v and %v", points[0].Finish, points[1].Finish)
	}
}

// More copies of the model with a batch each take as long, and as many parts of one batch take as
// much less, if messages take no time.
func TestWeakAndStrongScaling(t *testing.T) {
	const model = "model: {layers: 4, hidden: 1024, heads: 16, vocabulary: 1, sequence: 512}\nrate: 1e14\n"
	o := FlowOptions{LogGOPS: &schedule.Params{}}
	weak := sweepFlows(t, stepWorkload(t, model+"batch: {count: 8}\n"), o, "data=1,2,4,8")
	strong := sweepFlows(t, stepWorkload(t, model+"batch: {global: 8}\n"), o, "data=1,2,4,8")
	for i := range weak.Points {
		if got, want := weak.Points[i].Finish, weak.Points[0].Finish; got != want || weak.Points[i].Ranks != 1<<i {
			t.Errorf("weak, %d copies: %v, want %v", 1<<i, got, want)
		}
		if got, want := strong.Points[i].Finish.Micros(), strong.Points[0].Finish.Micros()/float64(int(1)<<i); math.Abs(got/want-1) > 1e-3 {
			t.Errorf("strong, %d copies: %g us, want %g", 1<<i, got, want)
		}
	}
	if weak.Chart() == nil {
		t.Error("no chart")
	}
}

// The times of ranks add up to that of all.
func TestTimesOfRanksAddUp(t *testing.T) {
	s, err := pattern.Make("sweep3d", pattern.Config{Ranks: 16, Size: 50_000, Rounds: 3, Compute: 7_000_000})
	if err != nil {
		t.Fatal(err)
	}
	w, err := WorkloadOfSchedule(s, "sweep3d")
	if err != nil {
		t.Fatal(err)
	}
	p := sweepFlows(t, w, FlowOptions{Platform: treeFile}, "taper=4").Points[0]
	if got := p.Times.Computing + p.Times.ExposedCommunication() + p.Times.WaitingTime(); got != p.Finish || p.Times.Computing <= 0 || p.Times.WaitingTime() <= 0 || p.Times.ExposedCommunication() <= 0 {
		t.Errorf("%+v of %v", p.Times, p.Finish)
	}
	if want := 4 * 3 * 7_000_000; int(p.Times.Computing) != want {
		t.Errorf("ranks compute for %v, want %d ps", p.Times.Computing, want)
	}
}

func TestWrongSweeps(t *testing.T) {
	step := stepWorkload(t, "model: {layers: 4, hidden: 1024, heads: 16, vocabulary: 1, sequence: 512}\nrate: 1e14\n")
	for _, c := range []struct {
		w               *Workload
		platform, sweep string
		changes         MachineChanges
		want            string
	}{
		{step, treeFile, "taper=3", MachineChanges{}, "taper 3 of level 1: it does not divide the 4 cables"},
		{step, treeFile, "tapr=2", MachineChanges{}, "did you mean taper"},
		{step, treeFile, "taper", MachineChanges{}, "write a quantity and its values, as taper=1,2,4"},
		{step, treeFile, "taper=1,,2", MachineChanges{}, "write a quantity and its values"},
		{step, treeFile, "rails=2", MachineChanges{}, "has no rails"},
		{step, treeFile, "links.bandwidth=fast", MachineChanges{}, "machine.fabric.links.host.bandwidth"},
		{step, treeFile, "bandwidth=1GB/s", MachineChanges{}, "bandwidth is one of"},
		{step, treeFile, "L=1us,2us", MachineChanges{}, "sweep a number of that file, such as links.latency"},
		{step, treeFile, "nodes=0", MachineChanges{}, `"0" is no number from 1 up`},
		{step, treeFile, "nodes=4", MachineChanges{Nodes: 4}, "give one of them"},
		{step, treeFile, "taper=2", MachineChanges{Fail: []string{"switch 77"}}, "the fattree has 6 switches"},
		{step, treeFile, "taper=2", MachineChanges{Fail: []string{"host 3 to switch 0"}}, "host 3 to switch 0: no route between the other hosts and host 3"},
		{step, "t3d", "taper=2", MachineChanges{}, "only fabrics of kind fattree and rails have a taper"},
		{step, "t3d", "hop=1us", MachineChanges{Fail: []string{"link 1"}}, "is no graph of links"},
		{step, "", "data=-1", MachineChanges{}, "parallel.data: -1: it is 1 to"},
		{step, "", "sequence=64", MachineChanges{}, "sequence is one of model.sequence, parallel.sequence"},
		{step, "", "tenser=64", MachineChanges{}, "there is no quantity"},
		{step, "", "data=2", MachineChanges{Nodes: 2}, "it needs a platform"},
		{shiftWorkload(t), treeFile, "data=2", MachineChanges{}, "there is no quantity"},
		{shiftWorkload(t), treeFile, "nodes=2", MachineChanges{}, "name a machine of more nodes"},
	} {
		_, err := SweepFlows(t.Context(), c.w, FlowOptions{Platform: c.platform, MachineChanges: c.changes}, c.sweep)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: error %v, want %q", c.platform, c.sweep, err, c.want)
		}
	}
}

// A message takes the latency of two links of hosts and of two trunks. A time that is longer by
// some part allows links of hosts half of that more.
func TestLatencyToleranceOfFlows(t *testing.T) {
	w := ringWorkload(t, 2)
	o := FlowOptions{Platform: treeFile, Tolerances: []float64{0.01, 0.5}}
	reports, last := 0, 0
	o.Progress = func(done, total int) {
		if done < last || done > total {
			t.Errorf("progress: %d after %d of %d", done, last, total)
		}
		reports, last = reports+1, done
	}
	before, err := SimulateFlows(t.Context(), w, o)
	if err != nil || reports < len(o.Tolerances) {
		t.Fatal(reports, err)
	}
	for _, part := range o.Tolerances {
		longest := before.Result.Finish + unit.Time(part*float64(before.Result.Finish))
		latency, ok, err := o.tolerance(t.Context(), w, unit.Microsecond/10, before.Result.Finish, longest, func(int) {})
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		for factor, isLonger := range map[float64]bool{0.97: false, 1.03: true} {
			other := FlowOptions{Platform: treeFile, hostLatency: unit.Time(factor * float64(latency))}
			res, _, err := other.simulate(t.Context(), w, "", "")
			if err != nil {
				t.Fatal(err)
			}
			if (res.Finish > longest) != isLonger {
				t.Errorf("%g %%: with %g times %v it takes %v, and %v are allowed", 100*part, factor, latency, res.Finish, longest)
			}
		}
	}
	computing := stepWorkload(t, "model: {layers: 2, hidden: 64, heads: 8, vocabulary: 64, sequence: 128}\nrate: 1e12\n")
	alone, err := SimulateFlows(t.Context(), computing, FlowOptions{Platform: treeFile, Tolerances: []float64{0.01}})
	if err != nil || alone.Result.Finish == 0 {
		t.Error(err)
	}
	o.Platform = "t3d"
	if _, err := SimulateFlows(t.Context(), w, o); err == nil || !strings.Contains(err.Error(), "Tolerance: flows tell it of a platform") {
		t.Errorf("error %v", err)
	}
}
