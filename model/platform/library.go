package platform

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// library reads the message-passing software: its description, its engine with costs and settings,
// and how MPI uses it.
func (r *reader) library(l *model.Library) reading {
	settings, _ := r.settings(l)
	return reading{keys(append(r.libraryFields(l, nil), settings...)), func(path string, n *yaml.Node) {
		l.Engine = model.Proto
		if x := lookup(n, "engine"); x != nil {
			if e := model.FindEngine(x.Value); e != nil {
				l.Engine = e
			}
		}
		var tunings []tuning
		own, check := r.settings(l)
		fields := slices.Concat(r.libraryFields(l, &tunings), own)
		explain := func(key string) string { return settingOfOther(l.Engine, key) }
		r.checked(r.explainedMapping(explain, fields...), func(path string, n *yaml.Node) {
			if check != nil {
				check(path, n)
			}
			l.Collectives = r.collectives(tunings)
			r.tuned = append(r.tuned, tunings...)
		}).read(path, n)
	}}
}

// libraryFields are the keys of a library of any engine.
func (r *reader) libraryFields(l *model.Library, tunings *[]tuning) []field {
	var names []string
	for _, e := range slices.Concat(model.Engines, model.Standalone) {
		names = append(names, e.Name)
	}
	return []field{
		must("name", r.label(&l.Name)),
		must("description", r.text(&l.Description, `"what the library is"`)),
		may("engine", choice(r, new(string), names)),
		must("software", r.software(l)),
		may("collectives", r.tunings(tunings)),
		may("sockets", r.socketsOf(&l.Sockets)),
		may("exchange", choice(r, &l.Exchange, model.Exchanges)),
		may("compiled", r.compiled(&l.Compiled)),
	}
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
