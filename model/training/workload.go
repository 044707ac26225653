package training

import (
	"fmt"
	"math"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/workload"
)

// Streams of a GPU.
const (
	computeStream = iota + 1
	tensorStream
	expertStream
	dataStream
	forwardRecvStream
	forwardSendStream
	backwardRecvStream
	backwardSendStream
)

// Groups of a rank, and its peers.
const (
	tensorGroup = iota
	expertGroup
	dataGroup
	expertDataGroup
	embeddingGroup
	numGroups

	previousStage = 0
	nextStage     = 1
)

var groupNames = [numGroups]string{"tensor", "expert", "data", "expert data", "embedding"}

// Workload returns the step of all GPUs. Rank (stage · data + copy) · tensor + part is a part of a
// layer in a stage of a copy, as Megatron-LM numbers them: ranks of a tensor group follow each
// other.
func (s *Step) Workload() (*workload.Workload, error) {
	p := &s.Parallel
	w := &workload.Workload{}
	numbers := map[[2]int]int{} // of groups, by kind and first rank
	group := func(kind, size, stride, first int) int {
		key := [2]int{kind, first}
		g, known := numbers[key]
		if !known {
			g = len(w.Groups)
			numbers[key] = g
			made := workload.Group{Name: groupNames[kind], Ranks: make([]int, size)}
			for i := range made.Ranks {
				made.Ranks[i] = first + i*stride
			}
			w.Groups = append(w.Groups, made)
		}
		return g
	}
	perStage := p.Data * p.Tensor
	passes := s.passesOfStages()
	for stage := range p.Pipeline {
		program, err := s.stageProgramOf(stage, passes[stage])
		if err != nil {
			return nil, err
		}
		begin := stage * perStage
		for i := range perStage {
			copyOf, part := i/p.Tensor, i%p.Tensor
			rank := begin + i
			firstOfExperts := begin + copyOf/p.Expert*p.Expert*p.Tensor + part
			r := workload.Rank{Program: program, Groups: []int{
				tensorGroup:     group(tensorGroup, p.Tensor, 1, begin+copyOf*p.Tensor),
				expertGroup:     group(expertGroup, p.Expert, p.Tensor, firstOfExperts),
				dataGroup:       group(dataGroup, p.Data, p.Tensor, begin+part),
				expertDataGroup: group(expertDataGroup, p.Data/p.Expert, p.Expert*p.Tensor, begin+copyOf%p.Expert*p.Tensor+part),
			}}
			if p.Pipeline > 1 {
				if stage == 0 || stage == p.Pipeline-1 {
					r.Groups = append(r.Groups, group(embeddingGroup, 2, (p.Pipeline-1)*perStage, i))
				}
				total := p.Pipeline * perStage
				r.Peers = []int{previousStage: (rank - perStage + total) % total, nextStage: (rank + perStage) % total}
			}
			w.Ranks = append(w.Ranks, r)
		}
	}
	return w, w.Check()
}

// stageProgram builds the program of a stage.
type stageProgram struct {
	*Step
	*workload.Program
	stage                int
	names                map[string]uint32
	lastOp               uint32 // the last operation on the way of the micro-batch that is computed
	hasLast              bool
	gatherOps            []uint32 // what gathers the parameters of the layer that comes next
	prefetchAfter        uint32   // 1 + the operation before the layer that was computed last; 0: none
	gradientOps          []uint32 // operations after which the gradients of the bucket are there
	bucketElements       int      // elements in it
	bucketExpertElements int      // elements of experts in it
	err                  error
}

// stageProgramOf returns what the GPUs of a stage do.
func (s *Step) stageProgramOf(stage int, passes []microBatchPass) (*workload.Program, error) {
	b := &stageProgram{Step: s, Program: workload.NewProgram(fmt.Sprintf("stage %d", stage)), stage: stage, names: map[string]uint32{}}
	if s.isInference() {
		b.addInference()
		return b.Program, b.err
	}
	for _, u := range passes {
		if u.backward {
			b.addBackwardPass(u)
		} else {
			b.addForwardPass(u)
		}
		if b.err != nil {
			return nil, b.err
		}
	}
	b.addFinalGradients()
	return b.Program, b.err
}

// microBatchPass is the forward or the backward pass of a micro-batch through a chunk of a stage.
type microBatchPass struct {
	micro, chunk int
	backward     bool
	isLast       bool // of its chunk
	isInBubble   bool // a stage waits for it even if communication takes no time
}

// passesOfStages returns the passes of each stage, and finds those for which the stage waits in the
// bubble of the pipeline: even if communication takes no time and all stages are alike.
func (s *Step) passesOfStages() [][]microBatchPass {
	stages, last := s.Parallel.Pipeline, s.Parallel.Pipeline*s.Parallel.Interleave-1
	if s.isInference() {
		return make([][]microBatchPass, stages)
	}
	all := make([][]microBatchPass, stages)
	for stage := range all {
		all[stage] = s.passes(stage)
	}
	type place struct {
		virtualStage, micro int
		backward            bool
	}
	ends := map[place]int{}
	clocks, next := make([]int, stages), make([]int, stages)
	for left := true; left; {
		left = false
		for stage := range all {
			for next[stage] < len(all[stage]) {
				u := &all[stage][next[stage]]
				at := place{u.chunk*stages + stage, u.micro, u.backward}
				before, isFirst := at, false
				switch {
				case u.backward && at.virtualStage == last:
					before.backward = false
				case u.backward:
					before.virtualStage++
				default:
					before.virtualStage--
					isFirst = at.virtualStage == 0
				}
				ready, isKnown := ends[before]
				if !isKnown && !isFirst {
					break
				}
				left = true
				u.isInBubble = ready > clocks[stage]
				clocks[stage] = max(clocks[stage], ready) + s.passTime(u.backward)
				ends[at] = clocks[stage]
				next[stage]++
			}
		}
	}
	return all
}

// passTime is the time of a pass, of which a forward pass takes one.
func (s *Step) passTime(backward bool) int {
	switch {
	case !backward:
		return 1
	case s.Recompute:
		return 3
	}
	return 2
}

// passes returns the passes of a stage in order: one forward, one backward after a warm-up, so that
// few micro-batches are under way (PipeDream-Flush; Narayanan et al. 2021, section 2.2). With
// chunks they are interleaved, and micro-batches go through chunks in groups of as many as there
// are stages.
func (s *Step) passes(stage int) []microBatchPass {
	stages, chunks, count := s.Parallel.Pipeline, s.Parallel.Interleave, s.Batch.Count
	total := count * chunks
	warmUp := min(stages-stage-1, total)
	if chunks > 1 {
		warmUp = min(2*(stages-stage-1)+(chunks-1)*stages, total)
	}
	at := func(i int, backward bool) microBatchPass {
		u := microBatchPass{micro: i, backward: backward}
		if chunks > 1 {
			u.chunk = i % (stages * chunks) / stages
			u.micro = i/(stages*chunks)*stages + i%stages
		}
		if backward {
			u.chunk = chunks - 1 - u.chunk
			u.isLast = u.micro == count-1
		}
		return u
	}
	var all []microBatchPass
	for i := range warmUp {
		all = append(all, at(i, false))
	}
	for i := range total - warmUp {
		all = append(all, at(warmUp+i, false), at(i, true))
	}
	for i := total - warmUp; i < total; i++ {
		all = append(all, at(i, true))
	}
	return all
}

// virtualStage is the place of a chunk of the stage in the model.
func (b *stageProgram) virtualStage(chunk int) int { return chunk*b.Parallel.Pipeline + b.stage }

func (b *stageProgram) isFirst(chunk int) bool { return b.virtualStage(chunk) == 0 }
func (b *stageProgram) isLast(chunk int) bool {
	return b.virtualStage(chunk) == b.Parallel.Pipeline*b.Parallel.Interleave-1
}

// messageTag is that of the activations or gradients that come to a virtual stage.
func (b *stageProgram) messageTag(to, micro int, backward bool) uint32 {
	direction := 0
	if backward {
		direction = 1
	}
	return uint32((to*2+direction)*b.Batch.Count + micro)
}

// nameNumber returns the number of a name of operations.
func (b *stageProgram) nameNumber(name string) uint32 {
	n, known := b.names[name]
	if !known {
		n = uint32(len(b.Names))
		b.names[name], b.Names = n, append(b.Names, name)
	}
	return n
}

// addOp adds an operation after the last one of the micro-batch, and returns its number.
func (b *stageProgram) addOp(name string, o workload.Op, before ...uint32) uint32 {
	o.Name = b.nameNumber(name)
	if b.hasLast {
		before = append(before, b.lastOp)
	}
	return b.AddOp(o, before...)
}

// addInOrder adds an operation on the way of the micro-batch: what is added next waits for it.
func (b *stageProgram) addInOrder(name string, o workload.Op, before ...uint32) uint32 {
	b.lastOp, b.hasLast = b.addOp(name, o, append(before, b.gatherOps...)...), true
	b.gatherOps = b.gatherOps[:0]
	return b.lastOp
}

// addCompute adds operations that the GPUs of a tensor group share.
func (b *stageProgram) addCompute(name string, operations float64, before ...uint32) uint32 {
	ns := math.Round(operations / float64(b.Parallel.Tensor) / b.Rate * 1e9)
	if ns > workload.MaxCompute && b.err == nil {
		b.err = fmt.Errorf("%s takes %g s at rate %g: at most %g s", name, ns/1e9, b.Rate, float64(workload.MaxCompute)/1e9)
		ns = 0
	}
	return b.addInOrder(name, workload.Op{Kind: workload.Compute, Size: uint64(ns), Stream: computeStream}, before...)
}

// addCollective adds a collective operation of a group, if it has several ranks.
func (b *stageProgram) addCollective(name string, o collective.Operation, group, bytes int) {
	if b.groupSize(group) > 1 {
		b.addInOrder(name, workload.Op{Kind: workload.Collective, Operation: o, Size: uint64(bytes), Peer: uint32(group), Stream: streamOf(group)})
	}
}

func (b *stageProgram) groupSize(group int) int {
	p := &b.Parallel
	return [numGroups]int{p.Tensor, p.Expert, p.Data, p.Data / p.Expert, 2}[group]
}

func streamOf(group int) uint8 {
	switch group {
	case tensorGroup:
		return tensorStream
	case expertGroup:
		return expertStream
	}
	return dataStream
}

// layersOfChunk returns how many layers a chunk has.
func (b *stageProgram) layersOfChunk() int {
	return b.Model.Layers / (b.Parallel.Pipeline * b.Parallel.Interleave)
}

// boundaryBytes are those of the activations that a GPU sends to the next stage: with sequence
// parallelism its part of the sequence, and otherwise all.
func (b *stageProgram) boundaryBytes() int {
	if b.Parallel.Sequence {
		return b.ActivationBytes() / b.Parallel.Tensor
	}
	return b.ActivationBytes()
}

// addReceive adds the receive of what a pass begins with.
func (b *stageProgram) addReceive(u microBatchPass, name string, o workload.Op) {
	if b.addInOrder(name, o); u.isInBubble {
		b.MarkBubble(b.lastOp)
	}
}

// addForwardPass adds the forward pass of a micro-batch through a chunk.
func (b *stageProgram) addForwardPass(u microBatchPass) {
	b.hasLast = false
	if !b.isFirst(u.chunk) {
		b.addReceive(u, "receive activations", workload.Op{Kind: workload.Recv, Size: uint64(b.boundaryBytes()), Peer: previousStage,
			Tag: b.messageTag(b.virtualStage(u.chunk), u.micro, false), Stream: forwardRecvStream})
	}
	for range b.layersOfChunk() {
		b.gatherParameters()
		b.addLayer("forward", 1)
	}
	if b.isLast(u.chunk) {
		b.addCompute("forward logits", b.LogitOps())
		return
	}
	b.addOp("send activations", workload.Op{Kind: workload.Send, Size: uint64(b.boundaryBytes()), Peer: nextStage,
		Tag: b.messageTag(b.virtualStage(u.chunk)+1, u.micro, false), Stream: forwardSendStream})
}

// addBackwardPass adds the backward pass of a micro-batch through a chunk. Each layer takes twice
// the operations of its forward pass, and those once more if it is recomputed.
func (b *stageProgram) addBackwardPass(u microBatchPass) {
	b.hasLast = false
	if b.isLast(u.chunk) {
		b.addCompute("backward logits", 2*b.LogitOps())
	} else {
		b.addReceive(u, "receive gradients", workload.Op{Kind: workload.Recv, Size: uint64(b.boundaryBytes()), Peer: nextStage,
			Tag: b.messageTag(b.virtualStage(u.chunk), u.micro, true), Stream: backwardRecvStream})
	}
	for range b.layersOfChunk() {
		b.gatherParameters()
		if b.Recompute {
			b.addLayer("recompute", 1)
		}
		b.addLayer("backward", 2)
		if u.isLast || b.Parallel.Zero == 3 {
			b.addGradients(b.AttentionParameters()/b.Parallel.Tensor, b.layerExperts())
		}
	}
	if u.isLast || b.Parallel.Zero == 3 {
		b.combineGradients()
	}
	if !b.isFirst(u.chunk) {
		b.addOp("send gradients", workload.Op{Kind: workload.Send, Size: uint64(b.boundaryBytes()), Peer: previousStage,
			Tag: b.messageTag(b.virtualStage(u.chunk)-1, u.micro, true), Stream: backwardSendStream})
	}
}

// layerExperts returns the parameters of the MLPs of a layer that a GPU holds.
func (b *stageProgram) layerExperts() int {
	return b.ExpertParameters() * max(b.Model.Experts, 1) / b.Parallel.Expert / b.Parallel.Tensor
}

// addLayer adds a pass of a layer. Tensor parallelism combines the activations after the attention
// and after the MLP (Shoeybi et al., Megatron-LM, 2019), or with sequence parallelism gathers them
// before each and scatters the combined ones after it (Korthikanti et al. 2022). Experts of other
// GPUs get the tokens by an all-to-all before the MLP, and return them by another one (Lepikhin et
// al., GShard, 2020).
func (b *stageProgram) addLayer(name string, times float64) {
	block := func(part string, operations float64, before, after func()) {
		if b.Parallel.Sequence {
			b.addCollective(name+" gather", collective.Allgather, tensorGroup, b.ActivationBytes()/b.Parallel.Tensor)
		}
		before()
		b.addCompute(name+" "+part, times*operations)
		after()
		if b.Parallel.Sequence {
			b.addCollective(name+" scatter", collective.ReduceScatter, tensorGroup, b.ActivationBytes())
		} else {
			b.addCollective(name+" combine", collective.Allreduce, tensorGroup, b.ActivationBytes())
		}
	}
	nothing := func() {}
	block("attention", b.AttentionOps(), nothing, nothing)
	if b.Model.Experts == 0 {
		block("MLP", b.MLPOps(), nothing, nothing)
		return
	}
	tokens := b.boundaryBytes() * b.Model.TopK
	block("experts", b.MLPOps(), func() { b.addCollective(name+" dispatch", collective.Alltoall, expertGroup, tokens) }, func() { b.addCollective(name+" return", collective.Alltoall, expertGroup, tokens) })
}

// gatherParameters adds, with stage 3 of ZeRO, the gathering of a layer's parameters, for which its
// first operation waits. It begins with the layer before (FSDP calls that prefetching).
func (b *stageProgram) gatherParameters() {
	if b.Parallel.Zero < 3 {
		return
	}
	p := &b.Parallel
	gather := func(name string, group, elements int) {
		if elements > 0 && b.groupSize(group) > 1 {
			o := workload.Op{Kind: workload.Collective, Operation: collective.Allgather, Size: uint64(elements * b.Bytes.Parameter / b.groupSize(group)), Peer: uint32(group), Stream: dataStream, Name: b.nameNumber(name)}
			var before []uint32
			if b.prefetchAfter > 0 {
				before = []uint32{b.prefetchAfter - 1}
			}
			b.gatherOps = append(b.gatherOps, b.AddOp(o, before...))
		}
	}
	shared, experts := b.AttentionParameters()/p.Tensor, b.layerExperts()
	if b.Model.Experts == 0 {
		shared, experts = shared+experts, 0
	}
	gather("gather parameters", dataGroup, shared)
	gather("gather experts", expertDataGroup, experts)
	if b.prefetchAfter = 0; b.hasLast {
		b.prefetchAfter = b.lastOp + 1
	}
}

// addGradients adds the gradients of a layer to the bucket, and combines it if it is full.
func (b *stageProgram) addGradients(shared, experts int) {
	b.gradientOps = append(b.gradientOps, b.lastOp)
	b.bucketElements += shared
	b.bucketExpertElements += experts
	if (b.bucketElements+b.bucketExpertElements)*b.Bytes.Gradient >= b.Bytes.Bucket {
		b.combineGradients()
	}
}

// combineGradients adds what combines the gradients of the bucket over the copies of the model,
// beside the backward pass of the next layers: allreduce, or from stage 1 of ZeRO on
// reduce-scatter.
func (b *stageProgram) combineGradients() {
	operation, name := collective.Allreduce, "combine gradients"
	if b.Parallel.Zero > 0 {
		operation, name = collective.ReduceScatter, "scatter gradients"
	}
	combine := func(name string, group, elements int) {
		if elements > 0 && b.groupSize(group) > 1 {
			b.addOp(name, workload.Op{Kind: workload.Collective, Operation: operation, Size: uint64(elements * b.Bytes.Gradient), Peer: uint32(group), Stream: dataStream}, b.gradientOps...)
		}
	}
	if b.Model.Experts == 0 {
		combine(name, dataGroup, b.bucketElements+b.bucketExpertElements)
	} else {
		combine(name, dataGroup, b.bucketElements)
		combine(name+" of experts", expertDataGroup, b.bucketExpertElements)
	}
	b.gradientOps, b.bucketElements, b.bucketExpertElements = b.gradientOps[:0], 0, 0
}

// addFinalGradients adds what follows the backward passes: the gradients of the vocabulary, which
// the first and the last stage hold, are combined by both and by the copies of the model; with
// stages 1 and 2 of ZeRO the copies gather the new parameters. The optimizer takes no time.
func (b *stageProgram) addFinalGradients() {
	p := &b.Parallel
	vocabulary := b.Model.Vocabulary * b.Model.Hidden / p.Tensor
	isEnd := b.stage == 0 || b.stage == p.Pipeline-1
	if isEnd {
		if p.Pipeline > 1 {
			b.MarkBubble(b.addInOrder("combine vocabulary", workload.Op{Kind: workload.Collective, Operation: collective.Allreduce, Size: uint64(vocabulary * b.Bytes.Gradient), Peer: embeddingGroup, Stream: dataStream}))
		}
		b.bucketElements = vocabulary
		b.gradientOps = append(b.gradientOps[:0], b.lastOp)
		b.combineGradients()
	}
	if p.Zero != 1 && p.Zero != 2 {
		return
	}
	layers := b.Model.Layers / p.Pipeline
	shared := layers * b.AttentionParameters() / p.Tensor
	if isEnd {
		shared += vocabulary
	}
	experts := layers * b.layerExperts()
	if b.Model.Experts == 0 {
		shared, experts = shared+experts, 0
	}
	b.addCollective("gather parameters", collective.Allgather, dataGroup, shared*b.Bytes.Parameter/p.Data)
	if experts > 0 {
		b.addCollective("gather experts", collective.Allgather, expertDataGroup, experts*b.Bytes.Parameter/(p.Data/p.Expert))
	}
}
