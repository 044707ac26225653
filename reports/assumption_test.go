package reports

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/format"
)

// A predicted line is drawn where its assumptions hold. Where they do not, the title of the chart
// says at which sizes, by how much and why.
func TestFailingAssumptions(t *testing.T) {
	all := []reportSubject{{fittedPlace: &fittedPlace{platform: "x", library: "lib", place: "intra"}, name: "x"}}
	quantity := "one-way(" + all[0].mainMode() + ")" + LogGPQuantitySuffix
	at := func(bytes int, predicted, measured float64) compare.Comparison {
		return compare.Comparison{Platform: "x", Library: "lib", Place: "intra", Protocol: "auto", Bytes: bytes, Quantity: quantity, Predicted: predicted, Measured: measured, Error: 100 * (predicted/measured - 1)}
	}
	for want, cs := range map[string][]compare.Comparison{
		"": {at(8, 1, 1), at(64, 1.2, 1), at(1024, 0.8, 1)},
		" (LogGP is too high at 1 KiB to 64 KiB, by up to a factor of 2.3: overhead overlaps the transfer)":             {at(8, 1, 1), at(1024, 1.4, 1), at(65536, 2.3, 1)},
		" (LogGP is too low at 64 KiB, by up to 50 %: times are not linear in the size, as where the protocol changes)": {at(8, 1, 1), at(65536, 1, 2)},
	} {
		if got := strings.ReplaceAll(failingText(all, cs), format.NonBreakingSpace, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// The prediction fails at 64 KiB, and beside it fits at one size only.
	cs := []compare.Comparison{at(8, 1, 1), at(64, 1.2, 1), at(65536, 2, 1), at(131072, 2, 2)}
	lines := predictedOneWay(all, cs)
	if want := [][]chart.Point{{{X: 8, Y: 1}, {X: 64, Y: 1.2}}}; len(lines) != 1 || !reflect.DeepEqual(lines[0].Lines, want) {
		t.Errorf("drawn are %v, want %v", lines, want)
	}
	if lines := predictedOneWay(all, cs[2:]); lines != nil {
		t.Errorf("a single size is drawn as %v", lines)
	}
}

// Algorithms of one length are bars, the fastest first. The text says what the best would save of
// what the library chooses.
func TestSingleLengthChart(t *testing.T) {
	at := func(algorithm string, us float64) compare.CollectiveComparison {
		return compare.CollectiveComparison{CollectiveTimes: compare.CollectiveTimes{Operation: "allreduce", Algorithm: algorithm, Ranks: 16, Bytes: 1024, LastRankEnd: us}, Predicted: math.NaN()}
	}
	all := algorithmCharts("x", []compare.CollectiveComparison{at("ring", 400), at("", 200), at("two-level", 100)})
	if len(all) != 1 || all[0] == nil {
		t.Fatalf("%d charts", len(all))
	}
	if got := strings.ReplaceAll(all[0].Text, format.NonBreakingSpace, " "); got != "The fastest first. ring takes 4.0 times as long as two-level. Instead of the library's choice, two-level would save 50 %." {
		t.Errorf("the text is %q", got)
	}
	svg := all[0].InlineSVG(600, "chart")
	for _, names := range [][2]string{{"two-level", "library&#39;s choice"}, {"library&#39;s choice", "ring"}} {
		if first, second := strings.Index(svg, names[0]), strings.Index(svg, names[1]); first < 0 || second < first {
			t.Errorf("%s is not before %s", names[0], names[1])
		}
	}
	if one := algorithmCharts("x", []compare.CollectiveComparison{at("ring", 400)}); one[0] != nil {
		t.Error("one algorithm has a chart")
	}
}

// The sentence says how often a library takes the fastest algorithm, what would be saved, which of
// its algorithms were not measured, and if nothing is known of them. Times whose intervals overlap
// are as fast.
func TestLibraryChoiceSentence(t *testing.T) {
	at := func(algorithm string, bytes int, us float64, choice string) compare.CollectiveComparison {
		return compare.CollectiveComparison{CollectiveTimes: compare.CollectiveTimes{Operation: "bcast", Algorithm: algorithm, Ranks: 4, Bytes: bytes, LastRankEnd: us, Low: us - 1, High: us + 1}, LibraryChoice: choice}
	}
	for want, cs := range map[string][]compare.CollectiveComparison{
		"x takes the fastest one.":                  {at("linear", 8, 10, "linear"), at("ring", 8, 20, "linear")},
		"x takes the fastest one at all 2 lengths.": {at("linear", 8, 10, "linear"), at("ring", 8, 20, "linear"), at("linear", 64, 11.5, "linear"), at("ring", 64, 10, "linear")},
		"x takes the fastest one at 1 of 2 lengths; the most is saved by ring instead of linear for bcast of 64 B among 4 ranks: 50 %.":             {at("linear", 8, 10, "linear"), at("ring", 8, 20, "linear"), at("linear", 64, 40, "linear"), at("ring", 64, 20, "linear")},
		"x takes the fastest one. x also takes chain, which was not measured.":                                                                      {at("linear", 8, 10, "linear"), at("ring", 8, 20, "linear"), at("linear", 64, 40, "chain"), at("ring", 64, 20, "chain")},
		"Which algorithm x takes is not known.":                                                                                                     {at("linear", 8, 10, ""), at("ring", 8, 20, "")},
		"x takes the fastest one at 0 of 1 length; the most is saved by ring instead of the library's choice for bcast of 8 B among 4 ranks: 50 %.": {at("", 8, 20, ""), at("ring", 8, 10, "")},
		"By the rules of its version, x takes linear for bcast of 8 B among 4 ranks, ring from 64 B on.":                                            {at("vendor", 8, 20, "linear"), at("vendor", 16, 20, "linear"), at("vendor", 64, 20, "ring")},
	} {
		if got := strings.ReplaceAll(libraryChoiceSentence("x", cs), format.NonBreakingSpace, " "); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
	unknown := []compare.CollectiveComparison{at("vendor", 8, 20, "")}
	if got := libraryChoiceSentence("x", unknown); got != "Which algorithm x takes is not known." {
		t.Errorf("%q", got)
	}
}
