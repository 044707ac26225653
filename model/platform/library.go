package platform

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// library reads the message-passing software: its description, its engine, the costs of the
// engine's work, and the settings of such an engine.
func (r *reader) library(l *model.Library) reading {
	return reading{r.proto(l).example, func(path string, n *yaml.Node) {
		l.Engine = model.Proto
		if x := lookup(n, "engine"); x != nil {
			if e := model.FindEngine(x.Value); e != nil {
				l.Engine = e
			}
		}
		if l.Engine == model.Proto {
			r.proto(l).read(path, n)
			return
		}
		var tunings []tuning
		fields := append(r.libraryFields(l), may("collectives", r.tunings(&tunings)))
		requests := 0
		if l.Engine.FIFOs {
			requests = model.DefaultRequests
			fields = append(fields, may("fifo", r.size(&l.FIFO, model.LeastFIFO, maxWindow)), may("requests", r.count(&requests, 0, maxRequest)))
		}
		if l.Engine.Pinned {
			fields = append(fields,
				must("short", r.mapping(must(model.Inter.String(), r.size(&l.Short[model.Inter], 0, unit.MaxSize)), must(model.Intra.String(), r.size(&l.Short[model.Intra], 0, unit.MaxSize)))),
				may("block", r.size(&l.Block, 1, maxWindow)), may("pinned", r.size(&l.Pinned, 1, unit.MaxSize)))
		}
		r.checked(r.mapping(fields...), func(string, *yaml.Node) {
			r.addCollectives(l, tunings)
			if l.Engine.FIFOs && requests == 0 {
				requests = -1
			}
			l.Requests = requests
		}).read(path, n)
	}}
}

// libraryFields are the keys of a library of any engine.
func (r *reader) libraryFields(l *model.Library) []field {
	var names []string
	for _, e := range slices.Concat(model.Engines, model.Standalone) {
		names = append(names, e.Name)
	}
	return []field{
		must("name", r.label(&l.Name)),
		must("description", r.text(&l.Description, `"what the library is"`)),
		may("engine", choice(r, new(string), names)),
		must("software", r.software(l)),
	}
}

// proto reads a library whose engine is model.Proto.
func (r *reader) proto(l *model.Library) reading {
	var rules []rule
	var tunings []tuning
	var long, near model.Long
	var rendezvous []string // protocols that need no buffer space at the receiver
	for _, p := range model.Protocols {
		if !p.Eager() {
			rendezvous = append(rendezvous, p.Name)
		}
	}
	fields := r.mapping(append(r.libraryFields(l),
		must("rules", r.list("[{mode: [standard, synchronous, ready, buffered], protocol: RTA}]",
			func(path string, i int, n *yaml.Node) {
				rules = append(rules, rule{node: n, path: fmt.Sprintf("%s[%d]", path, i)})
				r.rule(&rules[i]).read(rules[i].path, n)
			})),
		may("collectives", r.tunings(&tunings)),
		may("sockets", r.socketsOf(&l.Sockets)),
		may("exchange", choice(r, &l.Exchange, model.Exchanges)),
		may("compiled", r.compiled(&l.Compiled)),
		must("fallback", choice(r, &l.Fallback, rendezvous)),
		must("window", r.size(&l.Window, 0, maxWindow)),
		may("first", r.size(&l.First, 0, unit.MaxSize)),
		must("stage", r.flag(&long.Stage)),
		must("bounce", r.size(&long.Bounce, 0, unit.MaxSize)),
		may("intra", r.mapping(
			must("stage", r.flag(&near.Stage)),
			must("bounce", r.size(&near.Bounce, 0, unit.MaxSize)),
		)),
	)...)
	return r.checked(fields, func(path string, n *yaml.Node) {
		l.Long = model.EveryTier(long)
		if lookup(n, "intra") != nil {
			l.Long[model.Intra] = near
		}
		r.checkFirst(path, n, rules)
		l.Rules = r.table(path+".rules", lookup(n, "rules"), rules, l)
		r.addCollectives(l, tunings)
	})
}

// compiled reads how a library uses multicast, and exchanges in phases.
func (r *reader) compiled(to **model.Compiled) reading {
	x := &model.Compiled{}
	var names []string
	for _, s := range phases.Schedulers {
		names = append(names, s.Name)
	}
	fields := r.mapping(
		must("window", r.count(&x.Window, 1, maxCount)),
		may("packet", r.size(&x.Packet, 64, unit.MaxSize)),
		must("timeout", r.time(&x.Timeout)),
		must("scheduler", choice(r, &x.Scheduler, names)),
		must("threshold", r.size(&x.Threshold, 0, unit.MaxSize)),
		must("schedule", r.time(&x.Schedule)),
		may("barrier", r.time(&x.Barrier)),
		must("unicast", r.size(&x.Unicast, 0, unit.MaxSize)),
		must("multicast", r.size(&x.Multicast, 0, unit.MaxSize)),
		must("aggregate", r.size(&x.Aggregate, 0, unit.MaxSize)),
	)
	return r.checked(fields, func(path string, n *yaml.Node) {
		*to = x
		if x.Timeout == 0 {
			r.wrong(lookup(lookup(n, "timeout"), "value"), path+".timeout.value", "0: packets would be sent again before they can be acknowledged")
		}
		r.multicasts = append(r.multicasts, at{path, n})
	})
}

// addCollectives gives a library its rules of collective operations.
func (r *reader) addCollectives(l *model.Library, tunings []tuning) {
	l.Collectives = r.collectives(tunings)
	r.tuned = append(r.tuned, tunings...)
}

// checkFirst checks that a library has the length of first parts if, and only if, a rule names a
// protocol with first parts.
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

// software reads the cost of each kind of work that the library's engine declares.
func (r *reader) software(l *model.Library) reading {
	costs := func() []field {
		var fields []field
		for k, c := range l.CarriedBy().Costs {
			if c.PerByte {
				fields = append(fields, must(c.Key, r.wholePerByte(&l.Software[k])))
			} else {
				fields = append(fields, must(c.Key, r.time(&l.Software[k])))
			}
		}
		return fields
	}
	return reading{keys(costs()), func(path string, n *yaml.Node) { r.mapping(costs()...).read(path, n) }}
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
