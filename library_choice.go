package loggp

import (
	"fmt"
	"regexp"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/nccl"
	"github.com/loggp/loggp/model/platform"
)

// algorithmChooser returns the name of the algorithm that a library takes for an operation if no
// algorithm is forced, or "" if that is not known.
type algorithmChooser func(o collective.Operation, ranks, bytes int) string

// tuningChooser chooses by a table of rules. nodes may be nil.
func tuningChooser(rules []collective.Rule, nodes *collective.Nodes) algorithmChooser {
	t := collective.NewTuning(rules)
	return func(o collective.Operation, ranks, bytes int) string {
		j := o.StandardJob(ranks, bytes, nodes)
		return t.ChooseAlgorithm(o, &j, true).Name
	}
}

// platformChooser chooses as a library of an emulated platform does. It is nil if the library
// compiles its communication, or if NCCL does not serve the ranks.
func platformChooser(p *platform.Platform, l *model.Library, ranks int, nodes *collective.Nodes) algorithmChooser {
	switch {
	case l.Compiled != nil:
		return nil
	case l.CarriedBy() != model.NCCLEngine:
		return tuningChooser(collective.RulesOfLibrary(l), nodes)
	}
	g, err := newNCCLGroupOf(p, l, ranks)
	if err != nil {
		return nil
	}
	return func(o collective.Operation, _, bytes int) string {
		return g.Choice(nccl.Call{Operation: o, Bytes: bytes * g.blocks(o)}).String()
	}
}

// decisionVersions are the versions of MPI libraries whose decisions are known.
var decisionVersions = []struct {
	library   *regexp.Regexp // its name, as measurements on this machine have it
	decisions string
}{
	{regexp.MustCompile(`^Open MPI 4\.1\b`), "openmpi-4.1"},
	{regexp.MustCompile(`^Open MPI 5\.0\b`), "openmpi-5.0"},
	{regexp.MustCompile(`^MPICH 4\.`), "mpich-4"},
}

// namedChooser chooses as a library does that was measured on a real machine: loggp's own, or an
// MPI of a version whose decisions are known. It is nil for others.
func namedChooser(platformName, library string) algorithmChooser {
	if isThisMachine(platformName) && library == "loggp" {
		return tuningChooser(collective.Defaults, nil)
	}
	for _, v := range decisionVersions {
		if v.library.MatchString(library) {
			return tuningChooser(collective.FindDecisions(v.decisions).Rules, nil)
		}
	}
	return nil
}

// setLibraryChoices adds to the times of a subject what its library takes.
func setLibraryChoices(all []compare.CollectiveComparison, machines []sample.Machine, s compare.CollectiveSubject) {
	routes, _ := subjectRoutes(machines, s)
	choosers := map[string]algorithmChooser{}
	for i := range all {
		x := &all[i]
		key := fmt.Sprint(x.Platform, "/", x.Library, "/", x.Ranks)
		choose, known := choosers[key]
		if !known {
			choose = measuredChooser(routes, x.CollectiveTimes)
			choosers[key] = choose
		}
		if o, ok := collective.OperationNamed(x.Operation); ok && choose != nil {
			x.LibraryChoice = choose(o, x.Ranks, x.Bytes)
		}
	}
}

// measuredChooser returns the choices of the library that was measured.
func measuredChooser(routes []route, x compare.CollectiveTimes) algorithmChooser {
	r := findRoute(routes, x)
	if r == nil {
		return namedChooser(x.Platform, x.Library)
	}
	l, err := r.Library(x.Library)
	if err != nil {
		return nil
	}
	return platformChooser(r.Platform, l, x.Ranks, r.nodes())
}

// chooser returns the choices of the library for which a prediction is, or nil if they are not
// known: of parameters, those of the library on which they were measured.
func (o CollectiveOptions) chooser(m collectiveModel, ranks int) algorithmChooser {
	if o.Platform == "" {
		if c := namedChooser(m.measuredOn, m.libraryTitle); c != nil {
			return c
		}
		p, err := platform.Load(m.measuredOn)
		if err != nil {
			return nil
		}
		l, err := p.Library(m.libraryTitle)
		if err != nil {
			return nil
		}
		return platformChooser(p, l, ranks, m.nodes)
	}
	p := o.changed
	if p == nil {
		var err error
		if p, err = LoadPlatform(o.Platform); err != nil {
			return nil
		}
	}
	return platformChooser(p, m.calibrated, ranks, m.nodes)
}
