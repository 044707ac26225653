package platform

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// library reads the message-passing software.
func (r *reader) library(l *model.Library) reading {
	var rules []rule
	var tunings []tuning
	var long, near model.Long
	fields := r.mapping(
		must("name", r.label(&l.Name)),
		must("description", r.text(&l.Description, `"what the library is"`)),
		must("software", r.software(&l.Software)),
		must("rules", r.list("[{mode: [standard, synchronous, ready, buffered], protocol: RTA}]",
			func(path string, i int, n *yaml.Node) {
				rules = append(rules, rule{node: n, path: fmt.Sprintf("%s[%d]", path, i)})
				r.rule(&rules[i]).read(rules[i].path, n)
			})),
		may("collectives", r.tunings(&tunings)),
		must("fallback", choice(r, &l.Fallback, longProtocols())),
		must("window", r.size(&l.Window, 0, maxWindow)),
		may("first", r.size(&l.First, 0, unit.MaxSize)),
		must("stage", r.flag(&long.Stage)),
		must("bounce", r.size(&long.Bounce, 0, unit.MaxSize)),
		may("intra", r.mapping(
			must("stage", r.flag(&near.Stage)),
			must("bounce", r.size(&near.Bounce, 0, unit.MaxSize)),
		)),
	)
	return r.checked(fields, func(path string, n *yaml.Node) {
		l.Long = model.EveryTier(long)
		if lookup(n, "intra") != nil {
			l.Long[model.Intra] = near
		}
		r.checkFirst(path, n, rules)
		l.Rules = r.table(path+".rules", lookup(n, "rules"), rules, l)
		l.Collectives = r.collectives(tunings)
		r.tuned = append(r.tuned, tunings...)
	})
}

// checkFirst checks that a library says how long first parts are if a rule names a protocol that has them, and only then.
func (r *reader) checkFirst(path string, n *yaml.Node, rules []rule) {
	first := lookup(n, "first")
	i := slices.IndexFunc(rules, func(x rule) bool { return model.Named(x.protocol).Steps[0].Data == model.FirstData })
	switch {
	case i >= 0 && first == nil:
		r.wrong(n, path, "missing key first: %s sends so much of a message with its first packet, and rules[%d] names it: add first: %s",
			rules[i].protocol, i, r.size(new(int), 0, 0).example)
	case i < 0 && first != nil:
		r.wrong(first, path+".first", "no rule names a protocol that has a first part: leave it out, or write a rule with PTAT")
	}
}

// software reads what each kind of work costs. The keys are the names of model.Work.
func (r *reader) software(to *[model.NumWork]unit.Time) reading {
	var fields []field
	for w := range model.NumWork {
		if w == model.WorkPack || w == model.WorkUnpack {
			fields = append(fields, must(w.String(), r.wholePerByte(&to[w])))
		} else {
			fields = append(fields, must(w.String(), r.time(&to[w])))
		}
	}
	return r.mapping(fields...)
}

// flag reads true or false.
func (r *reader) flag(to *bool) reading {
	return r.parsed("true or false", func(s string) error {
		if s != "true" && s != "false" {
			return fmt.Errorf("%q: write true or false", s)
		}
		*to = s == "true"
		return nil
	})
}
