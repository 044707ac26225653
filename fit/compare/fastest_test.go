package compare

import (
	"math"
	"testing"
)

// compared is a broadcast of four ranks, which took so long, to within a microsecond, and what a
// model says of it.
func compared(algorithm string, bytes int, took, predicted float64) CollectiveComparison {
	return CollectiveComparison{CollectiveTimes: CollectiveTimes{Operation: "bcast", Algorithm: algorithm, Ranks: 4, Bytes: bytes, LastRankEnd: took, Max: 1, Low: took - 1, High: took + 1}, Predicted: predicted, Model: "p"}
}

// A model may take another algorithm for the fastest than what is: what that costs is the loss. The
// next may be as fast.
func TestFastestOf(t *testing.T) {
	fs := FastestAlgorithms([]CollectiveComparison{compared("linear", 8, 10, 9), compared("ring", 8, 20, 19), compared("binomial", 8, 8, 12),
		compared("linear", 64, 20, 22), compared("binomial", 64, 30, 25), compared("linear", 512, 1, 1)})
	if len(fs) != 2 {
		t.Fatalf("%+v", fs)
	}
	if f := fs[0]; f.Algorithm != "binomial" || f.FastestByModel.Algorithm != "linear" || f.LossPercent() != 25 || f.NextFastest.Algorithm != "linear" || f.LeadPercent() != 25 || f.IsClear {
		t.Errorf("of 8 bytes: %+v, a loss of %v %%", f, f.LossPercent())
	}
	if f := fs[1]; f.Algorithm != "linear" || f.FastestByModel.Algorithm != "linear" || f.LossPercent() != 0 || f.NextFastest.Algorithm != "binomial" || f.LeadPercent() != 50 || !f.IsClear {
		t.Errorf("of 64 bytes: %+v, a loss of %v %%", f, f.LossPercent())
	}
	c := compared("linear", 8, 10, 9).Comparison()
	if c.Quantity != "coll_last(bcast:4)" || c.Protocol != "linear" || c.Predicted != 9 || c.Measured != 10 || c.Error != -10 {
		t.Errorf("%+v", c)
	}
}

// Where there is no model there is no loss, and of some algorithms that have one the fastest of
// these is meant.
func TestFastestWithoutModel(t *testing.T) {
	bare := WithoutPrediction([]CollectiveTimes{compared("linear", 8, 10, 0).CollectiveTimes, compared("binomial", 8, 8, 0).CollectiveTimes})
	if f := FastestAlgorithms(bare)[0]; f.FastestByModel.Operation != "" || !math.IsNaN(f.LossPercent()) || f.Algorithm != "binomial" {
		t.Errorf("%+v, a loss of %v", f, f.LossPercent())
	}
	if ms := ModelAccuracies(bare); ms != nil {
		t.Errorf("%+v", ms)
	}
	bare[0] = compared("linear", 8, 10, 9)
	if f := FastestAlgorithms(bare)[0]; f.FastestByModel.Algorithm != "linear" || f.LossPercent() != 25 {
		t.Errorf("%+v, a loss of %v", f, f.LossPercent())
	}
}

// By hand: errors of 10, 5, 50, 10 and 30 percent; at 8 bytes the model's choice is not to be told
// from the fastest, at 64 it is, and takes half as long again.
func TestModelledOf(t *testing.T) {
	other := compared("linear", 8, 100, 100)
	other.Ranks = 8
	ms := ModelAccuracies([]CollectiveComparison{compared("linear", 8, 10, 9), compared("ring", 8, 20, 19), compared("binomial", 8, 8, 12), other,
		compared("linear", 64, 20, 22), compared("binomial", 64, 30, 21)})
	if len(ms) != 2 || ms[1].TimeCount != 1 || ms[1].Example.Ranks != 8 || ms[1].LengthCount != 0 {
		t.Fatalf("%+v", ms)
	}
	if m := ms[0]; m.TimeCount != 5 || m.MedianError != 10 || m.LargestError != 50 || m.LengthCount != 2 || m.FastestChosen != 1 || m.LargestLoss != 50 {
		t.Errorf("%+v", m)
	}
}
