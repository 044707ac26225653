package clean

import (
	"cmp"

	"github.com/loggp/loggp/microbench/sample"
)

// IsLibraryChoice reports whether the library chose the protocol. Low-level messages always use T:
// there is no choice.
func IsLibraryChoice(mode, protocol string) bool {
	return protocol == "" || protocol == "auto" || mode == sample.LowLevelMode && protocol == "T"
}

func WithoutBytes(k sample.Key) sample.Key {
	k.Bytes = 0
	return k
}

func CompareKeys(a, b sample.Key) int {
	return cmp.Or(
		cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Library, b.Library), cmp.Compare(a.Place, b.Place),
		cmp.Compare(sample.ModeIndex(a.Mode), sample.ModeIndex(b.Mode)), cmp.Compare(a.Mode, b.Mode),
		cmp.Compare(a.Protocol, b.Protocol),
		cmp.Compare(sample.TimerIndex(a.Timer), sample.TimerIndex(b.Timer)), cmp.Compare(a.Timer, b.Timer),
		cmp.Compare(a.Bytes, b.Bytes),
	)
}
