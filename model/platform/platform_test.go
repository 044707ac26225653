package platform

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

func load(t *testing.T, what string) *Platform {
	t.Helper()
	p, err := Load(what)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The list and the files are the same, and every platform has the name of its file.
func TestCatalogue(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Machine.Name)
		usable(t, p)
	}
	if !slices.Equal(names, Names()) {
		t.Errorf("machines %v in files %v", names, Names())
	}
	entries, err := catalogueFiles.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(names, strings.TrimSuffix(e.Name(), ".yaml")) {
			t.Errorf("%s is not in the list", e.Name())
		}
	}
}

// A number of a platform stands where its Line and Column say, and the file says the same when
// every number in it is written as unit prints it.
func TestNumbersRoundTrip(t *testing.T) {
	for _, name := range Names() {
		p := load(t, name)
		data, err := catalogueFiles.ReadFile(name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(data), "\n")
		for _, n := range slices.Backward(p.Numbers) {
			if n.Quantity == WordQuantity || n.Quantity == CountQuantity {
				continue // a name, or without a unit
			}
			line := &lines[n.Line-1]
			before, rest := (*line)[:n.Column-1], (*line)[n.Column-1:]
			after, ok := strings.CutPrefix(rest, n.Value)
			if !ok {
				t.Fatalf("%s:%d:%d: %s: there is no %s", p.File, n.Line, n.Column, n.Path, n.Value)
			}
			*line = before + canonical(t, n.Value) + after
		}
		again, err := Parse(p.File, []byte(strings.Join(lines, "\n")))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(again.Machine, p.Machine) || !reflect.DeepEqual(again.Libraries, p.Libraries) {
			t.Errorf("%s: other numbers after printing and reading", name)
		}
	}
}

// canonical returns a quantity as its type prints it.
func canonical(t *testing.T, s string) string {
	if x, err := unit.ParseTime(s); err == nil {
		return x.String()
	}
	if x, err := unit.ParseRate(s); err == nil {
		return x.String()
	}
	if x, err := unit.ParsePerByte(s); err == nil {
		return x.String()
	}
	if x, err := unit.ParsePercent(s); err == nil {
		return unit.Percent(x)
	}
	if strings.HasSuffix(s, "B") {
		if x, err := unit.ParseSize(s); err == nil {
			return unit.Bytes(x)
		}
	}
	if strings.Trim(s, "0123456789 ") != "" { // counts
		t.Errorf("%q is no quantity", s)
	}
	return s
}

// A user's file needs nothing of the catalogue. It is a copy here, so that what comes out is known.
func TestLoadFile(t *testing.T) {
	data, err := catalogueFiles.ReadFile("t3d.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, path := range []string{"mine.yaml", "mine.yml", "./mine.txt", filepath.Join(t.TempDir(), "mine")} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		got, want := load(t, path), load(t, "t3d")
		if got.File != path {
			t.Errorf("file %q, want %q", got.File, path)
		}
		got.File = want.File
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: not the platform of the catalogue", path)
		}
	}
}

// To change a platform changes one copy of it only.
func TestLoadCopies(t *testing.T) {
	p := load(t, "t3d")
	p.Machine.Network.(*model.Torus).HopLatency = 0
	p.Libraries[0].Proto.Rules[0].Protocol = ""
	if q := load(t, "t3d"); q.Machine.Network.(*model.Torus).HopLatency == 0 || q.Libraries[0].Proto.Rules[0].Protocol == "" {
		t.Error("the second load sees what was done to the first")
	}
}

func TestLoadErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("long.yaml", make([]byte, maxFileBytes+1), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("broken.yaml", []byte("name: x y"), 0o666); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{
		"logp":              "there is no platform \"logp\"; did you mean loggp?\nThe catalogue has hdr-fattree, ",
		"T3D":               "there is no platform \"T3D\"; did you mean t3d?\nThe catalogue has hdr-fattree, ",
		"":                  "there is no platform \"\"\nThe catalogue has hdr-fattree, ",
		"none.yaml":         "read platform: open none.yaml: no such file",
		"./":                "platform: read ./: is a directory",
		"long.yaml":         "platform: long.yaml: longer than 1048576 bytes",
		"broken.yaml":       `broken.yaml:1:1: missing key description`,
		"loggp:":            `platform "loggp:": item 1, at column 7: "": write a parameter and its value`,
		"loggp:L=1us,":      `platform "loggp:L=1us,": item 2, at column 13: "": write a parameter and its value`,
		"loggp:L=5,o_s=2us": `platform "loggp:L=5,o_s=2us": item 1, at column 7: "L=5": time "5": missing unit`,
		"loggp:L=1us, O=2us": `platform "loggp:L=1us, O=2us": item 2, at column 14: "O=2us": ` +
			`unknown parameter "O": write one of L, o_s, o_r, g, G, ranks`,
		"loggp:L=1us,L=2us":     `platform "loggp:L=1us,L=2us": item 2, at column 13: "L=2us": L is there already: leave one`,
		"loggp:o_s=-1us":        `platform "loggp:o_s=-1us": item 1, at column 7: "o_s=-1us": "-1us" is out of range`,
		"loggp:o_r=2s":          `platform "loggp:o_r=2s": item 1, at column 7: "o_r=2s": "2s" is out of range`,
		"loggp:G=2us":           `platform "loggp:G=2us": item 1, at column 7: "G=2us": time per byte "2us": a time, not a time per byte`,
		"loggp:g=1us,ranks=0":   `platform "loggp:g=1us,ranks=0": item 2, at column 13: "ranks=0": "0" is out of range`,
		"loggp:g=1us,ranks=two": `platform "loggp:g=1us,ranks=two": item 2, at column 13: "ranks=two": count "two": write a whole number`,
	} {
		_, err := Load(what)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Load(%q):\n got %v\nwant %s...", what, err, want)
		}
	}
}

func TestSynthetic(t *testing.T) {
	const spec = "loggp:L=7us, o_s=1ns,o_r=2.5us,g=0,G=0.02us/B,ranks=8"
	p := load(t, spec)
	usable(t, p)
	want := model.LogGP{L: 7 * unit.Microsecond, SendOverhead: unit.Nanosecond, RecvOverhead: 2500 * unit.Nanosecond, GapPerByte: 20000}
	if *p.Machine.Network.(*model.LogGP) != want {
		t.Errorf("%+v, want %+v", *p.Machine.Network.(*model.LogGP), want)
	}
	if p.Machine.Ranks.Default != 8 || p.Machine.Name != strings.Replace(spec, " ", "", 1) {
		t.Errorf("machine %q of %d ranks", p.Machine.Name, p.Machine.Ranks.Default)
	}
	var at []string
	for _, n := range p.Numbers {
		if n.Source == specSource {
			at = append(at, n.Path+" "+spec[n.Column-1:n.Column])
		}
	}
	paths := []string{"machine.ranks.default r", "machine.loggp.L L", "machine.loggp.o_s o", "machine.loggp.o_r o",
		"machine.loggp.g g", "machine.loggp.G G"}
	if !slices.Equal(at, paths) {
		t.Errorf("given are %q, want %q", at, paths)
	}
	// Parameters that are not given are the catalogue's.
	q, loggp := load(t, "loggp:L=7us"), load(t, "loggp")
	loggp.Machine.Network.(*model.LogGP).L = 7 * unit.Microsecond
	if *q.Machine.Network.(*model.LogGP) != *loggp.Machine.Network.(*model.LogGP) || q.Machine.Ranks != loggp.Machine.Ranks {
		t.Errorf("%+v, want %+v", *q.Machine.Network.(*model.LogGP), *loggp.Machine.Network.(*model.LogGP))
	}
}

// The synthetic machine charges nothing beside its five parameters.
func TestSyntheticIsFree(t *testing.T) {
	p := load(t, "loggp")
	want := model.LogGP{L: 5000000, SendOverhead: 2000000, RecvOverhead: 3000000, Gap: 4000000, GapPerByte: 10000}
	if *p.Machine.Network.(*model.LogGP) != want {
		t.Errorf("%+v, want %+v", *p.Machine.Network.(*model.LogGP), want)
	}
	if d := p.Machine.Processor.Copy.Time(unit.MaxSize); d != 0 {
		t.Errorf("a copy takes %v", d)
	}
	l, err := p.Library("none")
	if err != nil {
		t.Fatal(err)
	}
	if l.Software != [model.MaxCosts]unit.Time{} || l.Proto.LongMessages != [model.NumTiers]model.LongMessage{} || l.Proto.WindowBytes != 1<<40 {
		t.Errorf("library %+v", l)
	}
	for mode, want := range []string{"T", "TA", "T", "T"} {
		for _, k := range []int{0, unit.MaxSize} {
			if got := l.Proto.Protocol(model.Mode(mode), model.InterNode, k); got != want {
				t.Errorf("%v, %d bytes: %s, want %s", model.Mode(mode), k, got, want)
			}
		}
	}
}

// The numbers of the T3D that Al-Tawil and Moritz print: 150 MHz, 2 cycles a node and 1 a turn
// (section 2), 300 MB/s (table 2), put 120 MB/s and get 60 MB/s (section 2).
func TestT3D(t *testing.T) {
	p := load(t, "t3d")
	m := p.Machine.Network.(*model.Torus)
	const cycle = 1e12 / 150e6 // picoseconds
	for what, c := range map[string]struct {
		got    unit.Time
		cycles float64
	}{"timer": {p.Machine.TimerResolution, 1}, "turn": {m.TurnLatency, 1}, "hop": {m.HopLatency, 2}} {
		if d := float64(c.got) - c.cycles*cycle; d < -1 || d > 1 {
			t.Errorf("%s %v, want %v cycles of %v ps", what, c.got, c.cycles, cycle)
		}
	}
	if m.Link != 300e6 || m.Put.Bandwidth != 120e6 || m.Get.Bandwidth != 60e6 || m.ProcessorsPerNode != 2 {
		t.Errorf("torus %+v", *m)
	}
	// Single-hop latency of 1 to 2 us (section 2): a short packet from the start of the store to
	// the end of its receipt.
	if d := m.Send.Start + m.HopLatency + m.Deliver + m.Receive; d < unit.Microsecond || d > 2*unit.Microsecond {
		t.Errorf("a short packet takes %v", d)
	}
	if p.Machine.Ranks != (model.RankLimits{Default: 4, Min: 1, Max: 2048}) {
		t.Errorf("ranks %+v", p.Machine.Ranks)
	}
}

// Processors reach each other's memory where the network has a way to, unless the file says that
// they do not.
func TestPrivate(t *testing.T) {
	good := read(t, "good.yaml")
	for line, remote := range map[string]bool{"": true, "  private: false\n": true, "  private: true\n": false} {
		p, err := Parse("good.yaml", []byte(strings.Replace(good, "  torus:\n", line+"  torus:\n", 1)))
		if err != nil {
			t.Fatal(err)
		}
		if p.Machine.HasRemoteMemory() != remote {
			t.Errorf("with %q: remote memory %v", line, !remote)
		}
	}
	if load(t, "now").Machine.HasRemoteMemory() {
		t.Error("workstations have remote memory")
	}
}

// The numbers of the NOW that Al-Tawil and Moritz print (section 2, table 2), and those of IEEE
// 802.3 at 10 Mbit/s in bits and bit times.
func TestNOW(t *testing.T) {
	p := load(t, "now")
	e := p.Machine.Network.(*model.Ethernet)
	if e.Rate != 10e6/8 || p.Machine.Ranks.Max != 8 {
		t.Errorf("%v, %d workstations", e.Rate, p.Machine.Ranks.Max)
	}
	bit := e.Rate.Time(1) / 8
	for what, c := range map[string][2]int{
		"preamble and delimiter": {8 * e.Preamble, 64},
		"shortest frame":         {8 * (e.Header + e.MinPayload + e.FCS), 512},
		"longest frame":          {8 * (e.Header + e.MTU + e.FCS), 12144},
		"gap":                    {8 * e.InterframeGapBytes, 96},
		"jam":                    {8 * e.JamBytes, 32},
		"slot":                   {int(e.BackoffSlot / bit), 512},
		"back-off limit":         {e.MaxBackoffDoublings, 10},
		"attempts":               {e.MaxCollisionsOfFrame, 16},
		"data of a segment":      {e.MaxSegmentData(), 1460},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", what, c[0], c[1])
		}
	}
	// The wire cannot do what table 3 says of G: 0.2 us a byte are four times its rate.
	for _, n := range p.Numbers {
		for _, row := range n.FittedTo {
			if strings.Contains(row, " G ") {
				t.Errorf("%s is fitted to %s", n.Path, row)
			}
		}
	}
}

func TestLibrary(t *testing.T) {
	p := load(t, "t3d")
	for name, want := range map[string]string{"": "chimp", "chimp": "chimp", "lean": "lean"} {
		if l, err := p.Library(name); err != nil || l.Name != want {
			t.Errorf("Library(%q) = %v, %v", name, l, err)
		}
	}
	_, err := p.Library("leans")
	if want := `platform t3d: no library "leans"; did you mean lean? There are chimp, epcc-early, lean, aclmpl, pvm, aclmpl-pvm`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCalibrated(t *testing.T) {
	p := load(t, "testdata/good.yaml")
	for row, want := range map[string]bool{
		"table-3 X L low":    true,
		" table-3  X L high": true,
		"table-3 X o_s low":  false,
		"table-3 X L":        false,
		"":                   false,
	} {
		if got := p.IsFittedTo(row); got != want {
			t.Errorf("Calibrated(%q) = %v", row, got)
		}
	}
}

// Consecutive blocking sends are not faster than the link where an interface reads the user's
// buffer. Copies of it, short messages, which are written with the doorbell, and datagrams, which
// processors prepare, fill the queues of interfaces first.
func TestBlockingSendsAreNotFasterThanTheLink(t *testing.T) {
	for _, name := range Names() {
		p := load(t, name)
		f, ok := p.Machine.Network.(*model.Fabric)
		if !ok || f.NIC != nil && f.NIC.Datagrams != nil {
			continue
		}
		ranks := p.Machine.Ranks.Default
		path := p.Machine.PathBetweenRanks(ranks, 0, ranks-1)
		for _, l := range p.Libraries {
			if l.CarriedBy() != model.ProtoEngine {
				continue
			}
			for k := 1 << 10; k <= 1<<20; k *= 2 {
				x := model.Transfer{Machine: p.Machine, Library: l, Bytes: k, Path: path}
				sender := x.Cost().Sender
				if slices.ContainsFunc(sender, func(t model.Term) bool { return t.Name == "processor.copy" }) {
					continue
				}
				if took, wire := sender.Sum(), path.SlowestLink.Time(k); took < wire {
					t.Errorf("%s, %s: a send of %v takes %v, and the link %v", name, l.Name, unit.Bytes(k), took, wire)
				}
			}
		}
	}
}
