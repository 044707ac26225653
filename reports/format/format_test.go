package format

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestMeasured(t *testing.T) {
	for _, x := range []struct {
		value, low, high float64
		want             string
	}{
		{30.04, 29.95, 30.13, "30.04 ±0.09"},
		{30.04, 29.94, 30.13, "30.04 ±0.10"},
		{30, 29.89, 30.1, "30.00 ±0.11"}, // one digit would say 0.2
		{30, 29.86, 30.1, "30.0 ±0.2"},   // and is near enough here
		{30, 29, 31, "30.0 ±1.0"},
		{30, 21, 31, "30 ±9"},
		{1234.56, 1234.3, 1234.9, "1235 ±1"}, // four digits
		{1234567, 1230000, 1240000, "1235000 ±6000"},
		{0.0142, 0.01418, 0.01425, "0.01420 ±0.00005"},
		{-2, -3, 2, "-2 ±4"},
		{0.2, -0.5, 0.9, "0.2 ±0.7"},
		{1.93, 1.53, 30, "2 ±30"}, // and not 0 ±30
		{0.1388, 0, 12.458, "0.1 ±13"},
		{0.0001, 0, 12.458, "0 ±13"},
		{35.25, 35.25, 35.25, "35.25 ±0"},
		{0, 0, 0, "0.000 ±0"},
		{5, math.NaN(), math.NaN(), "5.000"},
		{math.NaN(), 1, 2, "-"},
	} {
		if got := WithInterval(x.value, x.low, x.high); got != x.want {
			t.Errorf("%v in [%v, %v]: %s, want %s", x.value, x.low, x.high, got, x.want)
		}
	}
}

// TestMeasuredHolds: what is printed holds the interval.
func TestMeasuredHolds(t *testing.T) {
	for i := range 2000 {
		value := math.Pow(1.013, float64(i-900))
		half := value * math.Pow(0.97, float64(i%300))
		s := WithInterval(value, value-half, value+half)
		var v, h float64
		if _, err := fmt.Sscanf(s, "%g ±%g", &v, &h); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if v+h < value+half*(1-1e-6)-math.Abs(v-value) || h < half*(1-1e-6) || h > 2.1*math.Max(half, value*1e-3) {
			t.Errorf("%v ± %v is printed %s", value, half, s)
		}
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0.99999: "1.000", 9.9996: "10.00", 12345: "12345", 47.6: "47.60", 0.00123456: "0.001235", -3: "-3.000"} {
		if got := Number(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 B", 16: "16 B", 1000: "1 KB", 1024: "1 KiB", 1400: "1400 B", 10000: "10 KB", 65536: "64 KiB", 5e6: "5 MB"} {
		if got := SingleLine(Size(n)); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for x, want := range map[float64]string{0.04: "0.0", 0.3: "+0.3", -5.75: "-5.8", 123.4: "+123.4", 12345: "+12345", math.NaN(): "-"} {
		if got := Percent(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

// TestTimesChangeUnitAtThresholds: nanoseconds below 1 us, milliseconds from 10,000 us and seconds
// from 10,000,000 us on.
func TestTimesChangeUnitAtThresholds(t *testing.T) {
	for us, want := range map[float64]string{
		0: "0.000 us", 0.113: "113 ns", 0.999: "999 ns", -0.5: "-500 ns", 1: "1.000 us", 22.3: "22.30 us",
		9999: "9999 us", 1e4: "10.00 ms", -1e4: "-10.00 ms", 35e3: "35.00 ms", 9.999e6: "9999 ms", 1e7: "10.00 s",
	} {
		got := SingleLine(MicrosWithUnit(us))
		if got != want {
			t.Errorf("%v us: %s, want %s", us, got, want)
		}
	}
}

func TestCountsAndPlurals(t *testing.T) {
	for _, x := range []struct{ got, want string }{
		{CountRange(2, 2), "2"}, {CountRange(2, 3), "2 to 3"},
		{Plural(0, "byte"), "0 bytes"}, {Plural(1, "byte"), "1 byte"}, {Plural(2, "byte"), "2 bytes"},
	} {
		if got := SingleLine(x.got); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
}

func TestBoundIsUpperEndOfInterval(t *testing.T) {
	for _, x := range []struct {
		value, high float64
		want        string
	}{{2, 3, "≤3.000"}, {2, math.NaN(), "≤2.000"}} {
		if got := UpperBound(x.value, x.high); got != x.want {
			t.Errorf("at most %v in an interval up to %v: %s, want %s", x.value, x.high, got, x.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, x := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"one two three", 7, "one two|three"},
		{"  one  two ", 20, "one two"},
		{"abcdefghij k", 4, "abcd|efgh|ij k"},
		{"10" + NonBreakingSpace + "KB 20" + NonBreakingSpace + "KB", 8, "10" + NonBreakingSpace + "KB|20" + NonBreakingSpace + "KB"},
		{"ÄÖÜ äöü", 3, "ÄÖÜ|äöü"},
		{"a\nb c", 9, "a|b c"},
	} {
		if got := strings.Join(Wrap(x.text, x.width), "|"); got != x.want {
			t.Errorf("%q in %d: %q, want %q", x.text, x.width, got, x.want)
		}
	}
}

// A value other than zero keeps a digit beside an interval up to a thousand times as wide.
func TestValueBesideWideInterval(t *testing.T) {
	for half, want := range map[float64]string{30: "2 ±30", 300: "2 ±300", 3000: "2 ±3000", 30_000: "0 ±30000"} {
		if got := WithInterval(2, 2-half, 2+half); got != want {
			t.Errorf("2 ±%g: %q, want %q", half, got, want)
		}
	}
}
