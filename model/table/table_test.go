package table

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// ParseMicros has a second derivation in unit.ParseMicros, which takes its time.
func TestParseMicros(t *testing.T) {
	texts := []string{"0", "00", "1.", ".5", "-1", "-0.5", "+1", "1.5", "1.000001", "1.0000001", "1.0000000", "12x", "", "1..2",
		"9223372036854.775807", "9223372036854.775808", "999999999999.999999", "99999999999999999999", "1e3", " 1", "1.50"}
	for _, s := range texts {
		got, err := ParseMicros([]byte(s))
		want, wantErr := unit.ParseMicros(s)
		if got != want || (err == nil) != (wantErr == nil) {
			t.Errorf("%q: %v, %v, want %v, %v", s, got, err, want, wantErr)
		}
	}
}

// A file of texts may have any columns. What is written reads back the same, and errors say where
// they are.
func TestText(t *testing.T) {
	const text = "a,\"b, or c\"\n1,\"say \"\"x\"\"\"\n,2\n"
	columns, rows, err := ReadText(strings.NewReader(text), "f.csv")
	if want := []Text{{2, []string{"1", `say "x"`}}, {3, []string{"", "2"}}}; err != nil || !reflect.DeepEqual(columns, []string{"a", "b, or c"}) || !reflect.DeepEqual(rows, want) {
		t.Errorf("%q, %v, %v", columns, rows, err)
	}
	for text, want := range map[string]string{
		"":                  "f.csv:1:1: no header",
		"a,b\n1\n":          `f.csv:2:2: column "b" is missing: a row has 2 columns, this one 1`,
		"a,b\n1,2\n1,2,3\n": "f.csv:3:5: a row has 2 columns, this one 3",
		"a,\"b\n":           "f.csv:1:3: a quoted cell that does not end with a quote before the comma",
	} {
		if _, _, err := ReadText(strings.NewReader(text), "f.csv"); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	var out strings.Builder
	if err := WriteText(&out, "rows", "a,b", [][]string{{"1", `say "x"`}, {"", "2"}}); err != nil {
		t.Fatal(err)
	}
	if _, again, err := ReadText(strings.NewReader(out.String()), "f.csv"); err != nil || !reflect.DeepEqual(again, rows) {
		t.Errorf("%v, %v", again, err)
	}
}

// Rows as those of a set of samples, beside encoding/csv, which splits them and no more.
func BenchmarkReader(b *testing.B) {
	type row struct {
		names [10]string
		rep   int
		time  unit.Time
	}
	s := Schema[row]{Name: "samples", Group: "rep"}
	for i := range 10 {
		s.Columns = append(s.Columns, Name(string(rune('a'+i)), func(r *row) *string { return &r.names[i] }, nil))
	}
	s.Columns = append(s.Columns, Whole("rep", func(r *row) *int { return &r.rep }, "a number", 1<<30), Micros("time_us", func(r *row) *unit.Time { return &r.time }))
	text := []byte(s.Header() + "\n")
	for i := range 100_000 {
		text = fmt.Appendf(text, "t3d,mpich,real,inter,send,auto,timer11,%d,0,,%d,30.%06d\n", i/1000, i%1000, i)
	}
	b.Run("table", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r, err := s.Reader(bytes.NewReader(text), "f.csv")
			for err == nil {
				err = r.Next()
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/csv", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			r, err := csv.NewReader(bytes.NewReader(text)), error(nil)
			r.ReuseRecord = true
			for err == nil {
				_, err = r.Read()
			}
			if err != io.EOF {
				b.Fatal(err)
			}
		}
	})
}
