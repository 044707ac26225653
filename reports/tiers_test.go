package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/tiers"
	"github.com/loggp/loggp/reports/chart/charttest"
	"github.com/loggp/loggp/reports/render"
	"github.com/loggp/loggp/reports/reporttest"
)

func TestCompany(t *testing.T) {
	for want, groups := range map[string][][]int{
		"0-7; 8-15": {{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}}, "0, 1; 2, 4, 6-8; 5": {{0, 1}, {2, 4, 6, 7, 8}, {5}},
	} {
		if got := listGroups(groups); got != want {
			t.Errorf("%v: %q, want %q", groups, got, want)
		}
	}
}

// One pair has no tiers to show, and nothing may be concluded from that.
func TestOnePair(t *testing.T) {
	table := tiersTable(tiers.Tiers{Platform: "x", Library: "y", Ranks: []int{0, 1}, Pairs: []tiers.Pair{{A: 0, B: 1}},
		Levels: []tiers.Tier{{Place: "inter", Groups: [][]int{{0, 1}}, Pairs: 1, Times: 1}}})
	if table.Title != "Tiers of x, y: 1 pair of 2 ranks" || !strings.Contains(strings.Join(table.Notes, ""), "measure more ranks") {
		t.Errorf("%q, %q", table.Title, table.Notes)
	}
}

// A fit of pairs is shown as a table with H and P, and on the page with the picture.
func TestTiersShown(t *testing.T) {
	r := example()
	r.Tiers = []tiers.Tiers{reporttest.ThreeTiers()}
	var b bytes.Buffer
	if err := render.WriteText(&b, Parameters(r), render.PlainStyle); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Tiers of made up, mpi: 20 pairs of 7 ranks", "0, 4; 1, 5; 2, 3; 106", "1 to 2", "0-5, 106"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	found := false
	for _, s := range (&Report{Results: []*fit.Result{r}}).Document().Sections {
		if found = found || s.ID == "tiers" && len(s.Tables) == 1 && len(s.Figures) == 1; s.ID == "tiers" {
			charttest.CheckLabels(t, s.Figures[0].Chart)
		}
	}
	if !found {
		t.Error("the page has no section of tiers")
	}
}
