package params

import (
	"bytes"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
)

// same compares rows of which some numbers are none.
func same[T any](a, b []T) bool {
	return reflect.DeepEqual(plainNaN(a), plainNaN(b))
}

// plainNaN replaces what is no number by one that equals itself.
func plainNaN[T any](rows []T) []T {
	out := append([]T(nil), rows...)
	for i := range out {
		v := reflect.ValueOf(&out[i]).Elem()
		for j := range v.NumField() {
			if f := v.Field(j); f.Kind() == reflect.Float64 && math.IsNaN(f.Float()) {
				f.SetFloat(-math.MaxFloat64)
			}
		}
	}
	return out
}

// Header is written by hand, so that a changed name fails.
const Header = "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples"

// The rows are written by hand.
func TestWriteParameters(t *testing.T) {
	ps := []Parameter{
		{Platform: "t3d", Library: "mpi", Place: "inter", Mode: "isend", Name: "o_s", From: 16, To: 10000, Value: 30.5, Low: 30, High: 31.25, Unit: UnitMicros, Method: "timer11", SampleCount: 1200, Verdict: BadVerdict},
		{Platform: "t3d", Library: "mpi", Place: "inter", Mode: "send", Name: "L", From: 1, To: 1, Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Unit: UnitMicros, Method: "rtt/2-o_s-o_r: not identifiable", SampleCount: 7, Verdict: UnidentifiableVerdict},
	}
	want := Header + `,verdict
t3d,mpi,inter,isend,o_s,16,10000,30.5,30,31.25,us,timer11,1200,bad
t3d,mpi,inter,send,L,1,1,,,,us,rtt/2-o_s-o_r: not identifiable,7,not identifiable
`
	var b bytes.Buffer
	if err := WriteParameters(&b, ps); err != nil || b.String() != want {
		t.Errorf("%v\ngot\n%s\nwant\n%s", err, b.String(), want)
	}
	for _, bad := range []string{"a\nb", "#a"} {
		ps[0].Platform = bad
		if err := WriteParameters(&b, ps); err == nil || !strings.Contains(err.Error(), `row 1: column "platform"`) {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

func TestTableErrors(t *testing.T) {
	row := func(cells string) string { return Header + "\n" + cells + "\n" }
	for _, c := range []struct{ in, want string }{
		{"", "p.csv:1:1: no header"},
		{"platform,lib\n", `p.csv:1:10: column "lib" where "library" belongs`},
		{row("a,b"), `p.csv:2:4: column "place" is missing: a row has 13 columns, this one 2`},
		{row("a,b,inter,send,Q,1,1,2,2,2,us,m,1"), `p.csv:2:16: column "parameter": "Q" is none of`},
		{row("a,b,inter,sennd,L,1,1,2,2,2,us,m,1"), `p.csv:2:11: column "mode": "sennd" is not a mode: did you mean send?`},
		{row("a,b,inter,send,L,1x,1,2,2,2,us,m,1"), `p.csv:2:18: column "bytes_from": "1x" is not a number of bytes`},
		{row("a,b,inter,send,L,1,,2,2,2,us,m,1"), `p.csv:2:20: column "bytes_to": a range of sizes from 1 to nothing bytes`},
		{row("a,b,inter,send,L,5,4,2,2,2,us,m,1"), `p.csv:2:20: column "bytes_to": a range of sizes from 5 to 4 bytes`},
		{row("a,b,inter,send,L,1,1,inf,2,2,us,m,1"), `p.csv:2:22: column "value": "inf" is not a number`},
		{row("a,b,inter,send,L,1,1,nan,2,2,us,m,1"), `p.csv:2:22: column "value": "nan" is not a number`},
		{row("a,b,inter,send,L,1,1,2,3,2,us,m,1"), `p.csv:2:26: column "ci_high": the interval ends at 2, below its begin at 3`},
		{row("a,b,inter,send,L,1,1,1,2,3,us,m,1"), `p.csv:2:22: column "value": 1 is outside its interval from 2 to 3`},
		{row("a,b,inter,send,L,1,1,2,2,2,us,m,"), `p.csv:2:33: column "samples": "" is not a number of samples`},
		{row("a,b,inter,send,L,1,1,2,2,2,us,m,-1"), `p.csv:2:33: column "samples": "-1" is not`},
		{row(`a,"b,inter`), `p.csv:2:3: a quoted cell that does not end`},
		{row("a,b,inter,send,L,1,1,1e300,,,us,m,1"), `p.csv:2:22: column "value": 1e300 is impossible: the limit is 1e+10`},
		{row("a,b,inter,send,L,1,1,1e999,,,us,m,1"), `p.csv:2:22: column "value": 1e999 is impossible`},
		{row("a,b,inter,send,L,1,1,2e9,,,us,m,1"), `p.csv:2:22: column "value": 2e+09 us is impossible: the limit is 1e+09`},
		{row("a,b,inter,send,G,1,9,1e4,,,us/B,m,1"), `p.csv:2:22: column "value": 10000 us/B is impossible`},
		{row("a,b,inter,send,L,1,1,-2,-3,2,us,m,1"), `p.csv:2:22: column "value": L cannot be -2 us: it is below zero`},
		{row("a,b,inter,send,G,1,9,-2,-3,2,us/B,m,1"), `p.csv:2:22: column "value": G cannot be -2 us/B`},
		{row("a,b,inter,send,L,1,1,2,2,2,us,m,1\na,b,inter,send,L,1,1,3,3,3,us,m,1"), `p.csv:3:16: column "parameter": L of send by m is there twice, first in line 2`},
		{row("a,b,inter,send,T,1,9,2,,,us,m,1"), `p.csv:2:16: column "parameter": T of send from 1 to 9 bytes has no row with its slope, in us/B`},
		{row("a,b,inter,send,T,1,9,2,,,us,m,1\na,b,inter,send,T,1,8,2,,,us/B,m,1"), `p.csv:2:16: column "parameter": T of send from 1 to 9 bytes has no row`},
		{row("a,b,inter,send,T,5,5,2,,,us,m,1\na,b,inter,send,T,9,9,2,,,us,m,1\na,b,inter,send,T,1,5,2,,,us,m,1"), `p.csv:4:18: column "bytes_from": T of send by m: the range from 1 to 5 bytes overlaps that from 5 to 5 in line 2`},
		{row("a,b,inter,send,T,5,9,2,,,us,m,1\na,b,inter,send,T,9,9,2,,,us,m,1"), `p.csv:3:18: column "bytes_from": T of send by m: the range from 9 to 9 bytes overlaps that from 5 to 9 in line 2`},
		{Header + ",verdict\na,b,inter,send,L,1,1,2,2,2,us,m,1,god\n", `p.csv:2:35: column "verdict": "god" is none of good, weak, bad, not identifiable: did you mean good?`},
		{row("# late"), `p.csv:2:1: a comment below the header`},
		{row(strings.Repeat("a", 1<<17)), `p.csv:2:1: the line is longer than 65536 bytes`},
	} {
		_, _, err := ReadParameters(strings.NewReader(c.in), "p.csv")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %s", c.in, err, c.want)
		}
	}
}

func FuzzParameters(f *testing.F) {
	f.Add(Header + "\nt3d,mpi,inter,isend,o_s,16,10000,30.5,30,31.25,us,timer11,1200\n")
	f.Add("# a: b\n" + Header + "\na,,,,L,,,,,,,\"x,\"\"y\",0\n")
	f.Fuzz(func(t *testing.T, in string) {
		read := func(in io.Reader, name string) ([]Parameter, error) {
			ps, _, err := ReadParameters(in, name)
			return ps, err
		}
		twice(t, in, read, func(w io.Writer, ps []Parameter) error { return WriteParameters(w, ps) })
	})
}

// twice reads, writes, and reads again.
func twice[T any](t *testing.T, in string, read func(io.Reader, string) ([]T, error), write func(io.Writer, []T) error) {
	t.Helper()
	rows, err := read(strings.NewReader(in), "f")
	if err != nil {
		if !strings.HasPrefix(err.Error(), "f:") {
			t.Fatalf("an error without its place: %v", err)
		}
		return
	}
	var b bytes.Buffer
	if err := write(&b, rows); err != nil {
		t.Fatalf("what was read cannot be written: %v", err)
	}
	again, err := read(bytes.NewReader(b.Bytes()), "g")
	if err != nil || !same(rows, again) {
		t.Fatalf("read again: %v\n%+v\n%+v", err, rows, again)
	}
}
