package training

// tokensPerMicroBatch returns b·s, the tokens of a micro-batch.
func (s *Step) tokensPerMicroBatch() float64 {
	return float64(s.Batch.Micro) * float64(s.Model.Sequence)
}

// AttentionOps returns the operations of the attention of a layer for a micro-batch in the forward
// pass, a multiplication and an addition being two: the products of queries, keys, values and the
// output take 8 b s h², and those of scores and values 4 b s² h. Narayanan et al. 2021, appendix.
func (s *Step) AttentionOps() float64 {
	return s.attentionOps(s.tokensPerMicroBatch(), float64(s.Model.Sequence))
}

// attentionOps returns the operations of the attention of a layer for tokens that each have the
// keys and values of so many.
func (s *Step) attentionOps(tokens, context float64) float64 {
	h := float64(s.Model.Hidden)
	return 8*tokens*h*h + 4*tokens*context*h
}

// MLPOps returns the operations of the MLP of a layer for a micro-batch in the forward pass: two
// products of h by ffn elements take 4 b s h ffn, for each expert that a token goes to.
func (s *Step) MLPOps() float64 { return s.mlpOps(s.tokensPerMicroBatch()) }

func (s *Step) mlpOps(tokens float64) float64 {
	return 4 * tokens * float64(s.Model.Hidden) * float64(s.Model.FFN) * float64(max(s.Model.TopK, 1))
}

// LogitOps returns the operations of the product with the vocabulary in the forward pass: 2 b s h
// V.
func (s *Step) LogitOps() float64 { return s.logitOps(s.tokensPerMicroBatch()) }

func (s *Step) logitOps(tokens float64) float64 {
	return 2 * tokens * float64(s.Model.Hidden) * float64(s.Model.Vocabulary)
}

// StepOps returns the operations of a step of all GPUs: the backward pass takes twice those of the
// forward pass, and recomputing once more. For a dense model with ffn = 4 h it is formula 3 of
// Narayanan et al. 2021 with recomputing: 96 B s l h² (1 + s/(6h) + V/(16 l h)), if the product
// with the vocabulary is not computed again.
func (s *Step) StepOps() float64 {
	if s.isInference() {
		return s.inferenceOps()
	}
	passes := 3.0
	if s.Recompute {
		passes = 4
	}
	batch := float64(s.Batch.Count) * float64(s.Parallel.Data)
	return batch * (passes*float64(s.Model.Layers)*(s.AttentionOps()+s.MLPOps()) + 3*s.LogitOps())
}

// ActivationBytes returns the bytes of the activations between layers of a micro-batch: b s h
// elements.
func (s *Step) ActivationBytes() int {
	return s.Batch.Micro * s.Model.Sequence * s.Model.Hidden * s.Bytes.Activation
}

// AttentionParameters returns the parameters of the attention of a layer with its norms: 4 h² and
// 4 h biases, and 4 h of two norms.
func (s *Step) AttentionParameters() int { return 4*s.Model.Hidden*s.Model.Hidden + 8*s.Model.Hidden }

// ExpertParameters returns the parameters of an MLP, or of an expert: 2 h ffn and their biases.
func (s *Step) ExpertParameters() int {
	return 2*s.Model.Hidden*s.Model.FFN + s.Model.FFN + s.Model.Hidden
}

// ModelParameters returns the parameters of the model: of layers, of the embedding of the
// vocabulary and of positions, and of the last norm. For a dense model with ffn = 4 h it is formula
// 2 of Narayanan et al. 2021: 12 l h² (1 + 13/(12h) + (V+s)/(12 l h)).
func (s *Step) ModelParameters() int {
	layer := s.AttentionParameters() + max(s.Model.Experts, 1)*s.ExpertParameters()
	return s.Model.Layers*layer + (s.Model.Vocabulary+s.Model.Sequence)*s.Model.Hidden
}
