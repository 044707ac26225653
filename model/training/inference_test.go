package training

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// palm is about the model of 540 billion parameters of Pope et al. 2022, with an MLP of two
// products and attention with a head of keys and values for each of queries.
const palm = `
model: {layers: 118, hidden: 18432, ffn: 73728, heads: 48, vocabulary: 256000}
rate: 275e12
memory: 1.2e12
`

// The operations of a token are twice the parameters of the layers, and of attention 4 l h for each
// token before: Pope et al. 2022, section 2.1. Ranks compute as many.
func TestOperationsOfInference(t *testing.T) {
	const l, h, V = 118.0, 18432.0, 256000.0
	for _, c := range []struct {
		more                    string
		gpus, sequences, p, tok float64
	}{
		{"inference: {prompt: 2048, tokens: 0}", 1, 1, 2048, 0},
		{"inference: {prompt: 100, tokens: 7}\nbatch: {micro: 4, count: 3}\nparallel: {tensor: 8, pipeline: 2, data: 2}", 32, 4 * 3 * 2, 100, 7},
	} {
		s := read(t, strings.Replace(palm, "memory: 1.2e12", "memory: 1e20", 1)+c.more)
		parameters := l * (4*h*h + 2*h*4*h)
		want := c.sequences * ((c.p+c.tok)*2*parameters + (c.tok+1)*2*h*V + 4*l*h*(c.p*c.p+c.tok*c.p+c.tok*(c.tok+1)/2))
		if got := s.StepOps(); math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: %g operations, want %g", c.more, got, want)
		}
		w, res := simulate(t, s)
		if float64(len(w.Ranks)) != c.gpus {
			t.Errorf("%s: %d ranks", c.more, len(w.Ranks))
		}
		var sum unit.Time
		for rank := range w.Ranks {
			sum += res.ComputingTime(rank) / 1000
		}
		if got := sum.Micros() / 1e3 * s.Rate; math.Abs(got/want-1) > 1e-4 {
			t.Errorf("%s: ranks compute %g operations, want %g", c.more, got, want)
		}
	}
}

// A token of few sequences takes the time in which the parameters and the cache are read: the
// memory time of Pope et al. 2022. Eight GPUs read an eighth each.
func TestTokensOfFewSequencesTakeTheMemoryTime(t *testing.T) {
	s := read(t, palm+"inference: {prompt: 2048, tokens: 8}\nbatch: {micro: 4}\nparallel: {tensor: 8}")
	_, res := simulate(t, s)
	const l, h, V, b = 118.0, 18432.0, 256000.0, 4.0
	decode := 0.0
	for c := 2049.0; c <= 2056; c++ {
		bytes := l*(12*h*h+8*h+5*h+b*2*c*h) + V*h
		decode += 2 * bytes / 8 / 1.2e12
	}
	if got := (res.Finish - res.LastEnd(FirstTokenName)).Micros() / 1e6; math.Abs(got/decode-1) > 1e-3 {
		t.Errorf("8 tokens take %g s, want %g", got, decode)
	}
}

// Batches fill a pipeline: as many as there are stages take as long as one alone, but for the last
// stages, and twice as many twice as long.
func TestBatchesFillThePipeline(t *testing.T) {
	perToken := func(batches int) float64 {
		s := read(t, strings.Replace(palm, "118", "120", 1)+fmt.Sprintf("inference: {prompt: 16, tokens: 64}\nbatch: {micro: 2, count: %d}\nparallel: {pipeline: 4}", batches))
		_, res := simulate(t, s)
		return (res.Finish - res.LastEnd(FirstTokenName)).Micros() / 64
	}
	one, four, eight := perToken(1), perToken(4), perToken(8)
	if math.Abs(four/one-1) > 0.05 || math.Abs(eight/one-2) > 0.1 {
		t.Errorf("tokens of 1, 4 and 8 batches take %g, %g and %g us", one, four, eight)
	}
}

// Bytes by hand: two allreduces a layer of b s h elements, and an all-to-all before and after the
// experts of as many for each of two experts.
func TestBytesOfInference(t *testing.T) {
	const moe = "model: {layers: 4, hidden: 1024, heads: 16, vocabulary: 1000, experts: 8}\nrate: 1e14\nmemory: 1e12\n"
	w, err := read(t, moe+"inference: {prompt: 100, tokens: 10}\nbatch: {micro: 2, count: 3}\nparallel: {tensor: 2, pipeline: 2, data: 4, expert: 4}").Workload()
	if err != nil {
		t.Fatal(err)
	}
	const passes = 3 * 2 * 2 * (100 + 10) * 1024 * 2 // batches, layers of a stage, sequences, tokens, elements
	collectives, sends := sums(w, 0)
	if got, want := collectives["allreduce tensor"], 2*passes; got != want {
		t.Errorf("allreduce of %d bytes, want %d", got, want)
	}
	if got, want := collectives["alltoall expert"], 2*2*passes; got != want {
		t.Errorf("all-to-all of %d bytes, want %d", got, want)
	}
	if want := passes / 2; sends != want {
		t.Errorf("the first stage sends %d bytes, want %d", sends, want)
	}
	if _, sends := sums(w, 8); sends != 10*3*2*4 {
		t.Errorf("the last stage sends %d bytes of tokens", sends)
	}
}

func TestWrongInference(t *testing.T) {
	for text, want := range map[string]string{
		"inference: {prompt: 3, tokens: -1}":                        "-1 tokens after prompts of 3",
		"inference: {prompt: 10000000}":                             "at most 65536",
		"inference: {prompt: 3}\nparallel: {zero: 1}":               "parallel.zero: it is for training",
		"inference: {prompt: 3}\nrecompute: true":                   "recompute: it is for training",
		"inference: {prompt: 3, tokens: 60000}\nbatch: {count: 64}": "passes of layers of a stage: at most",
	} {
		if _, err := Parse([]byte(palm+text), "x.yaml"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
	if _, err := Parse([]byte(strings.Replace(palm, "memory: 1.2e12", "", 1)+"inference: {prompt: 3}"), "x.yaml"); err == nil || !strings.Contains(err.Error(), "bytes a second that a GPU reads") {
		t.Errorf("error %v", err)
	}
	if _, err := Parse([]byte(gpt3+"inference: {tokens: 3}"), "x.yaml"); err == nil || !strings.Contains(err.Error(), "give inference.prompt") {
		t.Errorf("error %v", err)
	}
	if _, err := Parse([]byte(gpt3+"memory: 1e12"), "x.yaml"); err == nil || !strings.Contains(err.Error(), "memory: it is for inference") {
		t.Errorf("error %v", err)
	}
}
