package platform

import (
	"fmt"
	"slices"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/phases"
	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// library reads the message-passing software: its description, its engine with costs and settings,
// and how MPI uses it.
func (r *fileReader) library(l *model.Library) nodeReader {
	settings, _ := r.settings(l)
	return nodeReader{exampleMapping(append(r.libraryFields(l, nil), settings...)), func(path string, n *yaml.Node) {
		l.Engine = model.ProtoEngine
		if x := mappingValue(n, "engine"); x != nil {
			if e := model.FindEngine(x.Value); e != nil {
				l.Engine = e
			}
		}
		var tunings []collectiveRule
		own, check := r.settings(l)
		fields := slices.Concat(r.libraryFields(l, &tunings), own)
		explain := func(key string) string { return explainOtherEngine(l.Engine, key) }
		r.withCheck(r.mappingWithHint(explain, fields...), func(path string, n *yaml.Node) {
			if check != nil {
				check(path, n)
			}
			l.Collectives = r.convertCollectiveRules(tunings)
			r.collectiveRulesRead = append(r.collectiveRulesRead, tunings...)
		}).read(path, n)
	}}
}

// libraryFields are the keys of a library of any engine.
func (r *fileReader) libraryFields(l *model.Library, tunings *[]collectiveRule) []mappingField {
	var names []string
	for _, e := range slices.Concat(model.Engines, model.StandaloneEngines) {
		names = append(names, e.Name)
	}
	return []mappingField{
		required("name", r.platformName(&l.Name)),
		required("description", r.text(&l.Description, `"what the library is"`)),
		optional("expected_error", r.percent(&l.ExpectedError, 10)),
		optional("engine", oneOfWords(r, new(string), names)),
		required("software", r.software(l)),
		optional("collectives", r.collectiveRules(tunings)),
		optional("decisions", oneOfWords(r, &l.Decisions, collective.DecisionNames())),
		optional("sockets", r.socketsOf(&l.Sockets)),
		optional("exchange", oneOfWords(r, &l.Exchange, model.ExchangeOrders)),
		optional("compiled", r.compiledCommunication(&l.Compiled)),
	}
}

// compiledCommunication reads how a library uses multicast, and exchanges in phases.
func (r *fileReader) compiledCommunication(to **model.CompiledCommunication) nodeReader {
	x := &model.CompiledCommunication{}
	var names []string
	for _, s := range phases.Schedulers {
		names = append(names, s.Name)
	}
	fields := r.mapping(
		required("window", r.count(&x.WindowPackets, 1, maxCount)),
		optional("packet", r.size(&x.PacketBytes, 64, unit.MaxSize)),
		required("timeout", r.time(&x.RetransmitTimeout)),
		optional("packet_cost", r.time(&x.PacketCost)),
		optional("byte_cost", r.perByte(&x.ByteCost)),
		required("scheduler", oneOfWords(r, &x.Scheduler, names)),
		required("threshold", r.size(&x.ShortMessageThreshold, 0, unit.MaxSize)),
		required("schedule", r.time(&x.ScheduleTime)),
		optional("barrier", r.time(&x.BarrierTimePerMessage)),
		required("unicast", r.size(&x.MaxUnicastBytes, 0, unit.MaxSize)),
		required("multicast", r.size(&x.MaxMulticastBytes, 0, unit.MaxSize)),
		required("aggregate", r.size(&x.MaxAggregateBytes, 0, unit.MaxSize)),
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		*to = x
		if x.RetransmitTimeout == 0 {
			r.reportProblem(mappingValue(mappingValue(n, "timeout"), "value"), path+".timeout.value", "0: packets would be sent again before they can be acknowledged")
		}
		r.multicastPositions = append(r.multicastPositions, nodePosition{path, n})
	})
}

// boolean reads true or false.
func (r *fileReader) boolean(to *bool) nodeReader {
	return r.parsedText("true or false", func(s string) error {
		if s != "true" && s != "false" {
			return fmt.Errorf("%q: write true or false", s)
		}
		*to = s == "true"
		return nil
	})
}
