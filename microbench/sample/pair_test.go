package sample

import (
	"strings"
	"testing"
)

// A place that names two ranks has one form, which a set can be written with and read.
func TestPlaceOfPair(t *testing.T) {
	for _, c := range []struct {
		place string
		a, b  int
		ok    bool
	}{
		{"0-7", 0, 7, true}, {"9-10", 9, 10, true}, {"7-0", 0, 0, false}, {"3-3", 0, 0, false}, {"03-4", 0, 0, false}, {"-1-4", 0, 0, false},
		{"0-", 0, 0, false}, {"inter", 0, 0, false}, {"1-2-3", 0, 0, false}, {"1 -2", 0, 0, false},
	} {
		a, b, ok := ParsePairPlace(c.place)
		if ok != c.ok || ok && (a != c.a || b != c.b || PairPlace(b, a) != c.place) {
			t.Errorf("%q: ranks %d and %d, %v", c.place, a, b, ok)
		}
		row := "t3d,mpi,virtual," + c.place + ",send,auto,timer11,16,0,0,1\n"
		_, err := Read(strings.NewReader(header+"\n"+row), "x")
		if valid := c.ok || c.place == "inter"; valid != (err == nil) {
			t.Errorf("place %q: %v", c.place, err)
		} else if err != nil && !strings.Contains(err.Error(), "such as 0-7") {
			t.Errorf("place %q: the error does not say what it may be: %v", c.place, err)
		}
	}
}
