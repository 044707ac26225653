package paper

import (
	"io/fs"
	"math"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/testdata"
)

// Single numbers of the paper on ACLMPL are measured without the rest of its experiments: the
// latency of one word, and the broadcast of 1 KiB to 32 PEs. No number of the platform was fitted
// to them.
func TestMeasurePatterns(t *testing.T) {
	dir, err := fs.Sub(testdata.Published, "published")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Read(dir, "aclmpl")
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	got, err := p.Measure(t.Context(), Options{Seed: 1, Progress: func(_, total int) { runs = total }}, []string{"table-1 ACLMPL sync latency_us", "table-2 bcast ACLMPL sync value"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if runs > 3 { // the second is of two experiments
		t.Errorf("%d measurements for two numbers", runs)
	}
	for i, published := range []float64{4.5, 76e-6} {
		if d := got[i]/published - 1; !(math.Abs(d) <= []float64{0.15, 0.35}[i]) {
			t.Errorf("value %d is %v, published is %v", i, got[i], published)
		}
	}
}

// What is counted in packets of ACLMPL is what its protocols are made of, of 128 bytes: by hand.
func TestACLMPLPackets(t *testing.T) {
	p, err := Read(testdata.Published, "published/aclmpl")
	if err != nil {
		t.Fatal(err)
	}
	x := newRun(p, Options{Seed: 1})
	x.only = &only{gives: map[string]bool{"puts": true}}
	if err := x.setUp(); err != nil {
		t.Fatal(err)
	}
	x.experiments[0].Ranks.values, x.experiments[0].Sizes.values = []int{4}, []int{128}
	if err := x.measure(t.Context()); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]float64{
		"puts(sync,sync,pool)": 3, "put_bytes(sync,sync,pool)": 16 + 128 + 8, "copies(sync,sync,pool)": 0,
		"puts(sync,async,pool)": 3, "put_bytes(sync,async,pool)": 24 + 128, "copies(sync,async,pool)": 1, "copies(sync,async,list)": 2,
		"in_order(sync)": 1, "path(sync,4)": 2, "senders(sync,4,1)": 1, "senders(sync,4,2)": 2,
	} {
		if got := x.measured[key]; got != expr.Exactly(want) {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	if !(x.measured["refusals(sync)"].V > 0) {
		t.Error("a pool of 8 slots was not full with 100 messages")
	}
}
