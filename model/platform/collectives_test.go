package platform

import (
	"reflect"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

// A broadcast to one rank costs what the message costs, whether the processor or an interface sends
// its bytes: to a picosecond for each of the three rounded times, and without the sender's work
// after the message has left.
func TestOneMessage(t *testing.T) {
	for name, settle := range map[string]unit.Time{"t3d": 0, "loggp": 0, "convex": load(t, "convex").Machine.Network.(*model.Hypernodes).Access[model.InterNode].SettleTime} {
		p := load(t, name)
		l, path := p.Libraries[0], p.Machine.PathBetweenRanks(p.Machine.Ranks.Default, 0, p.Machine.Ranks.Default-1)
		m := collective.Machine{Parameters: model.LowLevelParameters(p.Machine, l, path)}
		bare := &model.Library{} // whose calls cost what it takes to make a packet and to take it in
		bare.Software[model.ProtoSendCost], bare.Software[model.ProtoHandleCost] = l.Software[model.ProtoControlCost], l.Software[model.ProtoHandleCost]
		for _, k := range []int{0, 1, 1000, 100_000} {
			got := m.Cost(collective.AlgorithmNamed(collective.Bcast, "linear"), collective.Job{Ranks: 2, Bytes: k}).LastEnd - settle
			want := model.Transfer{Machine: p.Machine, Library: bare, Protocol: model.ProtocolT, Bytes: k, Path: path}.Cost().Delivery.Sum()
			if d := got - want; d < -3 || d > 3 {
				t.Errorf("%s: a broadcast of %d bytes to one rank takes %v, a message %v", name, k, got, want)
			}
		}
	}
}

// Rules for several operations become one for each, in their order, and what stands behind each is
// among the numbers.
func TestCollectives(t *testing.T) {
	p := load(t, "testdata/good.yaml")
	want := []model.CollectiveRule{
		{Operation: "barrier", Peers: model.InterPeers, MaxBytes: -1, Algorithm: "two-level"},
		{Operation: "bcast", MaxRanks: 16, MaxBytes: 8 << 10, Algorithm: "binomial"},
		{Operation: "reduce", MaxRanks: 16, MaxBytes: 8 << 10, Algorithm: "binomial"},
		{Operation: "reduce", MaxBytes: -1, Algorithm: "scatter-gather"},
		{Operation: "reduce", MaxBytes: -1, Algorithm: "binomial"},
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
