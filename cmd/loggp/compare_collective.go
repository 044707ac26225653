package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
)

// What compare has for collective operations.

// ofCollectives says whether all samples are of collective operations. Some of them, it is an
// error.
func ofCollectives(machines []sample.Machine) (bool, error) {
	var some, others bool
	for _, m := range machines {
		a, b := clean.FindCollectiveSamples(m.Set)
		some, others = some || a, others || b
	}
	if some && others {
		return false, errors.New("compare: some samples are of collective operations, and others of single messages: compare them apart")
	}
	return some, nil
}

// collectives sets what a model says of collective operations beside what was measured.
func (c *comparison) collectives(cmd *cobra.Command, machines []sample.Machine) error {
	if err := c.unasked(cmd); err != nil {
		return err
	}
	subjects, err := compare.CollectiveSubjects(machines)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(subjects, byVendor) {
		return c.subjects(cmd, subjects)
	}
	var ps []params.Parameter
	if c.params != "" {
		if ps, err = readParameters(c.params); err != nil {
			return err
		}
	}
	var all []compare.CollectiveComparison
	for _, e := range subjects {
		from := fromPlatform(cmd, machines, e)
		if c.params != "" {
			from = fromParameters(c.params, ps, machines, e)
		}
		cs, missing := predicted(e.Times, from)
		if len(missing) > 0 {
			return fmt.Errorf("compare: %w", missing[0])
		}
		all = append(all, cs...)
	}
	d := reports.CollectiveTimes(all)
	d.Files = []doc.File{{Name: "comparisons.csv", Write: func(w io.Writer) error {
		var rows []compare.Comparison
		for _, x := range all {
			rows = append(rows, x.Comparison())
		}
		return compare.WriteComparisons(w, rows)
	}}}
	return c.write(cmd, len(all), d)
}

// errVendor says why there is no model of a vendor's MPI.
var errVendor = errors.New("a vendor's MPI does not say which algorithm it takes, and of that there is no model")

// byVendor says whether algorithms of a vendor's MPI are among what was measured, of which there is
// no model.
func byVendor(e compare.CollectiveSubject) bool {
	return slices.ContainsFunc(e.Times, func(x compare.Collective) bool { return x.Algorithm == probe.Vendor })
}

// subjects sets what collective operations take on several machines, or by several libraries, side
// by side.
func (c *comparison) subjects(cmd *cobra.Command, subjects []compare.CollectiveSubject) error {
	if c.params != "" {
		return fmt.Errorf("compare: %w: leave out --params to set its times beside others", errVendor)
	}
	if len(subjects) < 2 {
		return fmt.Errorf("compare: %w: measure the same operations elsewhere ('loggp measure --platform shm --collective all -o FILE') and name that file by another --samples", errVendor)
	}
	t := compare.CompareCollectives(subjects, clean.Options{})
	if len(t.Rows) == 0 {
		return errors.New("compare: no two of those have measured the same operation among as many ranks at the same length: measure them with the same --collective, --ranks and --sizes")
	}
	return c.write(cmd, len(t.Rows), reports.CollectiveSubjects(subjects, t))
}

// source says what messages take where a collective operation was measured, and where its ranks
// were, or why it cannot.
type source func(compare.Collective) (setting, error)

// fromParameters takes the parameters of standard sends, of which the messages of collective
// operations are: of the place and, where nodes are known, those within nodes too, if there are
// any. name is that of their file.
func fromParameters(name string, ps []params.Parameter, machines []sample.Machine, e compare.CollectiveSubject) source {
	ways, _ := waysTo(machines, e)
	return func(x compare.Collective) (s setting, err error) {
		call := calls[model.Standard]
		here := params.Select(ps, x.Platform, x.Library, x.Place)
		if len(here) == 0 {
			return s, fmt.Errorf("%s has no parameters of %s, %s, %s: 'loggp measure --platform %[2]s -o FILE' and 'loggp fit FILE -o PARAMS' make them", name, x.Platform, x.Library, x.Place)
		}
		if s.Parameters, err = params.CallParametersBySize(here, call); err != nil {
			return s, fmt.Errorf("with %s: %w", name, err)
		}
		s.where = fmt.Sprintf("%s in %s", call, name)
		if w := wayTo(ways, x); w != nil {
			s.nodes = w.nodes()
		}
		if near, err := params.CallParametersBySize(params.Select(ps, x.Platform, x.Library, model.Intra.String()), call); err == nil && s.nodes.Tiered() {
			s.Near = &near
		}
		return s, nil
	}
}

// fromPlatform takes what is known of an emulated platform.
func fromPlatform(cmd *cobra.Command, machines []sample.Machine, e compare.CollectiveSubject) source {
	ways, changed := waysTo(machines, e)
	return func(x compare.Collective) (s setting, err error) {
		w := wayTo(ways, x)
		switch {
		case w == nil && changed:
			return s, fmt.Errorf("platform %s: its file is gone, or is not what it was when this was measured: measure again, or say with --params from what to predict", x.Platform)
		case w == nil:
			return s, fmt.Errorf("nothing is known of platform %s: say with --params from what to predict; 'loggp measure --platform %[1]s -o FILE' and 'loggp fit FILE -o PARAMS' make that", x.Platform)
		}
		s.nodes = w.nodes()
		_, err = s.messages(cmd, w.Platform, x.Library, "", x.Ranks)
		return s, err
	}
}

// waysTo returns the ways of a subject, and whether any platform is not what it was.
func waysTo(machines []sample.Machine, e compare.CollectiveSubject) (ways []way, changed bool) {
	for _, i := range e.Machines {
		w, c := waysOf(machines[i].Set)
		ways, changed = append(ways, w...), changed || len(c) > 0
	}
	return ways, changed
}

// wayTo returns the way of what was measured, or nil.
func wayTo(ways []way, x compare.Collective) *way {
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

// predicted sets what the model says beside times. What cannot be predicted has none, and is
// missing: the reasons are given, each once.
func predicted(times []compare.Collective, from source) (all []compare.CollectiveComparison, missing []error) {
	type subject struct {
		platform, library, place string
		ranks                    int
	}
	type answer struct {
		setting
		err error
	}
	answers := make(map[subject]answer)
	all = compare.WithoutPrediction(times)
	for i, x := range times {
		who := subject{x.Platform, x.Library, x.Place, x.Ranks}
		a, known := answers[who]
		if !known {
			if x.Ranks > mostTogether {
				a.err = fmt.Errorf("%d ranks are too many: at most %d are measured", x.Ranks, mostTogether)
			} else {
				a.setting, a.err = from(x)
			}
			answers[who] = a
		}
		err := a.err
		if err == nil {
			err = a.predict(&all[i])
		}
		if err != nil && !slices.ContainsFunc(missing, func(e error) bool { return e.Error() == err.Error() }) {
			missing = append(missing, err)
		}
	}
	return all, missing
}

// predict adds the model's time.
func (s setting) predict(x *compare.CollectiveComparison) error {
	o, known := collective.OperationNamed(x.Operation)
	a := collective.Named(o, x.Algorithm)
	j := o.Job(x.Ranks, x.Bytes, s.nodes)
	if !known || a == nil || x.Ranks*(1+x.Bytes>>10) > mostMessages || !a.Serves(j) {
		return fmt.Errorf("there is no model of %s by %s of %d ranks and %d bytes", x.Operation, x.Algorithm, x.Ranks, x.Bytes)
	}
	x.Predicted, x.Model = s.Cost(a, j).Last.Micros(), s.where
	return nil
}
