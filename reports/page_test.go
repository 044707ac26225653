package reports

import (
	"encoding/xml"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/reporttest"
)

// whole is a report with all kinds of things, and few of a kind: pictures take their time.
func whole(t *testing.T) Report {
	x := t3d(t)
	r := *x.result
	r.Curves = nil
	for _, c := range x.result.Curves {
		if c.Mode == "isend" && c.Timer != sample.Train {
			r.Curves = append(r.Curves, c)
		}
	}
	d := model.Transfer{Machine: toy().Machine, Protocol: model.RAT, Bytes: 1000}.Timeline()
	return Report{Samples: x.set, Result: &r, Comparisons: x.compare, Platforms: []*platform.Platform{x.machine}, Published: papers(),
		Charts: []*chart.Chart{chart.Transfer("RAT", "Time line", d), chart.Transfer("RAT", "The same again", d)}}
}

// written writes a page twice, and returns what is in its directory: the same each time, and nothing that needs what is elsewhere.
func written(t *testing.T, dir string, write func() error) map[string]string {
	t.Helper()
	if err := write(); err != nil {
		t.Fatal(err)
	}
	files := reporttest.Files(t, dir)
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if again := reporttest.Files(t, dir); !maps.Equal(files, again) {
		t.Error("a second time it is not the same")
	}
	sound(t, files)
	return files
}

// numbered finds what is no number in the tables of a page.
func numbered(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if strings.HasSuffix(name, ".csv") && name != "facts.csv" && (strings.Contains(text, "NaN") || strings.Contains(text, "Inf")) {
			t.Errorf("%s has what is no number", name)
		}
	}
}

// TestPage: the page is the same each time, needs nothing from elsewhere, and leads to files that are there.
func TestPage(t *testing.T) {
	r := whole(t)
	dir := filepath.Join(t.TempDir(), "report")
	files := written(t, dir, func() error { return render.Page(dir, r.Document()) })
	page := files["index.html"]
	for _, name := range []string{"parameters.csv", "comparisons.csv", "warnings.csv", "facts.csv", "numbers-t3d.csv", "published.csv", "send-nonblocking.png",
		"send-nonblocking.svg", "timeline-RAT.svg", "timeline-RAT-2.svg", "parameters-by-mode.csv", "pieces.csv"} {
		if files[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	for _, want := range []string{"<code>loggp measure --platform t3d</code>", "LogGP parameters of t3d", ">3.1<", "fitted to table-3", "Predicted and measured times of t3d", " rows: scroll in the table to see all."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if ps, err := params.ReadParameters(strings.NewReader(files["parameters.csv"]), "p"); err != nil || len(ps) != len(r.Result.Parameters) {
		t.Errorf("parameters.csv: %d rows, %v", len(ps), err)
	}
}

// sound checks that a page needs nothing from elsewhere, has each id once, that its links lead somewhere, and that its elements are closed.
func sound(t *testing.T, files map[string]string) {
	t.Helper()
	page := files["index.html"]
	outside := strings.ReplaceAll(page, "http://www.w3.org/2000/svg", "")
	for _, bad := range []string{"<script", "src=", "url(", "@import", "<link rel=\"stylesheet", "<iframe", "<img", " on", "NaN", "ZgotmplZ"} {
		if i := strings.Index(outside, bad); i >= 0 && !(bad == " on" && !regexp.MustCompile(`<[^>]* on\w+=`).MatchString(outside)) {
			t.Errorf("the page has %q: %.80q", bad, outside[i:])
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements have the id %s", m[1])
		}
		ids[m[1]] = true
	}
	linked := map[string]bool{}
	for _, m := range regexp.MustCompile(` href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		target := m[1]
		linked[target] = true
		if id, ok := strings.CutPrefix(target, "#"); ok && ids[id] || files[target] != "" || target == "data:," {
			continue
		}
		t.Errorf("a link leads nowhere: %s", target)
	}
	balanced(t, page)
}

// balanced checks that each element of a page that is not empty by nature is closed in its turn.
func balanced(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.Replace(page, "<!DOCTYPE html>", "", 1)))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link", "br"}, xml.HTMLEntity
	var open []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			open = append(open, e.Name.Local)
		case xml.EndElement:
			if last := open[len(open)-1]; last != e.Name.Local {
				t.Fatalf("</%s> closes <%s>", e.Name.Local, last)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Errorf("not closed: %v", open)
	}
}

// TestHostile: whatever stands in names and facts, the page shows it as text.
func TestHostile(t *testing.T) {
	const evil = `<script>alert("1")</script>&amp;'`
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
	dir := filepath.Join(t.TempDir(), "report")
	err := render.Page(dir, Report{Title: evil, Result: r, Platforms: []*platform.Platform{p}, Comparisons: []compare.Comparison{{Platform: evil, Quantity: evil}},
		Samples: &sample.Set{Facts: []sample.Fact{{Key: evil, Value: evil}, {Key: "command", Value: evil}}}}.Document())
	if err != nil {
		t.Fatal(err)
	}
	page := reporttest.Files(t, dir)["index.html"]
	if strings.Contains(page, "<script") || strings.Contains(page, "&amp;amp;") == false {
		t.Error("a text of the report is not shown as it is")
	}
	balanced(t, page)
}

// TestLeast: a result alone is enough, even one without anything.
func TestLeast(t *testing.T) {
	for _, r := range []*fit.Result{{}, {Parameters: example().Parameters}} {
		dir := filepath.Join(t.TempDir(), "report")
		if err := render.Page(dir, Report{Result: r}.Document()); err != nil {
			t.Fatal(err)
		}
		page := reporttest.Files(t, dir)["index.html"]
		balanced(t, page)
		if strings.Contains(page, `id="charts"`) || !strings.Contains(page, `id="glossary"`) {
			t.Error("charts of nothing, or no glossary")
		}
	}
}
