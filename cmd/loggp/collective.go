package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/impl/world"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/reports"
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
	m, where, err := p.machine(cmd)
	if err != nil {
		return err
	}
	if err := inRange("--ranks", p.ranks, 1, mostRanks); err != nil {
		return misuse(cmd, err)
	}
	var all []reports.Collective
	for _, o := range collective.Operations() {
		if *p.collective != "all" && *p.collective != o.String() {
			continue
		}
		c, err := costs(m, o, p.ranks, lengths)
		if err != nil {
			return misuse(cmd, err)
		}
		all = append(all, c)
	}
	return p.writeCollectives(cmd, m, where, lengths, all)
}

// machine returns what messages take. Ranks that were not said become the platform's.
func (p *predict) machine(cmd *cobra.Command) (m collective.Machine, where string, err error) {
	if p.platform != "" {
		known, err := load(cmd, p.platform)
		if err != nil {
			return m, "", err
		}
		job, err := world.New(known, p.library, 0, 0)
		if err != nil {
			return m, "", misuse(cmd, err)
		}
		pair, err := pairOf(job, p.place)
		if err != nil {
			return m, "", misuse(cmd, err)
		}
		machine := job.Platform.Machine
		m.Parameters = model.MessageView(machine, job.Library, machine.Path(job.Ranks, pair[0], pair[1]))
		if p.ranks == 0 {
			p.ranks = job.Ranks
		}
		return m, "low-level messages on " + machine.Name + ", " + job.Library.Name, nil
	}
	all, err := readParameters(p.params)
	if err != nil {
		return m, "", err
	}
	call := calls[model.Mode(slices.Index(modeNames(), *p.mode))]
	here := fit.Select(all, "", "", p.place)
	if i := slices.IndexFunc(here, func(x fit.Parameter) bool { return x.Mode == call }); i >= 0 {
		here = fit.Select(here, here[i].Platform, here[i].Library, here[i].Place)
	}
	if m.Parameters, err = fit.Call(here, call); err != nil {
		return m, "", fmt.Errorf("predict from %s: %w", p.params, err)
	}
	if p.ranks == 0 {
		return m, "", misuse(cmd, errors.New("--collective: say of how many ranks with --ranks; parameters do not tell"))
	}
	return m, fmt.Sprintf("%s on %s, %s, %s", call, here[0].Platform, here[0].Library, here[0].Place), nil
}

// costs computes every algorithm of an operation at every size.
func costs(m collective.Machine, o collective.Operation, ranks int, lengths []int) (reports.Collective, error) {
	c := reports.Collective{Operation: o.String(), Sizes: lengths}
	if o == collective.Barrier {
		c.Sizes = []int{0}
	}
	for _, a := range collective.Of(o) {
		if !a.Serves(collective.Job{Ranks: ranks}) {
			c.Unfit = append(c.Unfit, a.Name)
			continue
		}
		x := reports.CollectiveAlgorithm{Name: a.Name, Disorders: a.Disorders}
		for _, k := range c.Sizes {
			if n := ranks * ranks * (1 + k>>20); (o == collective.Alltoall || ranks > 1<<12) && n > mostMessages {
				return c, fmt.Errorf("--ranks %d: %v of so many has too many messages to add up; take fewer ranks", ranks, o)
			}
			x.Costs = append(x.Costs, m.Cost(a, collective.Job{Ranks: ranks, Bytes: k}))
		}
		c.Algorithms = append(c.Algorithms, x)
	}
	return c, nil
}

// writeCollectives saves and prints.
func (p *predict) writeCollectives(cmd *cobra.Command, m collective.Machine, where string, lengths []int, all []reports.Collective) error {
	if p.output != "" {
		if err := sample.Save(p.output, func(w io.Writer) error { return collectivesCSV(w, p.ranks, all) }); err != nil {
			return fmt.Errorf("predictions: %w", err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "predictions written to %s\n", p.output)
	}
	out := cmd.OutOrStdout()
	title := fmt.Sprintf("%d ranks, by LogGP with the parameters of %s", p.ranks, where)
	if err := reports.Collectives(out, title, all, style(out)); err != nil || !p.tree {
		return err
	}
	k := lengths[0]
	tree := m.Optimal(p.ranks, k)
	fmt.Fprintf(out, "\nThe broadcast of %d bytes that ends first, at %v. Ranks are numbered as they get it:\n\n%s", k, tree.Last, tree)
	return nil
}

func collectivesCSV(w io.Writer, ranks int, all []reports.Collective) error {
	c := csv.NewWriter(w)
	c.Write(strings.Split("operation,algorithm,ranks,bytes,predicted_us,messages,bytes_sent", ","))
	for _, x := range all {
		for _, a := range x.Algorithms {
			for i, cost := range a.Costs {
				c.Write([]string{x.Operation, a.Name, strconv.Itoa(ranks), strconv.Itoa(x.Sizes[i]), cost.Last.MicrosString(), strconv.Itoa(cost.Messages), strconv.Itoa(cost.Bytes)})
			}
		}
	}
	c.Flush()
	return c.Error()
}
