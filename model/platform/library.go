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

// readLibrary reads the message-passing software: its description, its engine with costs and
// settings, and how MPI uses it.
func (r *fileReader) readLibrary(l *model.Library) nodeReader {
	settings, _ := r.engineSettingFields(l)
	return nodeReader{exampleMapping(append(r.libraryFields(l, nil), settings...)), func(path string, n *yaml.Node) {
		l.Engine = model.ProtoEngine
		if x := mappingValue(n, "engine"); x != nil {
			if e := model.FindEngine(x.Value); e != nil {
				l.Engine = e
			}
		}
		var tunings []collectiveRule
		own, check := r.engineSettingFields(l)
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
		requiredField("name", r.platformName(&l.Name)),
		requiredField("description", r.readText(&l.Description, `"what the library is"`)),
		optionalField("expected_error", r.readPercent(&l.ExpectedError, 10)),
		optionalField("engine", oneOfWords(r, new(string), names)),
		requiredField("software", r.readSoftwareCosts(l)),
		optionalField("collectives", r.collectiveRules(tunings)),
		optionalField("decisions", oneOfWords(r, &l.Decisions, collective.DecisionNames())),
		optionalField("sockets", r.socketsOf(&l.Sockets)),
		optionalField("exchange", oneOfWords(r, &l.Exchange, model.ExchangeOrders)),
		optionalField("compiled", r.compiledCommunication(&l.Compiled)),
	}
}

// compiledCommunication reads how a library uses multicast, and exchanges in phases.
func (r *fileReader) compiledCommunication(to **model.CompiledCommunication) nodeReader {
	x := &model.CompiledCommunication{}
	var names []string
	for _, s := range phases.Schedulers {
		names = append(names, s.Name)
	}
	fields := r.readMapping(
		requiredField("window", r.readCount(&x.WindowPackets, 1, maxCount)),
		optionalField("packet", r.readSize(&x.PacketBytes, 64, unit.MaxSize)),
		requiredField("timeout", r.readTime(&x.RetransmitTimeout)),
		optionalField("packet_cost", r.readTime(&x.PacketCost)),
		optionalField("byte_cost", r.perByte(&x.ByteCost)),
		requiredField("scheduler", oneOfWords(r, &x.Scheduler, names)),
		requiredField("threshold", r.readSize(&x.ShortMessageThreshold, 0, unit.MaxSize)),
		requiredField("schedule", r.readTime(&x.ScheduleTime)),
		optionalField("barrier", r.readTime(&x.BarrierTimePerMessage)),
		requiredField("unicast", r.readSize(&x.MaxUnicastBytes, 0, unit.MaxSize)),
		requiredField("multicast", r.readSize(&x.MaxMulticastBytes, 0, unit.MaxSize)),
		requiredField("aggregate", r.readSize(&x.MaxAggregateBytes, 0, unit.MaxSize)),
	)
	return r.withCheck(fields, func(path string, n *yaml.Node) {
		*to = x
		if x.RetransmitTimeout == 0 {
			r.reportProblem(mappingValue(mappingValue(n, "timeout"), "value"), path+".timeout.value", "0: packets would be sent again before they can be acknowledged")
		}
		r.multicastPositions = append(r.multicastPositions, nodePosition{path, n})
	})
}

// readBoolean reads true or false.
func (r *fileReader) readBoolean(to *bool) nodeReader {
	return r.parsedText("true or false", func(s string) error {
		if s != "true" && s != "false" {
			return fmt.Errorf("%q: write true or false", s)
		}
		*to = s == "true"
		return nil
	})
}
