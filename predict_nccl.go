package loggp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// ncclGroup is ranks of NCCL on a platform.
type ncclGroup struct {
	*nccl.Communicator
	platform *platform.Platform
	library  *model.Library
}

// newNCCLGroup returns ranks of a platform with a library that is NCCL; nil if it is another one.
// Ranks 0 are those of the platform by default.
func newNCCLGroup(platformName, library string, ranks int) (*ncclGroup, error) {
	p, l, err := ncclLibrary(platformName, library)
	if l == nil || err != nil {
		return nil, err
	}
	return newNCCLGroupOf(p, l, ranks)
}

// newNCCLGroupOf returns the group for a platform's library that is NCCL.
func newNCCLGroupOf(p *platform.Platform, l *model.Library, ranks int) (*ncclGroup, error) {
	ranks = cmp.Or(ranks, p.Machine.Ranks.Default)
	if err := checkRange("Ranks", ranks, 2, p.Machine.Ranks.Max); err != nil {
		return nil, err
	}
	h, err := nccl.NewHardware(p.Machine, l)
	if err != nil {
		return nil, err
	}
	c, err := nccl.NewCommunicator(h, ranks, (ranks+h.GPUs-1)/h.GPUs)
	if err != nil {
		return nil, badOption("Ranks", err)
	}
	return &ncclGroup{c, p, l}, nil
}

// ncclLibrary returns a platform and its library if that is NCCL.
func ncclLibrary(platformName, library string) (*platform.Platform, *model.Library, error) {
	if platformName == "" || library == "" || isThisMachine(platformName) {
		return nil, nil, nil
	}
	p, err := LoadPlatform(platformName)
	if err != nil {
		return nil, nil, err
	}
	l, err := p.Library(library)
	if err != nil || l.CarriedBy() != model.NCCLEngine {
		return nil, nil, nil // what else is wrong others say
	}
	return p, l, nil
}

// maxNCCLBytes is the longest buffer of a rank.
const maxNCCLBytes = 1 << 44

// blocks returns how many blocks the larger buffer of a rank has.
func (g *ncclGroup) blocks(o collective.Operation) int {
	if o.HasBlocks() {
		return g.Ranks
	}
	return 1
}

// calls returns an operation by lengths of the larger buffer of a rank, as nccl-tests count, each
// once: of whole blocks, if each rank has one.
func (g *ncclGroup) calls(o collective.Operation, sizes []int) (all []nccl.Call, err error) {
	blocks := g.blocks(o)
	for _, bytes := range sizes {
		if bytes < 0 || bytes > maxNCCLBytes {
			return nil, optionErrorf("Sizes", "%v of %s: a rank's buffer has at most %s", o, unit.Bytes(bytes), unit.Bytes(maxNCCLBytes))
		}
		c := nccl.Call{Operation: o, Bytes: (bytes + blocks - 1) / blocks * blocks}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all, nil
}

// operations returns those of a list of names that NCCL has; all are all of these.
func (g *ncclGroup) operations(names []string) ([]collective.Operation, error) {
	if slices.Equal(names, []string{"all"}) {
		return nccl.Operations, nil
	}
	operations, err := parseOperations(names)
	for _, o := range operations {
		if !slices.Contains(nccl.Operations, o) {
			var has []string
			for _, o := range nccl.Operations {
				has = append(has, o.String())
			}
			return nil, optionErrorf("Collective", "%s has no %v: it has %s", g.library.Name, o, strings.Join(has, ", "))
		}
	}
	return operations, err
}

// describe says what ranks there are.
func (g *ncclGroup) describe() string {
	nodes := fmt.Sprintf("%d nodes", g.Nodes)
	if g.Nodes == 1 {
		nodes = "one node"
	}
	return fmt.Sprintf("%d ranks on %s, %s on %s", g.Ranks, nodes, g.library.Name, g.platform.Machine.Name)
}

// ncclSizes are the sizes that are predicted and measured unless others are asked for.
var ncclSizes = []int{8, 512, 32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20, 1 << 30}

// predictNCCL predicts every method of NCCL's operations, and which of them NCCL takes.
func predictNCCL(ctx context.Context, o CollectiveOptions, g *ncclGroup) (*CollectivePredictions, error) {
	for _, x := range []struct {
		option string
		given  bool
	}{{"Place", o.Place != ""}, {"PerNode", o.PerNode != 0}, {"InTurn", o.InTurn}, {"Mode", o.Mode != "" && o.Mode != SendCalls[0]}} {
		if x.given {
			return nil, optionErrorf(x.option, "library %s has no use for it: its ranks fill nodes", g.library.Name)
		}
	}
	measured, err := readNCCLTimes(o.Samples, g.Ranks)
	if err != nil {
		return nil, err
	}
	operations, err := g.operations([]string{cmp.Or(o.Operation, "all")})
	if err != nil {
		return nil, err
	}
	p := &CollectivePredictions{Ranks: g.Ranks, nccl: g, sizes: o.Sizes}
	for _, operation := range operations {
		sizes := o.Sizes
		if sizes == nil {
			sizes = measured.sizes(operation, g.blocks(operation))
		}
		if sizes == nil && o.Samples != "" {
			continue
		}
		if sizes == nil {
			sizes = ncclSizes
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := g.predict(operation, sizes, measured)
		if err != nil {
			return nil, err
		}
		p.Operations = append(p.Operations, c)
	}
	if len(p.Operations) == 0 {
		return nil, optionErrorf("Samples", "%s has none of %d ranks of the operations that are predicted", o.Samples, g.Ranks)
	}
	return p, nil
}

// predict returns the time of each method of an operation.
func (g *ncclGroup) predict(o collective.Operation, sizes []int, measured ncclTimes) (reports.PredictedCollective, error) {
	c := reports.PredictedCollective{Operation: o.String()}
	calls, err := g.calls(o, sizes)
	if err != nil {
		return c, err
	}
	methods := g.Methods(o)
	c.Library = g.library.Name
	for _, m := range methods {
		c.Algorithms = append(c.Algorithms, reports.PredictedAlgorithm{Name: m.String(), ReordersRanks: o.IsReduction()})
	}
	for _, call := range calls {
		c.Sizes = append(c.Sizes, call.Bytes)
		for i, m := range methods {
			x := &c.Algorithms[i]
			x.Costs, x.Positions = append(x.Costs, collective.Cost{LastEnd: g.Time(call, m)}), append(x.Positions, reports.InsideRange)
		}
		c.Choices = append(c.Choices, slices.Index(methods, g.Choice(call)))
		if measured != nil {
			c.Measured = append(c.Measured, measured.time(o, call.Bytes/g.blocks(o)))
		}
	}
	return c, nil
}

// ncclTimes are measured times in us of operations, by the length that samples have: of a block, if
// each rank has one.
type ncclTimes map[collective.Operation]map[int]float64

// readNCCLTimes reads the times of collective operations of so many ranks, such as 'loggp import'
// makes of tables of nccl-tests; nil if there is no file.
func readNCCLTimes(file string, ranks int) (ncclTimes, error) {
	if file == "" {
		return nil, nil
	}
	set, err := sample.ReadFile(file)
	if err != nil {
		return nil, err
	}
	times, err := compare.ReadCollectives(set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	all := ncclTimes{}
	others := map[int]bool{}
	for _, x := range times {
		o, known := collective.OperationNamed(x.Operation)
		if !known || x.Ranks != ranks {
			others[x.Ranks] = true
			continue
		}
		if all[o] == nil {
			all[o] = map[int]float64{}
		}
		if _, twice := all[o][x.Bytes]; twice {
			return nil, fmt.Errorf("%s: %v of %d bytes was measured by several libraries or algorithms: name a file of one", file, o, x.Bytes)
		}
		all[o][x.Bytes], _ = x.RankedTime()
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: %w", file, noTimesError(others, ranks))
	}
	return all, nil
}

// noTimesError says which ranks were measured in place of others.
func noTimesError(others map[int]bool, ranks int) error {
	for measured := range others {
		return fmt.Errorf("its collective operations are of %d ranks, not %d: predict as many", measured, ranks)
	}
	return errors.New("it has no times of collective operations: 'loggp import' makes them of tables of nccl-tests")
}

// sizes are the measured lengths of an operation, of all blocks of a rank.
func (t ncclTimes) sizes(o collective.Operation, blocks int) (sizes []int) {
	for k := range t[o] {
		sizes = append(sizes, k*blocks)
	}
	slices.Sort(sizes)
	return sizes
}

// time is the measured time of an operation, or NaN.
func (t ncclTimes) time(o collective.Operation, bytes int) float64 {
	if x, known := t[o][bytes]; known {
		return x
	}
	return math.NaN()
}
