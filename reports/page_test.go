package reports

import (
	"maps"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/pagetest"
)

// whole is a report with all kinds of things, and few of a kind: pictures take their time.
func whole(t *testing.T) *Report {
	x := t3d(t)
	r := *x.result
	r.Curves = nil
	for _, c := range x.result.Curves {
		if c.Mode == "isend" && c.Timer != sample.TimerTrain {
			r.Curves = append(r.Curves, c)
		}
	}
	d := model.Transfer{Machine: toy().Machine, Protocol: model.ProtocolRAT, Bytes: 1000}.Timeline()
	return &Report{Machines: []sample.Machine{{Set: x.set}}, Results: []*fit.Result{&r}, Comparisons: x.compare, Platforms: []*platform.Platform{x.machine}, Published: papers(),
		Charts: []*chart.Chart{chart.TransferChart("RAT", "Time line", d), chart.TransferChart("RAT", "The same again", d)}}
}

func TestMain(m *testing.M) { pagetest.Main(m) }

// TestPage: the page has what it should, a second time the same, and can be read in a browser.
func TestPage(t *testing.T) {
	r := whole(t)
	r.SideBySide = contrasted()
	for i := range r.SideBySide.Subjects {
		r.SideBySide.Subjects[i].MachineIndex = 0 // of the one result
	}
	p := pagetest.Write(t, r.Document())
	p.CheckFiles(t, "parameters.csv", "comparisons.csv", "warnings.csv", "facts.csv", "numbers-t3d.csv", "published.csv", "send-nonblocking.png",
		"send-nonblocking.svg", "timeline-RAT.svg", "timeline-RAT-2.svg", "parameters-by-mode.csv", "pieces.csv")
	p.CheckText(t, "<code>loggp measure --platform t3d</code>", "LogGP parameters of t3d", ">3.1<", "fitted to table-3", "Predicted and measured times of t3d", ">Show ")
	if ps, _, err := params.ReadParameters(strings.NewReader(p.Files["parameters.csv"]), "p"); err != nil || len(ps) != len(r.Results[0].Parameters) {
		t.Errorf("parameters.csv: %d rows, %v", len(ps), err)
	}
	if again := pagetest.Write(t, r.Document()); !maps.Equal(p.Files, again.Files) {
		t.Error("a second time it is not the same")
	}
	p.CheckAppearance(t)
	p.CheckInteraction(t)
}

// TestHostile: whatever stands in names and facts, the page shows it as text.
func TestHostile(t *testing.T) {
	const evil = pagetest.InjectedMarkup
	r := example()
	for i := range r.Parameters {
		r.Parameters[i].Platform, r.Parameters[i].Mode = evil, evil
	}
	for i := range r.Curves {
		r.Curves[i].Platform = evil
	}
	for i := range r.Warnings {
		r.Warnings[i].Text, r.Warnings[i].Code, r.Warnings[i].Mode = evil, evil, evil
	}
	p := toy()
	p.Machine.Name, p.Machine.Description, p.Numbers[0].Source, p.Libraries[0].Description = "../x/"+evil, evil, evil, evil
	page := pagetest.Write(t, (&Report{Title: evil, Results: []*fit.Result{r}, Platforms: []*platform.Platform{p}, Comparisons: []compare.Comparison{{Platform: evil, Quantity: evil}},
		Machines: []sample.Machine{{Set: &sample.Set{Facts: []sample.Fact{{Key: evil, Value: evil}, {Key: "command", Value: evil}}}}}}).Document())
	page.CheckText(t, "&amp;amp;")
}

// TestLeast: a result alone is enough, even one without anything.
func TestLeast(t *testing.T) {
	for _, r := range []*fit.Result{{}, {Parameters: example().Parameters}} {
		page := pagetest.Write(t, (&Report{Results: []*fit.Result{r}}).Document()).Files["index.html"]
		if strings.Contains(page, `id="charts"`) || !strings.Contains(page, `id="glossary"`) {
			t.Error("charts of nothing, or no glossary")
		}
	}
}
