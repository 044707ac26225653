package loggp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
)

// hasOnlyCollectives reports whether all samples are of collective operations. It fails if only
// some are.
func hasOnlyCollectives(machines []sample.Machine) (bool, error) {
	var collectives, messages bool
	for _, m := range machines {
		a, b := clean.FindCollectiveSamples(m.Set)
		collectives, messages = collectives || a, messages || b
	}
	if collectives && messages {
		return false, errors.New("compare: some samples are of collective operations, and others of single messages: compare them apart")
	}
	return collectives, nil
}

// compareCollectives compares a model of collective operations with measurements.
func compareCollectives(ctx context.Context, machines []sample.Machine, o CompareOptions) (*Comparison, error) {
	subjects, err := compare.GroupCollectiveSubjects(machines)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(subjects, isVendor) {
		return compareVendors(subjects, o.Params.From != "")
	}
	if err := o.readParams(); err != nil {
		return nil, err
	}
	ps := o.Params
	var all []compare.CollectiveComparison
	for _, s := range subjects {
		source := platformModels(ctx, machines, s)
		if len(ps.All) > 0 {
			source = parameterModels(ps, machines, s)
		}
		compared, missing := predictCollectives(s.Times, source)
		if len(missing) > 0 {
			return nil, fmt.Errorf("compare: %w", missing[0])
		}
		setLibraryChoices(compared, machines, s)
		all = append(all, compared...)
	}
	d := reports.CollectiveTimes(all)
	d.Files = []doc.File{{Name: "comparisons.csv", Write: func(w io.Writer) error {
		var rows []compare.Comparison
		for _, x := range all {
			rows = append(rows, x.Comparison())
		}
		return compare.WriteComparisons(w, rows)
	}}}
	return &Comparison{len(all), d}, nil
}

// errVendorModel is the error for a vendor's MPI, which has no model.
var errVendorModel = errors.New("a vendor's MPI does not say which algorithm it takes, and of that there is no model")

// isVendor reports whether a subject has times of a vendor's MPI, whose algorithms are unknown.
func isVendor(s compare.CollectiveSubject) bool {
	return slices.ContainsFunc(s.Times, func(x compare.CollectiveTimes) bool { return x.Algorithm == probe.VendorAlgorithm })
}

// compareVendors compares the times of collective operations on several machines or with several
// libraries.
func compareVendors(subjects []compare.CollectiveSubject, hasParams bool) (*Comparison, error) {
	if hasParams {
		return nil, fmt.Errorf("compare: %w: leave out --params to set its times beside others", errVendorModel)
	}
	if len(subjects) < 2 {
		return nil, fmt.Errorf("compare: %w: measure the same operations elsewhere ('loggp measure --platform shm --collective all -o FILE') and name that file by another --samples", errVendorModel)
	}
	t := compare.CompareCollectives(subjects, clean.Options{})
	if len(t.Rows) == 0 {
		return nil, errors.New("compare: no two of those have measured the same operation among as many ranks at the same length: measure them with the same --collective, --ranks and --sizes")
	}
	return &Comparison{len(t.Rows), reports.CollectiveSubjects(subjects, t)}, nil
}

// collectiveModels returns the model of a measured collective operation, or why there is none.
type collectiveModels func(compare.CollectiveTimes) (collectiveModel, error)

// parameterModels uses the parameters of standard sends, of which collective operations consist:
// those of the place and, if nodes are known, those within nodes too.
func parameterModels(p Parameters, machines []sample.Machine, s compare.CollectiveSubject) collectiveModels {
	routes, _ := subjectRoutes(machines, s)
	return func(x compare.CollectiveTimes) (m collectiveModel, err error) {
		call := SendCalls[model.StandardMode]
		selected := params.ParametersOfPlace(p.All, x.Platform, x.Library, x.Place)
		if len(selected) == 0 {
			return m, fmt.Errorf("%s has no parameters of %s, %s, %s: 'loggp measure --platform %[2]s -o FILE' and 'loggp fit FILE -o PARAMS' make them", p.From, x.Platform, x.Library, x.Place)
		}
		if m.Parameters, err = params.BlockingCallParametersBySize(selected, call); err != nil {
			return m, fmt.Errorf("with %s: %w", p.From, err)
		}
		m.Copying = copyOfReceives(m.Parameters)
		m.source = fmt.Sprintf("%s in %s", call, p.From)
		if r := findRoute(routes, x); r != nil {
			m.nodes = r.nodes()
		}
		if near, err := params.BlockingCallParametersBySize(params.ParametersOfPlace(p.All, x.Platform, x.Library, model.IntraNode.String()), call); err == nil && m.nodes.HasTiers() {
			m.IntraNode = &near
		}
		return m, nil
	}
}

// platformModels uses the low-level messages of an emulated platform.
func platformModels(ctx context.Context, machines []sample.Machine, s compare.CollectiveSubject) collectiveModels {
	routes, changed := subjectRoutes(machines, s)
	return func(x compare.CollectiveTimes) (m collectiveModel, err error) {
		r := findRoute(routes, x)
		switch {
		case r == nil && changed:
			return m, fmt.Errorf("platform %s: its file is gone, or is not what it was when this was measured: measure again, or say with --params from what to predict", x.Platform)
		case r == nil:
			return m, fmt.Errorf("nothing is known of platform %s: say with --params from what to predict; 'loggp measure --platform %[1]s -o FILE' and 'loggp fit FILE -o PARAMS' make that", x.Platform)
		}
		m.nodes = r.nodes()
		_, err = m.usePlatformCalls(ctx, r.Platform, x.Library, "", x.Ranks)
		return m, err
	}
}

// subjectRoutes returns the routes of a subject, and whether a platform has changed since.
func subjectRoutes(machines []sample.Machine, s compare.CollectiveSubject) (routes []route, changed bool) {
	for _, i := range s.Machines {
		r, c := routesOf(machines[i].Set)
		routes, changed = append(routes, r...), changed || len(c) > 0
	}
	return routes, changed
}

// findRoute returns the route of a measured operation, or nil.
func findRoute(routes []route, x compare.CollectiveTimes) *route {
	i := slices.IndexFunc(routes, func(r route) bool { return r.Machine.Name == x.Platform && r.ranks == x.Ranks })
	if i < 0 {
		return nil
	}
	return &routes[i]
}

// predictCollectives adds the predicted time to each measured one. Times without a model get none;
// missing lists the reasons, each once.
func predictCollectives(times []compare.CollectiveTimes, models collectiveModels) (all []compare.CollectiveComparison, missing []error) {
	type key struct {
		platform, library, place string
		ranks                    int
	}
	type entry struct {
		model collectiveModel
		err   error
	}
	known := make(map[key]entry)
	all = compare.WithoutPrediction(times)
	for i, x := range times {
		k := key{x.Platform, x.Library, x.Place, x.Ranks}
		e, found := known[k]
		if !found {
			if x.Ranks > maxCollectiveRanks {
				e.err = fmt.Errorf("%d ranks are too many: at most %d are measured", x.Ranks, maxCollectiveRanks)
			} else {
				e.model, e.err = models(x)
			}
			known[k] = e
		}
		err := e.err
		if err == nil {
			err = e.model.predict(&all[i])
		}
		if err != nil && !slices.ContainsFunc(missing, func(e error) bool { return e.Error() == err.Error() }) {
			missing = append(missing, err)
		}
	}
	return all, missing
}

// maxCollectiveRanks limits the ranks of a measured collective operation, because the number of
// messages of a pairwise exchange is the square of the number of ranks.
const maxCollectiveRanks = 4096
