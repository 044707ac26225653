package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/export"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench/sample"
)

// Whatever the samples, what other tools are given has no number that is NaN, infinite or below
// zero; or it is an error, which has none either.
func TestNothingBelowZeroExported(t *testing.T) {
	seeds := uint64(200)
	if !fittest.IsSoakTest() {
		seeds = 60
	}
	written := map[string]int{}
	for seed := range seeds {
		set := fittest.DegenerateSamples(seed)
		if why := unlawfulSamples(set); why != nil {
			t.Errorf("seed %d: samples: %v", seed, why)
		}
		r, err := fit.Fit(set, clean.Options{ReplicateCount: 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, ps := range [][]params.Parameter{r.Parameters, lawful(seed)} {
			exported(t, fmt.Sprintf("seed %d", seed), ps, written)
		}
	}
	for _, f := range export.Formats {
		if written[f.Name] < int(seeds)/2 {
			t.Errorf("%s was written %d times of %d", f.Name, written[f.Name], seeds)
		}
	}
}

// lawful are parameters as they may be: times of many orders, overheads that jump and grow, rates
// of nothing, and such as are not known.
func lawful(seed uint64) []params.Parameter {
	rng := rand.New(rand.NewPCG(seed, 23))
	var ps []params.Parameter
	add := func(name, in, method string, from, to int) {
		v := math.Pow(10, 5*rng.Float64()-3)
		if in == params.UnitMicrosPerByte {
			v *= 1e-3 * float64(rng.IntN(4))
		}
		p := params.Parameter{Platform: "x", Library: "y", Place: "intra", Mode: "send", Name: name, From: from, To: to, Value: v, Low: v / 2, High: 2 * v, Unit: in, Method: method, SampleCount: 100}
		if rng.IntN(30) == 0 {
			p.Value, p.Low, p.High, p.Method = math.NaN(), math.NaN(), math.NaN(), method+": not identifiable"
		}
		ps = append(ps, p)
	}
	for _, name := range []string{"o_s", "o_r"} {
		from := rng.IntN(2)
		for range 1 + rng.IntN(3) {
			to := from*8 + 100
			add(name, params.UnitMicros, "timer11", from, to)
			add(name, params.UnitMicrosPerByte, "timer11", from, to)
			from = to + 1
		}
	}
	add("L", params.UnitMicros, "rtt/2-o_s-o_r", 0, 0)
	add("L", params.UnitMicros, params.MethodHalfRoundTrip, 0, 0)
	add("g", params.UnitMicros, "train", 0, 0)
	add("G", params.UnitMicrosPerByte, "rtt/2", 0, 100_000)
	return ps
}

// exported tries all formats, and counts what was written.
func exported(t *testing.T, name string, ps []params.Parameter, written map[string]int) {
	t.Helper()
	for _, f := range export.Formats {
		for i, o := range []export.Options{{}, {EagerLimit: 3000, TakesBounds: true}, {EagerLimit: 3000, TakesBounds: true, TakesSmallOverheads: true, Mode: "message"}, {TakesBounds: true, Mode: "isend"}} {
			var b bytes.Buffer
			if err := export.Write(&b, f, ps, o); err != nil {
				if odd.MatchString(err.Error()) {
					t.Errorf("%s, %s, %d: %v", name, f.Name, i, err)
				}
				continue
			}
			written[f.Name]++
			if err := laws[f.Name](b.String()); err != nil {
				t.Errorf("%s, %s, %d: %v\n%s", name, f.Name, i, err, b.String())
			}
		}
	}
}

// odd is how a number is written that is none.
var odd = regexp.MustCompile(`(?i)\b(nan|inf)\b`)

// laws say what is wrong with a text in a format.
var laws = map[string]func(string) error{"json": unlawfulJSON, "logopsim": unlawfulCommand, "simgrid": unlawfulPlatform}

func unlawfulSamples(set *sample.Set) error {
	var b bytes.Buffer
	if err := sample.WriteJSON(&b, set); err != nil {
		return err
	}
	var out struct {
		Series []struct {
			Times []float64 `json:"time_us"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil || len(out.Series) != len(set.Series) {
		return fmt.Errorf("%d series: %w", len(out.Series), err)
	}
	for i, s := range out.Series {
		for j, x := range s.Times {
			if !(x >= 0) || len(s.Times) != len(set.Series[i].Times) {
				return fmt.Errorf("%v, sample %d: %v", set.Series[i].Key, j, x)
			}
		}
	}
	return nil
}

func unlawfulJSON(text string) error {
	var out struct {
		Parameters []struct {
			Method string
			Value  *float64
			Low    *float64 `json:"ci_low"`
			High   *float64 `json:"ci_high"`
		}
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return err
	}
	for _, p := range out.Parameters {
		switch {
		case p.Value == nil && p.Low == nil && p.High == nil && strings.Contains(p.Method, "not identifiable"):
		case p.Value != nil && p.Low == nil && p.High == nil: // of few samples a cell
		case p.Value == nil || p.Low == nil || p.High == nil:
			return fmt.Errorf("half a parameter by %s", p.Method)
		case !(0 <= *p.Low && *p.Low <= *p.Value && *p.Value <= *p.High):
			return fmt.Errorf("%v is not in %v to %v", *p.Value, *p.Low, *p.High)
		}
	}
	return nil
}

func unlawfulCommand(text string) error {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	words := strings.Fields(lines[len(lines)-1])
	found := 0
	for i, w := range words {
		if len(w) == 2 && w[0] == '-' && strings.Contains("LogGOS", w[1:]) {
			found++
			if n, err := strconv.Atoi(words[i+1]); err != nil || n < 0 || n > math.MaxInt32 {
				return fmt.Errorf("%s %s: %v", w, words[i+1], err)
			}
		}
	}
	if found != 6 || odd.MatchString(text) {
		return fmt.Errorf("%d options", found)
	}
	return nil
}

func unlawfulPlatform(text string) error {
	var p struct {
		Props []struct {
			ID    string `xml:"id,attr"`
			Value string `xml:"value,attr"`
		} `xml:"config>prop"`
		Link struct {
			Latency   string `xml:"latency,attr"`
			Bandwidth string `xml:"bandwidth,attr"`
		} `xml:"zone>link"`
	}
	if err := xml.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	latency, err := strconv.ParseFloat(strings.TrimSuffix(p.Link.Latency, "s"), 64)
	if err != nil || !(latency >= 0) || math.IsInf(latency, 0) {
		return fmt.Errorf("latency %s", p.Link.Latency)
	}
	bandwidth, err := strconv.ParseFloat(strings.TrimSuffix(p.Link.Bandwidth, "Bps"), 64)
	if err != nil || !(bandwidth > 0) || math.IsInf(bandwidth, 0) {
		return fmt.Errorf("bandwidth %s", p.Link.Bandwidth)
	}
	for _, prop := range p.Props {
		if prop.ID != "smpi/os" && prop.ID != "smpi/ois" && prop.ID != "smpi/or" {
			continue
		}
		for section := range strings.SplitSeq(prop.Value, ";") {
			var of [3]float64
			for i, x := range strings.Split(section, ":") {
				if of[i], err = strconv.ParseFloat(x, 64); err != nil || math.IsInf(of[i], 0) || math.IsNaN(of[i]) {
					return fmt.Errorf("%s %s", prop.ID, section)
				}
			}
			// A line that rises may begin below zero, where no message of the section is.
			if from := of[0] + 1; of[2] < 0 || of[1]+of[2]*from < -1e-6*math.Abs(of[1]) {
				return fmt.Errorf("%s %s costs %g s at %g bytes", prop.ID, section, of[1]+of[2]*from, from)
			}
		}
	}
	if odd.MatchString(text) {
		return fmt.Errorf("a number is none")
	}
	return nil
}
