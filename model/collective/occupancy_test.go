package collective

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// An occupancy keeps the times of components apart, as a map does.
func TestOccupancyKeepsComponentsApart(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	var o componentOccupancy
	want := map[model.Component]unit.Time{}
	for range 10_000 {
		c := model.Component{Node: r.IntN(4), Name: []string{"link", "bus in", "bus out"}[r.IntN(3)], Index: r.IntN(50)}
		until := &o.times[o.number(&c)]
		if *until != want[c] {
			t.Fatalf("%+v is occupied until %v, want %v", c, *until, want[c])
		}
		*until = unit.Time(r.IntN(1000))
		want[c] = *until
	}
}
