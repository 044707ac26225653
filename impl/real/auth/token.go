package auth

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Token is the secret of a job: 120 random bits, 24 letters and digits.
type Token [15]byte

// NewToken draws a token.
func NewToken() Token {
	var t Token
	rand.Read(t[:]) // which does not fail
	return t
}

var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567")

// Text returns the token in four groups that a person can copy.
func (t Token) Text() string {
	s := tokenEncoding.EncodeToString(t[:])
	return s[:6] + "-" + s[6:12] + "-" + s[12:18] + "-" + s[18:]
}

// ParseToken is the inverse of Text. Spaces, dashes and case do not matter. Errors do not repeat
// what was given.
func ParseToken(s string) (t Token, err error) {
	if len(s) > maxTokenLine {
		return t, errors.New("a token has 24 letters and digits, and this is much longer")
	}
	s = strings.ToLower(strings.NewReplacer("-", "", " ", "", "\t", "", "\r", "", "\n", "").Replace(s))
	if s == "" {
		return t, errors.New("the token is empty")
	}
	b, err := tokenEncoding.DecodeString(s)
	if err != nil || len(b) != len(t) {
		return t, fmt.Errorf("a token has 24 letters and digits from 2 to 7, and this, of %d characters, is none", len(s))
	}
	return Token(b), nil
}

// maxTokenLine is the longest line that may have a token, in bytes.
const maxTokenLine = 200

// ReadToken reads a token from the first line of a source, and no more.
func ReadToken(in io.ByteReader, source string) (t Token, err error) {
	line := make([]byte, 0, maxTokenLine)
	for len(line) < maxTokenLine {
		b, err := in.ReadByte()
		if err != nil && err != io.EOF {
			return t, fmt.Errorf("read the token from %s: %w", source, err)
		}
		if err == io.EOF || b == '\n' {
			break
		}
		line = append(line, b)
	}
	if t, err = ParseToken(string(line)); err != nil {
		err = fmt.Errorf("%s: %w", source, err)
	}
	return t, err
}

// String does not show the token, so that it is not printed by mistake.
func (t Token) String() string { return "(token)" }

// GoString does not show it either.
func (t Token) GoString() string { return "auth.Token{…}" }

// MarshalText implements encoding.TextMarshaler: for pipes, and not for networks.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.Text()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *Token) UnmarshalText(b []byte) (err error) {
	*t, err = ParseToken(string(b))
	return err
}
