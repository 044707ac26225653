package compare

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/fittest"
	"github.com/loggp/loggp/fit/params"
)

// The predictions are of equations 1 and 2 of the paper, with the parameters that the fit finds;
// the samples are made 10 % longer than the machine's for one of the two.
func TestCompare(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise, m.Sizes, m.Reps = 0, []int{1, 16, 256, 4096}, 30
	set := m.Samples(1, fittest.WholePlan)
	ps := fitted(t, set, clean.Options{}).Parameters
	oneWay := func(k int) float64 { return m.SendO + m.L + float64(k-1)*m.G + m.RecvO }
	for _, k := range m.Sizes {
		for _, s := range []sample.Series{fittest.SeriesAt16Bytes("isend", sample.TimerSender, fittest.Repeat(30, m.SendO*1.1)...), fittest.SeriesAt16Bytes("isend", sample.TimerOneWay, fittest.Repeat(30, oneWay(k))...)} {
			s.Protocol, s.Bytes = "T", k
			set.Series = append(set.Series, s)
		}
	}
	predict := func(q PredictionQuery) (Prediction, bool) {
		v := func(name string) float64 {
			x, ok := params.ValueAt(q.Parameters, "message", name, 1)
			if !ok {
				t.Fatalf("no %s in %+v", name, q.Parameters)
			}
			return x
		}
		switch q.Quantity {
		case "T_s":
			return Prediction{Micros: v("o_s")}, true
		case "T_sr":
			return Prediction{v("o_s") + v("L") + float64(q.Bytes-1)*v("G") + v("o_r"), ValidationBasis}, true
		case "o_s":
			x, _ := params.ValueAt(q.Parameters, q.Mode, "o_s", q.Bytes)
			return Prediction{x, CalibrationBasis}, true
		}
		return Prediction{}, false
	}
	got, err := ComparePredictions(set, ps, predict)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, c := range got {
		count[c.Quantity+" "+c.Protocol+" "+c.Basis]++
		want := 0.0
		if c.Quantity == "T_s(isend)" {
			want = 100 * (1/1.1 - 1)
		}
		if math.Abs(c.Error-want) > 0.01 || math.Abs(c.Predicted/c.Measured-1-want/100) > 1e-4 {
			t.Errorf("%+v, want an error of %v %%", c, want)
		}
	}
	want := map[string]int{"T_s(isend) T validation": 4, "T_sr(isend) T validation": 4, "o_s(message) auto calibration": 4, "o_s(send) auto calibration": 4,
		"o_s(ssend) auto calibration": 4, "o_s(isend) auto calibration": 4, "o_s(issend) auto calibration": 4}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("got %v, want %v", count, want)
	}

	var b bytes.Buffer
	if err := WriteComparisons(&b, got[:1]); err != nil || !strings.HasPrefix(b.String(),
		"platform,library,place,protocol,bytes,quantity,predicted_us,measured_us,error_percent,basis\nloggp,direct,inter,auto,1,o_s(send),30,30,0,calibration\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// Each quantity is asked for with the size and the measured time that belong to it.
func TestQuantities(t *testing.T) {
	m := fittest.TypicalMachine()
	m.Noise, m.Sizes, m.Reps = 0, []int{16}, 2
	asked := map[string]float64{}
	cs, err := ComparePredictions(m.Samples(1, fittest.WholePlan), nil, func(q PredictionQuery) (Prediction, bool) { return Prediction{Micros: 1}, true })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cs {
		asked[c.Quantity] = c.Measured
	}
	way := m.SendO + m.L + 15*m.G + m.RecvO
	want := map[string]float64{
		"o_s(send)": m.SendO, "o_r(send)": m.RecvO, "one-way(send)": way, "o_s(ssend)": m.SendO, "o_r(ssend)": m.RecvO,
		"o_s(isend)": m.ISendO, "o_r(isend)": m.IRecvO, "o_s(issend)": m.ISendO, "o_r(issend)": m.IRecvO,
		"o_s(message)": m.SendO, "o_r(message)": m.RecvO, "one-way(message)": way,
		"get(message)": m.SendO + 2*m.L + 15*m.Get, "put(message)": m.SendO + 2*m.L + 15*m.Put,
	}
	if !reflect.DeepEqual(asked, want) {
		t.Errorf("got  %v\nwant %v", asked, want)
	}
}

// What is measured of o_s is what the fit takes it from: the call after a wait where timer11 is
// hindered.
func TestCompareHindered(t *testing.T) {
	set := &sample.Set{}
	for _, x := range []struct {
		mode, timer string
		us          float64
	}{{"send", sample.Timer11, 80}, {"send", sample.TimerIdle, 30}, {"ssend", sample.Timer11, 70}, {"ssend", sample.TimerIdle, 60}, {"isend", sample.Timer11, 30.1}, {"isend", sample.TimerIdle, 30}} {
		set.Series = append(set.Series, fittest.SeriesAt16Bytes(x.mode, x.timer, fittest.Repeat(40, x.us)...))
	}
	cs, err := ComparePredictions(set, nil, func(PredictionQuery) (Prediction, bool) { return Prediction{Micros: 1}, true })
	if err != nil || len(cs) != 3 || cs[0].Measured != 30 || cs[1].Measured != 70 || cs[2].Measured != 30.1 {
		t.Errorf("%+v, %v", cs, err)
	}
}

// Sender and delivery times of calls whose protocol the library chose are o_s and T of the call,
// which were fitted to other timers. Those of a forced protocol, and T_s of a call that does not
// block, are not.
func TestPredictCalls(t *testing.T) {
	row := func(mode, name string, value float64) params.Parameter {
		return params.Parameter{Mode: mode, Name: name, From: 0, To: 100, Value: value, Unit: params.UnitMicros, Method: "x"}
	}
	ps := []params.Parameter{row("send", "o_s", 3), row("send", "T", 7), row("isend", "o_s", 2), row("isend", "T", 6)}
	for _, c := range []struct {
		mode, protocol, quantity string
		want                     float64 // 0: none
	}{
		{"send", "auto", sample.TimerSender, 3}, {"send", "auto", sample.TimerOneWay, 7}, {"isend", "auto", sample.TimerOneWay, 6},
		{"isend", "auto", sample.TimerSender, 0}, {"send", "RTA", sample.TimerOneWay, 0}, {"ssend", "auto", sample.TimerOneWay, 0},
	} {
		p, ok := PredictFromParameters(PredictionQuery{Mode: c.mode, Protocol: c.protocol, Quantity: c.quantity, Bytes: 10, Parameters: ps})
		if ok != (c.want > 0) || ok && (p.Micros != c.want || p.Basis != ValidationBasis) {
			t.Errorf("%s of %s, %s: %+v, %v", c.quantity, c.mode, c.protocol, p, ok)
		}
	}
}
