package sample

import (
	"slices"
	"testing"
)

func TestLinesOf(t *testing.T) {
	for _, c := range []struct {
		launches [][2]float64
		want     []Fact
	}{
		{nil, nil},
		{[][2]float64{{}, {}}, nil},
		{[][2]float64{{155, 160.24}, {}, {0, 61}}, []Fact{{Lines, "155.0/160.2 ?/? ?/61.0"}}},
	} {
		if got := LinesOf(c.launches); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.launches, got, c.want)
		}
	}
	if got := PacesOf([][2]float64{{901, 921.5}}); !slices.Equal(got, []Fact{{Paces, "901.0/921.5"}}) {
		t.Errorf("%v", got)
	}
}
