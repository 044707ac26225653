package training

import (
	"fmt"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/workload"
)

// Limits of inference.
const (
	maxTokens        = 1 << 16
	maxInferencePass = 1 << 22 // passes of layers of a stage
)

// isInference reports whether the step generates tokens and does not train.
func (s *Step) isInference() bool { return s.Inference.Prompt > 0 }

// checkInference returns what is wrong with the keys of inference, and with those of training that
// have no effect on it.
func (s *Step) checkInference(check func(is bool, format string, args ...any)) {
	x := &s.Inference
	if !s.isInference() {
		check(x.Tokens == 0, "inference.tokens: give inference.prompt, the tokens of a prompt, too")
		check(s.Memory == 0, "memory: it is for inference")
		return
	}
	check(x.Prompt <= maxTokens && x.Tokens >= 0 && x.Tokens <= maxTokens, "inference: %d tokens after prompts of %d: at most %d", x.Tokens, x.Prompt, maxTokens)
	check(s.Memory > 0 && s.Memory < 1e21, "memory: %g: give the bytes a second that a GPU reads of its memory, such as 2.6e12", s.Memory)
	for _, key := range []struct {
		name   string
		unused bool
	}{{"parallel.sequence", !s.Parallel.Sequence}, {"parallel.interleave", s.Parallel.Interleave == 1}, {"parallel.zero", s.Parallel.Zero == 0}, {"bytes.bucket", s.Bytes.Bucket == 0}, {"recompute", !s.Recompute}} {
		check(key.unused, "%s: it is for training: leave it out", key.name)
	}
	passes := (x.Tokens + 1) * s.Batch.Count * s.Model.Layers / s.Parallel.Pipeline
	check(passes <= maxInferencePass, "inference.tokens: %d passes of layers of a stage: at most %d. Fewer tokens tell as much, each takes nearly as long as the one before", passes, maxInferencePass)
}

// inferenceOps returns the operations of all GPUs: of a prompt those of a forward pass, and then of
// each token those with the keys and values of all before it. Only the last token of a prompt is
// multiplied with the vocabulary.
func (s *Step) inferenceOps() float64 {
	sequences := float64(s.Batch.Micro)
	prompt := float64(s.Inference.Prompt)
	ops := float64(s.Model.Layers)*(s.attentionOps(sequences*prompt, prompt)+s.mlpOps(sequences*prompt)) + s.logitOps(sequences)
	for t := range s.Inference.Tokens {
		ops += float64(s.Model.Layers)*(s.attentionOps(sequences, prompt+float64(t+1))+s.mlpOps(sequences)) + s.logitOps(sequences)
	}
	return ops * float64(s.Batch.Count) * float64(s.Parallel.Data)
}

// attentionBytes returns the bytes that a GPU reads for the attention of a layer: its part of the
// parameters, and of the keys and values of all tokens before, 2 b c h elements (Pope et al. 2022,
// section 2.1).
func (s *Step) attentionBytes(context int) float64 {
	cache := 2 * float64(s.Batch.Micro) * float64(context) * float64(s.Model.Hidden) * float64(s.Bytes.Activation)
	return (float64(s.AttentionParameters()*s.Bytes.Parameter) + cache) / float64(s.Parallel.Tensor)
}

// mlpBytes returns the bytes of parameters that a GPU reads for the MLP of a layer: of experts
// those that tokens go to, as many as there are tokens at most. Each GPU gets as many tokens as it
// sends.
func (s *Step) mlpBytes(tokens int) float64 {
	experts := 1
	if s.Model.Experts > 0 {
		experts = min(s.Model.Experts/s.Parallel.Expert, tokens*s.Model.TopK)
	}
	return float64(experts) * float64(s.ExpertParameters()*s.Bytes.Parameter) / float64(s.Parallel.Tensor)
}

// logitBytes returns the bytes that a GPU reads for the product with the vocabulary.
func (s *Step) logitBytes() float64 {
	return float64(s.Model.Vocabulary) * float64(s.Model.Hidden) * float64(s.Bytes.Parameter) / float64(s.Parallel.Tensor)
}

// Names of operations at whose ends tokens are there.
const (
	FirstTokenName = "prefill logits"
	NextTokenName  = "decode logits"
)

// addInference adds the passes of a stage: the prompts of all batches, and then a token of each
// batch in turn. The first stage waits for a token of the last before it begins the next of that
// batch.
func (b *stageProgram) addInference() {
	for step := range b.Inference.Tokens + 1 {
		for batch := range b.Batch.Count {
			b.inferencePass(step, batch)
		}
	}
}

// inferencePass adds the pass of a batch through a stage: of its prompt in step 0, of one token of
// each sequence in later ones. GPUs of a tensor group combine the activations after the attention
// and after the MLP (Shoeybi et al. 2019; the one-dimensional layout of Pope et al. 2022, section
// 3.2.1), and experts of other GPUs get the tokens by an all-to-all and return them by another one
// (Lepikhin et al., GShard, 2020).
func (b *stageProgram) inferencePass(step, batch int) {
	b.hasLast = false
	name, tokens, context := "prefill", b.Batch.Micro*b.Inference.Prompt, b.Inference.Prompt
	if step > 0 {
		name, tokens, context = "decode", b.Batch.Micro, b.Inference.Prompt+step
	}
	const idBytes = 4 // of a token that was chosen
	activations := tokens * b.Model.Hidden * b.Bytes.Activation
	ids := b.Batch.Micro * idBytes
	stages, tag := b.Parallel.Pipeline, uint32(step*b.Batch.Count+batch)
	switch {
	case b.stage > 0:
		b.addInOrder("receive activations", workload.Op{Kind: workload.Recv, Size: uint64(activations), Peer: previousStage, Tag: tag, Stream: forwardRecvStream})
	case stages > 1 && step > 0:
		b.addInOrder("receive tokens", workload.Op{Kind: workload.Recv, Size: uint64(ids), Peer: previousStage, Tag: tag - uint32(b.Batch.Count), Stream: forwardRecvStream})
	}
	for range b.Model.Layers / stages {
		b.computeFromMemory(name+" attention", b.attentionOps(float64(tokens), float64(context)), b.attentionBytes(context))
		b.addCollective(name+" combine", collective.Allreduce, tensorGroup, activations)
		if b.Model.Experts > 0 {
			b.addCollective(name+" dispatch", collective.Alltoall, expertGroup, activations*b.Model.TopK)
		}
		b.computeFromMemory(name+" MLP", b.mlpOps(float64(tokens)), b.mlpBytes(tokens))
		if b.Model.Experts > 0 {
			b.addCollective(name+" return", collective.Alltoall, expertGroup, activations*b.Model.TopK)
		}
		b.addCollective(name+" combine", collective.Allreduce, tensorGroup, activations)
	}
	if b.stage < stages-1 {
		b.addOp("send activations", workload.Op{Kind: workload.Send, Size: uint64(activations), Peer: nextStage, Tag: tag, Stream: forwardSendStream})
		return
	}
	b.computeFromMemory(map[bool]string{true: FirstTokenName, false: NextTokenName}[step == 0], b.logitOps(float64(b.Batch.Micro)), b.logitBytes())
	if stages > 1 && step < b.Inference.Tokens {
		b.addOp("send tokens", workload.Op{Kind: workload.Send, Size: uint64(ids), Peer: nextStage, Tag: tag, Stream: forwardSendStream})
	}
}

// computeFromMemory adds operations that the GPUs of a tensor group share, and for which each reads
// bytes of its memory meanwhile: it takes the longer of both times (Pope et al. 2022, section 2.1).
func (b *stageProgram) computeFromMemory(name string, operations, bytes float64) {
	b.addCompute(name, max(operations, bytes/b.Memory*b.Rate*float64(b.Parallel.Tensor)))
}

// InferenceText says what is generated.
func (s *Step) InferenceText() string {
	return fmt.Sprintf("%d tokens after prompts of %d, %d sequences", s.Inference.Tokens, s.Inference.Prompt, s.Batch.Micro*s.Batch.Count*s.Parallel.Data)
}
