package program

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program/cprog"
)

// A run whose computing other work disturbed says so, and no other run does.
func TestComputeNoteWarnsOfOtherWork(t *testing.T) {
	for _, c := range []struct {
		compute     cprog.Compute
		interrupted float64
		want        bool
	}{
		{cprog.Compute{Factor: 1}, 0.06, true}, {cprog.Compute{Factor: 1}, 0.04, false}, {cprog.Compute{Factor: 2, Rate: 1e9}, 0.5, true}, {cprog.Compute{}, 0.5, false},
	} {
		if note := computeNote(c.compute, c.interrupted); strings.Contains(note, "Warning: other work") != c.want {
			t.Errorf("%+v, %v: %s", c.compute, c.interrupted, note)
		}
	}
}
