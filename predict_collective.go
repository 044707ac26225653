package loggp

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// CollectiveOptions say which collective operations PredictCollectives predicts, and from which
// platform or parameters.
type CollectiveOptions struct {
	Platform string // emulated machine whose calls and network are used
	Library  string // on the platform; "": its first
	Params   Parameters
	Mode     string // for parameters: the call that sends messages; "": send

	Operation string // such as bcast; "": all
	Ranks     int    // 0: the platform's default
	Sizes     []int  // in bytes; nil: 8 B to 256 KiB by factors of eight
	Place     string // place for all messages; "": within nodes and between them, if the platform has nodes
	PerNode   int    // ranks per node, to use parameters of both tiers; 0: one tier
	InTurn    bool   // place ranks on nodes round-robin instead of in blocks

	changed *platform.Platform // the platform with changed numbers; nil: as in its file

	Samples string // file of measured times to compare with, for a library that is NCCL; "": none
}

// CollectivePredictions are the times of collective algorithms by LogGP.
type CollectivePredictions struct {
	Operations []reports.PredictedCollective
	Ranks      int
	Warnings   []string

	sizes []int
	model collectiveModel
	nccl  *ncclGroup // the library is NCCL, and has no such model
}

// Limits. The number of messages of a ring or a pairwise exchange is the square of the number of
// ranks. A table has many algorithms and sizes, a comparison has one of each for a measurement.
const (
	maxPredictedRanks    = 1 << 16
	maxPredictedMessages = 1 << 22
	maxComparedMessages  = 1 << 26
)

// collectiveSizes are the default sizes in bytes.
var collectiveSizes = []int{8, 64, 512, 4 << 10, 32 << 10, 256 << 10}

// PredictCollectives predicts the time of each algorithm of collective operations by LogGP.
func PredictCollectives(ctx context.Context, o CollectiveOptions) (*CollectivePredictions, error) {
	switch g, err := newNCCLGroup(o.Platform, o.Library, o.Ranks); {
	case err != nil:
		return nil, err
	case g != nil:
		return predictNCCL(ctx, o, g)
	case o.Samples != "":
		return nil, optionErrorf("Samples", "it is for a library that is NCCL; 'loggp compare --samples' sets other measurements beside the model")
	}
	if err := checkMessageSizes(o.Sizes); err != nil {
		return nil, err
	}
	if operation, is := collective.OperationNamed(o.Operation); is {
		if err := rejectBarrierSizes([]collective.Operation{operation}, o.Sizes); err != nil {
			return nil, err
		}
	}
	m, ranks, err := o.model(ctx)
	if err != nil {
		return nil, err
	}
	m.choose = o.chooser(m, ranks)
	p := &CollectivePredictions{Ranks: ranks, model: m, sizes: o.Sizes}
	if p.sizes == nil {
		p.sizes = collectiveSizes
	}
	if err := p.dropUnknownSizes(); err != nil {
		return nil, fmt.Errorf("predict from %s: %w", o.Params.From, err)
	}
	for _, operation := range collective.Operations() {
		if o.Operation != "" && o.Operation != operation.String() {
			continue
		}
		c, err := m.costs(ctx, operation, ranks, p.sizes)
		if err != nil {
			return nil, err
		}
		p.Operations = append(p.Operations, c)
	}
	if !slices.ContainsFunc(p.Operations, reports.PredictedCollective.HasTimes) {
		return nil, &OptionError{"Ranks", strconv.Itoa(ranks), fmt.Errorf("%s of so many ranks has more than %d messages by any algorithm: take fewer", o.Operation, maxPredictedMessages)}
	}
	return p, nil
}

// checkMessageSizes checks that messages of these sizes can be predicted.
func checkMessageSizes(sizes []int) error {
	for _, k := range sizes {
		if k > unit.MaxSize {
			return optionErrorf("Sizes", "%s: messages have at most %s", unit.Bytes(k), unit.Bytes(unit.MaxSize))
		}
	}
	return nil
}

// dropUnknownSizes removes sizes too far from the measured ones. It fails if none remain.
func (p *CollectivePredictions) dropUnknownSizes() error {
	var kept []int
	var first error
	for _, k := range p.sizes {
		_, err := p.model.checkSize(k)
		if err == nil {
			kept = append(kept, k)
		}
		first = cmp.Or(first, err)
	}
	if len(kept) == 0 {
		return first
	}
	if first != nil {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d of %d lengths cannot be predicted, the first: %v", len(p.sizes)-len(kept), len(p.sizes), first))
	}
	p.sizes = kept
	return nil
}

// model returns the model of messages and placement, and the number of ranks.
func (o CollectiveOptions) model(ctx context.Context) (m collectiveModel, ranks int, err error) {
	var node func(rank int) int
	ranks = o.Ranks
	if o.Platform != "" {
		node, ranks, err = m.usePlatform(ctx, o)
	} else {
		node, err = m.useParameters(o)
	}
	if err != nil {
		return m, 0, err
	}
	if err := checkRange("Ranks", ranks, 1, maxPredictedRanks); err != nil {
		return m, 0, err
	}
	if m.IntraNode == nil {
		if o.InTurn {
			return m, 0, optionErrorf("InTurn", "all ranks are equally far apart in this model, so their order does not matter")
		}
		return m, ranks, nil
	}
	nodes := make([]int, ranks)
	for r := range nodes {
		nodes[r] = node(r)
	}
	if o.InTurn {
		filled := nodes
		nodes = roundRobinNodes(filled)
		m.moveRanks(filled, nodes)
	}
	m.nodes = collective.NewNodes(nodes)
	m.source += fmt.Sprintf(", within and between its %d nodes", m.nodes.Count())
	return m, ranks, nil
}

// roundRobinNodes assigns ranks to nodes round-robin. filled has the node of each rank in a block
// placement.
func roundRobinNodes(filled []int) []int {
	free := map[int]int{}
	var nodes, assigned []int
	for _, n := range filled {
		if free[n] == 0 {
			nodes = append(nodes, n)
		}
		free[n]++
	}
	for len(assigned) < len(filled) {
		for _, n := range nodes {
			if free[n] > 0 {
				free[n]--
				assigned = append(assigned, n)
			}
		}
	}
	return assigned
}

// moveRanks makes shared components those of the ranks' new nodes. before and after have the same
// number of ranks on each node.
func (m *collectiveModel) moveRanks(before, after []int) {
	shared := m.SharedOccupations
	if shared == nil {
		return
	}
	ofNode := map[int][]int{}
	for rank, node := range before {
		ofNode[node] = append(ofNode[node], rank)
	}
	former := make([]int, len(after))
	for rank, node := range after {
		former[rank], ofNode[node] = ofNode[node][0], ofNode[node][1:]
	}
	m.SharedOccupations = func(into []model.Occupation, from, to, bytes int) []model.Occupation {
		return shared(into, former[from], former[to], bytes)
	}
}

// usePlatform uses the costs of a platform's calls. It returns the node of each rank and the number
// of ranks.
func (m *collectiveModel) usePlatform(ctx context.Context, o CollectiveOptions) (node func(rank int) int, ranks int, err error) {
	if o.PerNode != 0 {
		return nil, 0, optionErrorf("PerNode", "it is for parameters; a platform has its own ranks per node")
	}
	known := o.changed
	if known == nil {
		if known, err = LoadPlatform(o.Platform); err != nil {
			return nil, 0, err
		}
	}
	job, err := m.usePlatformCalls(ctx, known, o.Library, o.Place, o.Ranks)
	if err != nil {
		return nil, 0, err
	}
	if o.Ranks > known.Machine.Ranks.Max {
		m.IntraNode = nil
	}
	return known.Machine.NodeOfRank, cmp.Or(o.Ranks, job.Ranks), nil
}

// useParameters uses the parameters of whole calls, of one place or, with PerNode, of both tiers.
func (m *collectiveModel) useParameters(o CollectiveOptions) (node func(rank int) int, err error) {
	if o.Ranks == 0 {
		return nil, optionErrorf("Ranks", "parameters do not say how many ranks there are: name a number")
	}
	call := cmp.Or(o.Mode, SendCalls[0])
	if o.PerNode == 0 {
		m.Parameters, err = m.callParameters(o.Params, call, o.Place)
		return nil, err
	}
	if o.Place != "" {
		return nil, optionErrorf("PerNode", "it takes the parameters of both tiers: leave out the place")
	}
	if err := checkRange("PerNode", o.PerNode, 1, maxPredictedRanks); err != nil {
		return nil, err
	}
	near, err := m.callParameters(o.Params, call, "intra")
	if err != nil {
		return nil, err
	}
	m.IntraNode = &near
	m.Parameters, err = m.callParameters(o.Params, call, "inter")
	return func(rank int) int { return rank / o.PerNode }, err
}

// costs computes the time of every algorithm of an operation at every size, on all cores.
// Algorithms with too many messages are skipped.
func (m collectiveModel) costs(ctx context.Context, o collective.Operation, ranks int, sizes []int) (reports.PredictedCollective, error) {
	c := reports.PredictedCollective{Operation: o.String(), Library: m.libraryTitle, Sizes: sizes, MessageLimit: maxPredictedMessages}
	if o == collective.Barrier {
		c.Sizes = []int{0}
	}
	calls, ctx := errgroup.WithContext(ctx)
	calls.SetLimit(max(1, min(runtime.GOMAXPROCS(0), maxPredictedRanks/ranks)))
	choices := m.libraryChoices(o, ranks, c.Sizes)
	algorithms := slices.Clone(collective.AlgorithmsOf(o))
	for _, a := range choices {
		if !slices.Contains(algorithms, a) {
			algorithms = append(algorithms, a)
		}
	}
	for _, a := range algorithms {
		if !a.Serves(o.StandardJob(ranks, 0, m.nodes)) {
			c.UnsuitedAlgorithms = append(c.UnsuitedAlgorithms, a)
			continue
		}
		x := reports.PredictedAlgorithm{Name: a.Name, ReordersRanks: a.NeedsCommutative, Costs: make([]collective.Cost, len(c.Sizes)), Positions: make([]reports.SizePosition, len(c.Sizes))}
		shortest := slices.Min(c.Sizes)
		if a.HasMoreMessages(o.StandardJob(ranks, shortest, m.nodes), maxPredictedMessages) { // longer data takes as many at least
			for i := range c.Sizes {
				x.Positions[i] = reports.TooManyMessages
			}
			c.Algorithms = append(c.Algorithms, x)
			continue
		}
		for i, k := range c.Sizes {
			calls.Go(func() error {
				j := o.StandardJob(ranks, k, m.nodes)
				switch {
				case ctx.Err() != nil:
				case k > shortest && a.HasMoreMessages(j, maxPredictedMessages):
					x.Positions[i] = reports.TooManyMessages
				default:
					x.Costs[i] = m.Cost(a, j)
					x.Positions[i] = m.rangeOf(x.Costs[i].LongestMessage)
				}
				return ctx.Err()
			})
		}
		c.Algorithms = append(c.Algorithms, x)
	}
	for _, a := range choices {
		c.Choices = append(c.Choices, slices.IndexFunc(c.Algorithms, func(x reports.PredictedAlgorithm) bool { return x.Name == a.Name }))
	}
	return c, calls.Wait()
}

// libraryChoices returns the algorithm that the library takes at each size, or nil if that is not
// known.
func (m collectiveModel) libraryChoices(o collective.Operation, ranks int, sizes []int) []*collective.Algorithm {
	if m.choose == nil {
		return nil
	}
	var all []*collective.Algorithm
	for _, k := range sizes {
		a := collective.AlgorithmNamed(o, m.choose(o, ranks, k))
		if a == nil || !a.Serves(o.StandardJob(ranks, k, m.nodes)) {
			return nil
		}
		all = append(all, a)
	}
	return all
}

// Document shows each operation and its fastest algorithm.
func (p *CollectivePredictions) Document() *doc.Document {
	if p.nccl != nil {
		d := reports.PredictedCollectives(p.nccl.describe(), p.Operations, ncclTrustNote)
		addExpectedError(d, p.nccl.library, false)
		d.Files = []doc.File{{Name: "collectives.csv", Write: p.WriteCSV}}
		return d
	}
	title := fmt.Sprintf("%s, by LogGP with the parameters of %s", format.Plural(p.Ranks, "rank"), p.model.source)
	d := reports.PredictedCollectives(title, p.Operations, p.model.trustNote(p.Operations))
	addExpectedError(d, p.model.calibrated, true)
	d.Files = []doc.File{{Name: "collectives.csv", Write: p.WriteCSV}}
	return d
}

// ncclTrustNote describes the accuracy of predictions of NCCL.
const ncclTrustNote = "Each algorithm is executed step by step on the links of the platform, which no other job shares. docs/nccl.md has the errors on machines that were measured: give nccl-tests tables of yours by --samples."

// Chart draws the times of the algorithms of the one operation that was predicted, by size.
func (p *CollectivePredictions) Chart() (*chart.Chart, error) {
	if len(p.Operations) != 1 {
		return nil, optionErrorf("Operation", "a chart is of one operation: name one")
	}
	title := format.Plural(p.Ranks, "rank")
	if p.nccl != nil {
		title = p.nccl.describe()
	}
	return p.Operations[0].Chart(title), nil
}

// BroadcastTree draws the optimal broadcast of the first size.
func (p *CollectivePredictions) BroadcastTree() (string, error) {
	if p.nccl != nil {
		return "", fmt.Errorf("library %s has no broadcasts of messages: draw the tree of another one", p.nccl.library.Name)
	}
	k := p.sizes[0]
	tree := p.model.OptimalBroadcast(p.Ranks, k)
	return fmt.Sprintf("The broadcast of %d bytes that ends first, at %v. Ranks are numbered as they get it:\n\n%s", k, tree.LastTime, tree), nil
}

// WriteCSV writes a row for each operation, algorithm and size.
func (p *CollectivePredictions) WriteCSV(w io.Writer) error {
	var rows [][]string
	for _, x := range p.Operations {
		for _, a := range x.Algorithms {
			for i, cost := range a.Costs {
				micros := cost.LastEnd.MicrosString()
				if !a.Positions[i].HasTime() {
					micros = ""
				}
				messages, sent := strconv.Itoa(cost.Messages), strconv.Itoa(cost.Bytes)
				if p.nccl != nil || a.Positions[i] == reports.TooManyMessages { // steps of NCCL are not messages
					messages, sent = "", ""
				}
				rows = append(rows, []string{x.Operation, a.Name, strconv.Itoa(p.Ranks), strconv.Itoa(x.Sizes[i]), micros, messages, sent, string(a.Positions[i])})
			}
		}
	}
	return table.WriteText(w, "predictions", "operation,algorithm,ranks,bytes,predicted_us,messages,bytes_sent,range", rows)
}
