package paper

import (
	"math"
	"testing"
)

// Computed by hand: 3 and 4 make 5, and 1 % and 2 % make √5 %.
func TestValue(t *testing.T) {
	a, b := Value{V: 100, Low: 97, High: 104}, Value{V: 50, Low: 46, High: 53}
	for _, c := range []struct {
		what string
		got  Value
		want Value
	}{
		{"plus", a.plus(b), Value{V: 150, Low: 145, High: 155}},
		{"minus", a.minus(b), Value{V: 50, Low: 50 - math.Sqrt(18), High: 50 + math.Sqrt(32)}},
		{"over", Value{V: 100, Low: 99, High: 101}.over(Value{V: 50, Low: 49, High: 51}), Value{V: 2, Low: 2 - 2*math.Sqrt(5)/100, High: 2 + 2*math.Sqrt(5)/100}},
		{"times", a.times(2), Value{V: 200, Low: 194, High: 208}},
		{"inverse", Value{V: 2, Low: 1, High: 4}.inverse(8), Value{V: 4, Low: 2, High: 8}},
		{"inverse, of an interval with zero in it", Value{V: 2, Low: -1, High: 4}.inverse(8), Value{V: 4, Low: 2, High: 4}},
	} {
		if d := math.Abs(c.got.V-c.want.V) + math.Abs(c.got.Low-c.want.Low) + math.Abs(c.got.High-c.want.High); !(d < 1e-9) {
			t.Errorf("%s: got %+v, want %+v", c.what, c.got, c.want)
		}
	}
	if v := exactly(-1).inverse(8); v.known() {
		t.Errorf("the inverse of what is below zero is %v", v)
	}
	for _, c := range []struct {
		v    Value
		want string
	}{
		{Value{V: 29.98123, Low: 29.961, High: 30.002}, "29.98 ±0.02"},
		{Value{V: 1234.5, Low: 1222, High: 1246}, "1234 ±12"},
		{exactly(0.12345), "0.1235"},
		{exactly(1000086.4), "1000086"},
		{Value{V: 2, Low: 0.5, High: 2.1}, "2 (0.5 to 2.1)"},
		{none(), "?"},
	} {
		if got := c.v.String(); got != c.want {
			t.Errorf("%+v is printed as %q, want %q", c.v, got, c.want)
		}
	}
}
