package timeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/model/quantile"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/render"
)

// MachineSchedules has the times of schedules on a machine and in the simulation, and the
// parameters.
type MachineSchedules struct {
	Platform, Library string
	Ranks             int
	Params            schedule.Params
	Fitted            bool // the parameters are those of the machine
	Schedules         []ScheduleTime
}

// ScheduleTime is the time of a schedule on a machine and in the simulation.
type ScheduleTime struct {
	Group, Name                string // such as an operation and its algorithm
	Bytes                      int    // below zero: unknown
	MachineTime, SimulatedTime unit.Time
}

// Error returns the relative error of the simulation.
func (x ScheduleTime) Error() float64 { return float64(x.SimulatedTime)/float64(x.MachineTime) - 1 }

// maxAccurateError is the error up to which a simulation counts as accurate.
const maxAccurateError = 0.1

// ScheduleTimes compares the times of schedules on machines with those in the simulation.
func ScheduleTimes(all []MachineSchedules) *doc.Document {
	d := &doc.Document{Title: "Schedules on machines and by LogGOPS"}
	sum := &doc.Table{Name: "summary", Title: "Accuracy of LogGOPS", Columns: []doc.Column{{Heading: "platform", IsKey: true}, {Heading: "library", IsKey: true}, {Heading: "ranks", Kind: doc.NumberColumn},
		{Heading: "schedules", Kind: doc.NumberColumn}, {Heading: "within\n10 %", Kind: doc.NumberColumn}, {Heading: "median\nerror, %", Kind: doc.NumberColumn}, {Heading: "min\n%", Kind: doc.NumberColumn}, {Heading: "max\n%", Kind: doc.NumberColumn}, {Heading: "parameters", Kind: doc.ProseColumn}}}
	for _, m := range all {
		var sizes, errors []float64
		good := 0
		for _, x := range m.Schedules {
			e := x.Error()
			if sizes, errors = append(sizes, math.Abs(e)), append(errors, e); math.Abs(e) <= maxAccurateError {
				good++
			}
		}
		slices.Sort(sizes)
		sum.AddRow(doc.TextCell(m.Platform), doc.TextCell(m.Library), doc.CountCell(m.Ranks), doc.CountCell(len(m.Schedules)), doc.CountCell(good), signedPercent(quantile.UpperMedian(sizes)), signedPercent(slices.Min(errors)), signedPercent(slices.Max(errors)), doc.TextCell(m.Params.String()))
	}
	if slices.ContainsFunc(all, func(m MachineSchedules) bool { return m.Fitted }) {
		sum.AddNote("Parameters are fitted to the times of small schedules on the machine: ping-pongs, sends and receives between computations, a train of messages, and sends whose receive is late.")
	}
	sum.AddNote("The error is (simulated - measured) / measured; the median is of its absolute values. The rest is what LogGOPS does not model: protocols, nodes, distances, contention.")
	d.AddTables("summary", "Accuracy of LogGOPS", sum)
	var tables []*doc.Table
	for _, m := range all {
		title := fmt.Sprintf("%s of %s, %s", format.Plural(len(m.Schedules), "schedule"), m.Platform, m.Library)
		t := &doc.Table{Name: "schedules-" + m.Platform, DataName: "schedules", Title: title, Columns: []doc.Column{{Heading: "platform", IsKey: true}, {Heading: "schedule", IsKey: true}, {Heading: "algorithm", IsKey: true}, {Heading: "length\nB", Kind: doc.NumberColumn},
			{Heading: "machine\nus", Kind: doc.NumberColumn}, {Heading: "LogGOPS\nus", Kind: doc.NumberColumn}, {Heading: "error\n%", Kind: doc.NumberColumn}}}
		for _, x := range m.Schedules {
			bytes := doc.EmptyCell
			if x.Bytes >= 0 {
				bytes = doc.CountCell(x.Bytes)
			}
			t.AddRow(doc.TextCell(m.Platform), doc.TextCell(x.Group), doc.TextCell(x.Name), bytes, doc.NumberCell(x.MachineTime.Micros()), doc.NumberCell(x.SimulatedTime.Micros()), signedPercent(x.Error()))
		}
		d.AddTables(t.Name, title, t)
		tables = append(tables, t)
	}
	d.Files = append(d.Files, render.TableFile(tables...))
	return d
}

func signedPercent(part float64) doc.Cell {
	return doc.QuantityCell(fmt.Sprintf("%+.1f", 100*part), 100*part, "")
}
