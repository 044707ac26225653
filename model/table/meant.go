package table

import (
	"slices"
	"strings"
)

// NearestNames returns names, sorted by their edit distance from s.
func NearestNames(s string, names []string) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return distance(s, a) - distance(s, b) })
	return sorted
}

// Suggestion returns the name that a misspelled s was probably meant to be, or "".
func Suggestion(s string, names []string) string {
	first := NearestNames(s, names)[0]
	if distance(s, first) > (len(first)+1)/3 {
		return ""
	}
	return first
}

// distance returns the edit distance (Levenshtein) of a and b, ignoring case.
func distance(a, b string) int {
	const most = 64 // no name is longer
	a, b = strings.ToLower(a[:min(len(a), most)]), strings.ToLower(b[:min(len(b), most)])
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
