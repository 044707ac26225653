package platform

import (
	"reflect"
	"testing"

	"github.com/loggp/loggp/model"
)

// Rules for several operations become one for each, in their order, and what stands behind each is among the numbers.
func TestCollectives(t *testing.T) {
	p := load(t, "testdata/good.yaml")
	want := []model.Collective{
		{Operation: "barrier", Peers: model.InterPeers, UpTo: -1, Algorithm: "two-level"},
		{Operation: "bcast", Ranks: 16, UpTo: 8 << 10, Algorithm: "binomial"},
		{Operation: "reduce", Ranks: 16, UpTo: 8 << 10, Algorithm: "binomial"},
		{Operation: "reduce", UpTo: -1, Algorithm: "scatter-gather"},
		{Operation: "reduce", UpTo: -1, Algorithm: "binomial"},
	}
	if got := p.Libraries[0].Collectives; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	has := map[string]string{}
	for _, n := range p.Numbers {
		has[n.Path] = n.Value
	}
	for path, value := range map[string]string{"algorithm": "binomial", "ranks": "16", "up_to": "8KiB"} {
		if path = "libraries[one].collectives[1]." + path; has[path] != value {
			t.Errorf("%s is %q among the numbers, want %q", path, has[path], value)
		}
	}
}
