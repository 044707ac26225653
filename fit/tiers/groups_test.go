package tiers

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model/table"
)

// Groups come back from a file of parameters, which is read as if they were not there.
func TestGroups(t *testing.T) {
	known := []Tiers{{Platform: `a, "b"`, Library: "", Ranks: []int{0, 1, 2, 7}, Levels: []Tier{
		{Place: "intra", Groups: [][]int{{0, 2}, {1}, {7}}}, {Place: "inter", Groups: [][]int{{0, 1, 2, 7}}}}}}
	var file bytes.Buffer
	rows := []params.Parameter{{Platform: "a", Place: "inter", Name: "H", From: -1, To: -1, Value: 3, Low: 3, High: 3, Unit: params.UnitCount, Method: params.MethodCountByPairTiers, SampleCount: 6}}
	if err := params.WriteParameters(&file, rows, GroupFacts(known)...); err != nil {
		t.Fatal(err)
	}
	ps, facts, err := params.ReadParameters(strings.NewReader(file.String()), "x")
	if err != nil || !reflect.DeepEqual(ps, rows) {
		t.Errorf("%+v, %v", ps, err)
	}
	if got, err := ParseGroupFacts(facts); err != nil || !reflect.DeepEqual(got, known) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, c := range []struct {
		a, b int
		want string
	}{{0, 2, "intra"}, {2, 0, "intra"}, {0, 7, "inter"}, {0, 5, ""}} {
		if p := known[0].Place(c.a, c.b); p != c.want {
			t.Errorf("the place of %d and %d is %q, want %q", c.a, c.b, p, c.want)
		}
	}
	for _, broken := range []string{"a; b", "a; b; intra; 0 x", "a; b; intra; 0 1; 1", "a; b; intra; -1"} {
		if _, err := ParseGroupFacts([]table.Fact{{Key: "seed", Value: "1"}, {Key: "groups", Value: broken}}); err == nil || !strings.Contains(err.Error(), "groups") {
			t.Errorf("%q: %v", broken, err)
		}
	}
}
