package microbench

import (
	"reflect"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// Of the times of all ranks, round by round, the least, the median and the largest are samples, of two in the middle their mean; and of rounds that begin at an
// agreed time the last, but of those to which a rank came too late.
func TestRoundsOfRanks(t *testing.T) {
	for _, c := range []struct {
		way   int
		ranks int
		all   []int64 // of each rank in turn
		want  [][]unit.Time
	}{
		{0, 3, []int64{5, 30, 2, 20, 9, 10}, [][]unit.Time{{2, 5, 9}, {10, 20, 30}}},
		{0, 4, []int64{4, 1, 3, 2}, [][]unit.Time{{1, 2, 4}}}, // 2.5 is rounded down
		{0, 2, []int64{7, 4}, [][]unit.Time{{4, 5, 7}}},
		{starting, 3, []int64{5, 30, 7, 2, tooLate, 7, 9, 10, 7}, [][]unit.Time{{9}, {7}}},
		{starting, 2, []int64{tooLate, tooLate}, nil},
	} {
		if got := ways[c.way].rounds(c.all, c.ranks); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v of %d ranks: %v, not %v", c.all, c.ranks, got, c.want)
		}
	}
}
