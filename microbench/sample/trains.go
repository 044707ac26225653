package sample

import (
	"github.com/loggp/loggp/model/table"
	"strconv"
	"strings"
)

// Round-trip trains, TrainTimer(n, d, s) of Hoefler et al., Low-Overhead LogGP Parameter Assessment
// (2007): P1 sends n messages of s bytes and waits d before each but the first, P2 answers the last
// with one as long, and P1's clock alone is read. TrainTimer(1, 0, s) is TimerRTT. The number of
// messages is in the name of the other two timers: prtt10, prtt10-d.

const (
	trainPrefix  = "prtt" // TrainTimer(n, 0, s)
	spacedSuffix = "-d"   // TrainTimer(n, d, s) − (n−1)·d, d being longer than a message takes
)

// MaxTrainLength is the most messages of a train.
const MaxTrainLength = 1_000_000

// TrainTimer returns the timer of a train of n messages, two at least, sent as fast as they can be.
func TrainTimer(n int) string { return trainPrefix + strconv.Itoa(n) }

// SpacedTrainTimer returns the timer of a train with waits so long that no send is hindered by the
// one before. The n−1 waits are not in it.
func SpacedTrainTimer(n int) string { return TrainTimer(n) + spacedSuffix }

// ParseTrainTimer returns the number of messages of a round-trip train, and whether the sender
// waits between them.
func ParseTrainTimer(timer string) (n int, waiting, ok bool) {
	rest, ok := strings.CutPrefix(timer, trainPrefix)
	if !ok {
		return 0, false, false
	}
	rest, waiting = strings.CutSuffix(rest, spacedSuffix)
	n, ok = table.ParseWhole([]byte(rest))
	ok = ok && 2 <= n && n <= MaxTrainLength && strconv.Itoa(n) == rest
	return n, waiting, ok
}
