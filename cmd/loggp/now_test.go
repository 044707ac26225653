package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// TestNOW measures the emulated workstations as Al-Tawil and Moritz measured theirs, and compares
// with their table 3. A published G of 0.2 us a byte is four times the rate of the wire: what is
// measured must be that of a medium.
func TestNOW(t *testing.T) {
	file := filepath.Join(t.TempDir(), "now.csv")
	mustRun(t, "measure", "--platform", "now", "--reps", "50", "--modes", "send,ssend,bsend,isend,issend", "--sizes", "1,16,1000,1100,2000,10000,100000", "-o", file)
	set, err := sample.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := func(mode, timer string, bytes int) float64 {
		i := slices.IndexFunc(set.Series, func(s sample.Series) bool { return s.Mode == mode && s.Timer == timer && s.Bytes == bytes })
		if i < 0 {
			t.Fatalf("no samples of %s %s at %d bytes", mode, timer, bytes)
		}
		times := set.Series[i].Times
		a, b := middle(times[:len(times)/2]), middle(times[len(times)/2:])
		if timer == sample.Timer21 {
			return (a + b) / 2
		}
		return min(a, b)
	}
	o := func(mode string, bytes int) float64 { return at(mode, sample.Timer11, bytes) }
	for _, c := range []struct {
		what                string
		measured, published float64
	}{
		{"o_s(isend, 16)", o("isend", 16), 1000},
		{"o_s(isend, 10000)", o("isend", 10000), 1100},
		{"o_s(issend, 16)", o("issend", 16), 1000},
		{"o_s(issend, 10000)", o("issend", 10000), 1100},
		{"o_r(isend, 16)", at("isend", sample.Timer21, 16), 1000},
		{"o_r(isend, 10000)", at("isend", sample.Timer21, 10000), 1000},
		{"L", at("ssend", sample.Timer21, 16) - at("ssend", sample.Timer12, 16), 124},
	} {
		t.Logf("%s: %.0f us, published %.0f", c.what, c.measured, c.published)
		if off := c.measured/c.published - 1; off < -0.15 || off > 0.15 {
			t.Errorf("%s: %.0f us, published %.0f: %+.1f %%", c.what, c.measured, c.published, 100*off)
		}
	}
	blocking := func(k int) float64 { return at("send", sample.Timer21, k) - at("isend", sample.Timer21, k) }
	if g := (blocking(100000) - blocking(10000)) / 90000; g < 0.8 || g > 1.6 {
		t.Errorf("G is %.3f us/B", g)
	}
	for _, c := range []struct {
		claim string
		holds bool
	}{
		{"AM-08", o("ssend", 16) > o("send", 16) && o("ssend", 16) > o("bsend", 16)},
		{"AM-11", o("isend", 100000) >= 5*o("isend", 1) && o("isend", 100000) <= 15*o("isend", 1)},
		{"AM-15", at("send", sample.Timer12, 1000) < 1.2*at("isend", sample.Timer21, 1000) && at("send", sample.Timer12, 1100) > 1.2*at("isend", sample.Timer21, 1100)},
	} {
		if !c.holds {
			t.Errorf("%s does not hold", c.claim)
		}
	}
}

// middle returns the median.
func middle(times []unit.Time) float64 {
	times = slices.Sorted(slices.Values(times))
	return times[len(times)/2].Micros()
}
