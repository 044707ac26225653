package clean

import (
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// Warning says why a result is doubtful.
type Warning struct {
	Platform, Library, Place, Mode string

	Parameter string // or the timer that is doubtful
	Code      string
	Text      string // for a person

	AffectedSizeCount, SizeCount int // it holds at so many of so many sizes; 0 where it is of none

	IsImported bool // another tool has measured there, so that advice on how to measure again does not help
}

// MarkImportedWarnings marks the warnings of places where another tool has measured.
func MarkImportedWarnings(ws []Warning, set *sample.Set) {
	files := set.ImportedFiles()
	places := map[Subject]bool{}
	for i := range set.Series {
		if s := &set.Series[i]; s.File < len(files) && files[s.File] {
			places[SubjectOf(s)] = true
		}
	}
	for i, w := range ws {
		ws[i].IsImported = places[Subject{Platform: w.Platform, Library: w.Library, Place: w.Place}]
	}
}

// The codes of warnings. docs/warnings.md says when each is given and what to do about it.
const (
	CodeFewSizes         = "few-sizes"
	CodeFewReps          = "few-reps"
	CodeNegativeLatency  = "negative-latency"
	CodeNotLinear        = "not-linear"
	CodeRootsDisagree    = "roots-disagree"
	CodeOddReps          = "odd-reps"
	CodeHeavyTail        = "heavy-tail"
	CodeCoarseTimer      = "coarse-timer"
	CodeDrift            = "drift"
	CodeDisturbed        = "disturbed"
	CodeFallingTimes     = "falls"
	CodeDisturbedUsed    = "disturbed-used"
	CodeDirectionsDiffer = "directions-differ"
	CodeHindered         = "hindered"
	CodePlatformChanged  = "platform-changed" // given by who reads the platform: a fit does not
	CodeSkew             = "skew"
	CodeUnidentified     = "not-identifiable"
	CodeOneTier          = "one-tier"
	CodeTiersUnclear     = "tiers-unclear"
	CodeOddPairs         = "odd-pairs"
	CodePairsMissing     = "pairs-missing"
	CodeUnequalGroups    = "unequal-groups"
	CodeLateStarts       = "late-starts" // of collective operations, as are the next two
	CodeNoCommonStart    = "no-common-start"
	CodeStartsDiffer     = "starts-differ"
)

// String returns the warning as a line for people.
func (w Warning) String() string {
	subject := strings.Join([]string{w.Platform, w.Library, w.Place, w.Mode, w.Parameter}, "/")
	return subject + ": " + w.Text + " [" + w.Code + "]"
}
