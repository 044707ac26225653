// Package training makes workloads of training steps of transformers, and of inference: what each
// GPU computes and communicates under tensor, sequence, pipeline, data and expert parallelism, from
// the sizes of the model.
//
// Formulas are those of Megatron-LM (Narayanan et al., Efficient Large-Scale Language Model
// Training on GPU Clusters Using Megatron-LM, SC 2021; Korthikanti et al., Reducing Activation
// Recomputation in Large Transformer Models, 2022) and of ZeRO (Rajbhandari et al., ZeRO: Memory
// Optimizations Toward Training Trillion Parameter Models, SC 2020), and of inference those of Pope
// et al., Efficiently Scaling Transformer Inference, 2022. Each is at the function that
// has it. A GPU computes at one rate, which a user gives; the package does not model kernels.
package training

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Step describes a training step: a model, how it is divided among GPUs, and how fast these
// compute.
type Step struct {
	Model struct {
		Layers     int `yaml:"layers"`
		Hidden     int `yaml:"hidden"`     // h: elements of an activation
		FFN        int `yaml:"ffn"`        // elements between the two products of an MLP; 0: 4 h
		Heads      int `yaml:"heads"`      // of attention; tensor parallelism divides them
		Vocabulary int `yaml:"vocabulary"` // V
		Sequence   int `yaml:"sequence"`   // s: tokens
		Experts    int `yaml:"experts"`    // of each MLP; 0: it is dense
		TopK       int `yaml:"top_k"`      // experts to which a token goes; 0: 2 if there are experts
	} `yaml:"model"`
	Batch struct {
		Micro  int `yaml:"micro"`  // b: sequences of a micro-batch
		Count  int `yaml:"count"`  // m: micro-batches of a step, of each copy of the model
		Global int `yaml:"global"` // B: sequences of a step of all copies, from which Count follows; 0: Count is given
	} `yaml:"batch"`
	Parallel struct {
		Tensor     int  `yaml:"tensor"`
		Sequence   bool `yaml:"sequence"` // activations are divided along the sequence outside of products
		Pipeline   int  `yaml:"pipeline"`
		Interleave int  `yaml:"interleave"` // v: chunks of layers of each stage; 0: 1
		Data       int  `yaml:"data"`
		Expert     int  `yaml:"expert"` // ranks of data parallelism that share the experts; 0: 1
		Zero       int  `yaml:"zero"`   // stage of ZeRO, 0 to 3
	} `yaml:"parallel"`
	Bytes struct {
		Activation int `yaml:"activation"` // of an element; 0: 2
		Gradient   int `yaml:"gradient"`   // 0: 4
		Parameter  int `yaml:"parameter"`  // 0: 2
		Bucket     int `yaml:"bucket"`     // gradients that are combined together; 0: those of a layer
	} `yaml:"bytes"`
	Inference struct {
		Prompt int `yaml:"prompt"` // tokens of each sequence that are there; 0: the step trains
		Tokens int `yaml:"tokens"` // that are generated for each sequence, after the one that follows the prompt
	} `yaml:"inference"`
	Memory    float64 `yaml:"memory"`    // bytes a second that a GPU reads of its memory, for inference
	Rate      float64 `yaml:"rate"`      // operations a second that a GPU reaches in products
	Recompute bool    `yaml:"recompute"` // the backward pass computes activations again
}

// MaxConfigBytes is the most bytes of a file of a step.
const MaxConfigBytes = 1 << 20

// ReadText reads the text of a step.
func ReadText(in io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxConfigBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(text) > MaxConfigBytes {
		return nil, fmt.Errorf("%s: more than %d bytes", name, MaxConfigBytes)
	}
	return text, nil
}

// Parse reads a step from a text.
func Parse(text []byte, name string) (*Step, error) {
	s := &Step{}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(s); err != nil {
		return nil, rewordYAMLError(name, err)
	}
	if s.Batch.Global != 0 && s.Batch.Count != 0 {
		return nil, fmt.Errorf("%s: batch.count and batch.global: give one of them", name)
	}
	s.setDefaults()
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// yamlLine is how an error of the decoder begins, and unknownField one of a key that no field has.
var (
	yamlLine     = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
	unknownField = regexp.MustCompile(`field (\S+) not found in type \S+`)
)

// rewordYAMLError puts file and line before an error of the decoder, and names keys in place of
// Go's types.
func rewordYAMLError(name string, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: the file is empty: docs/training.md lists the keys of a step", name)
	}
	texts := []string{err.Error()}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		texts = several.Errors
	}
	for i, text := range texts {
		if at := yamlLine.FindStringSubmatch(text); at != nil {
			text = fmt.Sprintf("%s:%s: %s", name, at[1], text[len(at[0]):])
		} else {
			text = name + ": " + text
		}
		texts[i] = unknownField.ReplaceAllString(text, `unknown key "$1": docs/training.md lists those that there are`)
	}
	return errors.New(strings.Join(texts, "\n"))
}

func (s *Step) setDefaults() {
	set := func(to *int, value int) {
		if *to == 0 {
			*to = value
		}
	}
	set(&s.Model.FFN, 4*s.Model.Hidden)
	if s.isInference() {
		set(&s.Model.Sequence, s.Inference.Prompt+s.Inference.Tokens)
	}
	if s.Model.Experts > 0 {
		set(&s.Model.TopK, 2)
	}
	for _, n := range []*int{&s.Parallel.Tensor, &s.Parallel.Pipeline, &s.Parallel.Interleave, &s.Parallel.Data, &s.Parallel.Expert, &s.Batch.Micro} {
		set(n, 1)
	}
	if perMicroBatch := s.Batch.Micro * s.Parallel.Data; perMicroBatch > 0 {
		set(&s.Batch.Count, s.Batch.Global/perMicroBatch)
	}
	if s.Batch.Global == 0 {
		set(&s.Batch.Count, 1)
	}
	set(&s.Bytes.Activation, 2)
	set(&s.Bytes.Gradient, 4)
	set(&s.Bytes.Parameter, 2)
}

// Limits of a step.
const (
	maxLayers = 1 << 12
	maxCount  = 1 << 12
	maxWidth  = 1 << 24
	maxRanks  = 1 << 20
)

// Check returns what is wrong with a step whose defaults are set.
func (s *Step) Check() error {
	var wrong error
	check := func(is bool, format string, args ...any) {
		if !is {
			wrong = errors.Join(wrong, fmt.Errorf(format, args...))
		}
	}
	between := func(key string, n, low, high int) {
		check(n >= low && n <= high, "%s: %d: it is %d to %d", key, n, low, high)
	}
	m, p := &s.Model, &s.Parallel
	between("model.layers", m.Layers, 1, maxLayers)
	between("model.hidden", m.Hidden, 1, maxWidth)
	between("model.ffn", m.FFN, 1, maxWidth)
	between("model.heads", m.Heads, 1, maxWidth)
	between("model.vocabulary", m.Vocabulary, 1, maxWidth)
	between("model.sequence", m.Sequence, 1, maxWidth)
	between("model.experts", m.Experts, 0, maxWidth)
	between("batch.micro", s.Batch.Micro, 1, maxCount)
	check(s.Batch.Global == 0 || s.Batch.Count > 0 && s.Batch.Global == s.Batch.Count*s.Batch.Micro*p.Data,
		"batch.global: %d: it is a multiple of batch.micro and parallel.data, %d · %d", s.Batch.Global, s.Batch.Micro, p.Data)
	if s.Batch.Global == 0 {
		between("batch.count", s.Batch.Count, 1, maxCount)
	}
	check(s.Batch.Count <= maxCount, "batch.global: %d micro-batches of each copy: at most %d", s.Batch.Count, maxCount)
	for _, x := range []struct {
		key string
		n   int
	}{{"parallel.tensor", p.Tensor}, {"parallel.pipeline", p.Pipeline}, {"parallel.interleave", p.Interleave}, {"parallel.data", p.Data}, {"parallel.expert", p.Expert}} {
		between(x.key, x.n, 1, maxRanks)
	}
	between("parallel.zero", p.Zero, 0, 3)
	between("bytes.activation", s.Bytes.Activation, 1, 8)
	between("bytes.gradient", s.Bytes.Gradient, 1, 8)
	between("bytes.parameter", s.Bytes.Parameter, 1, 8)
	check(s.Bytes.Bucket >= 0, "bytes.bucket: %d: it is 0 or more", s.Bytes.Bucket)
	check(s.Rate > 0 && s.Rate < 1e21, "rate: %g: give the operations a second that a GPU reaches, such as 400e12", s.Rate)
	if wrong != nil {
		return wrong
	}
	check(p.Tensor*p.Pipeline <= maxRanks/p.Data, "%d · %d · %d GPUs: at most %d", p.Tensor, p.Pipeline, p.Data, maxRanks)
	check(m.Heads%p.Tensor == 0, "parallel.tensor: %d does not divide model.heads, %d", p.Tensor, m.Heads)
	check(m.Hidden%p.Tensor == 0 && m.FFN%p.Tensor == 0, "parallel.tensor: %d does not divide model.hidden and model.ffn", p.Tensor)
	check(m.Layers%(p.Pipeline*p.Interleave) == 0, "parallel: %d stages of %d chunks do not divide model.layers, %d", p.Pipeline, p.Interleave, m.Layers)
	check(p.Interleave == 1 || p.Pipeline > 1 && s.Batch.Count%p.Pipeline == 0, "parallel.interleave: it needs several stages, and a number of micro-batches that they divide")
	check(!p.Sequence || p.Tensor > 1 && m.Sequence%p.Tensor == 0, "parallel.sequence: it needs parallel.tensor, which divides model.sequence")
	check(p.Expert == 1 || m.Experts > 0, "parallel.expert: the model has no experts")
	check(m.Experts == 0 || m.Experts%p.Expert == 0, "parallel.expert: %d does not divide model.experts, %d", p.Expert, m.Experts)
	check(p.Data%p.Expert == 0, "parallel.expert: %d does not divide parallel.data, %d", p.Expert, p.Data)
	s.checkInference(check)
	check(m.TopK <= m.Experts, "model.top_k: %d of %d experts", m.TopK, m.Experts)
	return wrong
}

// Ranks returns the number of GPUs.
func (s *Step) Ranks() int { return s.Parallel.Tensor * s.Parallel.Pipeline * s.Parallel.Data }
