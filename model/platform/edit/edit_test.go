package edit

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/platform"
)

func open(t *testing.T, what string) *Draft {
	t.Helper()
	d, err := Open(what)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Every number of the catalogue can be replaced: the platform has the new value there, and no other
// number is another.
func TestWith(t *testing.T) {
	for _, name := range platform.Names() {
		d := open(t, name)
		for _, n := range d.Numbers {
			x, err := n.Quantity.Parse(n.Value)
			if err != nil || x == 0 || n.Quantity == platform.CountQuantity || n.Quantity == platform.SizeQuantity {
				continue // twice a count or a size may be another structure
			}
			if strings.Contains(n.Path, ".caches[") {
				continue // a smaller cache cannot be slower than a larger one
			}
			value := n.Quantity.Format(x / 2)
			if value == n.Value {
				continue // a picosecond has no half
			}
			p, err := d.With(map[string]string{n.Path: value})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			for i, m := range p.Numbers {
				if want := d.Numbers[i].Value; m.Path == n.Path && m.Value != value || m.Path != n.Path && m.Value != want {
					t.Errorf("%s: with %s = %s, %s is %s", name, n.Path, value, m.Path, m.Value)
				}
			}
			if p.Hash == d.Hash {
				t.Errorf("%s: another value of %s, and the same sum", name, n.Path)
			}
		}
		same, err := d.With(nil)
		if err != nil || same.Hash != d.Hash || !reflect.DeepEqual(same, d.Platform) {
			t.Errorf("%s: without changes it is not the same: %v", name, err)
		}
	}
}

// What is formatted is read as the same.
func TestQuantities(t *testing.T) {
	for q, x := range map[platform.Quantity]float64{platform.TimeQuantity: 1234567, platform.PerByteQuantity: 1590, platform.BandwidthQuantity: 1.25e8, platform.SizeQuantity: 4096, platform.CountQuantity: 12, platform.ShareQuantity: 0.025} {
		s := q.Format(x)
		if y, err := q.Parse(s); err != nil || math.Abs(y-x) > 1e-9*x {
			t.Errorf("%v %v is printed as %s and read as %v, %v", q, x, s, y, err)
		}
	}
}

const software = `    software: {%s}
    rules:
      - {mode: [standard, ready, buffered], protocol: T}
      - {mode: synchronous, protocol: TA}
    fallback: RTA
    window: {value: 1MiB, basis: assumed, source: s}
    stage: false
    bounce: {value: 0B, basis: assumed, source: s}
`

// layouts is a file with numbers in all layouts that YAML has for them.
func layouts() string {
	var costs []string
	for _, k := range strings.Fields("send standard synchronous ready buffered receive received posted handle match control complete poll") {
		costs = append(costs, k+": {value: 1us, basis: assumed, source: s}")
	}
	for _, k := range []string{"pack", "unpack"} {
		costs = append(costs, k+": {value: 1ns/B, basis: assumed, source: s}")
	}
	return `# first
name: x
description: d # of it
references: [r]

machine:
  ranks: {default: {value: 2, basis: assumed, source: s}, min: {value: 1, basis: assumed, source: s}, max: {value: 4, basis: assumed, source: s}}
  timer:
    resolution: {value: 1ps, basis: assumed, source: s}

  noise: {relative: {value: 0%, basis: assumed, source: s}}
  loggp:
    L: {free: {min: 1us, max: 9us}, source: "µs [of it], as {value: 2us}", basis: assumed, value: '5us'} # one
    o_s: # two
      value: 2us   # of it
      # between
      source: it's plain
      basis: fitted
      to:
        - one # row
        - "two"
      free: {min: 0s, max: 3us}
    o_r:
      basis: derived
      source: 'it''s so'
      value: "3us"
    g: {value: 4us, basis: fitted, source: s, to: [a, "]", 'b'] , free: [4us, 5us]}
    G: {value: 0.01us/B, basis: assumed, source: "s"}
libraries:
  - name: one
    description: d
` + fmt.Sprintf(software, strings.Join(costs, ", ")) + "# last\n"
}

// A fit changes what it must, in each layout, and nothing else.
func TestFit(t *testing.T) {
	d, err := New("x.yaml", []byte(layouts()))
	if err != nil {
		t.Fatal(err)
	}
	to := []string{"table-3 T3D o_s low", `say "so"`}
	var all []Fitted
	for _, x := range [][2]string{{"L", "6us"}, {"o_s", "2.5us"}, {"o_r", "1us"}, {"g", "5us"}} {
		all = append(all, Fitted{"machine.loggp." + x[0], x[1], to})
	}
	text, err := d.Fit(all)
	if err != nil {
		t.Fatal(err)
	}
	p, err := platform.Parse("x.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		i := slices.IndexFunc(p.Numbers, func(n platform.Number) bool { return n.Path == f.Path })
		n, was := p.Numbers[i], d.Numbers[i]
		if n.Value != f.Value || n.Basis != platform.BasisFitted || !slices.Equal(n.FittedTo, to) || !reflect.DeepEqual(n.Free, was.Free) {
			t.Errorf("%s is %+v", f.Path, n)
		}
		source := was.Source
		if was.Basis != platform.BasisFitted {
			source = "loggp calibrate; before " + was.Value + ", " + string(was.Basis) + ": " + was.Source
		}
		if n.Source != source {
			t.Errorf("%s: source %q, want %q", f.Path, n.Source, source)
		}
	}
	want := layouts()
	for _, r := range [][2]string{
		{`source: "µs [of it], as {value: 2us}", basis: assumed, value: '5us'} # one`,
			`source: "loggp calibrate; before 5us, assumed: µs [of it], as {value: 2us}", to: ["table-3 T3D o_s low", "say \"so\""], basis: fitted, value: 6us} # one`},
		{"value: 2us   # of it", "value: 2.5us   # of it"},
		{"        - one # row\n        - \"two\"\n", "        [\"table-3 T3D o_s low\", \"say \\\"so\\\"\"]\n"},
		{"      basis: derived\n      source: 'it''s so'\n      value: \"3us\"\n",
			"      basis: fitted\n      source: \"loggp calibrate; before 3us, derived: it's so\"\n      to: [\"table-3 T3D o_s low\", \"say \\\"so\\\"\"]\n      value: 1us\n"},
		{`g: {value: 4us, basis: fitted, source: s, to: [a, "]", 'b'] ,`, `g: {value: 5us, basis: fitted, source: s, to: ["table-3 T3D o_s low", "say \"so\""] ,`},
	} {
		if !strings.Contains(want, r[0]) {
			t.Fatalf("there is no %s", r[0])
		}
		want = strings.Replace(want, r[0], r[1], 1)
	}
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// What cannot be replaced is an error, with the place in the file.
func TestRefused(t *testing.T) {
	folded := strings.Replace(layouts(), "source: 'it''s so'", "source: >-\n        it is\n        so", 1)
	d, err := New("x.yaml", []byte(folded))
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]Fitted{
		"x.yaml:25:15: this layout":                       {"machine.loggp.o_r", "1us", []string{"a"}},
		"x.yaml: there is no number machine.loggp.x":      {"machine.loggp.x", "1us", []string{"a"}},
		"machine.loggp.G.value: time per byte \"1us\": a": {"machine.loggp.G", "1us", []string{"a"}},
		"machine.loggp.L.free: the value 10us is not":     {"machine.loggp.L", "10us", []string{"a"}},
	} {
		if text, err := d.Fit([]Fitted{f}); err == nil || !strings.Contains(err.Error(), want) || text != nil {
			t.Errorf("%+v: %v, want %s", f, err, want)
		}
	}
	if _, err := d.With(map[string]string{"machine.loggp.L": "5"}); err == nil {
		t.Error("a value without unit is taken")
	}
	if _, err := Open("loggp:L=5us"); err == nil || !strings.Contains(err.Error(), "no file") {
		t.Errorf("a specification is a file: %v", err)
	}
}
