package probe

import (
	"errors"
	"strings"
)

// SplitCommand splits a command at its blanks, as a shell does: what stands in quotes, or behind a
// backslash, stays together.
func SplitCommand(command string) ([]string, error) {
	var list []string
	var word strings.Builder
	begun, quote := false, rune(0)
	literal := false // the next character is itself
	for _, r := range command {
		switch {
		case literal:
			word.WriteRune(r)
			literal = false
		case r == '\\' && quote != '\'':
			begun, literal = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			begun, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				list = append(list, word.String())
				word.Reset()
				begun = false
			}
		default:
			begun = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || literal {
		return nil, errors.New("a quote without its end")
	}
	if begun {
		list = append(list, word.String())
	}
	return list, nil
}

// quoteCommand prints a command so that SplitCommand reads it.
func quoteCommand(command []string) string {
	var list []string
	for _, w := range command {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`!*?[]{}()<>|&;#~") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		list = append(list, w)
	}
	return strings.Join(list, " ")
}
