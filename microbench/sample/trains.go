package sample

import (
	"github.com/loggp/loggp/model/table"
	"strconv"
	"strings"
)

// Round-trip trains, PRTT(n, d, s) of Hoefler et al., Low-Overhead LogGP Parameter Assessment
// (2007): P1 sends n messages of s bytes and waits d before each but the first, P2 answers the last
// with one as long, and P1's clock alone is read. PRTT(1, 0, s) is RTT. The number of messages is
// in the name of the other two timers: prtt10, prtt10-d.

const (
	trains = "prtt" // PRTT(n, 0, s)
	waits  = "-d"   // PRTT(n, d, s) − (n−1)·d, d being longer than a message takes
)

// MaxTrain is the most messages of a train.
const MaxTrain = 1_000_000

// PRTT returns the timer of a train of n messages, two at least, sent as fast as they can be.
func PRTT(n int) string { return trains + strconv.Itoa(n) }

// PRTTWaiting returns the timer of a train with waits so long that no send is hindered by the one
// before. The n−1 waits are not in it.
func PRTTWaiting(n int) string { return PRTT(n) + waits }

// TrainOf returns the number of messages of a round-trip train, and whether the sender waits
// between them.
func TrainOf(timer string) (n int, waiting, ok bool) {
	rest, ok := strings.CutPrefix(timer, trains)
	if !ok {
		return 0, false, false
	}
	rest, waiting = strings.CutSuffix(rest, waits)
	n, ok = table.ParseWhole([]byte(rest))
	ok = ok && 2 <= n && n <= MaxTrain && strconv.Itoa(n) == rest
	return n, waiting, ok
}
