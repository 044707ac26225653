package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/cmd/loggp/cli"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// predictFlags has the flags of the verb.
type predictFlags struct {
	options                                               loggp.CollectiveOptions
	protocols                                             []string
	paramsFile, mode, collective, outputPath, diagramFile string
	printsTerms, drawsTree                                bool
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
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd) },
	}
	f, o := cmd.Flags(), &p.options
	f.StringVar(&p.paramsFile, "params", "", paramsHelp)
	targetFlags{
		platform: &o.Platform, library: &o.Library, ranks: &o.Ranks, place: &o.Place, platforms: emulatedPlatformNames,
		platformHelp: "machine whose steps are added up: a name of 'loggp platforms', a file, or loggp:PARAMETERS",
	}.addFlags(cmd)
	addModeFlag(cmd, &p.mode, loggp.SendCalls[:], "send call to predict; with --params it predicts whole calls")
	cli.AddParsed(cmd, &p.protocols, "protocol", "", parseProtocols, "list of "+strings.Join(model.ProtocolNames(), ", ")+" (default: all that serve the mode)")
	cli.AddParsed(cmd, &o.Sizes, "sizes", "", unit.ParseLongSizes, "message lengths, such as 0,16,1KB or 1..1MiB*2")
	cli.AddOutput(cmd, &p.outputPath, "output", "o", "file for the predictions, as CSV", cli.WritableCSV)
	cli.AddPrintFlags(cmd)
	cli.AddOutput(cmd, &p.diagramFile, "diagram", "", "SVG file for a time line of the first protocol and size; with --collective for a chart of the algorithms, the fastest first", cli.WritableWithExtension(".svg", "the diagram is an SVG file"))
	f.BoolVar(&p.printsTerms, "explain", false, "print the terms of every sum")
	aliases := map[string]string{}
	for name, o := range collective.OtherNames {
		aliases[name] = o.String()
	}
	cli.AddChoice(cmd, &p.collective, "collective", append([]string{allOperations}, loggp.CollectiveNames()...), "", "predict every algorithm of a collective operation, and which is fastest: "+strings.Join(loggp.CollectiveNames(), ", ")+", or all", aliases)
	f.IntVar(&o.PerNode, "per-node", 0, "with --collective and --params: number of ranks in a node; messages within a node then use the parameters of place intra")
	f.BoolVar(&o.InTurn, "in-turn", false, "with --collective: place ranks on the nodes round robin instead of filling one node after the other")
	f.StringVar(&o.Samples, "samples", "", "with --collective and library nccl: file of measured times, such as 'loggp import' makes of nccl-tests, to set beside the predictions")
	f.BoolVar(&p.drawsTree, "tree", false, "with --collective: draw the broadcast tree that ends first")
	return cmd
}

// allOperations is the value of --collective for every operation.
const allOperations = "all"

// parseProtocols returns the protocols of --protocol.
func parseProtocols(text string) ([]string, error) {
	if text == "all" {
		return model.ProtocolNames(), nil
	}
	return cli.List(text)
}

func (p *predictFlags) run(cmd *cobra.Command) (err error) {
	if err := p.checkFlags(cmd); err != nil {
		return err
	}
	if p.options.Params, err = readParameters(p.paramsFile); err != nil {
		return err
	}
	if p.collective != "" {
		return p.predictCollectives(cmd)
	}
	return p.predictMessages(cmd)
}

// checkFlags rejects flags that do not go together.
func (p *predictFlags) checkFlags(cmd *cobra.Command) error {
	given, o := cmd.Flags().Changed, &p.options
	switch {
	case (p.paramsFile == "") == (o.Platform == ""):
		return cli.Usagef("--params, --platform: give exactly one of them to predict from")
	case p.drawsTree && p.collective != collective.Bcast.String():
		return cli.Usagef("--tree: it needs --collective bcast")
	case p.collective != "" && (given("protocol") || p.printsTerms):
		return cli.Usagef("--protocol, --explain: they have no effect on --collective, whose messages are whole calls")
	case p.drawsTree:
		return cli.RejectFlags(cmd, "--%s: it does not go with --tree, which is drawn below the tables", "format", "table", "tables")
	case p.collective != "":
		return nil
	case o.PerNode != 0 || o.InTurn:
		return cli.Usagef("--per-node, --in-turn: they need --collective")
	case o.Samples != "":
		return cli.Usagef("--samples: it needs --collective")
	case p.paramsFile == "":
		return nil
	case p.protocols == nil && (p.diagramFile != "" || p.printsTerms):
		return cli.Usagef("--diagram, --explain: parameters of calls do not tell the steps of a call: name a --protocol")
	}
	return cli.RejectFlags(cmd, "--%s: it is for --platform; parameters of messages do not depend on it", "ranks", "library")
}

func (p *predictFlags) predictMessages(cmd *cobra.Command) error {
	with := &p.options
	o := loggp.PredictOptions{Platform: with.Platform, Library: with.Library, Ranks: with.Ranks, Params: with.Params, Place: with.Place, Sizes: with.Sizes, Protocol: p.protocols, Explain: p.printsTerms}
	if o.Platform != "" || cmd.Flags().Changed("mode") {
		o.Mode = p.mode
	}
	x, err := loggp.Predict(cmd.Context(), o)
	if err != nil {
		return err
	}
	cli.PrintLines(cmd, "", x.Warnings)
	if p.diagramFile != "" {
		picture, first, err := x.Timeline()
		if err != nil {
			return err
		}
		if err := cli.WriteChart(cmd, p.diagramFile, picture, "time line of %s with %d bytes", first.Protocol, first.Bytes); err != nil {
			return err
		}
	}
	if err := cli.WriteFile(cmd, p.outputPath, x.WriteCSV, "%d predictions", len(x.Messages)); err != nil {
		return err
	}
	return cli.Print(cmd, x.Document())
}

func (p *predictFlags) predictCollectives(cmd *cobra.Command) error {
	o := p.options
	o.Mode = p.mode
	if p.collective != allOperations {
		o.Operation = p.collective
	}
	x, err := loggp.PredictCollectives(cmd.Context(), o)
	if err != nil {
		return err
	}
	cli.PrintLines(cmd, "", x.Warnings)
	if err := cli.WriteFile(cmd, p.outputPath, x.WriteCSV, "predictions"); err != nil {
		return err
	}
	if p.diagramFile != "" {
		c, err := x.Chart()
		if err != nil {
			return err
		}
		if err := cli.WriteChart(cmd, p.diagramFile, c, "chart of algorithms"); err != nil {
			return err
		}
	}
	if err := cli.Print(cmd, x.Document()); err != nil || !p.drawsTree {
		return err
	}
	tree, err := x.BroadcastTree()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\n%s", tree)
	return err
}
