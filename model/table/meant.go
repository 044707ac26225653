package table

import (
	"slices"
	"strings"
)

// NearestNames returns names, sorted by their edit distance from s.
func NearestNames(s string, names []string) []string {
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return editDistance(s, a) - editDistance(s, b) })
	return sorted
}

// Suggestion returns the name that a misspelled s was probably meant to be, or "". It may be the
// beginning of a name, such as altawil of altawil-moritz.
func Suggestion(s string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	if first := NearestNames(s, names)[0]; editDistance(s, first) <= (len(first)+1)/3 {
		return first
	}
	const minBeginning = 4
	for _, name := range names {
		if len(s) >= minBeginning && len(s) < len(name) && slices.Min(distancesToPrefixes(s, name)) <= (len(s)+1)/4 {
			return name
		}
	}
	return ""
}

// NameChoices continues a sentence about a name that does not exist: which one was probably meant,
// and which there are.
func NameChoices(s string, names []string) string {
	list := "here are " + strings.Join(names, ", ")
	if len(names) == 1 {
		list = "here is " + names[0]
	}
	if meant := Suggestion(s, names); meant != "" {
		return "; did you mean " + meant + "? T" + list
	}
	return ": t" + list
}

// editDistance returns the edit distance of a and b (optimal string alignment: Levenshtein with
// swaps of neighbours), ignoring case.
func editDistance(a, b string) int {
	row := distancesToPrefixes(a, b)
	return row[len(row)-1]
}

// distancesToPrefixes returns the edit distances of a from the first 0, 1, 2 ... bytes of b.
func distancesToPrefixes(a, b string) []int {
	const most = 64 // no name is longer
	a, b = strings.ToLower(a[:min(len(a), most)]), strings.ToLower(b[:min(len(b), most)])
	row, above, twoAbove := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		row, above, twoAbove = twoAbove, row, above
		row[0] = i + 1
		for j := range len(b) {
			replaced := above[j]
			if a[i] != b[j] {
				replaced++
			}
			row[j+1] = min(replaced, row[j]+1, above[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoAbove[j-1]+1)
			}
		}
	}
	return row
}
