package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/model/unit"
)

// The headers, written by hand, so that a changed name fails.
const (
	header = "platform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us"
	paced  = "platform,library,clock,place,mode,protocol,timer,bytes,launch,pace,rep,time_us"
)

var send = Key{Platform: "t3d", Library: "mpi", Clock: "virtual", Place: "inter", Mode: "send", Protocol: "auto", Timer: Timer11, Bytes: 16}

func with(change func(*Key)) Key {
	k := send
	change(&k)
	return k
}

func example() *Set {
	return &Set{
		Facts: []Fact{{"version", "1"}, {"command", "loggp measure --sizes 1:100000 # all: of them"}, {RootsFact, "2"}, {"empty", ""}},
		Series: []Series{
			{Key: send, Times: []unit.Time{30 * unit.Microsecond, 30*unit.Microsecond + 1, 0, -7}},
			{Key: with(func(k *Key) { k.Timer = Timer21; k.Library = `a "b", c`; k.Protocol = "" }), Times: []unit.Time{123456789012345678, 1}},
			{Key: with(func(k *Key) { k.Clock = "real"; k.Launch = 3; k.Bytes = 0 }), Times: []unit.Time{500 * unit.Nanosecond}},
		},
	}
}

func csvOf(t *testing.T, s *Set) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The expected text is written by hand after DESIGN section 6.
func TestWrite(t *testing.T) {
	want := `# version: 1
# command: loggp measure --sizes 1:100000 # all: of them
# roots: 2
# empty: 
# samples: 7
platform,library,clock,place,mode,protocol,timer,bytes,launch,rep,times_us
t3d,mpi,virtual,inter,send,auto,timer11,16,0,0,30 30.000001 0 -0.000007
t3d,"a ""b"", c",virtual,inter,send,,timer21,16,0,0,123456789012.345678 0.000001
t3d,mpi,real,inter,send,auto,timer11,0,3,0,0.5
`
	if got := csvOf(t, example()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	got, err := Read(strings.NewReader(csvOf(t, example())), "x")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, example()) {
		t.Errorf("got %+v\nwant %+v", got, example())
	}
}

// A file that lacks its last rows, as after a full disk or an unfinished copy, is an error; files
// of older versions, which do not say how many they have, are read.
func TestCutOff(t *testing.T) {
	whole := csvOf(t, example())
	cut := whole[:strings.LastIndexByte(strings.TrimSuffix(whole, "\n"), '\n')+1]
	if _, err := Read(strings.NewReader(cut), "x"); err == nil || !strings.Contains(err.Error(), `x: the file is cut off: it has 6 samples, and "samples" says 7`) {
		t.Errorf("%v", err)
	}
	if _, err := Read(strings.NewReader(strings.Replace(cut, "# samples: 7\n", "", 1)), "x"); err != nil {
		t.Errorf("an older file: %v", err)
	}
}

// withDisturbed is a set of a cell of which a part is disturbed.
func withDisturbed() *Set {
	real := func(disturbed bool, times ...unit.Time) Series {
		return Series{Key: with(func(k *Key) { k.Clock, k.Disturbed = "real", disturbed }), Times: times}
	}
	return &Set{Series: []Series{real(false, 1, 2, 3, 4), real(true, 5, 6)}}
}

// The column disturbed is there if anything is. Of older files it is read from the column pace.
func TestDisturbed(t *testing.T) {
	text := csvOf(t, withDisturbed())
	want := `# samples: 6
platform,library,clock,place,mode,protocol,timer,bytes,launch,rep,times_us,disturbed
t3d,mpi,real,inter,send,auto,timer11,16,0,0,0.000001 0.000002 0.000003 0.000004,0
t3d,mpi,real,inter,send,auto,timer11,16,0,0,0.000005 0.000006,1
`
	if text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	older := `platform,library,clock,place,mode,protocol,timer,bytes,launch,pace,rep,time_us
t3d,mpi,real,inter,send,auto,timer11,16,0,full,0,0.000001
t3d,mpi,real,inter,send,auto,timer11,16,0,full,1,0.000003
t3d,mpi,real,inter,send,auto,timer11,16,0,P2 slowed,0,0.000005
t3d,mpi,real,inter,send,auto,timer11,16,0,,0,0.000002
t3d,mpi,real,inter,send,auto,timer11,16,0,,1,0.000004
t3d,mpi,real,inter,send,auto,timer11,16,0,both slowed,0,0.000006
`
	for _, in := range []string{text, older} {
		got, err := Read(strings.NewReader(in), "x")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, withDisturbed()) {
			t.Errorf("got %+v\nwant %+v", got, withDisturbed())
		}
	}
	if s := withDisturbed().Series[1].String(); !strings.HasSuffix(s, "launch 0, disturbed)") {
		t.Error(s)
	}
}

// Only rep says where a sample belongs. Lines may end as on Windows, and cells may be quoted as R
// writes them.
func TestAnyOrder(t *testing.T) {
	text := csvOf(t, example())
	lines := strings.Split(strings.TrimSpace(text), "\n")
	head, rows := lines[:6], lines[6:]
	for seed := range uint64(20) {
		shuffled := append([]string(nil), rows...)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for i, row := range shuffled {
			if i%2 == 0 {
				cells := strings.Split(row, ",")
				last := len(cells) - 2
				cells[last] = `"` + cells[last] + `"`
				shuffled[i] = strings.Join(cells, ",")
			}
		}
		in := strings.Join(append(append([]string(nil), head...), shuffled...), "\r\n")
		got, err := Read(strings.NewReader(in), "x")
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, want := range example().Series {
			found := false
			for _, s := range got.Series {
				found = found || reflect.DeepEqual(s, want)
			}
			if !found {
				t.Errorf("seed %d: no %+v in %+v", seed, want, got)
			}
		}
	}
}

func TestReadErrors(t *testing.T) {
	row := func(bytes, launch, rep, time string) string {
		return "t3d,mpi,virtual,inter,send,auto,timer11," + bytes + "," + launch + "," + rep + "," + time + "\n"
	}
	tests := []struct{ in, want string }{
		{"", `f.csv:1:1: no header`},
		{"# a: b\n", `f.csv:2:1: no header`},
		{"platform,libary\n", `f.csv:1:10: column "libary" where "library" belongs`},
		{"platform,library\n", `f.csv:1:17: column "clock" is missing`},
		{header + ",x\n", `f.csv:1:75: a row has 11 columns, this one 12`},
		{header + "\nt3d,mpi\n", `f.csv:2:8: column "clock" is missing: a row has 11 columns, this one 2`},
		{header + "\n" + row("12x", "0", "0", "1"), `f.csv:2:41: column "bytes": "12x" is not a whole number of bytes`},
		{header + "\n" + row("-1", "0", "0", "1"), `f.csv:2:41: column "bytes": "-1" is not`},
		{header + "\n" + row("99999999999", "0", "0", "1"), `f.csv:2:41: column "bytes"`},
		{header + "\n" + row("1", "", "0", "1"), `f.csv:2:43: column "launch": "" is not the number of a launch`},
		{header + "\n" + row("1", "0", "0", "1") + row("1", "0", "1.5", "1"), `f.csv:3:45: column "rep": "1.5" is not`},
		{header + "\n" + row("1", "0", "0", "1") + row("1", "0", "0", "1"), `f.csv:3:45: column "rep": repetition 0 of timer11 of send at 1 bytes`},
		{header + "\n" + row("1", "0", "0", "1") + row("1", "0", "0", "1"), `is there twice`},
		{header + "\n" + row("1", "0", "0", "1") + row("1", "0", "2", "1"), `but repetition 1 is missing`},
		{header + "\n" + row("1", "0", "0", "1") + row("1", "0", "3", "1") + row("1", "0", "2", "1"), `f.csv:4:45: column "rep"`},
		{header + "\n" + row("1", "0", "50000000", "1"), `f.csv:2:45: column "rep": "50000000" is not`},
		{header + "\n" + row("1", "0", "0", "1us"), `f.csv:2:47: column "time_us": microseconds "1us"`},
		{header + "\n" + row("1", "0", "0", "1e3"), `f.csv:2:47: column "time_us"`},
		{header + "\n" + row("1", "0", "0", "0.0000001"), `f.csv:2:47: column "time_us"`},
		{header + "\n" + row("1", "0", "0", "1") + row("1", "0", "1", "nan"), `f.csv:3:47: column "time_us"`},
		{header + "\n" + row("1", "0", "0", "1") + row("1", "0", "1", "1,2"), `f.csv:3:49: a row has 11 columns, this one 12`},
		{header + "\nt3d,mpi,wall,inter,send,auto,timer11,1,0,0,1\n", `f.csv:2:9: column "clock": "wall" is none of virtual, real`},
		{header + "\nt3d,mpi,real,near,send,auto,timer11,1,0,0,1\n", `f.csv:2:14: column "place": "near" is neither`},
		{header + "\n,mpi,real,inter,send,auto,timer11,1,0,0,1\n", `f.csv:2:1: column "platform": it is empty`},
		{header + "\n\"t3d,mpi\n", `f.csv:2:1: a quoted cell that does not end`},
		{header + "\n\"t3\"d,mpi\n", `f.csv:2:1: a quoted cell that does not end`},
		{header + ",disturbed" + "\n" + "t3d,mpi,real,inter,send,auto,timer11,1,0,0,1,yes\n", `f.csv:2:46: column "disturbed": "yes" is not 0 or 1`},
		{header + ",disturbed" + "\n" + row("1", "0", "0", "1"), `f.csv:2:48: column "disturbed" is missing: a row has 12 columns, this one 11`},
		{header + "\n" + "t3d,mpi,real,inter,send,auto,timer11,1,0,full,0,1\n", `f.csv:2:49: a row has 11 columns, this one 12`},
		{strings.Replace(header, "time_us", "time", 1) + ",disturbed\n", `f.csv:1:67: column "time" where "times_us" belongs: samples have the columns ` + strings.Replace(header, "time_us", "times_us", 1) + ",disturbed"},
		{header + "\n# late: fact\n", `f.csv:2:1: a comment below the header`},
		{"# " + strings.Repeat("x", 1<<16) + "\n", `f.csv:1:1: the line is longer than`},
	}
	for _, test := range tests {
		_, err := Read(strings.NewReader(test.in), "f.csv")
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "f.csv:") {
			t.Errorf("%.120q: error %v, want %s", test.in, err, test.want)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	bad := func(k Key) *Set { return &Set{Series: []Series{{Key: k, Times: []unit.Time{1}}}} }
	tests := []*Set{
		{Facts: []Fact{{"a:b", "c"}}},
		{Facts: []Fact{{"", "c"}}},
		{Facts: []Fact{{"a", "b\nc"}}},
		{Facts: []Fact{{"a", " b"}}},
		{Series: []Series{{Key: send}, {Key: send}}},
		bad(with(func(k *Key) { k.Platform = "" })),
		bad(with(func(k *Key) { k.Platform = "a\nb" })),
		bad(with(func(k *Key) { k.Platform = "#a" })),
		bad(with(func(k *Key) { k.Clock = "" })),
		bad(with(func(k *Key) { k.Place = "both" })),
		bad(with(func(k *Key) { k.Bytes = -1 })),
	}
	for _, s := range tests {
		var b bytes.Buffer
		if err := Write(&b, s); err == nil || b.Len() > 0 {
			t.Errorf("%+v: error %v after %q", s, err, b.String())
		}
		if err := WriteJSON(&b, s); err == nil || b.Len() > 0 {
			t.Errorf("%+v: JSON: error %v after %q", s, err, b.String())
		}
	}
	full := errors.New("disk full")
	if err := Write(failing{full}, example()); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriteJSON(t *testing.T) {
	var b bytes.Buffer
	wanted := example()
	wanted.Series = append(wanted.Series, withDisturbed().Series...)
	if err := WriteJSON(&b, wanted); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Facts  []struct{ Key, Value string }
		Series []struct {
			Platform, Library, Clock, Place, Mode, Protocol, Timer string
			Bytes, Launch, Ranks                                   int
			Disturbed                                              bool
			Times                                                  []json.Number `json:"time_us"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	for i, want := range wanted.Series {
		s := got.Series[i]
		k := Key{s.Platform, s.Library, s.Clock, s.Place, s.Mode, s.Protocol, s.Timer, s.Bytes, s.Launch, s.Ranks, s.Disturbed}
		if k != want.Key {
			t.Errorf("series %d: %v, want %v", i, k, want.Key)
		}
		for rep, x := range s.Times {
			if y, err := unit.ParseMicros(x.String()); err != nil || y != want.Times[rep] {
				t.Errorf("series %d: time %v (%v), want %v", i, y, err, want.Times[rep])
			}
		}
	}
	if f := got.Facts[2]; len(got.Facts) != 4 || f.Key != RootsFact || f.Value != "2" {
		t.Errorf("facts %v", got.Facts)
	}
}

func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, s *Set) string {
		path := filepath.Join(dir, name)
		if err := Save(path, func(w io.Writer) error { return Write(w, s) }); err != nil {
			t.Fatal(err)
		}
		return path
	}
	real := func(launch int, times ...unit.Time) Series {
		return Series{Key: with(func(k *Key) { k.Clock = "real"; k.Launch = launch }), Times: times}
	}
	a := file("a", &Set{Facts: []Fact{{"seed", "1"}}, Series: []Series{real(0, 1, 2), real(1, 3, 4), {Key: send, Times: []unit.Time{5}}}})
	b := file("b", &Set{Facts: []Fact{{"seed", "2"}}, Series: []Series{real(0, 6, 7), real(1, 8, 9), {Key: send, Times: []unit.Time{5}}}})
	c := file("c", &Set{Series: []Series{{Key: send, Times: []unit.Time{6}}}})
	d := file("d", &Set{Facts: []Fact{{RootsFact, "2"}}})

	got, err := ReadFile(a, b, a)
	if err != nil {
		t.Fatal(err)
	}
	want := &Set{
		Facts:  []Fact{{FileFact, a}, {"seed", "1"}, {FileFact, b}, {"seed", "2"}, {FileFact, a}, {"seed", "1"}},
		Series: []Series{real(0, 1, 2), real(1, 3, 4), {Key: send, Times: []unit.Time{5}}, real(2, 6, 7), real(3, 8, 9)},
	}
	want.Series[3].File, want.Series[4].File = 1, 1
	byFile := [][]Fact{{{FileFact, a}, {"seed", "1"}}, {{FileFact, b}, {"seed", "2"}}, {{FileFact, a}, {"seed", "1"}}}
	if files := got.FactsByFile(); !reflect.DeepEqual(files, byFile) {
		t.Errorf("facts by file %v, want %v", files, byFile)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got, err := ReadFile(a); err != nil || len(got.Facts) != 1 || len(got.FactsByFile()) != 1 {
		t.Errorf("one file: %+v, %v", got, err)
	}
	for _, paths := range [][]string{{a, c}, {a, d}, {a, filepath.Join(dir, "none")}} {
		if _, err := ReadFile(paths...); err == nil || !strings.Contains(err.Error(), paths[1]) {
			t.Errorf("%v: error %v", paths, err)
		}
	}
	// A launch of which one file has undisturbed samples and another disturbed ones is two.
	launch := func(launch int, disturbed bool, time unit.Time) Series {
		return Series{Key: with(func(k *Key) { k.Clock, k.Launch, k.Disturbed = "real", launch, disturbed }), Times: []unit.Time{time}}
	}
	quiet, busy := file("quiet", &Set{Series: []Series{launch(0, false, 1)}}), file("busy", &Set{Series: []Series{launch(0, true, 2)}})
	second := launch(1, true, 2)
	second.File = 1
	if got, err := ReadFile(quiet, busy); err != nil || !reflect.DeepEqual(got.Series, []Series{launch(0, false, 1), second}) {
		t.Errorf("disturbed in one file: %+v, %v", got, err)
	}
	if _, err := ReadFile(d); err == nil || err.Error() != d+": no samples" {
		t.Errorf("a file with nothing but facts: %v", err)
	}
}

// Files of one machine may be joined, and only those.
func TestSettings(t *testing.T) {
	dir := t.TempDir()
	n := 0
	file := func(s Series, facts ...Fact) string {
		n++
		path := filepath.Join(dir, string(rune('a'+n)))
		if err := Save(path, func(w io.Writer) error { return Write(w, &Set{facts, []Series{s}}) }); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, other := Series{Key: send, Times: []unit.Time{5}}, Series{Key: with(func(k *Key) { k.Bytes++ }), Times: []unit.Time{6}}
	elsewhere := Series{Key: with(func(k *Key) { k.Place = "intra" }), Times: []unit.Time{7}}
	again := Series{Key: send, Times: []unit.Time{8}}
	for _, c := range []struct {
		a, b   Series
		fa, fb []Fact
		want   []string // in the error; none if there is to be none
	}{
		{first, other, []Fact{{RanksFact, "2"}}, []Fact{{RanksFact, "4"}}, []string{`"ranks"`, `"2"`, `"4"`}},
		{first, other, []Fact{{NoiseFact, "0%"}}, []Fact{{NoiseFact, "5%"}}, []string{`"noise"`, `"0%"`, `"5%"`}},
		{first, other, []Fact{{WaitFact, "spin"}}, []Fact{{WaitFact, "block"}}, []string{`"wait"`, `"spin"`, `"block"`}},
		{first, other, []Fact{{PinFact, "processors 0 1"}}, []Fact{{PinFact, "off"}}, []string{`"pin"`, `"off"`}},
		{first, other, []Fact{{PlatformSumFact, "1a"}}, []Fact{{PlatformSumFact, "2b"}}, []string{`"platform_sum"`, `"1a"`, `"2b"`}},
		{first, again, []Fact{{RanksFact, "2"}, {"seed", "1"}}, []Fact{{RanksFact, "4"}, {"seed", "2"}}, []string{`"ranks"`}},
		{first, again, []Fact{{"seed", "11"}}, []Fact{{"seed", "12"}}, []string{"measured twice", "other seeds, 11 and 12", "more repetitions"}},
		{first, again, []Fact{{"reps", "30"}}, []Fact{{"reps", "60"}}, []string{"measured twice", "other repetitions, 30 and 60"}},
		{first, again, nil, nil, []string{"measured twice", "other versions"}},
		{first, other, []Fact{{RanksFact, "2"}, {"seed", "1"}}, []Fact{{"seed", "2"}}, nil},
		{first, other, nil, []Fact{{PlatformSumFact, "1"}}, nil},
		{first, elsewhere, []Fact{{RanksFact, "2"}}, []Fact{{RanksFact, "4"}}, nil},
	} {
		a, b := file(c.a, c.fa...), file(c.b, c.fb...)
		s, err := ReadFile(a, b)
		if c.want == nil {
			if err != nil || len(s.Series) != 2 {
				t.Errorf("%+v: %+v, %v", c, s, err)
			}
			continue
		}
		for _, w := range append(c.want, a, b) {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%+v: error %v, want %s in it", c, err, w)
			}
		}
	}
}

// What a killed process has left beside a file goes when it is written again; what is newer, or has
// another name, stays.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report")
	long := time.Now().Add(-2 * staleTemporaryAge)
	for _, name := range []string{".report.1a2b.tmp", ".report.new1.tmp", ".report.A.tmp", ".other.1a2b.tmp", "report.1a2b.tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name, "index"), 0o777); err != nil {
			t.Fatal(err)
		}
		if name != ".report.new1.tmp" {
			if err := os.Chtimes(filepath.Join(dir, name), long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	RemoveStaleTemporaries(path)
	entries, _ := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != ".other.1a2b.tmp .report.A.tmp .report.new1.tmp report.1a2b.tmp" {
		t.Errorf("left: %s", got)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	check := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("file holds %q (%v), want %q", got, err, want)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("directory holds %v (%v), want one file", entries, err)
		}
	}
	if err := Save(path, text("one")); err != nil {
		t.Fatal(err)
	}
	check("one")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Save(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("x", 1<<20)); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v, want %v on %s", err, broken, path)
	}
	check("one")
	func() {
		defer func() { _ = recover() }()
		_ = Save(path, func(io.Writer) error { panic("in the middle") })
	}()
	check("one")
	if err := Save(path, text("two")); err != nil {
		t.Fatal(err)
	}
	check("two")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v (%v), want that of the file before", info.Mode(), err)
	}
	if err := Save(dir, text("x")); err == nil {
		t.Error("a directory was written")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if err := Save(link, text("three")); err != nil {
		t.Fatal(err)
	}
	check("three")
}

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, example()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(header + "\na,,real,intra,m,,t,1,2,1,3\na,,real,intra,m,,t,1,2,0,1.000001\n"))
	f.Add([]byte(header + ",disturbed" + "\na,,real,intra,m,,t,1,2,0,3,0\na,,real,intra,m,,t,1,2,0,1,1\n"))
	f.Add([]byte(paced + "\na,,real,intra,m,,t,1,2,full,0,3\na,,real,intra,m,,t,1,2,both slowed,0,1\na,,real,intra,m,,t,1,2,,0,1\n"))
	f.Add([]byte("\ufeff# a:\n#b\n\n" + header + "\r\n\"a\"\"\",b,virtual,inter,m,p,t,0,0,0,00.10\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := Read(bytes.NewReader(in), "f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("an error without its place: %v", err)
			}
			return
		}
		var first, second bytes.Buffer
		if err := Write(&first, s); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Read(bytes.NewReader(first.Bytes()), "g")
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first.Bytes())
		}
		if err := Write(&second, again); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("read again: %v\n%s\n%s", err, first.Bytes(), second.Bytes())
		}
		if len(s.Series) != len(again.Series) || s.SampleCount() != again.SampleCount() || len(s.Facts) != len(again.Facts) {
			t.Fatalf("%+v became %+v", s, again)
		}
	})
}

// large is the default plan: 8 modes, 4 timers and more, 16 sizes, 1200 repetitions.
func large() *Set {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &Set{}
	for i := range 500 {
		times := make([]unit.Time, 1200)
		for j := range times {
			times[j] = unit.Time(rng.Int64N(200_000_000))
		}
		s.Series = append(s.Series, Series{Key: with(func(k *Key) { k.Bytes = i }), Times: times})
	}
	return s
}

func BenchmarkWrite(b *testing.B) {
	s := large()
	for b.Loop() {
		if err := Write(io.Discard, s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	var text bytes.Buffer
	if err := Write(&text, large()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(text.Bytes()), "x"); err != nil {
			b.Fatal(err)
		}
	}
}

// Files of one machine make one set; those of others, or of the same with other settings, stay
// apart.
func TestReadMachines(t *testing.T) {
	dir := t.TempDir()
	names := ""
	file := func(s Series, facts ...Fact) string {
		name := string(rune('a' + len(names)))
		names += name
		path := filepath.Join(dir, name)
		if err := Save(path, func(w io.Writer) error { return Write(w, &Set{facts, []Series{s}}) }); err != nil {
			t.Fatal(err)
		}
		return path
	}
	of := func(f func(*Key)) Series { return Series{Key: with(f), Times: []unit.Time{5}} }
	paths := []string{
		file(Series{Key: send, Times: []unit.Time{5}}, Fact{RanksFact, "2"}, Fact{RootsFact, "2"}),                                     // a
		file(of(func(k *Key) { k.Platform = "other" }), Fact{RanksFact, "8"}),                                                          // b: another platform, with other roots
		file(of(func(k *Key) { k.Bytes++ }), Fact{RanksFact, "2"}, Fact{RootsFact, "2"}, Fact{"seed", "2"}),                            // c: more of a
		file(of(func(k *Key) { k.Bytes++ }), Fact{RanksFact, "4"}, Fact{RootsFact, "2"}),                                               // d: another job
		file(of(func(k *Key) { k.Library = "lean"; k.Bytes += 2 }), Fact{RanksFact, "4"}, Fact{NoiseFact, "0%"}, Fact{RootsFact, "2"}), // e: of the same job as d
		file(of(func(k *Key) { k.Clock = "real" }), Fact{RanksFact, "2"}, Fact{RootsFact, "2"}),                                        // f: another clock
		file(of(func(k *Key) { k.Bytes += 3 }), Fact{RanksFact, "4"}, Fact{NoiseFact, "5%"}, Fact{RootsFact, "2"}),                     // g: neither a's nor e's
	}
	paths = append(paths,
		file(of(func(k *Key) { k.Clock = "real"; k.Bytes++ }), Fact{RanksFact, "2"}, Fact{RootsFact, "2"}), // h: more of f
		file(of(func(k *Key) { k.Bytes += 4 }), Fact{RanksFact, "2"}))                                      // i: as a, but for the roots
	machines, err := ReadMachines(paths...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range machines {
		var files []string
		for _, p := range m.Files {
			files = append(files, filepath.Base(p))
		}
		got = append(got, strings.Join(files, "")+strings.Repeat(".", m.SampleCount()))
	}
	if want := []string{"ac..", "b.", "de..", "fh..", "g.", "i."}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	again := file(Series{Key: send, Times: []unit.Time{6}}, Fact{RanksFact, "2"}, Fact{RootsFact, "2"})
	if _, err := ReadMachines(paths[0], again); err == nil || !strings.Contains(err.Error(), "measured twice") {
		t.Errorf("the same with other times: %v", err)
	}
	if _, err := ReadMachines(paths[0], filepath.Join(dir, "none")); err == nil {
		t.Error("no error of a file that is not there")
	}
}
