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
		{File, "a"}, {Roots, "2"}, {Resolution, "0.1"}, {Resolution, "0.5"}, {Ranks, "8"}, {Ranks, "9"}, {Pair, "0 7"}, {Noise, "5% relative"}, {PlatformFile, "t3d"},
		{File, "b"}, {Pair, AllPairs}, {OnePlace, "intra"}, {Noise, "0% relative"}, {Ranks, "many"}, Agreed(3, 20),
		{File, "c"}, {Start, NoStart + "no common clock"}, {Pair, "3 3"},
	}}
	want := Runs{
		{Roots: 2, Resolution: 0.5, Ranks: 8, Pair: [2]int{0, 7}, Noisy: true, PlatformFile: "t3d"},
		{Roots: 2, AllPairs: true, Place: "intra", LateStarts: 3, Starts: 20},
		{Roots: 2, NoCommonStart: "no common clock"},
	}
	if got, err := set.Runs(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, f := range []Fact{{Roots, "3"}, {Resolution, "-1"}, {Resolution, "NaN"}, {OnePlace, "near"}} {
		text := "# " + f.Key + ": " + f.Value + "\n" + header + "\n"
		if _, err := Read(strings.NewReader(text), "f.csv"); err == nil || !strings.HasPrefix(err.Error(), "f.csv: fact \""+f.Key) {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
