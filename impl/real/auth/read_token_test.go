package auth

import (
	"bytes"
	"strings"
	"testing"
)

// A token is read from one line, and what follows it is left.
func TestReadTokenReadsOneLine(t *testing.T) {
	token := NewToken()
	in := bytes.NewBufferString(token.Text() + "\nrest")
	if got, err := ReadToken(in, "here"); err != nil || got != token || in.String() != "rest" {
		t.Errorf("%v; the token is right: %v; left is %q", err, got == token, in.String())
	}
	for _, text := range []string{"", "no token\n", strings.Repeat("a", 1000)} {
		if _, err := ReadToken(strings.NewReader(text), "here"); err == nil || !strings.HasPrefix(err.Error(), "here: ") || len(text) > 10 && strings.Contains(err.Error(), text) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
