package platform

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

var update = flag.Bool("update", false, "write the errors of testdata/broken.txt anew")

// read returns a file of testdata.
func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// brokenCase is one of testdata/broken.txt.
type brokenCase struct {
	name  string
	file  string   // the one that it edits
	edits []string // lines that begin with - or +
	want  string
}

// broken returns the cases, and what stands above them.
func broken(t testing.TB) (head string, cases []brokenCase) {
	head, rest, _ := strings.Cut(read(t, "broken.txt"), "\n== ")
	for _, text := range strings.Split(rest, "\n== ") {
		name, body, _ := strings.Cut(text, "\n")
		c := brokenCase{name: name, file: "good.yaml"}
		if file, _, ok := strings.Cut(name, ": "); ok {
			c.file = file
		}
		var want []string
		for line := range strings.Lines(body) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case strings.HasPrefix(line, "-"), strings.HasPrefix(line, "+"):
				c.edits = append(c.edits, line)
			case line != "":
				want = append(want, line)
			}
		}
		c.want = strings.Join(want, "\n")
		cases = append(cases, c)
	}
	return head, cases
}

// apply edits the file.
func (c brokenCase) apply(t testing.TB) string {
	lines := strings.Split(strings.TrimSuffix(read(t, c.file), "\n"), "\n")
	at := len(lines)
	for _, e := range c.edits {
		if e[0] == '+' {
			lines = slices.Insert(lines, at, e[1:])
			at++
			continue
		}
		if at = slices.Index(lines, e[1:]); at < 0 {
			t.Fatalf("%s: %s has no line %q", c.name, c.file, e[1:])
		}
		lines = slices.Delete(lines, at, at+1)
	}
	return strings.Join(lines, "\n") + "\n"
}

// A wrong file is told where, at which key, what is wrong and what to write instead.
func TestBroken(t *testing.T) {
	head, cases := broken(t)
	for i, c := range cases {
		if _, err := Parse(c.file, []byte(read(t, c.file))); err != nil {
			t.Fatalf("%s:\n%v", c.file, err)
		}
		_, err := Parse(c.file, []byte(c.apply(t)))
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		if *update {
			cases[i].want = err.Error()
		} else if err.Error() != c.want {
			t.Errorf("%s:\n got\n%v\nwant\n%v", c.name, err, c.want)
		}
	}
	if *update {
		for _, c := range cases {
			head += fmt.Sprintf("\n== %s\n%s\n%s\n", c.name, strings.Join(c.edits, "\n"), c.want)
		}
		if err := os.WriteFile("testdata/broken.txt", []byte(head), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParseNothing(t *testing.T) {
	for in, want := range map[string]string{
		"":              "x.yaml:1:1: is empty: begin with name: and the name of the platform",
		"# a comment\n": "x.yaml:1:1: is empty: begin with name: and the name of the platform",
		"t3d":           "x.yaml:1:1: is a text or a number: write keys with values",
		"- t3d":         "x.yaml:1:1: is a list: write keys with values",
		"a: [":          "x.yaml:1:1: is not YAML from this line on: did not find expected node content",
	} {
		if _, err := Parse("x.yaml", []byte(in)); fmt.Sprint(err) != want {
			t.Errorf("%q:\n got %v\nwant %v", in, err, want)
		}
	}
}

// tiered makes a library of the good file whose rules go by peer.
var tiered = brokenCase{name: "rules by peer", file: "good.yaml", edits: []string{
	`-      - {mode: [standard, ready], up_to: {value: 512B, basis: assumed, source: "test"}, protocol: T}`,
	`+      - {mode: [standard, ready], peer: intra, up_to: {value: 512B, basis: assumed, source: "test"}, protocol: T}`,
	`+      - {mode: [standard, ready], up_to: {value: 100B, basis: assumed, source: "test"}, protocol: TA}`,
	`+      - {mode: [standard, ready], peer: inter, protocol: PTAT}`,
	`-    stage: true`,
	`+    first: {value: 2KiB, basis: assumed, source: "test"}`,
	`+    intra: {stage: false, bounce: {value: 8KiB, basis: assumed, source: "test"}}`,
	`+    stage: true`,
}}

// A rule may be for peers of one tier. A rule for all peers may then serve
// the other tier alone.
func TestPeers(t *testing.T) {
	p, err := Parse("x.yaml", []byte(tiered.apply(t)))
	if err != nil {
		t.Fatal(err)
	}
	usable(t, p)
	l := p.Libraries[0]
	for _, c := range []struct {
		tier  model.Tier
		bytes int
		want  string
	}{
		{model.InterNode, 0, "TA"}, {model.InterNode, 100, "TA"}, {model.InterNode, 101, "PTAT"}, {model.InterNode, 1 << 30, "PTAT"},
		{model.IntraNode, 0, "T"}, {model.IntraNode, 512, "T"}, {model.IntraNode, 513, "RTA"},
	} {
		if got := l.Proto.Protocol(model.StandardMode, c.tier, c.bytes); got != c.want {
			t.Errorf("%d bytes to %v peers go by %s, want %s", c.bytes, c.tier, got, c.want)
		}
	}
	if want := [model.NumTiers]model.LongMessage{model.InterNode: {CopiesToAccessibleMemory: true, BounceBufferBytes: 1024}, model.IntraNode: {BounceBufferBytes: 8192}}; l.Proto.LongMessages != want || l.Proto.FirstBytes != 2048 {
		t.Errorf("long messages %+v, want %+v; first part %d, want 2048", l.Proto.LongMessages, want, l.Proto.FirstBytes)
	}
}

var position = regexp.MustCompile(`^x\.yaml:[1-9]\d*:[1-9]\d*: .+$`)

// Whatever the file, Parse says where it is wrong, or returns a platform that can be used.
func FuzzParse(f *testing.F) {
	_, cases := broken(f)
	for _, c := range append(cases, tiered) {
		f.Add(read(f, c.file))
		f.Add(c.apply(f))
	}
	for _, name := range catalogueNames {
		data, err := catalogueFiles.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("? [a]\n: b\n<<: *x\n!!binary c: \xff\n")
	f.Fuzz(func(t *testing.T, file string) {
		p, err := Parse("x.yaml", []byte(file))
		if err == nil {
			usable(t, p)
			return
		}
		errs := err.(interface{ Unwrap() []error }).Unwrap()
		if len(errs) > maxErrors+1 {
			t.Errorf("%d errors", len(errs))
		}
		for _, err := range errs {
			if !position.MatchString(err.Error()) {
				t.Errorf("an error without file, line and column, or of several lines: %v", err)
			}
		}
	})
}

// usable fails unless the platform is what Load promises.
func usable(t *testing.T, p *Platform) {
	t.Helper()
	m := p.Machine
	if m.Name == "" || m.Description == "" || m.TimerResolution < 1 || m.Ranks.Min > m.Ranks.Default || m.Ranks.Default > m.Ranks.Max {
		t.Errorf("machine %+v", m)
	}
	if m.Network == nil {
		t.Errorf("machine %s: no network", m.Name)
	}
	if h, ok := m.Network.(*model.Hypernodes); ok && (h.CountProcessors() != m.CountEnds(m.Ranks.Max) || h.CountUsed(m.CountEnds(m.Ranks.Max)) != len(h.Sizes) || h.ProcessorsPerBlock < 1 || h.Rings < 1 || h.Chunk < 1) {
		t.Errorf("machine %s: %d ranks in hypernodes %+v", m.Name, m.Ranks.Max, *h)
	}
	if m.Processor.Copy.Bandwidth <= 0 {
		t.Errorf("machine %s: copies at %v", m.Name, m.Processor.Copy.Bandwidth)
	}
	if len(p.Libraries) == 0 {
		t.Errorf("machine %s: no library", m.Name)
	}
	for _, l := range p.Libraries {
		collective.RulesOfLibrary(l) // which panics of names that it does not know
		if l.CarriedBy() != model.ProtoEngine {
			continue // without rules
		}
		for mode := range model.NumModes {
			for _, k := range []int{0, 1, 1 << 10, 1 << 40} {
				for tier := range model.NumTiers {
					if l.Proto.Protocol(mode, tier, k) == "" {
						t.Errorf("library %s: no protocol for %d bytes, %v, to %v peers", l.Name, k, mode, tier)
					}
				}
			}
		}
	}
	for _, n := range p.Numbers {
		if n.Path == "" || n.Value == "" || n.Source == "" || !slices.Contains(allBases, n.Basis) || n.Line < 1 || n.Column < 1 {
			t.Errorf("number without provenance: %+v", n)
		}
		if (n.Basis == BasisFitted) != (len(n.FittedTo) > 0) {
			t.Errorf("number fitted to nothing, or not fitted to something: %+v", n)
		}
	}
}
