package table

import "testing"

// A misspelled name is found, swapped letters and the beginning of a name too; another word is not.
func TestSuggestion(t *testing.T) {
	names := []string{"send", "bcast", "altawil-moritz", "npb-is"}
	for s, want := range map[string]string{
		"sned": "send", "bcst": "bcast", "altawil": "altawil-moritz", "al-tawl": "altawil-moritz", "NPB-IS": "npb-is",
		"x": "", "zzzz": "", "": "", "moritz": "", "alpha": "",
	} {
		if got := Suggestion(s, names); got != want {
			t.Errorf("Suggestion(%q) = %q, want %q", s, got, want)
		}
	}
	if got := Suggestion("send", nil); got != "" {
		t.Errorf("a suggestion of no names: %q", got)
	}
	for s, want := range map[string]string{"sned": "; did you mean send? There are send, bcast", "x": ": there are send, bcast"} {
		if got := NameChoices(s, names[:2]); got != want {
			t.Errorf("NameChoices(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"t3d", "T3D", 0}, {"t3d", "t3e", 1}, {"kitten", "sitting", 3}, {"sned", "send", 1}, {"ab", "ba", 1},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
