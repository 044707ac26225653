package loggp

import (
	"slices"
	"testing"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
)

// The default sizes of predictions from parameters are those at which their machine is measured:
// machines of papers at the papers' sizes, all others at powers of two.
func TestDefaultSizesOfParameters(t *testing.T) {
	for platform, want := range map[string][]int{
		"t3d":         microbench.EmulatedMachineSizes,
		"hdr-fattree": microbench.DefaultSizes(nil),
		"shm":         microbench.DefaultSizes(nil),
		"mine":        microbench.DefaultSizes(nil),
	} {
		line := func(unit string, value float64) params.Parameter {
			return params.Parameter{Platform: platform, Library: "x", Place: "inter", Mode: "send", Name: "o_s", From: 0, To: 4 << 20, Method: "timer11", SampleCount: 100, Verdict: params.GoodVerdict, Value: value, Low: value, High: value, Unit: unit}
		}
		p, err := Predict(t.Context(), PredictOptions{Params: Parameters{All: []params.Parameter{line(params.UnitMicros, 1), line(params.UnitMicrosPerByte, 0.001)}}})
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		for _, m := range p.Messages {
			sizes = append(sizes, m.Bytes)
		}
		if !slices.Equal(sizes, want) {
			t.Errorf("%s is predicted at %v, want %v", platform, sizes, want)
		}
	}
}
