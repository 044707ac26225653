package clean

import (
	"cmp"
	"slices"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// Modes are in the order of results. Others follow them by name.
var Modes = []string{"send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend", "message"}

// Timers likewise.
var Timers = []string{sample.Timer11, sample.Timer12, sample.Timer21, sample.Timer22, sample.Idle, sample.RTT, sample.Train,
	sample.Sender, sample.OneWay, sample.Get, sample.Put, sample.Stream}

// Rank returns the place of s in a list, or its length.
func Rank(list []string, s string) int {
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list)
}

// Blocking says whether the calls of a mode end only when the buffer may be used.
func Blocking(mode string) bool { return !strings.HasPrefix(mode, "i") }

// Chosen says whether the protocol was the library's choice. Messages are always carried as T: there is nothing to choose.
func Chosen(mode, protocol string) bool {
	return protocol == "" || protocol == "auto" || mode == "message" && protocol == "T"
}

func WithoutBytes(k sample.Key) sample.Key {
	k.Bytes = 0
	return k
}

func Order(a, b sample.Key) int {
	return cmp.Or(
		cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Library, b.Library), cmp.Compare(a.Place, b.Place),
		cmp.Compare(Rank(Modes, a.Mode), Rank(Modes, b.Mode)), cmp.Compare(a.Mode, b.Mode),
		cmp.Compare(a.Protocol, b.Protocol),
		cmp.Compare(Rank(Timers, a.Timer), Rank(Timers, b.Timer)), cmp.Compare(a.Timer, b.Timer),
		cmp.Compare(a.Bytes, b.Bytes),
	)
}
