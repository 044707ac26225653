package tiers

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/params"
)

// Groups come back from a file of parameters, which is read as if they were not there.
func TestGroups(t *testing.T) {
	known := []Tiers{{Platform: `a, "b"`, Library: "", Ranks: []int{0, 1, 2, 7}, Levels: []Tier{
		{Place: "intra", Groups: [][]int{{0, 2}, {1}, {7}}}, {Place: "inter", Groups: [][]int{{0, 1, 2, 7}}}}}}
	var file bytes.Buffer
	if err := WriteGroups(&file, known); err != nil {
		t.Fatal(err)
	}
	rows := []params.Parameter{{Platform: "a", Place: "inter", Name: "H", From: -1, To: -1, Value: 3, Low: 3, High: 3, Unit: params.Count, Method: params.ByPairs, Samples: 6}}
	if err := params.WriteParameters(&file, rows); err != nil {
		t.Fatal(err)
	}
	text := file.String()
	got, err := ReadGroups(strings.NewReader(text), "x")
	if err != nil || !reflect.DeepEqual(got, known) {
		t.Errorf("%+v, %v", got, err)
	}
	if ps, err := params.ReadParameters(strings.NewReader(text), "x"); err != nil || !reflect.DeepEqual(ps, rows) {
		t.Errorf("%+v, %v", ps, err)
	}
	for _, c := range []struct {
		a, b int
		want string
	}{{0, 2, "intra"}, {2, 0, "intra"}, {0, 7, "inter"}, {0, 5, ""}} {
		if p := known[0].Place(c.a, c.b); p != c.want {
			t.Errorf("the place of %d and %d is %q, want %q", c.a, c.b, p, c.want)
		}
	}
	for _, broken := range []string{"# groups,a,b\n", "# groups,a,b,intra,0 x\n", "# groups,a,b,intra,0 1,1\n", "# groups,a,b,intra,-1\n"} {
		if _, err := ReadGroups(strings.NewReader("#\n"+broken), "x"); err == nil || !strings.HasPrefix(err.Error(), "x:2:") {
			t.Errorf("%q: %v", broken, err)
		}
	}
}
