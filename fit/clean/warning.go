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

	Sizes, Of int // it holds at so many of so many sizes; 0 where it is of none

	Imported bool // another tool has measured there, so that advice on how to measure again does not help
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
		ws[i].Imported = places[Subject{Platform: w.Platform, Library: w.Library, Place: w.Place}]
	}
}

// The codes of warnings. docs/fit.md says when each is given and what to do about it.
const (
	FewSizes         = "few-sizes"
	FewReps          = "few-reps"
	NegativeLatency  = "negative-latency"
	NotLinear        = "not-linear"
	RootsDisagree    = "roots-disagree"
	OddReps          = "odd-reps"
	HeavyTail        = "heavy-tail"
	CoarseTimer      = "coarse-timer"
	Drift            = "drift"
	Disturbed        = "disturbed"
	Falls            = "falls"
	DisturbedUsed    = "disturbed-used"
	DirectionsDiffer = "directions-differ"
	Hindered         = "hindered"
	PlatformChanged  = "platform-changed" // given by who reads the platform: a fit does not
	Skew             = "skew"
	Unidentified     = "not-identifiable"
	OneTier          = "one-tier"
	TiersUnclear     = "tiers-unclear"
	OddPairs         = "odd-pairs"
	PairsMissing     = "pairs-missing"
	UnequalGroups    = "unequal-groups"
	LateStarts       = "late-starts" // of collective operations, as are the next two
	NoCommonStart    = "no-common-start"
	StartsDiffer     = "starts-differ"
)

// String returns the warning as a line for people.
func (w Warning) String() string {
	subject := strings.Join([]string{w.Platform, w.Library, w.Place, w.Mode, w.Parameter}, "/")
	return subject + ": " + w.Text + " [" + w.Code + "]"
}
