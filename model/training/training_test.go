package training

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/flow"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/model/workload"
)

// gpt3 is the model of 174.6 billion parameters of Narayanan et al. 2021, table 1.
const gpt3 = `
model: {layers: 96, hidden: 12288, heads: 96, vocabulary: 51200, sequence: 2048}
batch: {micro: 1, count: 8}
rate: 150e12
`

func read(t *testing.T, text string) *Step {
	t.Helper()
	s, err := Parse([]byte(text), "step.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSizesOfGPT3(t *testing.T) {
	s := read(t, gpt3+"recompute: true")
	if n := float64(s.ModelParameters()); math.Abs(n/174.6e9-1) > 0.001 {
		t.Errorf("%g parameters, the paper has 174.6e9", n)
	}
	B, sq, l, h, V := 8.0, 2048.0, 96.0, 12288.0, 51200.0
	if got, want := s.StepOps(), 96*B*sq*l*h*h*(1+sq/(6*h)+V/(16*l*h)); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("%g operations, formula 3 says %g", got, want)
	}
}

func simulate(t *testing.T, s *Step) (*workload.Workload, *flow.Result) {
	t.Helper()
	w, err := s.Workload()
	if err != nil {
		t.Fatal(err)
	}
	res, err := flow.Simulate(w, workload.Expansion{}, flow.Machine{}) // messages take no time
	if err != nil {
		t.Fatal(err)
	}
	return w, res
}

// Without communication a step of m micro-batches on p stages takes m + (p-1)/v times the passes of
// a stage: the bubble of a pipeline (Narayanan et al. 2021, section 2.2).
func TestBubbleOfThePipeline(t *testing.T) {
	for _, c := range []struct {
		parallel string
		stages   int
		chunks   float64
	}{{"{pipeline: 1}", 1, 1}, {"{pipeline: 4}", 4, 1}, {"{pipeline: 8}", 8, 1}, {"{pipeline: 4, interleave: 2}", 4, 2}, {"{pipeline: 4, interleave: 6}", 4, 6}} {
		text := strings.Replace(gpt3, "vocabulary: 51200", "vocabulary: 1", 1) + "parallel: " + c.parallel
		s := read(t, text)
		_, res := simulate(t, s)
		pass := 3 * 96 / float64(c.stages) * (s.AttentionOps() + s.MLPOps()) / s.Rate
		want := pass * (8 + float64(c.stages-1)/c.chunks)
		if got := res.Finish.Micros() / 1e6; math.Abs(got/want-1) > 0.001 {
			t.Errorf("%s: %g s, want %g", c.parallel, got, want)
		}
	}
}

// The operations of all GPUs are those of the step, however it is divided.
func TestAllOperationsAreComputed(t *testing.T) {
	for _, more := range []string{"", "parallel: {tensor: 8, pipeline: 4, data: 2}", "parallel: {tensor: 4, sequence: true, pipeline: 2, interleave: 3, data: 3, zero: 1}\nrecompute: true", "parallel: {data: 16, zero: 3}"} {
		s := read(t, gpt3+more)
		w, res := simulate(t, s)
		var sum unit.Time
		for rank := range w.Ranks {
			sum += res.ComputingTime(rank) / 1000
		}
		if got, want := sum.Micros()/1e3*s.Rate, s.StepOps(); math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%s: %g operations, want %g", more, got, want)
		}
	}
}

// sums returns the bytes of the collective operations of a rank, by operation and group, and of its
// sends.
func sums(w *workload.Workload, rank int) (collectives map[string]int, sends int) {
	collectives = map[string]int{}
	r := w.Ranks[rank]
	for _, o := range r.Program.Ops() {
		switch o.Kind {
		case workload.Collective:
			collectives[o.Operation.String()+" "+w.Groups[r.Groups[o.Peer]].Name] += int(o.Size)
		case workload.Send:
			sends += int(o.Size)
		}
	}
	return collectives, sends
}

// Bytes by hand. Activations of a micro-batch are 2048 · 12288 · 2 B = 48 MiB. A stage of 24 layers
// on 8 GPUs has 24 (12 h² + 13 h) / 8 parameters.
func TestBytesOfParallelism(t *testing.T) {
	const activation, h = 48 << 20, 12288
	layers := 24 * ((4*h*h+8*h)/8 + (8*h*h+5*h)/8)
	vocabulary := 51200 * h / 8
	for _, c := range []struct {
		more, kind string
		rank, want int
	}{
		{"tensor: 8, pipeline: 4, data: 2", "allreduce tensor", 0, 8 * 24 * 4 * activation},
		{"tensor: 8, sequence: true, pipeline: 4, data: 2", "allgather tensor", 0, 8 * 24 * 4 * activation / 8},
		{"tensor: 8, sequence: true, pipeline: 4, data: 2", "reduce-scatter tensor", 0, 8 * 24 * 4 * activation},
		{"tensor: 8, pipeline: 4, data: 2", "allreduce data", 16, 4 * layers},
		{"tensor: 8, pipeline: 4, data: 2", "allreduce data", 0, 4 * (layers + vocabulary)},
		{"tensor: 8, pipeline: 4, data: 2", "allreduce embedding", 0, 4 * vocabulary},
		{"tensor: 8, pipeline: 4, data: 2, zero: 1", "reduce-scatter data", 16, 4 * layers},
		{"tensor: 8, pipeline: 4, data: 2, zero: 1", "allgather data", 16, 2 * layers / 2},
		{"tensor: 8, pipeline: 4, data: 2", "sends", 0, 8 * activation},
		{"tensor: 8, pipeline: 4, data: 2", "sends", 16, 2 * 8 * activation},
		{"tensor: 8, sequence: true, pipeline: 4, data: 2", "sends", 48, 8 * activation / 8},
		{"tensor: 8, pipeline: 4, data: 2, zero: 3", "allgather data", 16, 8 * 2 * 2 * layers / 2},
		{"tensor: 8, pipeline: 4, data: 2, zero: 3", "reduce-scatter data", 16, 8 * 4 * layers},
	} {
		w, err := read(t, gpt3+"parallel: {"+c.more+"}").Workload()
		if err != nil {
			t.Fatal(err)
		}
		collectives, sends := sums(w, c.rank)
		got := collectives[c.kind]
		if c.kind == "sends" {
			got = sends
		}
		if got != c.want {
			t.Errorf("%s: %s of rank %d: %d bytes, want %d", c.more, c.kind, c.rank, got, c.want)
		}
	}
}

// Each token of a micro-batch goes to 2 of 16 experts and back, in both passes.
func TestExperts(t *testing.T) {
	s := read(t, strings.Replace(gpt3, "sequence: 2048", "sequence: 2048, experts: 16", 1)+"parallel: {data: 8, expert: 4}")
	w, err := s.Workload()
	if err != nil {
		t.Fatal(err)
	}
	collectives, _ := sums(w, 5)
	if got, want := collectives["alltoall expert"], 8*96*4*2*(48<<20); got != want {
		t.Errorf("%d bytes between experts, want %d", got, want)
	}
	const h = 12288
	if got, want := collectives["allreduce expert data"], 4*96*4*(8*h*h+5*h); got != want {
		t.Errorf("%d bytes of gradients of experts, want %d", got, want)
	}
	group := w.Groups[w.Ranks[5].Groups[expertGroup]].Ranks
	if len(group) != 4 || group[0] != 4 || group[3] != 7 {
		t.Errorf("experts of rank 5 are on ranks %v", group)
	}
}

func TestWrongSteps(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "step.yaml: the file is empty"},
		{"model: {layers: 1}\nlayers: 3", `step.yaml:2: unknown key "layers"`},
		{"model: {layers: 0}", "model.layers: 0: it is 1 to"},
		{strings.Replace(gpt3, "rate: 150e12", "", 1), "rate: 0: give the operations a second"},
		{gpt3 + "parallel: {tensor: 5}", "parallel.tensor: 5 does not divide model.heads, 96"},
		{gpt3 + "parallel: {pipeline: 5}", "5 stages of 1 chunks do not divide model.layers, 96"},
		{gpt3 + "parallel: {pipeline: 3, interleave: 2}", "parallel.interleave: it needs several stages, and a number of micro-batches that they divide"},
		{gpt3 + "parallel: {sequence: true}", "parallel.sequence: it needs parallel.tensor"},
		{gpt3 + "parallel: {expert: 2, data: 2}", "parallel.expert: the model has no experts"},
		{gpt3 + "parallel: {zero: 4}", "parallel.zero: 4: it is 0 to 3"},
		{gpt3 + "parallel: {tensor: 96, pipeline: 96, data: 1048576}", "GPUs: at most"},
	} {
		if _, err := Parse([]byte(c.text), "step.yaml"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

func BenchmarkStepOf1024(b *testing.B) {
	s, err := Parse([]byte(strings.Replace(gpt3, "count: 8", "count: 64", 1)+"parallel: {tensor: 8, pipeline: 8, data: 16}"), "step.yaml")
	if err != nil {
		b.Fatal(err)
	}
	nodes := make([]int, s.Ranks())
	for i := range nodes {
		nodes[i] = i / 8
	}
	far := model.Parameters{L: 5 * unit.Microsecond, GapPerByte: unit.PerByte(unit.Nanosecond) / 50}
	near := model.Parameters{L: 2 * unit.Microsecond, GapPerByte: unit.PerByte(unit.Nanosecond) / 400}
	m := flow.Machine{Machine: collective.Machine{Parameters: far, IntraNode: &near}, Nodes: collective.NewNodes(nodes)}
	for b.Loop() {
		w, err := s.Workload()
		if err != nil {
			b.Fatal(err)
		}
		res, err := flow.Simulate(w, workload.Expansion{}, m)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(res.Events), "events")
		b.ReportMetric(res.Finish.Micros()/1e6, "s/step")
	}
}

// A stage holds the activations of as many micro-batches as there are stages from it on, and no
// more.
func TestMicroBatchesUnderWay(t *testing.T) {
	s := read(t, gpt3+"parallel: {pipeline: 4}")
	for stage := range 4 {
		open, most := 0, 0
		for _, u := range s.passes(stage) {
			if u.backward {
				open--
			} else {
				open++
			}
			most = max(most, open)
		}
		if want := 4 - stage; most != want || open != 0 {
			t.Errorf("stage %d: %d micro-batches at a time, %d at the end, want %d and 0", stage, most, open, want)
		}
	}
}

// Without communication each rank of a pipeline waits for its bubble alone, (p - 1)/v of the passes
// of a stage, however early or late that is.
func TestWaitingInPipelineIsItsBubble(t *testing.T) {
	for _, c := range []struct{ stages, chunks, count int }{{2, 1, 2}, {4, 1, 8}, {8, 1, 8}, {4, 1, 32}, {4, 2, 8}, {4, 6, 8}, {4, 3, 16}} {
		text := strings.NewReplacer("vocabulary: 51200", "vocabulary: 1", "count: 8", fmt.Sprint("count: ", c.count)).Replace(gpt3)
		s := read(t, text+fmt.Sprintf("parallel: {pipeline: %d, interleave: %d}", c.stages, c.chunks))
		_, res := simulate(t, s)
		times := res.MeanTimes()
		pass := 3 * 96 / float64(c.stages) * (s.AttentionOps() + s.MLPOps()) / s.Rate
		want := pass * float64(c.stages-1) / float64(c.chunks)
		if len(times.Waiting) == 0 || times.Waiting[0].Name != "bubble of the pipeline" || math.Abs(times.Waiting[0].Time.Micros()/1e6/want-1) > 0.002 {
			t.Errorf("%+v: %+v, want a bubble of %g s", c, times.Waiting, want)
		}
		if got := times.Computing + times.ExposedCommunication() + times.WaitingTime(); got != res.Finish || times.ExposedCommunication() > unit.Nanosecond {
			t.Errorf("%+v: %v in all, %v exposed, the step takes %v", c, got, times.ExposedCommunication(), res.Finish)
		}
	}
}
