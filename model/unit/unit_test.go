package unit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParseTime(t *testing.T) {
	for s, want := range map[string]Time{
		"0":                      0,
		"-0.0":                   0,
		"0s":                     0,
		"1ps":                    1,
		"13.3ns":                 13300,
		"13.333ns":               13333,
		"1.2us":                  1200000,
		"1.2 us":                 1200000,
		" 5us ":                  5000000,
		"5µs":                    5000000, // micro sign
		"5μs":                    5000000, // Greek mu
		"-2.5ns":                 -2500,
		"0.000000000001s":        1,
		"1.000000000000000ns":    1000,
		"9223372.036854775807s":  math.MaxInt64,
		"-9223372036854775808ps": math.MinInt64,
		// 0.1 + 0.2 in floating point is not 0.3.
		"0.30000000000s": 300000000000,
		"8.1us":          8100000,
	} {
		if got, err := ParseTime(s); err != nil || got != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", s, int64(got), err, int64(want))
		}
	}
}

func TestTimePrints(t *testing.T) {
	for _, c := range []struct {
		t            Time
		text, micros string
	}{
		{0, "0s", "0"},
		{1, "1ps", "0.000001"},
		{999, "999ps", "0.000999"},
		{13300, "13.3ns", "0.0133"},
		{12345678, "12.345678us", "12.345678"},
		{-12345678, "-12.345678us", "-12.345678"},
		{5 * Microsecond, "5us", "5"},
		{1000 * Microsecond, "1ms", "1000"},
		{1500 * Millisecond, "1.5s", "1500000"},
		{math.MaxInt64, "9223372.036854775807s", "9223372036854.775807"},
		{math.MinInt64, "-9223372.036854775808s", "-9223372036854.775808"},
	} {
		if got := c.t.String(); got != c.text {
			t.Errorf("Time(%d).String() = %q, want %q", int64(c.t), got, c.text)
		}
		if got := c.t.MicrosString(); got != c.micros {
			t.Errorf("Time(%d).MicrosString() = %q, want %q", int64(c.t), got, c.micros)
		}
	}
}

func TestParseRate(t *testing.T) {
	for s, want := range map[string]Rate{
		"300MB/s":   300e6,
		"1B/s":      1,
		"170 MB/s":  170e6,
		"1KB/s":     1000,
		"1.5kB/s":   1500,
		"25 MiB/s":  25 << 20,
		"10Mbit/s":  1.25e6,
		"1bit/s":    0.125,
		"2Gbit/s":   250e6,
		"0.3GB/s":   300e6,
		"1.25 MB/s": 1.25e6,
	} {
		if got, err := ParseRate(s); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v; want %v", s, float64(got), err, float64(want))
		}
	}
	for r, want := range map[Rate]string{300e6: "300MB/s", 0.5: "0.5B/s", 1.25e6: "1.25MB/s", 999: "999B/s", 2e15: "2000TB/s"} {
		if got := r.String(); got != want {
			t.Errorf("Rate(%v).String() = %q, want %q", float64(r), got, want)
		}
	}
}

func TestParsePerByte(t *testing.T) {
	for s, want := range map[string]PerByte{
		"0": 0, "0.01us/B": 10000, "10ns/B": 10000, "1.7 ns/B": 1700, "0.5ps/B": 0.5, "-3ps/B": -3, "1µs/B": 1e6,
	} {
		if got, err := ParsePerByte(s); err != nil || got != want {
			t.Errorf("ParsePerByte(%q) = %v, %v; want %v", s, float64(got), err, float64(want))
		}
	}
	for g, want := range map[PerByte]string{0: "0ps/B", 10000: "10ns/B", 0.5: "0.5ps/B", -40000: "-40ns/B", 1e6: "1us/B"} {
		if got := g.String(); got != want {
			t.Errorf("PerByte(%v).String() = %q, want %q", float64(g), got, want)
		}
	}
}

func TestParsePercent(t *testing.T) {
	for s, want := range map[string]float64{"0": 0, "5%": 0.05, "1.5 %": 0.015, "100%": 1} {
		if got, err := ParsePercent(s); err != nil || got != want {
			t.Errorf("ParsePercent(%q) = %v, %v; want %v", s, got, err, want)
		}
		if want != 0 && Percent(want) != strings.ReplaceAll(s, " ", "") {
			t.Errorf("Percent(%v) = %q, want %q", want, Percent(want), s)
		}
	}
}

// Rounded has as many digits as %g, and no exponent.
func TestRounded(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{{244.3, "240"}, {1234567, "1200000"}, {4.97, "5"}, {0.01234, "0.012"}, {99.6, "100"}, {0, "0"}, {-151, "-150"}} {
		if got := Rounded(c.x, 2); got != c.want {
			t.Errorf("Rounded(%v, 2) = %s, want %s", c.x, got, c.want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int{
		"0": 0, "512B": 512, "1K": 1024, "64k": 64 << 10, "1M": 1 << 20, "2G": 2 << 30, "1KB": 1000, "1kB": 1000, "1kb": 1000, "1Kb": 1000, "1kib": 1024, "1KIB": 1024, "1k": 1024, "1mb": 1e6, "7b": 7, "4KiB": 4096, "4 KiB": 4096, "16384": 16384, "1.5MiB": 3 << 19,
		"0.001MB": 1000, "1GiB": 1 << 30,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", s, got, err, want)
		}
	}
	for n, want := range map[int]string{0: "0B", 16: "16B", 1000: "1000B", 1024: "1KiB", 1025: "1025B", 3 << 19: "1536KiB", 1 << 20: "1MiB", 5 << 30: "5GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestParseSizes(t *testing.T) {
	for s, want := range map[string][]int{
		"16":                    {16},
		"0,1,16,1KB":            {0, 1, 16, 1000},
		"16, 1 ,16":             {1, 16},
		"1..16*2":               {1, 2, 4, 8, 16},
		"1..15*2":               {1, 2, 4, 8},
		"0,1..1KiB*4,1KB":       {0, 1, 4, 16, 64, 256, 1000, 1024},
		"8..64*1.5":             {8, 12, 18, 27, 41, 61}, // 8·1.5^i: 8 12 18 27 40.5 60.75
		"0..1KiB+256":           {0, 256, 512, 768, 1024},
		"10..11+5,1GiB..1GiB*2": {10, 1 << 30},
	} {
		if got, err := ParseSizes(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseSizes(%q) = %v, %v; want %v", s, got, err, want)
		}
	}
	if got, err := ParseSizes("1..10000+1"); err != nil || len(got) != MaxSizes {
		t.Errorf("%d sizes, %v; want %d", len(got), err, MaxSizes)
	}
}

// An error says what was wrong and, where it can, what to write instead.
func TestErrors(t *testing.T) {
	long := strings.Repeat("1", maxLength+1)
	for _, c := range []struct {
		parse   func(string) error
		in, err string
	}{
		{parser(ParseTime), "5", `time "5": missing unit: write 5us, or another of ps, ns, us, ms or s`},
		{parser(ParseTime), "5 min", `time "5 min": unknown unit "min": use ps, ns, us, ms or s`},
		{parser(ParseTime), "", `time "": does not begin with a number such as 5 or 1.25`},
		{parser(ParseTime), "us", `time "us": does not begin with a number such as 5 or 1.25`},
		{parser(ParseTime), ".5us", `time ".5us": does not begin with a number such as 5 or 1.25`},
		{parser(ParseTime), "1.us", `time "1.us": no digit after the decimal point`},
		{parser(ParseTime), "1e3us", `time "1e3us": unknown unit "e3us": use ps, ns, us, ms or s`},
		{parser(ParseTime), "0.5ps", `time "0.5ps": finer than a picosecond: leave out the digits beyond 1ps`},
		{parser(ParseTime), "13.3333ns", `time "13.3333ns": finer than a picosecond: leave out the digits beyond 1ps`},
		{parser(ParseTime), "9223372.036854775808s", `time "9223372.036854775808s": out of range: a time is less than 106 days`},
		{parser(ParseTime), long, `time "` + long + `": longer than 400 characters`},
		{parser(ParseMicros), "5us", `microseconds "5us": "us" follows the number: it is in microseconds already`},
		{parser(ParseMicros), "0.0000001", `microseconds "0.0000001": finer than a picosecond: leave out the digits beyond 1ps`},
		{parser(ParseRate), "300", `rate "300": missing unit: write 300MB/s, or another of ` + rateNames},
		{parser(ParseRate), "300MB", `rate "300MB": unknown unit "MB": use ` + rateNames},
		{parser(ParseRate), "0MB/s", `rate "0MB/s": not positive: nothing would ever arrive`},
		{parser(ParseRate), "-3MB/s", `rate "-3MB/s": not positive: nothing would ever arrive`},
		{parser(ParseRate), "1" + strings.Repeat("0", 308) + "kB/s", `rate "1` + strings.Repeat("0", 308) + `kB/s": out of range`},
		{parser(ParsePerByte), "5", `time per byte "5": missing unit: write 5ns/B, or another time a byte`},
		{parser(ParsePerByte), "5us", `time per byte "5us": a time, not a time per byte: write 5us/B`},
		{parser(ParsePerByte), "5/B", `time per byte "5/B": missing unit: write 5ns/B, or another time a byte`},
		{parser(ParsePerByte), "5h/B", `time per byte "5h/B": unknown unit "h": use ps, ns, us, ms or s`},
		{parser(ParsePercent), "5", `percentage "5": missing unit: write 5%`},
		{parser(ParsePercent), "1", `percentage "1": missing unit: write 1%`},
		{parser(ParsePercent), "0.05", `percentage "0.05": missing unit: write 0.05% or, if a fraction was meant, 5%`},
		{parser(ParsePercent), "5 percent", `percentage "5 percent": unknown unit "percent": use %`},
		{parser(ParseSize), "1.5B", `size "1.5B": not a whole number of bytes`},
		{parser(ParseSize), "-1", `size "-1": negative`},
		{parser(ParseSize), "1Q", `size "1Q": unknown unit "Q": use ` + sizeNames},
		{parser(ParseSize), "99999999999TiB", `size "99999999999TiB": out of range`},
		{parser(ParseSizes), "1,,2", `item 2, at column 3: size "": does not begin with a number such as 5 or 1.25`},
		{parser(ParseSizes), "1,1..8", `item 2, at column 3: "1..8": a range needs a factor or a step: write 1..8*2 or 1..8+64B`},
		{parser(ParseSizes), "0..8*2", `item 1, at column 1: "0..8*2": a multiple of 0 is 0: write 0,1B..., a range that begins with at least one byte`},
		{parser(ParseSizes), "1..8*1", `item 1, at column 1: "1..8*1": factor "1": must be at least 1.001`},
		{parser(ParseSizes), "1..8*x", `item 1, at column 1: "1..8*x": factor "x": write a number such as 2 or 1.5`},
		{parser(ParseSizes), "0..8+0", `item 1, at column 1: "0..8+0": a step must be at least one byte`},
		{parser(ParseSizes), "9..8*2", `item 1, at column 1: "9..8*2": the range is empty: 9B is more than 8B`},
		{parser(ParseSizes), "2GiB", `item 1, at column 1: size "2GiB": more than 1GiB`},
		{parser(ParseSizes), "0..10000+1", `item 1, at column 1: "0..10000+1": more than 10000 sizes`},
		{parser(ParseSizes), "1..9000+1, 1..1001+1", `item 2, at column 11: "1..1001+1": more than 10000 sizes`},
		{parser(ParseSizes), "1..1GiB*1.001", `item 1, at column 1: "1..1GiB*1.001": more than 10000 sizes`},
	} {
		err := c.parse(c.in)
		if fmt.Sprint(err) != c.err {
			t.Errorf("%q:\n got %v\nwant %v", c.in, err, c.err)
		}
	}
}

// parser makes parsers alike.
func parser[T any](parse func(string) (T, error)) func(string) error {
	return func(s string) error {
		_, err := parse(s)
		return err
	}
}

// same fails unless print and parse undo each other at x.
func same[T comparable](t *testing.T, x T, print func(T) string, parse func(string) (T, error)) {
	t.Helper()
	s := print(x)
	if y, err := parse(s); err != nil || y != x {
		t.Fatalf("%#v prints as %q, which reads as %#v, %v", x, s, y, err)
	}
}

func FuzzTime(f *testing.F) {
	f.Add(int64(0), "1.2us")
	f.Add(int64(math.MinInt64), "-0.5ps")
	f.Add(int64(math.MaxInt64), "106e9")
	f.Fuzz(func(t *testing.T, n int64, s string) {
		same(t, Time(n), Time.String, ParseTime)
		same(t, Time(n), Time.MicrosString, ParseMicros)
		if x, err := ParseTime(s); err == nil {
			same(t, x, Time.String, ParseTime)
		}
		if x, err := ParseMicros(s); err == nil {
			same(t, x, Time.MicrosString, ParseMicros)
		}
	})
}

func FuzzRate(f *testing.F) {
	f.Add(300e6, "25 MiB/s")
	f.Add(math.SmallestNonzeroFloat64, "10Mbit/s")
	f.Add(math.MaxFloat64, "0.1B/s")
	f.Fuzz(func(t *testing.T, x float64, s string) {
		if text := Rate(x).String(); x > 0 && !math.IsInf(x, 0) && len(text) <= maxLength {
			same(t, Rate(x), Rate.String, ParseRate)
		}
		if r, err := ParseRate(s); err == nil && len(r.String()) <= maxLength {
			same(t, r, Rate.String, ParseRate)
		}
	})
}

func FuzzPerByte(f *testing.F) {
	f.Add(1700.0, "0.01us/B")
	f.Add(-0.1, "0")
	f.Add(math.Copysign(0, -1), "-0")
	f.Fuzz(func(t *testing.T, x float64, s string) {
		if text := PerByte(x).String(); x == x && !math.IsInf(x, 0) && len(text) <= maxLength {
			same(t, PerByte(x), PerByte.String, ParsePerByte)
		}
		if g, err := ParsePerByte(s); err == nil && len(g.String()) <= maxLength {
			same(t, g, PerByte.String, ParsePerByte)
		}
	})
}

func FuzzPercent(f *testing.F) {
	f.Add(0.05, "5%")
	f.Fuzz(func(t *testing.T, x float64, s string) {
		if text := Percent(x); x == x && !math.IsInf(x, 0) && len(text) <= maxLength {
			same(t, x, Percent, ParsePercent)
		}
		if y, err := ParsePercent(s); err == nil && len(Percent(y)) <= maxLength {
			same(t, y, Percent, ParsePercent)
		}
	})
}

func FuzzSize(f *testing.F) {
	f.Add(1024, "1.5KiB")
	f.Add(math.MaxInt, "9223372036854775807")
	f.Fuzz(func(t *testing.T, n int, s string) {
		if n >= 0 {
			same(t, n, Bytes, ParseSize)
		}
		if n, err := ParseSize(s); err == nil {
			same(t, n, Bytes, ParseSize)
		}
	})
}

func FuzzSizes(f *testing.F) {
	f.Add("0,1..1MiB*2")
	f.Add("8..64*1.5, 0..1KiB+256")
	f.Fuzz(func(t *testing.T, s string) {
		all, err := ParseSizes(s)
		if err != nil {
			return
		}
		if len(all) == 0 || len(all) > MaxSizes || all[0] < 0 || all[len(all)-1] > MaxSize {
			t.Fatalf("%q: %d sizes from %d to %d", s, len(all), all[0], all[len(all)-1])
		}
		if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Fatalf("%q: not ascending: %v", s, all)
		}
		var text []string
		for _, n := range all {
			text = append(text, Bytes(n))
		}
		if again, err := ParseSizes(strings.Join(text, ",")); err != nil || !slices.Equal(again, all) {
			t.Fatalf("%q prints as %v, which reads as %v, %v", s, text, again, err)
		}
	})
}

// Products and times of transfers that no time can be are the longest time.
func TestLongestTime(t *testing.T) {
	for _, c := range []struct{ got, want Time }{
		{Second.Times(9_000_000), 9_000_000 * Second},
		{Second.Times(9_300_000), LongestTime},
		{Time(3037000500).Times(3037000500), LongestTime}, // 2^63 and a little
		{Time(3037000499).Times(3037000499), 9223372030926249001},
		{LongestTime.Times(1), LongestTime},
		{LongestTime.Times(1 << 40), LongestTime},
		{LongestTime.Times(0), 0},
		{Rate(1e3).Time(9_000_000_000), 9_000_000 * Second},
		{Rate(1e3).Time(9_300_000_000), LongestTime},
		{Rate(1e-300).Time(1), LongestTime},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	for d, want := range map[Time]int64{0: 0, 1: 1, 1000: 1, 1001: 2, LongestTime: 9223372036854776} {
		if got := d.Nanoseconds(); got != want {
			t.Errorf("%v are %d ns", d, got)
		}
	}
}
