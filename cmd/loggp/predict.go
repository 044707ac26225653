package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
)

// predict has the flags of the verb.
type predict struct {
	target
	params, protocols, sizes, output, diagram string
	mode, collective                          *string
	perNode                                   int
	explain, tree, deal                       bool
}

func predictCommand() *cobra.Command {
	var p predict
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
  loggp predict --platform t3d --collective bcast --ranks 64 --sizes 8,1KB,1MB --tree`,
		Args: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&p.params, "params", "", "file of parameters")
	p.target.flags(cmd, flagHelp{"platform": "machine whose steps to add up", "library": "", "ranks": "", "place": ""}, emulatedPlatforms)
	p.mode = modeFlag(cmd, calls[:], "send call: of a platform what the library's call costs; with --params whole calls are predicted")
	f.StringVar(&p.protocols, "protocol", "", "list of "+strings.Join(model.ProtocolNames(), ", ")+" (default: all that serve the mode)")
	f.StringVar(&p.sizes, "sizes", "", "message lengths, such as 0,16,1KB or 1..1MiB*2")
	f.StringVarP(&p.output, "output", "o", "", "file for the predictions, as CSV")
	printing(cmd)
	f.StringVar(&p.diagram, "diagram", "", "SVG file for a time line of the first protocol and size")
	f.BoolVar(&p.explain, "explain", false, "print the terms of every sum")
	p.collective = chosen(cmd, "collective", collectiveNames(), "", "predict a collective operation, or all: every algorithm, and which is fastest")
	f.IntVar(&p.perNode, "per-node", 0, "with --collective and --params: ranks of a node, to take the parameters of both tiers")
	f.BoolVar(&p.deal, "in-turn", false, "with --collective: place ranks on the nodes round robin instead of filling one node after the other")
	f.BoolVar(&p.tree, "tree", false, "with --collective: draw the broadcast tree that ends first")
	return cmd
}

func (p *predict) run(cmd *cobra.Command) error {
	if (p.params == "") == (p.platform == "") {
		return misuse(cmd, errors.New("--params, --platform: give exactly one of them to predict from"))
	}
	for _, f := range []string{"ranks", "library"} {
		if p.params != "" && cmd.Flags().Changed(f) && *p.collective == "" {
			return misuse(cmd, fmt.Errorf("--%s: parameters know none; it goes with --platform", f))
		}
	}
	if err := output(p.output); err != nil {
		return misuse(cmd, err)
	}
	if (p.perNode != 0 || p.deal) && *p.collective == "" {
		return misuse(cmd, errors.New("--per-node, --in-turn: they are for --collective"))
	}
	if p.tree && *p.collective != collective.Bcast.String() {
		return misuse(cmd, errors.New("--tree: it is for --collective bcast"))
	}
	if *p.collective != "" {
		return p.collectives(cmd)
	}
	lengths, err := sizes(p.sizes, microbench.DefaultSizes)
	if err != nil {
		return misuse(cmd, err)
	}
	if p.diagram != "" && filepath.Ext(p.diagram) != ".svg" {
		return misuse(cmd, fmt.Errorf("--diagram %s: it is an SVG file, name it so", p.diagram))
	}
	from := p.fromPlatform
	if p.params != "" {
		from = p.fromParameters
	}
	source, err := from(cmd)
	if err != nil {
		return err
	}
	var ps []reports.Prediction
	var first error // of the values that cannot be predicted
	for _, name := range source.names {
		for _, k := range lengths {
			x, err := source.predict(name, k)
			for _, y := range []*reports.PredictedTime{&x.Sender, &x.Delivery} {
				if y.Time < 0 {
					err = cmp.Or(err, fmt.Errorf("the parameters give a time below zero, %v", y.Time))
					y.Range = reports.Unknown
				}
			}
			if first == nil && err != nil {
				first = fmt.Errorf("predict %s of %d bytes: %w", name, k, err)
			}
			ps = append(ps, x)
		}
	}
	known := func(x reports.Prediction) bool {
		return x.Sender.Range != reports.Unknown || x.Delivery.Range != reports.Unknown
	}
	if p.sizes == "" { // sizes far from all that were measured matter only if they are asked for
		all := ps
		ps = slices.DeleteFunc(slices.Clone(all), func(x reports.Prediction) bool {
			return !slices.ContainsFunc(all, func(y reports.Prediction) bool { return y.Bytes == x.Bytes && known(y) })
		})
	}
	if !slices.ContainsFunc(ps, known) {
		return first
	}
	unknown := 0
	for _, x := range ps {
		for _, y := range []reports.PredictedTime{x.Sender, x.Delivery} {
			if y.Range == reports.Unknown {
				unknown++
			}
		}
	}
	if unknown > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %s cannot be predicted, the first: %v\n", unknown, format.Plural(2*len(ps), "value"), first)
	}
	return p.write(cmd, source, ps)
}

// predictor is a source of predictions.
type predictor struct {
	platform, library, place string
	title                    string
	basis                    string
	names                    []string // of protocols; by ranges of calls
	call                     string   // that the protocols carry
	predict                  func(name string, k int) (reports.Prediction, error)
	transfer                 func(name string, k int) model.Transfer // for diagrams
}

// What predictions rest on.
const (
	bySum       = "steps"
	byEquations = "equations"
	byRanges    = "ranges"
)

// fromPlatform predicts by adding up the steps of machine and library.
func (p *predict) fromPlatform(cmd *cobra.Command) (predictor, error) {
	known, err := load(cmd, p.platform)
	if err != nil {
		return predictor{}, err
	}
	job, err := job.New(known, p.library, p.ranks, 0)
	if err != nil {
		return predictor{}, misuse(cmd, err)
	}
	if err := job.Library.ClosedForm(); err != nil {
		return predictor{}, err
	}
	pair, err := pairOf(job, p.place)
	if err != nil {
		return predictor{}, misuse(cmd, err)
	}
	names, err := protocols(p.protocols)
	if err != nil {
		return predictor{}, misuse(cmd, err)
	}
	mode, _ := sendMode(*p.mode)
	if mode == model.Synchronous {
		all := names
		names = slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !model.Named(name).Synchronous() })
		if p.protocols != "" && len(names) < len(all) {
			return predictor{}, misuse(cmd, fmt.Errorf("--protocol %s: it cannot serve synchronous sends, whose receiver must say that a receive was found", p.protocols))
		}
	}
	machine, path := job.Platform.Machine, job.Platform.Machine.Path(job.Ranks, pair[0], pair[1])
	transfer := func(name string, k int) model.Transfer {
		return model.Transfer{Machine: machine, Library: job.Library, Protocol: model.Named(name), Mode: mode, Bytes: k, Path: path}
	}
	return predictor{
		platform: machine.Name, library: job.Library.Name, place: job.Place(pair[0], pair[1]), basis: bySum, names: names, call: *p.mode, transfer: transfer,
		title: fmt.Sprintf("Blocking %s send on %s, %s, from rank %d to rank %d", mode, machine.Name, job.Library.Name, pair[0], pair[1]),
		predict: func(name string, k int) (reports.Prediction, error) {
			c := transfer(name, k).Cost()
			return reports.Prediction{Mode: *p.mode, Protocol: name, Bytes: k, Sender: reports.PredictedTime{Time: c.Sender.Sum()}, Delivery: reports.PredictedTime{Time: c.Delivery.Sum()}, Terms: c}, nil
		},
	}, nil
}

// fromParameters predicts whole calls, or with --protocol what protocols take of low-level
// messages.
func (p *predict) fromParameters(cmd *cobra.Command) (predictor, error) {
	chosen := cmd.Flags().Changed("mode")
	switch {
	case chosen && p.protocols != "":
		return predictor{}, misuse(cmd, errors.New("--mode, --protocol: parameters do not know by which protocol a call goes: leave out --protocol for calls, or --mode for low-level messages"))
	case p.protocols == "" && (p.diagram != "" || p.explain):
		return predictor{}, misuse(cmd, errors.New("--diagram, --explain: parameters do not know the steps of calls: name a --protocol"))
	}
	all, known, err := readTiers(p.params)
	if err != nil {
		return predictor{}, err
	}
	where, err := p.tier(known)
	if err != nil {
		return predictor{}, misuse(cmd, err)
	}
	ps := params.Select(all, where.platform, where.library, where.place)
	if len(ps) == 0 {
		return predictor{}, misuse(cmd, fmt.Errorf("--place: %s has no parameters of place %s", p.params, where.place))
	}
	first := ps[0]
	if i := slices.IndexFunc(ps, func(x params.Parameter) bool { return x.Mode == microbench.Message }); i >= 0 && p.protocols != "" {
		first = ps[i]
	}
	source := predictor{platform: first.Platform, library: first.Library, place: first.Place}
	here := params.Select(ps, first.Platform, first.Library, first.Place)
	if i := slices.IndexFunc(ps, func(x params.Parameter) bool { return x.Platform != first.Platform || x.Library != first.Library }); i >= 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s also has parameters of %s, %s: only those of %s, %s are predicted\n", p.params, ps[i].Platform, ps[i].Library, first.Platform, first.Library)
	}
	messages := !chosen && !slices.ContainsFunc(here, func(x params.Parameter) bool { return x.Mode != "" && x.Mode != microbench.Message })
	if p.protocols != "" || messages {
		source.names, err = protocols(p.protocols)
		if err != nil {
			return source, misuse(cmd, err)
		}
		err = source.byEquations(here)
	} else {
		source.names = calls[:]
		if chosen {
			source.names = []string{*p.mode}
		}
		err = source.byRanges(here)
	}
	if err != nil {
		return source, fmt.Errorf("predict from %s: %w", p.params, err)
	}
	return source, nil
}

// byEquations predicts protocols from the parameters of low-level messages.
func (source *predictor) byEquations(here []params.Parameter) error {
	x, err := params.ModelParameters(here, microbench.Message)
	if err != nil {
		return err
	}
	source.basis, source.call = byEquations, microbench.Message
	source.title = fmt.Sprintf("Messages on %s, %s, %s, by equations (1) to (7)", source.platform, source.library, source.place)
	source.transfer = func(name string, k int) model.Transfer {
		m := &model.LogGP{L: max(0, x.L), SendO: x.SendO.Time(0), RecvO: x.RecvO.Time(0), Gap: x.Gap, BigGap: x.BigGap}
		return model.Transfer{Machine: &model.Machine{Name: source.platform, Timer: 1, Network: m}, Protocol: model.Named(name), Bytes: k}
	}
	source.predict = func(name string, k int) (reports.Prediction, error) {
		protocol := model.Named(name)
		e := protocol.Equations()
		within, err := params.EstimateEquationRange(here, k)
		at := ranged(within, err).Range
		return reports.Prediction{
			Protocol: name, Bytes: k, Sender: reports.PredictedTime{Time: model.SenderTime(protocol, x, k), Range: at},
			Delivery:  reports.PredictedTime{Time: model.Delivery(protocol, x, k), Range: at},
			Equations: fmt.Sprintf("T_s = %v, T_s-r = %v", e.Sender, e.Delivery),
		}, err
	}
	return nil
}

// byRanges predicts those of the named calls for which there are parameters, by ranges of sizes. It
// is an error if there are none.
func (source *predictor) byRanges(here []params.Parameter) error {
	times := func(call string, k int) (send, way params.Estimate, noSend, noWay error) {
		send, noSend = params.EstimateAt(here, call, params.SendOverhead, k)
		way, noWay = params.EstimateOneWay(here, call, k)
		return
	}
	var first error
	source.names = slices.DeleteFunc(slices.Clone(source.names), func(call string) bool {
		_, _, noSend, noWay := times(call, 0)
		missing := (*params.MissingError)(nil)
		if noSend == nil || !errors.As(noWay, &missing) {
			return false
		}
		first = cmp.Or(first, noSend, noWay)
		return true
	})
	if len(source.names) == 0 {
		return first
	}
	source.basis = byRanges
	source.title = fmt.Sprintf("Blocking calls on %s, %s, %s, by ranges of sizes", source.platform, source.library, source.place)
	source.predict = func(call string, k int) (reports.Prediction, error) {
		send, way, noSend, noWay := times(call, k)
		return reports.Prediction{
			Protocol: call, Bytes: k, Sender: ranged(send, noSend), Delivery: ranged(way, noWay),
			Equations: "T_s = o_s, T_s-r = T, of the range that holds the size",
		}, cmp.Or(noSend, noWay)
	}
	return nil
}

// ranged returns what parameters say of a size, or the error that they say nothing, as a
// prediction.
func ranged(e params.Estimate, err error) reports.PredictedTime {
	x := reports.PredictedTime{Time: unit.FromMicros(e.Value)}
	switch {
	case err != nil:
		return reports.PredictedTime{Range: reports.Unknown}
	case e.Between:
		x.Range = reports.Between
	case e.Outside:
		x.Range = reports.Outside
	case e.Weak:
		x.Range = reports.Wide
	}
	return x
}

// somewhere is a place of a platform and library; what is empty may be any.
type somewhere struct{ platform, library, place string }

// tier returns where the parameters are to be from. Of two ranks it is the tier that was found for
// them, on the first platform that has both.
func (p *predict) tier(known []tiers.Tiers) (somewhere, error) {
	if !strings.Contains(p.place, ",") {
		return somewhere{place: p.place}, nil
	}
	ranks := words(p.place)
	a, errA := strconv.Atoi(ranks[0])
	b, errB := strconv.Atoi(ranks[1])
	if len(ranks) != 2 || errA != nil || errB != nil {
		return somewhere{}, fmt.Errorf("--place: %q is not two ranks, such as 0,3", p.place)
	}
	if a == b {
		return somewhere{}, fmt.Errorf("--place %s: a rank sends to another: name two", p.place)
	}
	for _, t := range known {
		if place := t.Place(a, b); place != "" {
			return somewhere{t.Platform, t.Library, place}, nil
		}
	}
	return somewhere{}, fmt.Errorf("--place %s: %s does not say where these ranks are: name intra or inter, or fit samples of all pairs (loggp measure --pairs all), which tell", p.place, p.params)
}

// write saves and prints the predictions.
func (p *predict) write(cmd *cobra.Command, source predictor, ps []reports.Prediction) error {
	if p.diagram != "" {
		first := ps[max(0, slices.IndexFunc(ps, func(x reports.Prediction) bool { return x.Sender.Range != reports.Unknown }))]
		d := source.transfer(first.Protocol, first.Bytes).Timeline()
		title := fmt.Sprintf("%s: %s of %d bytes", source.title, first.Protocol, first.Bytes)
		picture := chart.TransferChart(first.Protocol, title, d)
		if err := keep(cmd, p.diagram, func(w io.Writer) error { return picture.SVG(w, chart.Width) }, "time line of %s with %d bytes", first.Protocol, first.Bytes); err != nil {
			return fmt.Errorf("diagram: %w", err)
		}
	}
	if p.output != "" {
		if err := keep(cmd, p.output, func(w io.Writer) error { return source.csv(w, ps) }, "%d predictions", len(ps)); err != nil {
			return fmt.Errorf("predictions: %w", err)
		}
	}
	d := reports.Predictions(source.title, ps, p.explain)
	d.Files = []doc.File{{Name: "predictions.csv", Write: func(w io.Writer) error { return source.csv(w, ps) }}}
	return show(cmd, d)
}

// predictionRow is a row of a file of predictions.
type predictionRow struct {
	platform, library, place, mode, protocol string
	bytes                                    int
	quantity, micros, basis                  string
	within                                   reports.Range
}

var predictions = table.Schema[predictionRow]{
	Name: "predictions",
	Columns: []table.Column[predictionRow]{
		table.Name("platform", func(p *predictionRow) *string { return &p.platform }, nil),
		table.Name("library", func(p *predictionRow) *string { return &p.library }, nil),
		table.Name("place", func(p *predictionRow) *string { return &p.place }, nil),
		table.Name("mode", func(p *predictionRow) *string { return &p.mode }, nil),
		table.Name("protocol", func(p *predictionRow) *string { return &p.protocol }, nil),
		table.Whole("bytes", func(p *predictionRow) *int { return &p.bytes }, "a number of bytes", math.MaxInt32),
		table.Name("quantity", func(p *predictionRow) *string { return &p.quantity }, nil),
		table.Name("predicted_us", func(p *predictionRow) *string { return &p.micros }, nil),
		table.Name("basis", func(p *predictionRow) *string { return &p.basis }, nil),
		table.Name("range", func(p *predictionRow) *reports.Range { return &p.within }, nil),
	},
}

// csv writes predictions, two rows each.
func (source predictor) csv(w io.Writer, ps []reports.Prediction) error {
	var rows []predictionRow
	for _, p := range ps {
		call, protocol := source.call, p.Protocol
		if source.basis == byRanges {
			call, protocol = p.Protocol, "auto"
		}
		for _, x := range []struct {
			quantity string
			time     reports.PredictedTime
		}{{sample.TimerSender, p.Sender}, {sample.TimerOneWay, p.Delivery}} {
			micros := x.time.MicrosString()
			if x.time.Range == reports.Unknown {
				micros = ""
			}
			rows = append(rows, predictionRow{source.platform, source.library, source.place, call, protocol, p.Bytes, x.quantity, micros, source.basis, x.time.Range})
		}
	}
	return predictions.Write(w, nil, rows)
}
