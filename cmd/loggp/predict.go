package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
)

// predictFlags has the flags of the verb.
type predictFlags struct {
	targetFlags
	paramsFile, samplesFile, protocolsText, sizesText, outputPath, diagramFile string
	mode, collective                                                           *string
	ranksPerNode                                                               int
	printsTerms, drawsTree, placesRanksRoundRobin                              bool
}

func predictCommand() *cobra.Command {
	var p predictFlags
	cmd := &cobra.Command{
		Use:   "predict --params PARAMS.csv | --platform NAME",
		Short: "Predict what calls and protocols cost",
		Long: `predict computes the sender time T_s and the delivery time T_s-r. With --params it predicts whole
calls by ranges of sizes (o_s and T), or with --protocol the protocols T, TA, RTA, RAT and PTAT by
equations (1) to (7) of Al-Tawil and Moritz from the parameters of low-level messages. With
--platform it adds up every step of machine and library, which is exact if the receive is posted and
nothing contends. --place chooses the ranks.

With --collective it predicts what each algorithm of a collective operation takes by LogGP, and
which is fastest. If the ranks of a platform are in nodes, messages within a node use the parameters
within nodes, unless --place names one tier for all.`,
		Example: `  loggp predict --platform t3d --sizes 16,1KB,10KB
  loggp predict --platform t3d --place intra --protocol RTA
  loggp predict --params params.csv
  loggp predict --params params.csv --protocol T,RTA -o prediction.csv
  loggp predict --platform t3d --protocol RAT --sizes 10KB --explain
  loggp predict --platform t3d --protocol RTA --sizes 10KB --diagram rta.svg
  loggp predict --platform t3d --collective bcast --ranks 64 --sizes 8,1KB,1MB --tree
  loggp predict --platform dgx-h100 --library nccl --collective allreduce --ranks 16`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&p.paramsFile, "params", "", "file of parameters, as 'loggp fit -o' writes them")
	p.targetFlags.addFlags(cmd, helpTextByFlag{"platform": "machine whose steps are added up: a name of 'loggp platforms', a file, or loggp:PARAMETERS", "library": "", "ranks": "", "place": ""}, emulatedPlatformNames)
	p.mode = addModeFlag(cmd, loggp.SendCalls[:], "send call to predict; with --params it predicts whole calls")
	f.StringVar(&p.protocolsText, "protocol", "", "list of "+strings.Join(model.ProtocolNames(), ", ")+" (default: all that serve the mode)")
	f.StringVar(&p.sizesText, "sizes", "", "message lengths, such as 0,16,1KB or 1..1MiB*2")
	f.StringVarP(&p.outputPath, "output", "o", "", "file for the predictions, as CSV")
	addOutputFlags(cmd)
	f.StringVar(&p.diagramFile, "diagram", "", "SVG file for a time line of the first protocol and size; with --collective for a chart of the algorithms, the fastest first")
	f.BoolVar(&p.printsTerms, "explain", false, "print the terms of every sum")
	p.collective = addChoiceFlag(cmd, "collective", append([]string{"all"}, loggp.CollectiveNames()...), "", "predict every algorithm of a collective operation, and which is fastest: "+strings.Join(loggp.CollectiveNames(), ", ")+", or all")
	for name, o := range collective.OtherNames {
		addChoiceAlias(cmd, "collective", name, o.String())
	}
	f.IntVar(&p.ranksPerNode, "per-node", 0, "with --collective and --params: number of ranks in a node; messages within a node then use the parameters of place intra")
	f.BoolVar(&p.placesRanksRoundRobin, "in-turn", false, "with --collective: place ranks on the nodes round robin instead of filling one node after the other")
	f.StringVar(&p.samplesFile, "samples", "", "with --collective and library nccl: file of measured times, such as 'loggp import' makes of nccl-tests, to set beside the predictions")
	f.BoolVar(&p.drawsTree, "tree", false, "with --collective: draw the broadcast tree that ends first")
	return cmd
}

func (p *predictFlags) run(cmd *cobra.Command) error {
	if (p.paramsFile == "") == (p.platform == "") {
		return newUsageError(cmd, errors.New("--params, --platform: give exactly one of them to predict from"))
	}
	if p.paramsFile != "" && *p.collective == "" {
		if err := rejectFlagsWithoutEffect(cmd, "--%s: it is for --platform; parameters of messages do not depend on it", "ranks", "library"); err != nil {
			return err
		}
	}
	if err := cmp.Or(checkWritableCSVFile(p.outputPath), checkWritableFileOfFlag("--diagram", p.diagramFile)); err != nil {
		return newUsageError(cmd, err)
	}
	if (p.ranksPerNode != 0 || p.placesRanksRoundRobin) && *p.collective == "" {
		return newUsageError(cmd, errors.New("--per-node, --in-turn: they need --collective"))
	}
	if p.samplesFile != "" && *p.collective == "" {
		return newUsageError(cmd, errors.New("--samples: it needs --collective"))
	}
	if p.diagramFile != "" && filepath.Ext(p.diagramFile) != ".svg" {
		return newUsageError(cmd, fmt.Errorf("--diagram %s: the diagram is an SVG file: use a name that ends in .svg", p.diagramFile))
	}
	if p.drawsTree && *p.collective != collective.Bcast.String() {
		return newUsageError(cmd, errors.New("--tree: it needs --collective bcast"))
	}
	if *p.collective != "" && (p.protocolsText != "" || p.printsTerms) {
		return newUsageError(cmd, errors.New("--protocol, --explain: they have no effect on --collective, whose messages are whole calls"))
	}
	var lengths []int
	if p.sizesText != "" {
		var err error
		if lengths, err = unit.ParseLongSizes(p.sizesText); err != nil {
			return newUsageError(cmd, fmt.Errorf("--sizes: %w", err))
		}
	}
	var parameters loggp.Parameters
	if p.paramsFile != "" {
		var err error
		if parameters, err = loggp.ReadParameters(p.paramsFile); err != nil {
			return err
		}
	}
	if *p.collective != "" {
		return p.predictCollectives(cmd, parameters, lengths)
	}
	return p.predictMessages(cmd, parameters, lengths)
}

func (p *predictFlags) predictMessages(cmd *cobra.Command, parameters loggp.Parameters, lengths []int) error {
	if p.paramsFile != "" && p.protocolsText == "" && (p.diagramFile != "" || p.printsTerms) {
		return newUsageError(cmd, errors.New("--diagram, --explain: parameters of calls do not tell the steps of a call: name a --protocol"))
	}
	o := loggp.PredictOptions{Platform: p.platform, Library: p.library, Ranks: p.ranks, Params: parameters, Place: p.rankPairPlace, Sizes: lengths, Explain: p.printsTerms}
	if p.protocolsText != "" && p.protocolsText != "all" {
		o.Protocol = splitList(p.protocolsText)
	} else if p.protocolsText == "all" {
		o.Protocol = model.ProtocolNames()
	}
	if p.platform != "" || cmd.Flags().Changed("mode") {
		o.Mode = *p.mode
	}
	x, err := loggp.Predict(cmd.Context(), o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	printWarnings(cmd, x.Warnings)
	if p.diagramFile != "" {
		picture, first, err := x.Timeline()
		if err != nil {
			return err
		}
		if err := writeFile(cmd, p.diagramFile, func(w io.Writer) error { return picture.SVG(w, chart.DefaultWidth) }, "time line of %s with %d bytes", first.Protocol, first.Bytes); err != nil {
			return fmt.Errorf("diagram: %w", err)
		}
	}
	if err := writeFile(cmd, p.outputPath, x.WriteCSV, "%d predictions", len(x.Messages)); err != nil {
		return fmt.Errorf("predictions: %w", err)
	}
	return printDocument(cmd, x.Document())
}

func (p *predictFlags) predictCollectives(cmd *cobra.Command, parameters loggp.Parameters, lengths []int) error {
	o := loggp.CollectiveOptions{
		Platform: p.platform, Library: p.library, Params: parameters, Mode: *p.mode,
		Ranks: p.ranks, Sizes: lengths, Place: p.rankPairPlace, PerNode: p.ranksPerNode, InTurn: p.placesRanksRoundRobin, Samples: p.samplesFile,
	}
	if *p.collective != "all" {
		o.Operation = *p.collective
	}
	x, err := loggp.PredictCollectives(cmd.Context(), o)
	if err != nil {
		return usageErrorWithFlag(cmd, err)
	}
	printWarnings(cmd, x.Warnings)
	if err := writeFile(cmd, p.outputPath, x.WriteCSV, "predictions"); err != nil {
		return fmt.Errorf("predictions: %w", err)
	}
	if p.diagramFile != "" {
		c, err := x.Chart()
		if err != nil {
			return usageErrorWithFlag(cmd, err)
		}
		if err := writeFile(cmd, p.diagramFile, func(w io.Writer) error { return c.SVG(w, chart.DefaultWidth) }, "chart of algorithms"); err != nil {
			return fmt.Errorf("diagram: %w", err)
		}
	}
	if err := printDocument(cmd, x.Document()); err != nil || !p.drawsTree {
		return err
	}
	tree, err := x.BroadcastTree()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\n%s", tree)
	return err
}
