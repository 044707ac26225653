package paper

import (
	"fmt"
	"math"
	"strings"

	fitcompare "github.com/loggp/loggp/fit/compare"

	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// finding returns an empty row about a subject.
func finding(s Subject, mode, parameter string, bytes int, unit string) reports.Finding {
	nan := math.NaN()
	return reports.Finding{Platform: s.Platform, Library: s.Library, Place: s.Place, Mode: mode, Parameter: parameter, Bytes: bytes, Unit: unit,
		Low: nan, High: nan, Measured: nan, MeasuredLow: nan, MeasuredHigh: nan, Predicted: nan, Basis: reports.Shown}
}

// words returns a row that is not a number, which nothing was fitted to. Nobody has yet said whether the two agree.
func words(s Subject, mode, parameter string, bytes int, published, found string) reports.Finding {
	f := finding(s, mode, parameter, bytes, "")
	f.Text, f.Basis = [2]string{published, found}, fitcompare.Validation
	return f
}

// compare says of a row of words whether what was found is what is published.
func compare(f *reports.Finding, agree bool) {
	f.Agreement = reports.Differs
	if agree {
		f.Agreement = reports.Agrees
	}
}

// show fills in what was measured and predicted.
func show(f *reports.Finding, measured, predicted Value) {
	f.Measured, f.MeasuredLow, f.MeasuredHigh, f.Predicted = measured.V, measured.Low, measured.High, predicted.V
}

// publish fills in what is published, and what agreement with it is worth.
func (x *run) publish(f *reports.Finding, r reports.Row) {
	f.Low, f.High, f.Source, f.Note = r.Low, r.High, printedIn(r), r.Contradiction
	if r.Flat && r.Parameter == "o_r" {
		f.Note = "One value is printed for all sizes: it is read as that of the receive that does not block."
	}
	switch {
	case r.Refuted:
		f.Basis = reports.Contradicted
	case x.site(subject(r)).job.Platform.Calibrated(r.Name()):
		f.Basis = fitcompare.Calibration
	default:
		f.Basis = fitcompare.Validation
	}
}

// printedIn says where a number is printed: Table 3.
func printedIn(r reports.Row) string { return "T" + strings.Replace(r.Table, "table-", "able ", 1) }

// sentence makes a sentence of a remark.
func sentence(t string) string {
	if t == "" {
		return ""
	}
	return strings.ToUpper(t[:1]) + t[1:] + "."
}

// units are those of published numbers, as findings have them.
var units = map[string]string{"us": "us", "us_per_byte": "us/B", "count": ""}

// value returns what results say of a published number.
func value(r *Results, s Subject, mode, parameter string, k int) Value {
	switch parameter {
	case "L":
		return r.latency(s)
	case "o_s":
		return r.send(s, mode, k)
	case "o_r":
		return r.receive(s, mode, k)
	case "G":
		return r.gap(s)
	case "H", "P":
		return r.count(s, parameter)
	}
	return none()
}

// parameters are the rows of published parameters.
func (x *run) parameters(rows reports.Published) []reports.Finding {
	var all []reports.Finding
	for _, r := range rows {
		s := subject(r)
		mode, parameter := r.Answer()
		if parameter == "" {
			parameter = r.Parameter
		}
		f := finding(s, mode, r.Parameter, r.Bytes, units[r.Unit])
		x.publish(&f, r)
		show(&f, value(x.measured, s, mode, parameter, r.Bytes), value(x.predicted, s, mode, parameter, r.Bytes))
		all = append(all, f)
	}
	return all
}

// table1 sets what the paper says of calls beside what they did with a peer that did nothing.
func (x *run) table1(src *source) reports.Artefact {
	a := reports.Artefact{ID: "table-1", Caption: "Send modes of MPI: which calls return without the peer", Words: []string{
		fmt.Sprintf("One rank sends, the other computes for %v and then receives; the receive of a ready send is posted before that. A call is local if it returns meanwhile.", letWait),
		"Where the paper leaves open whether a call is local there is nothing to agree with.",
	}}
	for _, s := range x.sites {
		if s.Subject == nowMPICH {
			continue
		}
		for _, r := range src.modes {
			mode := strings.ToLower(strings.TrimPrefix(r["operation"], "MPI_"))
			for _, k := range []int{small, triedBytes} {
				took := x.measured.returns(s.Subject, r["operation"], k)
				a.Rows = append(a.Rows, ending(words(s.Subject, mode, "ends", k, r["ends"], ends(took)+": returned after "+took.us()), r, ends(took)))
			}
		}
	}
	return a
}

// ends says of a call that took so long how it ends, in the words of table 1.
func ends(took Value) string {
	if alone(took) {
		return "local"
	}
	return "non-local"
}

// waitsForProgress is why a call that the paper calls local waits for its peer.
const waitsForProgress = "What was found differs by our reading of who makes progress, of which the source says nothing: a library does, inside its calls. By the rules of the platform's file a message of this length waits for an acknowledgement, which the peer sends in its next call, also where the receive is posted."

// ending fills in what table 1 says of a call that was found to end so.
func ending(f reports.Finding, r record, found string) reports.Finding {
	f.Source, f.Note = "Table 1", sentence(r["other"])
	if r["ends"] == unspecified {
		f.Basis = reports.Shown
		return f
	}
	compare(&f, found == r["ends"])
	if r["ends"] == "local" && found != r["ends"] {
		f.Note = strings.TrimSpace(f.Note + " " + waitsForProgress)
	}
	return f
}

// unspecified is what table 1 says where it says nothing.
const unspecified = "unspecified"

// table2 sets the platforms of the paper beside those of the catalogue.
func (x *run) table2(src *source) reports.Artefact {
	a := reports.Artefact{ID: "table-2", Caption: "Hardware platforms", Words: []string{
		"What is found is what the platform's file says; 'loggp platforms show' prints every number of it with its basis and source. Memory sizes are not emulated. The platforms were built from these numbers, so they are marked as calibration."}}
	for _, r := range src.platforms {
		s := subject(reports.Row{Platform: r["platform"], Level: "inter"})
		m := x.site(s).job.Platform.Machine
		add := func(parameter, published, found string) {
			f := words(s, "", parameter, -1, published, found)
			f.Source, f.Basis = "Table 2", fitcompare.Calibration
			a.Rows = append(a.Rows, f)
		}
		add("processor", r["processor"], m.Description)
		if r["clock_MHz"] != "NA" {
			add("clock", r["clock_MHz"]+" MHz", fmt.Sprintf("programs read a clock of %s MHz", digits(float64(unit.Microsecond)/float64(m.Timer))))
		}
		add("network", published(r), m.Interconnect())
		add("other", r["other"], fmt.Sprintf("%d ranks run", x.site(s).job.Ranks))
	}
	return a
}

// published is the network of a row of table 2.
func published(r record) string {
	if r["network_rate"] == "NA" {
		return r["network"]
	}
	return r["network"] + ", " + r["network_rate"] + " " + strings.Replace(r["network_rate_unit"], "_s", "/s", 1)
}

// table3 is the LogGP signature of T3D and NOW.
func (x *run) table3(src *source) reports.Artefact {
	a := reports.Artefact{ID: "table-3", Caption: "LogGP signature of T3D and NOW", Words: []string{
		"o_s is timer11 of the non-blocking standard send (issend: the numbers that the paper brackets); o_r is timer12 of the blocking receive, or timer21 of the one that does not block where the table has one value for all sizes; L is timer21 − timer12 of the blocking synchronous send of 16 bytes, the mean over both roots of the barrier; G is the slope of timer21 of the blocking receive less that of the other, of long messages.",
		"g is printed as a dash, and said to be about o_s: it stands here as the interval of a burst of sends of 16 bytes.",
		"Blocking receives grow with the message, as figure 11 has it for both platforms: NOW's one value of o_r for 16 and 10000 bytes is read as that of the receive that does not block.",
	}}
	a.Words = append(a.Words, "By algebra a call is interrupted only by what it waits for. On NOW a receive that does not block is found to be interrupted by its message, of 16 bytes, and sends of a burst by acknowledgements: the predictions are too low by what that costs.")
	for _, s := range []Subject{t3d, now} {
		a.Rows = append(a.Rows, x.parameters(src.parameters.Of(s.Platform))...)
		f := finding(s, "send", "g", small, "us")
		show(&f, x.measured.burst(s, "send", small), x.predicted.burst(s, "send", small))
		f.Source = "Table 3"
		a.Rows = append(a.Rows, f)
	}
	return a
}

// table4 is the LoGH{sSP} signature of the Convex.
func (x *run) table4(src *source) reports.Artefact {
	return reports.Artefact{ID: "table-4", Caption: "LoGH{sSP} signature of the Convex Exemplar", Rows: x.parameters(src.parameters.Of("convex")), Words: []string{
		"o and s are timer11 of the non-blocking standard send, as in figure 6; L, G and S are read as in table 3, with the two processors in one hypernode (s, S) or in two (L, o, G).",
		"H and P are found from the times of low-level messages between all pairs of processors, by which the fit, which knows nothing of the machine, tells who is near whom.",
	}}
}

// table5 is the latencies once more.
func (x *run) table5(src *source) reports.Artefact {
	a := reports.Artefact{ID: "table-5", Caption: "Network latencies", Rows: x.parameters(src.latencies),
		Words: []string{"These are the numbers of tables 3 and 4 once more."}}
	for i := range a.Rows {
		a.Rows[i].Again = true
	}
	return a
}
