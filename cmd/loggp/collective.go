package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
)

// What predict has for collective operations.

// mostRanks bounds what is predicted; a pairwise exchange has its square of messages.
const (
	mostRanks    = 1 << 16
	mostMessages = 1 << 26
)

// collectiveSizes are the lengths that are predicted unless others are asked for.
const collectiveSizes = "8..1MiB*8"

// collectiveNames are what can be asked for.
func collectiveNames() []string {
	names := []string{"all"}
	for _, o := range collective.Operations() {
		names = append(names, o.String())
	}
	return names
}

// collectives predicts what algorithms of collective operations take.
func (p *predict) collectives(cmd *cobra.Command) error {
	if p.protocols != "" || p.diagram != "" || p.explain {
		return misuse(cmd, errors.New("--collective: its messages are whole calls: leave out --protocol, --diagram and --explain"))
	}
	if p.sizes == "" {
		p.sizes = collectiveSizes
	}
	lengths, err := sizes(p.sizes, nil)
	if err != nil {
		return misuse(cmd, err)
	}
	s, err := p.setting(cmd)
	if err != nil {
		return err
	}
	if lengths, err = s.measuredOf(cmd, lengths); err != nil {
		return fmt.Errorf("predict from %s: %w", p.params, err)
	}
	var all []reports.PredictedCollective
	for _, o := range collective.Operations() {
		if *p.collective != "all" && *p.collective != o.String() {
			continue
		}
		c, err := s.costs(o, p.ranks, lengths)
		if err != nil {
			return misuse(cmd, err)
		}
		all = append(all, c)
	}
	return p.writeCollectives(cmd, s, lengths, all)
}

// setting is what a prediction of collective operations is about.
type setting struct {
	collective.Machine
	nodes *collective.Nodes // of the ranks; nil: all are equally far apart
	where string            // whose parameters
	low   bool              // those of low-level messages, not of calls

	call     string               // whose parameters were measured,
	measured [][]params.Parameter // by place; nil: a platform's, which hold for all sizes
}

// measuredOf returns the lengths that are not too far from those that were measured, and complains
// of the others. It is an error if there are none.
func (s setting) measuredOf(cmd *cobra.Command, lengths []int) ([]int, error) {
	var kept []int
	var first error
	for _, k := range lengths {
		var err error
		for _, ps := range s.measured {
			_, far := params.OutsideRange(ps, s.call, k)
			err = cmp.Or(err, far)
		}
		if err == nil {
			kept = append(kept, k)
		}
		first = cmp.Or(first, err)
	}
	if len(kept) == 0 {
		return nil, first
	}
	if first != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d lengths cannot be predicted, the first: %v\n", len(lengths)-len(kept), len(lengths), first)
	}
	return kept, nil
}

// within says how a message lies to the sizes that were measured.
func (s setting) within(bytes int) reports.Range {
	at := reports.Inside
	for _, ps := range s.measured {
		switch outside, err := params.OutsideRange(ps, s.call, bytes); {
		case err != nil:
			return reports.Unknown
		case outside:
			at = reports.Outside
		}
	}
	return at
}

// caveat says what a prediction leaves out, and how to learn its error.
func (s setting) caveat() string {
	left := "contention on links, receivers that are late for a rendezvous, combining and copying. For 16 ranks of an emulated T3D the median error of an operation is 0 to 17 %, the largest 62 % where data are combined"
	if s.low {
		left = "the overheads of MPI calls, rendezvous, contention on links and copying, so that times may be several times as long"
	}
	return "The model leaves out " + left + ". Measure the near ties before you choose: 'loggp measure --collective NAME -o FILE', and 'loggp compare --samples FILE' prints the error of the model and whether it finds the fastest algorithm."
}

// setting returns what messages take, and where ranks are. Ranks that were not said become the
// platform's.
func (p *predict) setting(cmd *cobra.Command) (s setting, err error) {
	var node func(rank int) int
	if p.platform != "" {
		node, err = p.ofPlatform(cmd, &s)
	} else {
		node, err = p.ofParameters(cmd, &s)
	}
	if err != nil {
		return s, err
	}
	if err := inRange("--ranks", p.ranks, 1, mostRanks); err != nil {
		return s, misuse(cmd, err)
	}
	if s.Near == nil {
		if p.deal {
			return s, misuse(cmd, errors.New("--in-turn: all ranks are taken as equally far apart, so it does not matter in which order they are"))
		}
		return s, nil
	}
	names := make([]int, p.ranks)
	for r := range names {
		names[r] = node(r)
	}
	if p.deal {
		names = dealt(names)
	}
	s.nodes = collective.NewNodes(names)
	s.where += fmt.Sprintf(", within nodes and between them, of which there are %d", s.nodes.Count())
	return s, nil
}

// dealt returns the nodes of ranks that are dealt out to them in turn, where ranks that fill one
// after the other have these.
func dealt(filled []int) []int {
	room := map[int]int{}
	var nodes, turn []int
	for _, n := range filled {
		if room[n] == 0 {
			nodes = append(nodes, n)
		}
		room[n]++
	}
	for len(turn) < len(filled) {
		for _, n := range nodes {
			if room[n] > 0 {
				room[n]--
				turn = append(turn, n)
			}
		}
	}
	return turn
}

// ofPlatform takes the parameters of a platform's low-level messages, within nodes and between them
// unless a place was said, and returns where ranks are.
func (p *predict) ofPlatform(cmd *cobra.Command, s *setting) (node func(rank int) int, err error) {
	if p.perNode != 0 {
		return nil, misuse(cmd, errors.New("--per-node: it goes with --params; a platform says itself how many ranks a node has"))
	}
	known, err := load(cmd, p.platform)
	if err != nil {
		return nil, err
	}
	job, err := s.messages(cmd, known, p.library, p.place, p.ranks)
	if err != nil {
		return nil, err
	}
	if p.ranks == 0 {
		p.ranks = job.Ranks
	}
	if p.ranks > known.Machine.Ranks.Max {
		s.Near = nil
	}
	return known.Machine.Node, nil
}

// messages takes the parameters of a library's low-level messages among some ranks, or the
// platform's default, of a place or, unless one is said, within nodes and between them. Of more
// ranks than the platform has, those that it has say how far ranks are from each other.
func (s *setting) messages(cmd *cobra.Command, known *platform.Platform, library, place string, ranks int) (*job.Job, error) {
	if ranks != 0 {
		ranks = min(max(ranks, known.Machine.Ranks.Min), known.Machine.Ranks.Max)
	}
	job, err := job.New(known, library, ranks, 0)
	if err != nil {
		return nil, misuse(cmd, err)
	}
	pair, err := pairOf(job, place)
	if err != nil {
		return nil, misuse(cmd, err)
	}
	machine := known.Machine
	view := func(pair [2]int) model.Parameters {
		return model.MessageView(machine, job.Library, machine.Path(job.Ranks, pair[0], pair[1]))
	}
	s.Parameters = view(pair)
	s.Fold = unit.PerByte(machine.Processor.Operation) / 8 // of elements as Float64, which are what is measured
	s.low = true
	s.where = "low-level messages on " + machine.Name + ", " + job.Library.Name
	near, err := job.Pair(model.Intra.String())
	if place == "" && err == nil && machine.Tier(pair[0], pair[1]) == model.Inter {
		x := view(near)
		s.Near = &x
	}
	return job, nil
}

// ofParameters takes those of whole calls, of one place or, if it is known how many ranks a node
// has, of both tiers.
func (p *predict) ofParameters(cmd *cobra.Command, s *setting) (node func(rank int) int, err error) {
	all, err := readParameters(p.params)
	if err != nil {
		return nil, err
	}
	if p.ranks == 0 {
		return nil, misuse(cmd, errors.New("--collective: say of how many ranks with --ranks; parameters do not tell"))
	}
	call := *p.mode
	of := func(place string) (model.Parameters, error) {
		here := params.Select(all, "", "", place)
		if i := slices.IndexFunc(here, func(x params.Parameter) bool { return x.Mode == call }); i >= 0 {
			here = params.Select(here, here[i].Platform, here[i].Library, here[i].Place)
			s.where = fmt.Sprintf("%s on %s, %s, %s", call, here[0].Platform, here[0].Library, here[0].Place)
		}
		s.call, s.measured = call, append(s.measured, here)
		x, err := params.CallParametersBySize(here, call)
		if err != nil {
			err = fmt.Errorf("predict from %s: %w", p.params, err)
		}
		return x, err
	}
	if p.perNode == 0 {
		s.Parameters, err = of(p.place)
		return nil, err
	}
	if p.place != "" {
		return nil, misuse(cmd, errors.New("--per-node: it is for parameters of both tiers: leave out --place"))
	}
	if err := inRange("--per-node", p.perNode, 1, mostRanks); err != nil {
		return nil, misuse(cmd, err)
	}
	near, err := of(model.Intra.String())
	if err != nil {
		return nil, err
	}
	s.Near = &near
	s.Parameters, err = of(model.Inter.String())
	return func(rank int) int { return rank / p.perNode }, err
}

// costs computes every algorithm of an operation at every size.
func (s setting) costs(o collective.Operation, ranks int, lengths []int) (reports.PredictedCollective, error) {
	c := reports.PredictedCollective{Operation: o.String(), Sizes: lengths}
	if o == collective.Barrier {
		c.Sizes = []int{0}
	}
	for _, a := range collective.Of(o) {
		if !a.Serves(o.Job(ranks, 0, s.nodes)) {
			c.Unsuited = append(c.Unsuited, a)
			continue
		}
		x := reports.PredictedAlgorithm{Name: a.Name, ReordersRanks: a.NeedsCommutative}
		for _, k := range c.Sizes {
			if n := ranks * ranks * (1 + k>>20); (o == collective.Alltoall || ranks > 1<<12) && n > mostMessages {
				return c, fmt.Errorf("--ranks %d: %v of so many has too many messages to add up; take fewer ranks", ranks, o)
			}
			cost := s.Cost(a, o.Job(ranks, k, s.nodes))
			x.Costs, x.Ranges = append(x.Costs, cost), append(x.Ranges, s.within(cost.Longest))
		}
		c.Algorithms = append(c.Algorithms, x)
	}
	return c, nil
}

// writeCollectives saves and prints.
func (p *predict) writeCollectives(cmd *cobra.Command, s setting, lengths []int, all []reports.PredictedCollective) error {
	if p.output != "" {
		if err := keep(cmd, p.output, func(w io.Writer) error { return collectivesCSV(w, p.ranks, all) }, "predictions"); err != nil {
			return fmt.Errorf("predictions: %w", err)
		}
	}
	title := fmt.Sprintf("%d ranks, by LogGP with the parameters of %s", p.ranks, s.where)
	d := reports.Collectives(title, all, s.caveat())
	d.Files = []doc.File{{Name: "collectives.csv", Write: func(w io.Writer) error { return collectivesCSV(w, p.ranks, all) }}}
	if err := show(cmd, d); err != nil || !p.tree {
		return err
	}
	k := lengths[0]
	tree := s.Optimal(p.ranks, k)
	fmt.Fprintf(cmd.OutOrStdout(), "\nThe broadcast of %d bytes that ends first, at %v. Ranks are numbered as they get it:\n\n%s", k, tree.Last, tree)
	return nil
}

func collectivesCSV(w io.Writer, ranks int, all []reports.PredictedCollective) error {
	var rows [][]string
	for _, x := range all {
		for _, a := range x.Algorithms {
			for i, cost := range a.Costs {
				micros := cost.Last.MicrosString()
				if a.Ranges[i] == reports.Unknown {
					micros = ""
				}
				rows = append(rows, []string{x.Operation, a.Name, strconv.Itoa(ranks), strconv.Itoa(x.Sizes[i]), micros, strconv.Itoa(cost.Messages), strconv.Itoa(cost.Bytes), string(a.Ranges[i])})
			}
		}
	}
	return table.WriteText(w, "predictions", "operation,algorithm,ranks,bytes,predicted_us,messages,bytes_sent,range", rows)
}
