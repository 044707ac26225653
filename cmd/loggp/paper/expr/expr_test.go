package expr

import (
	"errors"
	"math"
	"strings"
	"testing"
)

var names = &Names{
	Variables:  []string{"s"},
	Lists:      map[string][]string{"sizes": {"1", "10", "100", "1000"}},
	Quantities: map[string]int{"t": 2, "one": 0, "half": 1, "gone": 1, "time": -1},
}

// cells: t(a,k) is k/10 ±0.1, t(b,k) is 1 ±0.1.
func cells(key string) (Value, bool) {
	values := map[string]Value{
		"t(a,1)": {0.1, 0, 0.2}, "t(a,10)": {1.05, 0.95, 1.15}, "t(a,100)": {10, 9.9, 10.1}, "t(a,1000)": {100, 99.9, 100.1},
		"t(b,1)": {1, 0.9, 1.1}, "t(b,10)": {1, 0.9, 1.1}, "t(b,100)": {1, 0.9, 1.1}, "t(b,1000)": {1, 0.9, 1.1},
		"one()": ExactValue(1), "time(LAM/MPI,IS,4)": ExactValue(7),
	}
	v, ok := values[key]
	return v, ok
}

func parse(t *testing.T, text string) *Expr {
	t.Helper()
	x, err := Parse(text, names)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return x
}

func env(t *testing.T) *Env {
	inner := *names
	inner.Variables = []string{"k"}
	is, err := Parse("t(a, k) / 2", &inner)
	if err != nil {
		t.Fatal(err)
	}
	return &Env{Lookup: cells, Definitions: map[string]Definition{"half": {[]string{"k"}, is}}}
}

func TestTruth(t *testing.T) {
	for text, want := range map[string]Truth{
		"t(a, 100) > t(b, 100)":                                       True,
		"t(a, 100) < t(b, 100)":                                       False,
		"t(a, 10) > t(b, 10)":                                         Undecided,
		"t(a, 10) >= t(b, 10) && t(a, 100) < 1":                       False,
		"t(a, 10) >= t(b, 10) || t(a, 100) > 1":                       True,
		"!(t(a, 100) < 1)":                                            True,
		"!(t(a, 10) < t(b, 10))":                                      Undecided,
		"gone(1) > 1":                                                 Missing,
		"t(a, 100) > 1 && gone(1) > 1":                                Missing,
		"1 <= one() <= 1":                                             True,
		"1 < one()":                                                   False,
		"9 < t(a, 100) <= 11":                                         True,
		"all(k, sizes, t(a, k) < 200)":                                True,
		"all(k, sizes, t(a, k) < t(b, k))":                            False,
		"all(k, sizes[10:1000], t(a, k) > t(b, k))":                   Undecided,
		"all(k, set(100, 1000), t(a, k) > t(b, k))":                   True,
		"all(x, set(a, b), t(x, 100) > 0)":                            True,
		"t(s, 100) > 5":                                               True,
		"10 <= first(k, sizes, t(a, k) > t(b, k)) <= 100":             True,
		"first(k, sizes, t(a, k) > t(b, k)) <= 10":                    Undecided,
		"first(k, sizes, t(a, k) > 1000) <= 1000":                     False,
		"first(k, sizes, t(a, k) > 5) >= 100":                         True,
		"max(t(a, 1), t(b, 1)) < 2 && min(3, 4) >= 3":                 True,
		"max(k, sizes, t(a, k)) > 99":                                 True,
		"rises(k, sizes, t(a, k))":                                    True,
		"falls(k, sizes, t(a, k))":                                    False,
		"falls(k, sizes, t(b, k))":                                    Undecided,
		"half(100) > 4.9 && half(100) < 5.1":                          True,
		"all(k, set(100, 1000), t(a, k) > 5)\n&& t(a, 1) < 1":         True,
		"2 + 3 * 4 - 6 / 2 >= 11 && (2 + 3) * 4 <= 20 && -1 < 0":      True,
		"abs(1 - t(a, 100)) > 8":                                      True,
		"time(\"LAM/MPI\", IS, 4) >= 7":                               True,
		"all(k, sizes, all(m, set(a, b), k * t(m, k) / k < 200))":     True,
		"1e3 / t(a, 1000) > 9.9":                                      True,
		"100 / t(a, 1) < 2000":                                        Undecided, // the interval of the divisor contains zero
		"5 < t(a, 100) && t(a, 100) < 20 || one() > 2 && gone(1) > 1": Missing,
	} {
		e := env(t)
		got := e.Truth(parse(t, text), map[string]string{"s": "a"})
		if len(e.MissingKeys) > 0 {
			got = Missing
		}
		if got != want {
			t.Errorf("%s: %v, want %v (%s)", text, got, want, e.Evidence())
		}
	}
}

// An error says where it is.
func TestSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"t(a, 1) <":                       "9: expected operand, found 'EOF'",
		"t(a, 1) < 2 2":                   "12: expected 'EOF', found 2",
		"t(a, 1) # 2":                     "8: illegal character U+0023 '#'",
		"t(a, 1) == 2":                    `8: unexpected "=="`,
		"+t(a, 1) > 2":                    `0: unexpected "+"`,
		"t(a, 1) < 'x'":                   "10: expected a number, found 'x'",
		"tt(a, 1) < 2":                    `0: there is no quantity "tt"`,
		"t(a) < 2":                        "0: t has 2 arguments, not 1",
		"t(a, 1+1) < 2":                   "5: expected a word, a variable or a number",
		"t(a, 1) + (1 < 2) > 0":           "10: expected a number, found a condition",
		"1 < 2 && t(a, 1)":                "9: expected a condition, found a number",
		"t(a, 1) < x":                     `10: there is no variable "x"`,
		"all(k, big, t(a, k) < 2)":        "0: expected all(variable, list, expression)",
		"all(k, big[1:2], t(a, k) < 2)":   `7: there is no list "big"`,
		"all(k, sizes[2], t(a, k) < 2)":   "0: expected all(variable, list, expression)",
		"all(k, sizes[2:], t(a, k) < 2)":  "7: expected list[from:to]",
		"all(k, sizes[2:3], t(a, k) < 2)": "7: sizes[2:3] has no elements",
		"all(k, sizes[a:3], t(a, k) < 2)": "13: expected a number, found a",
		"all(1, sizes, t(a, k) < 2)":      "4: expected a variable",
		"all(k, sizes, t(a, 1))":          "14: expected a condition, found a number",
		"abs(1, 2) < 1":                   "0: abs has one argument",
		"falls(t(a, 1))":                  "0: expected falls(variable, list, expression)",
		"(t(a, 1) < 2":                    "12: expected ')', found newline",
	} {
		_, err := Parse(text, names)
		var syntax *Error
		if !errors.As(err, &syntax) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := strings.Join([]string{FormatDigits(float64(syntax.Offset)), syntax.Text}, ": "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Whatever is written, reading it ends, and with an offset inside the text.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"t(a, 1) < 2", "falls(k, sizes[1:10], t(a, k)) && !(1 < 2)", "all(s, set(a), first(k, set(1, 2), (1 < k)) <= 10)", "((", "'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Parse(s, names)
		var syntax *Error
		if err != nil && (!errors.As(err, &syntax) || syntax.Offset < 0 || syntax.Offset > len(s)) {
			t.Fatalf("%q: %v", s, err)
		}
		if err == nil && x.IsCondition() {
			(&Env{Lookup: cells}).Truth(x, map[string]string{"s": "a"})
		}
	})
}

// The evidence has the values as the text has them, and of many the nearest.
func TestEvidence(t *testing.T) {
	for text, want := range map[string]string{
		"t(a, 100) > t(b, 100)":                                        "t(a, 100) is 10.00 ±0.10. t(b, 100) is 1.0 ±0.1",
		"all(k, set(100, 1000), 9 < t(a, k))":                          "t(a, k) is 10.00 ±0.10 at k = 100; 100.00 ±0.10 at k = 1000",
		"9 <= t(a, 100) <= 11":                                         "t(a, 100) is 10.00 ±0.10",
		"first(k, sizes, t(a, k) > 5) < 200":                           "first(k, sizes, t(a, k) > 5) is 100",
		"all(k, set(100, 100, 100, 100, 100, 100, 1000), t(a, k) > 9)": "t(a, k) is 10.00 ±0.10 at k = 100, the nearest of 7",
		"all(k, set(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), falls(i, set(100, 10), half(i)))": "half(i) is 5.00 ±0.05 at k = 1, i = 100; 0.53 ±0.05 at k = 1, i = 10; 5.00 ±0.05 at k = 2, i = 100; 0.53 ±0.05 at k = 2, i = 10; 5.00 ±0.05 at k = 3, i = 100; 0.53 ±0.05 at k = 3, i = 10; and 20 more",
		"falls(k, set(100, 10), half(k))": "half(k) is 5.00 ±0.05 at k = 100; 0.53 ±0.05 at k = 10",
	} {
		e := env(t)
		e.Truth(parse(t, text), nil)
		if got := e.Evidence(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	e := env(t)
	e.Truth(parse(t, "9 <= t(a, 100) <= 100 && t(b, 1) < 2"), nil)
	if text, off := e.NearestThreshold(); math.Abs(off-1./9) > 1e-9 || text != "t(a, 100) is 10.00 ±0.10, 11.1 % from the threshold 9" {
		t.Errorf("%q, %v", text, off)
	}
	if x := parse(t, "t(s, 1) > 0"); !x.DependsOn("s") {
		t.Error("a free variable is not seen")
	}
	if x := parse(t, "all(s, set(a), t(s, 1) > 0)"); x.DependsOn("s") {
		t.Error("a bound variable is free")
	}
}

// Computed by hand: 3 and 4 make 5, and 1 % and 2 % make √5 %.
func TestValue(t *testing.T) {
	a, b := Value{Center: 100, Low: 97, High: 104}, Value{Center: 50, Low: 46, High: 53}
	percent := math.Sqrt(1+math.Pow(100*(1-50./51), 2)) / 100
	for _, c := range []struct {
		what string
		got  Value
		want Value
	}{
		{"plus", a.plus(b), Value{Center: 150, Low: 145, High: 155}},
		{"minus", a.minus(b), Value{Center: 50, Low: 50 - math.Sqrt(18), High: 50 + math.Sqrt(32)}},
		{"times", a.times(ExactValue(2)), Value{Center: 200, Low: 194, High: 208}},
		{"times a negative", a.times(ExactValue(-1)), Value{Center: -100, Low: -104, High: -97}},
		{"over", Value{Center: 100, Low: 99, High: 100}.dividedBy(Value{Center: 50, Low: 50, High: 51}), Value{Center: 2, Low: 2 - 2*percent, High: 2}},
		{"exact over", ExactValue(8).dividedBy(Value{Center: 2, Low: 1, High: 4}), Value{Center: 4, Low: 2, High: 8}},
		{"abs", Value{Center: -1, Low: -3, High: 2}.abs(), Value{Center: 1, Low: 0, High: 3}},
	} {
		if d := math.Abs(c.got.Center-c.want.Center) + math.Abs(c.got.Low-c.want.Low) + math.Abs(c.got.High-c.want.High); !(d < 1e-9) {
			t.Errorf("%s: got %+v, want %+v", c.what, c.got, c.want)
		}
	}
	if v := ExactValue(8).dividedBy(ExactValue(-1)); v.IsKnown() {
		t.Errorf("a ratio to what is below zero is %v", v)
	}
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Value{Center: 29.98123, Low: 29.961, High: 30.002}, "29.98 ±0.02"},
		{Value{Center: 1234.5, Low: 1222, High: 1246}, "1234 ±12"},
		{ExactValue(0.12345), "0.1235"},
		{ExactValue(1000086.4), "1000086"},
		{Value{Center: 2, Low: 0.5, High: 2.1}, "2 (0.5 to 2.1)"},
		{Value{Center: 2, Low: 0.5, High: math.Inf(1)}, "2 (0.5 or more)"},
		{ExactValue(math.Inf(1)), "never"},
		{Value{Center: 15, Low: math.NaN(), High: math.NaN()}, "15 (no interval)"},
		{ExactValue(30).dividedBy(Value{Center: 2, Low: math.NaN(), High: math.NaN()}), "15 (no interval)"},
		{UnknownValue(), "?"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%+v is printed as %q, want %q", c.v, got, c.want)
		}
	}
}
