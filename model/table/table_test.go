package table

import (
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
