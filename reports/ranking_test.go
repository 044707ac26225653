package reports

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/curve"
	"github.com/loggp/loggp/reports/format"
)

// The zones say which is the fastest up to which size; where the intervals overlap none is.
func TestRankedZones(t *testing.T) {
	at := func(bytes int, us, half float64) curve.Point {
		return curve.Point{Bytes: bytes, Value: us, Low: us - half, High: us + half}
	}
	a := []curve.Point{at(8, 1, 0.1), at(64, 1, 0.1), at(4096, 10, 1), at(65536, 100, 10)}
	b := []curve.Point{at(8, 2, 0.1), at(64, 2, 0.1), at(4096, 10.5, 1), at(65536, 20, 2), at(1<<20, 200, 1)}
	zones := rankedZones([][]curve.Point{a, nil, b}, []int{0, 2})
	want := []rankedZone{{fastest: []int{0}, next: 2, to: 64}, {fastest: []int{0, 2}, next: -1, to: 4096}, {fastest: []int{2}, next: 0, to: 65536}}
	if len(zones) != len(want) {
		t.Fatalf("zones are %v", zones)
	}
	for i, z := range zones {
		if !slices.Equal(z.fastest, want[i].fastest) || z.next != want[i].next || z.to != want[i].to {
			t.Errorf("zone %d is %+v, want %+v", i, z, want[i])
		}
	}
	if r := zones[1].meanRatio(); math.Abs(r-1.05) > 1e-9 {
		t.Errorf("where the intervals overlap the slowest takes %v times as long, want 1.05", r)
	}
}

// A difference that is within wide intervals is not called none.
func TestDescribeRanking(t *testing.T) {
	for _, x := range []struct {
		us, half float64
		want     string
	}{
		{1, 0.1, "all are equally fast at 8 B; A is 2.0 times as fast as B up to 4 KiB; above, all are equally fast"},
		{5, 10, "the intervals are too wide to tell which is the fastest at 8 B; A is 2.0 times as fast as B up to 4 KiB; above, the intervals are too wide to tell which is the fastest"},
	} {
		at := func(us, half float64) []curve.Point {
			return []curve.Point{{Bytes: 8, Value: us, Low: us - half, High: us + half}, {Bytes: 64, Value: us, Low: us, High: us}, {Bytes: 4096, Value: us, Low: us, High: us}, {Bytes: 65536, Value: us, Low: us - half, High: us + half}}
		}
		a, b := at(1, 0.1), at(x.us, x.half)
		b[1].Value, b[1].Low, b[1].High = 2, 2, 2
		b[2] = b[1]
		b[2].Bytes = 4096
		zones := rankedZones([][]curve.Point{a, b}, []int{0, 1})
		got := describeRanking(zones, func(i int) string { return string(rune('A' + i)) })
		if got = strings.ReplaceAll(got, format.NonBreakingSpace, " "); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// Ratios that are far apart are told as a range.
func TestFormatRatios(t *testing.T) {
	for _, x := range []struct {
		ratios []float64
		want   string
	}{
		{[]float64{2, 2.4}, "2.2"},
		{[]float64{42, 97, 33}, "33.0 to 97.0"},
	} {
		var z rankedZone
		for _, r := range x.ratios {
			z.logRatios = append(z.logRatios, math.Log(r))
		}
		if got := z.formatRatios(); got != x.want {
			t.Errorf("%v: %s, want %s", x.ratios, got, x.want)
		}
	}
}

// One number has one value: the half round trip of 8 bytes is the same in the first sentences, the
// cards, the table of latencies and the parameters side by side. Beside it stands a verdict.
func TestOneLatency(t *testing.T) {
	d := surveyed(t).Document()
	number := func(text string) string {
		return strings.ReplaceAll(regexp.MustCompile(`^[≤ ]*([\d.]+( ±[\d.]+)?)`).FindString(text), format.NonBreakingSpace, " ")
	}
	answer := strings.ReplaceAll(d.Answer, format.NonBreakingSpace, " ")
	verdicts := 0
	for _, k := range d.KeyNumbers {
		if k.Note == "half round trip, 8 B" && !strings.Contains(answer, number(k.Value)) {
			t.Errorf("the card of %s has %s, and the answer is %q", k.Name, k.Value, answer)
		}
		if strings.HasSuffix(k.Name, ", trust") && k.Note != "" && (k.Value == "sound" || k.Value == "weak") {
			verdicts++
		}
	}
	if verdicts < 2 || !regexp.MustCompile(`times as fast as|is it at \d+ of \d+`).MatchString(answer) {
		t.Errorf("%d verdicts; the answer is %q", verdicts, answer)
	}
	latencies := map[string]bool{}
	for _, s := range d.Sections {
		if s.ID != "messages" {
			continue
		}
		for _, table := range s.Tables {
			for _, g := range table.Groups {
				for _, r := range g.Rows {
					if r[0].Text == "8"+format.NonBreakingSpace+"B" {
						latencies[number(r[1].Text)] = true
					}
				}
			}
		}
	}
	if len(latencies) == 0 {
		t.Fatal("no latency of 8 bytes")
	}
	for latency := range latencies {
		in := strings.Contains(answer, latency+" us")
		if nanoseconds := regexp.MustCompile(`0\.(\d+)`).FindStringSubmatch(latency); nanoseconds != nil {
			in = in || strings.Contains(answer, strings.TrimLeft(nanoseconds[1], "0"))
		}
		if !in {
			t.Errorf("the table has %q, and the answer is %q", latency, answer)
		}
	}
}

// A transport that has the page for itself has cards of its message rate and of o_s, once each.
func TestCardsOfOneTransport(t *testing.T) {
	counts := map[string]int{}
	for _, k := range surveyed(t).only(t, 0).Document().KeyNumbers {
		note, _, _ := strings.Cut(k.Note, ",")
		counts[note]++
	}
	for _, note := range []string{"half round trip", "bandwidth", "million messages a second of 8\u00a0B", "o_s of send"} {
		if counts[note] != 1 {
			t.Errorf("%d cards of %q among %v", counts[note], note, counts)
		}
	}
}

// The bandwidth of the headline is that of the table: of consecutive messages where these were
// measured, else of one message on its way.
func TestBandwidthClause(t *testing.T) {
	half := curve.Point{Bytes: 1000, Value: 10}
	x := reportSubject{fittedPlace: &fittedPlace{}}
	if got := strings.ReplaceAll(bandwidthClause(&x, half), format.NonBreakingSpace, " "); got != ", which is 100.0 MB/s" {
		t.Errorf("without consecutive messages %q", got)
	}
	all := fittedPlaces(t3d(t).result)
	x.fittedPlace = all[0]
	stream := x.burstCurve()
	for _, p := range stream.Points {
		if p.Bytes < 1000 {
			continue
		}
		want := ", and consecutive ones carry " + format.Number(float64(p.Bytes)/stream.CellOf(p.Bytes).Value) + " MB/s"
		if got := strings.ReplaceAll(bandwidthClause(&x, curve.Point{Bytes: p.Bytes, Value: 1}), format.NonBreakingSpace, " "); got != want {
			t.Errorf("%d bytes: %q, want %q", p.Bytes, got, want)
		}
	}
	if got := bandwidthClause(&x, curve.Point{Bytes: 999999, Value: 1}); got != "" {
		t.Errorf("a size of which no consecutive messages were measured: %q", got)
	}
}
