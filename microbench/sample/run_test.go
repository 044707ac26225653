package sample

import (
	"reflect"
	"strings"
	"testing"
)

// Facts are resolved once, file by file; what says how to read samples must make sense, what is
// said of ranks need not.
func TestRuns(t *testing.T) {
	set := &Set{Facts: []Fact{
		{FileFact, "a"}, {RootsFact, "2"}, {ResolutionFact, "0.1"}, {ResolutionFact, "0.5"}, {ResolutionFact, "0.2"}, {RanksFact, "8"}, {RanksFact, "9"}, {PairFact, "0 7"}, {NoiseFact, "5% relative"}, {PlatformFileFact, "t3d"},
		{FileFact, "b"}, {PairFact, AllPairsValue}, {OnePlaceFact, "intra"}, {NoiseFact, "0% relative"}, {RanksFact, "many"}, AgreedStartFact(3, 20),
		{FileFact, "c"}, {StartFact, NoCommonStartPrefix + "no common clock"}, {PairFact, "3 3"},
	}}
	want := Runs{
		{RootCount: 2, Resolution: 0.5, RankCount: 8, Pair: [2]int{0, 7}, IsNoisy: true, PlatformFile: "t3d"},
		{RootCount: 2, HasAllPairs: true, Place: "intra", LateStartCount: 3, AgreedStartAttempts: 20},
		{RootCount: 2, NoCommonStartReason: "no common clock"},
	}
	if got, err := set.Runs(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, f := range []Fact{{RootsFact, "3"}, {ResolutionFact, "-1"}, {ResolutionFact, "NaN"}, {OnePlaceFact, "near"}} {
		text := "# " + f.Key + ": " + f.Value + "\n" + header + "\n"
		if _, err := Read(strings.NewReader(text), "f.csv"); err == nil || !strings.HasPrefix(err.Error(), "f.csv: fact \""+f.Key) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
