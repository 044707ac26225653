package sample

import (
	"bytes"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// A set with collective operations among several numbers of ranks keeps them apart on disk.
func TestRanksOfSeriesAreWrittenAndRead(t *testing.T) {
	key := Key{Platform: "p", Clock: "real", Place: "inter", Mode: "bcast", Protocol: "vendor", Timer: TimerCollMax, Bytes: 8}
	set := &Set{}
	for i, ranks := range []int{4, 64} {
		k := key
		k.Ranks = ranks
		set.Series = append(set.Series, Series{Key: k, Times: []unit.Time{unit.Time(i+1) * unit.Microsecond}})
	}
	var out bytes.Buffer
	if err := Write(&out, set); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "bytes,launch,ranks,rep,times_us\n") {
		t.Errorf("no column ranks:\n%s", out.String())
	}
	back, err := Read(&out, "back")
	if err != nil || len(back.Series) != 2 || back.Series[0].Ranks != 4 || back.Series[1].Ranks != 64 {
		t.Errorf("read back as %+v, %v", back, err)
	}
}
