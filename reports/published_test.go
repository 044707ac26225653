package reports

import (
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/testdata"
)

// papers returns what is in testdata.
func papers() Published {
	dir, err := fs.Sub(testdata.Published, "published/altawil-moritz")
	if err != nil {
		panic(err)
	}
	p, err := ReadPublished(dir)
	if err != nil {
		panic(err)
	}
	return p
}

// The numbers are those of tables 3 and 4 of Al-Tawil and Moritz.
func TestPublished(t *testing.T) {
	want := []struct {
		name      string
		low, high float64
		bytes     int
		level     string
		mode      string
	}{
		{"table-3 T3D L low", 3.1, 3.1, -1, "inter", "ssend"},
		{"table-3 T3D o_s low", 30, 30, 16, "inter", "isend"},
		{"table-3 T3D o_s high", 130, 130, 10000, "inter", "isend"},
		{"table-3 T3D o_s sync_low", 24, 24, 16, "inter", "issend"},
		{"table-3 T3D o_s sync_high", 100, 100, 10000, "inter", "issend"},
		{"table-3 T3D o_r low", 15, 15, 16, "inter", "send"},
		{"table-3 T3D o_r high", 80, 80, 10000, "inter", "send"},
		{"table-3 T3D G low", 0.04, 0.04, -1, "inter", "send"},
		{"table-4 Convex L low", 4, 10, -1, "inter", "ssend"},
		{"table-4 Convex o low", 30, 30, 100, "inter", "isend"},
		{"table-4 Convex o high", 200, 200, 10000, "inter", "isend"},
		{"table-4 Convex G low", 0.05, 0.05, -1, "inter", "send"},
		{"table-4 Convex H low", 2, 2, -1, "inter", ""},
		{"table-4 Convex s low", 2, 2, 100, "intra", "isend"},
		{"table-4 Convex s high", 20, 20, 10000, "intra", "isend"},
		{"table-4 Convex S low", 0.01, 0.01, -1, "intra", "send"},
		{"table-4 Convex P low", 4, 4, -1, "intra", ""},
	}
	all := papers()
	got := append(all.Of("t3d"), all.Of("convex")...)
	for i, x := range want {
		if i >= len(got) {
			t.Fatalf("%s is missing", x.name)
		}
		r := got[i]
		mode, _ := r.Answer()
		if r.Name() != x.name || r.Low != x.low || r.High != x.high || r.Bytes != x.bytes || r.Level != x.level || mode != x.mode {
			t.Errorf("%+v answered by %q, want %+v", r, mode, x)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d numbers, want %d", len(got), len(want))
	}
	if n := len(all.Of("now")); n != 8 {
		t.Errorf("%d numbers of NOW, want 8", n)
	}
}

// TestContradictions: each is about some number, and the one that matters most is there.
func TestContradictions(t *testing.T) {
	all := papers()
	dir, err := fs.Sub(testdata.Published, "published/altawil-moritz")
	if err != nil {
		t.Fatal(err)
	}
	list, err := records(dir, contradictions)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		found := false
		for _, r := range all {
			found = found || r.Contradiction == c.get("contradiction") && r.Parameter == c.get("parameter") && r.Platform == c.get("platform")
		}
		if !found {
			t.Errorf("%s: no number of %s %s", c.place, c.get("platform"), c.get("parameter"))
		}
	}
	for _, r := range all {
		if r.Name() == "table-3 NOW G low" && r.Contradiction == "" {
			t.Error("G of NOW is taken for possible")
		}
		if r.Platform == "T3D" && r.Parameter == "L" && r.Contradiction != "" {
			t.Errorf("L of the T3D is contradicted: %s", r.Contradiction)
		}
	}
}

func TestBrokenPublished(t *testing.T) {
	const head = "platform,parameter,low,high,sync_low,sync_high,unit,low_bytes,high_bytes,note\n"
	good := map[string]string{loggpTable: head, loghTable: head, contradictions: "table,platform,parameter,contradiction\n"}
	for name, text := range map[string]string{
		"missing":  "",
		"number":   head + "X,L,much,3,NA,NA,us,NA,NA,\n",
		"range":    head + "X,L,3,much,NA,NA,us,NA,NA,\n",
		"size":     head + "X,o_s,3,4,NA,NA,us,few,NA,\n",
		"width":    head + "X,o_s,3\n",
		"no low":   "platform,parameter,high\nX,L,3\n",
		"no table": "-",
	} {
		files := fstest.MapFS{}
		for f, s := range good {
			files[f] = &fstest.MapFile{Data: []byte(s)}
		}
		files[loggpTable] = &fstest.MapFile{Data: []byte(text)}
		if text == "-" {
			delete(files, loggpTable)
		}
		rows, err := ReadPublished(files)
		if (err == nil) != (name == "missing") {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
	}
}

// TestAnswer: what is measured is set beside the right number, and differs by so much.
func TestAnswer(t *testing.T) {
	p := places(example())[0]
	p.rows = append(p.rows, params.Parameter{Name: "P", From: -1, To: -1, Value: 8, Low: 8, High: 8, Unit: params.Count})
	for _, x := range []struct {
		row  Row
		want string
	}{
		{Row{Parameter: "L", Low: 3.1, High: 3.1, Bytes: -1}, "0.0"},
		{Row{Parameter: "L", Low: 3, High: 10, Bytes: -1}, "within"},
		{Row{Parameter: "L", Low: 6.2, High: 10, Bytes: -1}, "-50.0"},
		{Row{Parameter: "L", Low: 1, High: 2, Bytes: -1}, "+55.0"},
		{Row{Parameter: "o_s", Column: "low", Low: 30, High: 30, Bytes: 16}, "-0.1"},
		{Row{Parameter: "o_s", Column: "high", Low: 130.14, High: 130.14, Bytes: 10000}, "0.0"},
		{Row{Parameter: "o_s", Column: "low", Low: 30.8, High: 30.8, Bytes: 100}, "0.0"}, // 29.8 + 100·0.01, on the line
		{Row{Parameter: "o_s", Column: "sync_low", Low: 30, High: 30, Bytes: 16}, "-"},
		{Row{Parameter: "G", Low: 0.04, High: 0.04, Bytes: -1}, "-"},
		{Row{Parameter: "P", Low: 4, High: 4, Bytes: -1}, "+100.0"},
		{Row{Parameter: "H", Low: 2, High: 2, Bytes: -1}, "-"},
	} {
		mode, name := x.row.Answer()
		if _, got := p.answer(&Table{}, x.row, mode, name); got != x.want {
			t.Errorf("%+v: %s, want %s", x.row, got, x.want)
		}
	}
	if v, ok := p.at("isend", "o_s", 100); !ok || math.Abs(v-30.8) > 1e-9 {
		t.Errorf("o_s(100) = %v, %v", v, ok)
	}
}

// TestLevels: of a platform with two levels each place has its own numbers.
func TestLevels(t *testing.T) {
	for level, want := range map[string]string{"inter": "L us o us o us G us/B H", "intra": "s us s us S us/B P"} {
		p := &place{platform: "convex", place: level}
		var got []string
		for _, g := range p.against(papers(), nil).Groups {
			for _, r := range g.Rows {
				got = append(got, r[0].Text)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", level, got, want)
		}
	}
}

// NOW's o_r is printed as one value for 16 and 10000 bytes: it is read as that of the receive that does not block.
func TestAnswerOfFlat(t *testing.T) {
	for _, r := range papers() {
		mode, _ := r.Answer()
		want := "send"
		if r.Platform == "NOW" {
			want = "isend"
		}
		if r.Parameter == "o_r" && mode != want {
			t.Errorf("%s is answered by %s, want %s", r.Name(), mode, want)
		}
		if refuted := r.Name() == "table-3 NOW G low" || r.Name() == "table-4 Convex P low"; r.Refuted != refuted {
			t.Errorf("%s: refuted %v, want %v", r.Name(), r.Refuted, refuted)
		}
	}
}

// The numbers are those of table 5.
func TestReadLatencies(t *testing.T) {
	dir, err := fs.Sub(testdata.Published, "published/altawil-moritz")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadLatencies(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []Row{{Platform: "T3D", Low: 3.1, High: 3.1}, {Platform: "Convex", Low: 4, High: 10}, {Platform: "NOW", Low: 124, High: 124}}
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i, w := range want {
		if g := got[i]; g.Name() != "table-5 "+w.Platform+" L low" || g.Low != w.Low || g.High != w.High || g.Bytes != -1 || g.Level != "inter" {
			t.Errorf("row %d is %+v, want %+v", i+1, g, w)
		}
	}
}
