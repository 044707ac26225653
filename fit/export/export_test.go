package export

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model/schedule"
)

var update = flag.Bool("update", false, "write the golden files anew")

// machineOf returns the parameters of a made-up machine: o_s jumps by 20 us after 4096 bytes, twice
// a round trip, and by 1 us after 512, which is none.
func machineOf() []params.Parameter {
	var ps []params.Parameter
	add := func(mode, name, method, unit string, from, to int, value float64) {
		ps = append(ps, params.Parameter{Platform: "toy & co", Library: "lib", Place: "inter", Mode: mode, Name: name, Method: method, Unit: unit, From: from, To: to,
			Value: value, Low: value, High: value, SampleCount: 30})
	}
	for _, mode := range []string{"send", "isend"} {
		add(mode, "o_s", "timer11", params.UnitMicros, 8, 512, 1)
		add(mode, "o_s", "timer11", params.UnitMicrosPerByte, 8, 512, 0.0001)
		add(mode, "o_s", "timer11", params.UnitMicros, 600, 4096, 2.06)
		add(mode, "o_s", "timer11", params.UnitMicrosPerByte, 600, 4096, 0.0002)
		add(mode, "o_s", "timer11", params.UnitMicros, 5000, 100000, 23)
		add(mode, "o_s", "timer11", params.UnitMicrosPerByte, 5000, 100000, 0.001)
	}
	add("send", "o_r", "timer12", params.UnitMicros, 8, 100000, 1.5)
	add("send", "o_r", "timer12", params.UnitMicrosPerByte, 8, 100000, 0.0002)
	add("send", "L", "rtt/2-o_s-o_r", params.UnitMicros, 8, 8, 2.5)
	add("send", "L", params.MethodHalfRoundTrip, params.UnitMicros, 8, 8, 5)
	add("send", "g", params.MethodTrain, params.UnitMicros, 8, 8, 1.7)
	add("send", "G", params.MethodHalfRoundTrip, params.UnitMicrosPerByte, 5000, 100000, 0.002)
	return ps
}

// without returns parameters without those of a name, or of a method.
func without(ps []params.Parameter, what string) []params.Parameter {
	var out []params.Parameter
	for _, p := range ps {
		if p.Name != what && p.Method != what {
			out = append(out, p)
		}
	}
	return out
}

func written(t *testing.T, format string, ps []params.Parameter, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, FormatNamed(format), ps, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file, format string
		o            Options
	}{
		{"logopsim.sh", "logopsim", Options{}}, {"logopsim-small.sh", "logopsim", Options{TakesSmallOverheads: true, EagerLimit: 100}},
		{"simgrid.xml", "simgrid", Options{}}, {"simgrid-small.xml", "simgrid", Options{TakesSmallOverheads: true}}, {"all.json", "json", Options{}},
	} {
		got := written(t, c.format, machineOf(), c.o)
		path := filepath.Join("testdata", c.file)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is now\n%s", path, got)
		}
	}
}

// The numbers of the command line, computed by hand: o is (1 + 1.5)/2 us, O what (o_s + o_r)/2
// grows by from 8 to 4096 bytes.
func TestLogGOPSim(t *testing.T) {
	out := written(t, "logopsim", machineOf(), Options{})
	o := ((2.06 + 0.0002*3496) + (1.5 + 0.0002*4088) - 2.5) / 2 / 4088 // us a byte
	want := fmt.Sprintf("\nLogGOPSim -f \"$1\" -L 2500000 -o 1250000 -g 1700000 -G 2000 -O %.0f -S 4096\n", o*1e6)
	if !strings.HasSuffix(out, want) || !strings.Contains(out, "One is a picosecond") {
		t.Errorf("got %s\nwant at the end %s", out, want)
	}
	// Without an overhead a byte all are whole numbers of nanoseconds.
	if out := written(t, "logopsim", machineOf(), Options{TakesSmallOverheads: true}); !strings.HasSuffix(out, "-L 2500 -o 1250 -g 1700 -G 2 -O 0 -S 4096\n") {
		t.Errorf("got %s", out)
	}
}

// simulated is how long SimGrid takes for k bytes one way, by the rules of its manual, from the
// file alone.
func simulated(t *testing.T, file string, k int) float64 {
	t.Helper()
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
	d := xml.NewDecoder(strings.NewReader(file))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	total := number(strings.TrimSuffix(p.Link.Latency, "s")) + float64(k)/number(strings.TrimSuffix(p.Link.Bandwidth, "Bps"))
	for _, prop := range p.Props {
		if prop.ID == "smpi/send-is-detached-thresh" && float64(k) >= number(prop.Value) {
			t.Fatalf("%d bytes are not sent at once", k)
		}
		if prop.ID != "smpi/os" && prop.ID != "smpi/or" {
			continue
		}
		cost := 0.0
		for i, section := range strings.Split(prop.Value, ";") {
			parts := strings.Split(section, ":")
			if i == 0 || float64(k) > number(parts[0]) {
				cost = number(parts[1]) + number(parts[2])*float64(k)
			}
		}
		total += cost
	}
	return 1e6 * total
}

// A simulated message takes o_s(k) + L + (k−1)·G + o_r(k).
func TestSimGrid(t *testing.T) {
	ps := machineOf()
	for _, small := range []bool{false, true} {
		file := written(t, "simgrid", ps, Options{TakesSmallOverheads: small})
		for _, k := range []int{8, 100, 512, 600, 4096} {
			at := k
			if small {
				at = 8
			}
			send, _ := params.ValueAt(ps, "send", "o_s", at)
			receive, _ := params.ValueAt(ps, "send", "o_r", at)
			want := send + 2.5 + 0.002*float64(k-1) + receive
			if got := simulated(t, file, k); math.Abs(got-want) > 1e-5*want {
				t.Errorf("small %v: %d bytes take %v us, want %v", small, k, got, want)
			}
		}
		if strings.Contains(file, "& co") || strings.Count(file, "--") != 2 {
			t.Errorf("not XML:\n%s", file)
		}
	}
}

func TestJSON(t *testing.T) {
	ps := machineOf()
	ps[0].Value, ps[0].Low, ps[0].High, ps[1].From, ps[1].To = math.NaN(), math.NaN(), math.NaN(), -1, -1
	var got struct {
		Parameters []struct {
			Parameter, Method, Unit string
			Value                   *float64
			From                    *int `json:"bytes_from"`
		}
	}
	if err := json.Unmarshal([]byte(written(t, "json", ps, Options{})), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Parameters) != len(ps) {
		t.Fatalf("%d of %d parameters", len(got.Parameters), len(ps))
	}
	for i, p := range got.Parameters {
		if p.Parameter != ps[i].Name || p.Method != ps[i].Method || p.Unit != ps[i].Unit || (p.Value == nil) != (i == 0) || (p.From == nil) != (i == 1) ||
			i > 0 && *p.Value != ps[i].Value {
			t.Errorf("%+v, want %+v", p, ps[i])
		}
	}
}

// The eager limit that round trips show is taken before one that overheads hint at; a gap of the
// same letter is none.
func TestEagerLimit(t *testing.T) {
	ps := append(machineOf(), params.Parameter{Platform: "toy & co", Library: "lib", Place: "inter", Mode: "send", Name: "S", Method: "x", Unit: params.UnitMicrosPerByte, Value: 0.1})
	if out := written(t, "logopsim", ps, Options{}); !strings.Contains(out, "-S 4096\n") {
		t.Error(out)
	}
	ps = append(ps, params.Parameter{Platform: "toy & co", Library: "lib", Place: "inter", Mode: "send", Name: "S", Method: "rtt: eager limit", Unit: params.UnitBytes, From: -1, To: -1, Value: 2000, Low: 2000, High: 2999})
	if out := written(t, "logopsim", ps, Options{}); !strings.Contains(out, "-S 2000\n") || !strings.Contains(out, "rtt: eager limit: the change is behind it and not behind 3000 bytes") {
		t.Error(out)
	}
}

// What is not known is an error that names it and says what to measure.
func TestMissing(t *testing.T) {
	bound := func(method string) []params.Parameter {
		ps := machineOf()
		for i := range ps {
			if ps[i].Name == "g" {
				ps[i].Method = method
			}
		}
		return ps
	}
	nan := machineOf()
	for i := range nan {
		if nan[i].Name == "L" && nan[i].Method != params.MethodHalfRoundTrip {
			nan[i].Value, nan[i].Method = math.NaN(), nan[i].Method+": not identifiable"
		}
	}
	straight := machineOf()
	for i := range straight {
		if straight[i].Method == params.MethodHalfRoundTrip && straight[i].Name == "L" {
			straight[i].Value = 30 // a round trip is longer than the jump
		}
	}
	unclear := machineOf()
	for i := range unclear {
		if unclear[i].Method == params.MethodHalfRoundTrip && unclear[i].Name == "L" {
			unclear[i].Value = 10.5
		}
	}
	other := append(machineOf(), params.Parameter{Platform: "x", Place: "intra", Mode: "send", Name: "L"})
	for _, c := range []struct {
		format string
		ps     []params.Parameter
		o      Options
		want   []string
	}{
		{"logopsim", without(machineOf(), "g"), Options{}, []string{", g: not identifiable in mode send, or not measured", "measure bursts"}},
		{"logopsim", bound(params.MethodGapAtMostTrain), Options{}, []string{", g: only known to be at most 1.7 us", "--bounds"}},
		{"logopsim", nan, Options{}, []string{", L: not identifiable", "measure rtt, o_s and o_r"}},
		{"simgrid", nan, Options{}, []string{", L: not identifiable", "measure rtt, o_s and o_r"}},
		{"simgrid", without(machineOf(), "o_r"), Options{}, []string{", o_r: not identifiable", "timer12"}},
		{"simgrid", without(machineOf(), "o_s"), Options{}, []string{", o_s: not identifiable", "timer11"}},
		{"simgrid", without(machineOf(), "G"), Options{}, []string{", G: not identifiable", "measure sizes"}},
		{"logopsim", without(machineOf(), params.MethodHalfRoundTrip), Options{}, []string{", G: not identifiable"}},
		{"simgrid", unclear, Options{}, []string{", S: from 4096 to 5000 bytes o_s of send jumps by", "not clear", "--eager"}},
		{"simgrid", straight, Options{}, []string{", S: up to 100000 bytes o_s of send never jumps by a round trip (60 us)", "--eager"}},
		{"simgrid", other, Options{}, []string{"of several places", "toy & co, lib, inter; x, intra"}},
		{"simgrid", machineOf(), Options{Platform: "y"}, []string{"no parameters of platform y", "toy & co, lib, inter"}},
		{"logopsim", machineOf(), Options{Mode: "ssend"}, []string{"no parameters of mode ssend"}},
		{"json", nil, Options{}, []string{"there are those of nothing"}},
	} {
		var b bytes.Buffer
		err := Write(&b, FormatNamed(c.format), c.ps, c.o)
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.format, err, want)
			}
		}
		if b.Len() > 0 {
			t.Errorf("%s: wrote %s and then failed: %v", c.format, b.String(), err)
		}
	}
	// A bound that is wanted is taken, and a limit that is given needs no round trip.
	written(t, "logopsim", bound(params.MethodGapAtMostTrain), Options{TakesBounds: true})
	if out := written(t, "logopsim", unclear, Options{EagerLimit: 5000}); !strings.Contains(out, "-S 5000 bytes: given") {
		t.Error(out)
	}
	for _, name := range append(Names(), "x") {
		if (FormatNamed(name) == nil) != (name == "x") {
			t.Errorf("format %s", name)
		}
	}
}

// Simulations take what LogGOPSim is given: the same numbers, rounded less.
func TestLogGOPS(t *testing.T) {
	p, notes, err := LogGOPSParameters(machineOf(), Options{})
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	line := written(t, "logopsim", machineOf(), Options{})
	line = line[strings.LastIndex(strings.TrimSpace(line), "\n"):]
	var want [6]float64
	for i, option := range []string{" -L ", " -o ", " -g ", " -G ", " -O ", " -S "} {
		_, after, _ := strings.Cut(line, option)
		if want[i], err = strconv.ParseFloat(strings.Fields(after)[0], 64); err != nil {
			t.Fatal(err)
		}
	}
	got := [6]float64{float64(p.L), float64(p.Overhead), float64(p.Gap), float64(p.GapPerByte), float64(p.OverheadPerByte), float64(p.EagerLimit)}
	unit := 1.0 // of the command line, in picoseconds
	if want[0] < got[0]/2 {
		unit = 1000
	}
	for i, x := range got[:5] {
		if math.Abs(x-want[i]*unit) > unit/2 {
			t.Errorf("parameter %d is %v ps, and that of LogGOPSim %v times %v", i, x, want[i], unit)
		}
	}
	if got[5] != want[5] || p.L == 0 || p.GapPerByte == 0 {
		t.Errorf("%v, and LogGOPSim has %v", p, want)
	}
	for _, c := range []struct {
		missing string
		right   func(q schedule.Params) bool
		noted   string
	}{
		{"L", func(q schedule.Params) bool { return q.L == 0 && q.Overhead > 0 && q.OverheadPerByte <= q.GapPerByte }, ", L: o_s and o_r overlap"},
		{"S", func(q schedule.Params) bool {
			return q.EagerLimit == math.MaxUint64 && q.L == p.L && q.Overhead == p.Overhead
		}, ", S: no eager limit"},
	} {
		all := without(machineOf(), c.missing)
		way := all[0]
		way.Mode, way.Name, way.Unit, way.Method, way.Value = "send", "T", params.UnitMicros, params.MethodHalfRoundTrip, 20
		all = append(all, way)
		if c.missing == "S" { // by which a change of protocol is known
			all = slices.DeleteFunc(all, func(p params.Parameter) bool {
				return p.Kind() == params.EagerLimit || p.Name == "o_s" && p.From > 1000
			})
		}
		q, notes, err := LogGOPSParameters(all, Options{})
		if err != nil || !c.right(q) || !slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, c.noted) }) {
			t.Errorf("without %s: %v, %q, %v", c.missing, q, notes, err)
		}
		if err := Write(io.Discard, FormatNamed("logopsim"), all, Options{}); err == nil {
			t.Errorf("LogGOPSim is given parameters without %s", c.missing)
		}
	}
	if _, _, err := LogGOPSParameters(without(machineOf(), "G"), Options{}); err == nil {
		t.Error("parameters without G are enough")
	}
	if _, _, err := LogGOPSParameters(machineOf(), Options{Place: "intra"}); err == nil {
		t.Error("there are no parameters of this place")
	}
}
