package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/reports"
)

// What compare has for collective operations.

// ofCollectives says whether all samples are of collective operations. Some of them, it is an error.
func ofCollectives(machines []sample.Machine) (bool, error) {
	var some, others bool
	for _, m := range machines {
		a, b := fit.OfCollectives(m.Set)
		some, others = some || a, others || b
	}
	if some && others {
		return false, errors.New("compare: some samples are of collective operations, and others of single messages: compare them apart")
	}
	return some, nil
}

// collectives sets what a model says of collective operations beside what was measured.
func (c *compare) collectives(cmd *cobra.Command, machines []sample.Machine) error {
	if err := c.unasked(cmd); err != nil {
		return err
	}
	if vendor, times, err := byVendor(machines); vendor || err != nil {
		if err != nil {
			return err
		}
		return c.contests(cmd, machines, times)
	}
	var ps []fit.Parameter
	if c.params != "" {
		var err error
		if ps, err = readParameters(c.params); err != nil {
			return err
		}
	}
	var all []fit.CollectiveComparison
	for _, m := range machines {
		times, err := fit.Collectives(m.Set)
		if err != nil {
			return err
		}
		ways, changed := waysOf(m.Set)
		source := c.fromPlatform(cmd, ways, len(changed) > 0)
		if c.params != "" {
			source = c.fromParameters(ps, ways)
		}
		cs, err := predicted(times, source)
		if err != nil {
			return err
		}
		all = append(all, cs...)
	}
	var rows []fit.Comparison
	for _, x := range all {
		rows = append(rows, x.Comparison())
	}
	if err := c.save(cmd, rows); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	return reports.CollectiveComparisons(out, all, style(out))
}

// byVendor says whether algorithms of a vendor's MPI are among what was measured, of which there is no model, and returns the times of each
// machine.
func byVendor(machines []sample.Machine) (vendor bool, all [][]fit.Collective, err error) {
	for _, m := range machines {
		times, err := fit.Collectives(m.Set)
		if err != nil {
			return false, nil, err
		}
		all = append(all, times)
		vendor = vendor || slices.ContainsFunc(times, func(x fit.Collective) bool { return x.Algorithm == probe.Vendor })
	}
	return vendor, all, nil
}

// contests sets what collective operations take on several machines, or by several libraries, side by side.
func (c *compare) contests(cmd *cobra.Command, machines []sample.Machine, times [][]fit.Collective) error {
	if c.params != "" {
		return errors.New("compare: a vendor's MPI does not say which algorithm it takes, and of that there is no model: leave out --params to set its times beside others")
	}
	entrants, all := fit.Contests(times)
	if len(entrants) < 2 {
		return errors.New("compare: a vendor's MPI does not say which algorithm it takes, and of that there is no model: measure the same operations elsewhere ('loggp measure --platform shm --collective all -o FILE') and name that file by another --samples")
	}
	if len(all) == 0 {
		return errors.New("compare: no two of those have measured the same operation among as many ranks at the same length: measure them with the same --collective, --ranks and --sizes")
	}
	var files []string
	for _, m := range machines {
		files = append(files, strings.Join(m.Files, " and "))
	}
	if c.output != "" {
		if err := sample.Save(c.output, func(w io.Writer) error { return reports.ContestsCSV(w, entrants, files, all) }); err != nil {
			return fmt.Errorf("comparison: %w", err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d comparisons written to %s\n", len(all), c.output)
	}
	out := cmd.OutOrStdout()
	return reports.Contests(out, entrants, files, all, style(out))
}

// source says what messages take where a collective operation was measured, and where its ranks were, or why it cannot.
type source func(fit.Collective) (setting, error)

// fromParameters takes the parameters of standard sends, of which the messages of collective operations are: of the place and, where nodes are known,
// those within nodes too, if there are any.
func (c *compare) fromParameters(ps []fit.Parameter, ways []way) source {
	return func(x fit.Collective) (s setting, err error) {
		call := calls[model.Standard]
		here := fit.Select(ps, x.Platform, x.Library, x.Place)
		if len(here) == 0 {
			return s, fmt.Errorf("compare: %s has no parameters of %s, %s, %s: 'loggp measure --platform %[2]s -o FILE' and 'loggp fit FILE -o PARAMS' make them", c.params, x.Platform, x.Library, x.Place)
		}
		if s.Parameters, err = fit.Call(here, call); err != nil {
			return s, fmt.Errorf("compare with %s: %w", c.params, err)
		}
		s.where = fmt.Sprintf("%s in %s", call, c.params)
		if w := wayTo(ways, x); w != nil {
			s.nodes = w.nodes()
		}
		if near, err := fit.Call(fit.Select(ps, x.Platform, x.Library, model.Intra.String()), call); err == nil && s.nodes.Tiered() {
			s.Near = &near
		}
		return s, nil
	}
}

// fromPlatform takes what is known of an emulated platform.
func (c *compare) fromPlatform(cmd *cobra.Command, ways []way, changed bool) source {
	return func(x fit.Collective) (s setting, err error) {
		w := wayTo(ways, x)
		switch {
		case w == nil && changed:
			return s, fmt.Errorf("compare: platform %s: its file is gone, or is not what it was when this was measured: measure again, or say with --params from what to predict", x.Platform)
		case w == nil:
			return s, fmt.Errorf("compare: nothing is known of platform %s: say with --params from what to predict; 'loggp measure --platform %[1]s -o FILE' and 'loggp fit FILE -o PARAMS' make that", x.Platform)
		}
		s.nodes = w.nodes()
		_, err = s.low(cmd, w.Platform, x.Library, "")
		return s, err
	}
}

// wayTo returns the way of what was measured, or nil.
func wayTo(ways []way, x fit.Collective) *way {
	for i, w := range ways {
		if w.Machine.Name == x.Platform && w.ranks == x.Ranks {
			return &ways[i]
		}
	}
	return nil
}

// nodes returns which ranks are near each other.
func (w way) nodes() *collective.Nodes {
	names := make([]int, w.ranks)
	for r := range names {
		names[r] = w.Machine.Node(r)
	}
	return collective.NewNodes(names)
}

// predicted sets what the model says beside times.
func predicted(times []fit.Collective, from source) ([]fit.CollectiveComparison, error) {
	type subject struct {
		platform, library, place string
		ranks                    int
	}
	settings := make(map[subject]setting)
	var all []fit.CollectiveComparison
	for _, x := range times {
		who := subject{x.Platform, x.Library, x.Place, x.Ranks}
		if x.Ranks > mostTogether {
			return nil, fmt.Errorf("compare: %d ranks are too many: at most %d are measured", x.Ranks, mostTogether)
		}
		s, known := settings[who]
		if !known {
			var err error
			if s, err = from(x); err != nil {
				return nil, err
			}
			settings[who] = s
		}
		o, known := collective.OperationNamed(x.Operation)
		a := collective.Named(o, x.Algorithm)
		j := o.Job(x.Ranks, x.Bytes, s.nodes)
		if !known || a == nil || x.Ranks*(1+x.Bytes>>10) > mostMessages || !a.Serves(j) {
			return nil, fmt.Errorf("compare: there is no model of %s by %s of %d ranks and %d bytes", x.Operation, x.Algorithm, x.Ranks, x.Bytes)
		}
		all = append(all, fit.CollectiveComparison{Collective: x, Predicted: s.Cost(a, j).Last.Micros(), By: s.where})
	}
	return all, nil
}
