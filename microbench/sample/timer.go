package sample

import (
	"slices"
	"strconv"
)

// The timers. The first four are those of Al-Tawil and Moritz, figure 2. Timers has what each
// measures; the timers of round-trip trains have the number of messages in their names
// (TrainTimer).
const (
	Timer11 = "timer11"
	Timer12 = "timer12"
	Timer21 = "timer21"
	Timer22 = "timer22"

	TimerIdle       = "idle"
	TimerRTT        = "rtt"
	TimerTrain      = "train"
	TimerSender     = "T_s"
	TimerOneWay     = "T_sr"
	TimerGet        = "get"
	TimerPut        = "put"
	TimerFlush      = "flush"
	TimerStream     = "stream"
	TimerStreamBoth = "stream-both"

	TimerCollMin    = "coll_min"
	TimerCollMedian = "coll_median"
	TimerCollMean   = "coll_mean"
	TimerCollMax    = "coll_max"
	TimerCollLast   = "coll_last"
)

// StreamPairsTimer returns the timer of windows of sends between several pairs of ranks at once:
// the mean time per message of one pair.
func StreamPairsTimer(pairs int) string { return TimerStream + "-pairs" + strconv.Itoa(pairs) }

// TimerInfo is a row of the table of timers. All times are in microseconds in files.
type TimerInfo struct {
	Name             string
	MeasuredInterval string // what is between its start and its end; P1 is the first rank of the pair, P2 the second
	LogGPFormula     string // the same in LogGP, of k bytes; "" if other parameters say it, or none
	IsCollective     bool   // it is of a collective operation, not of a pair of ranks
}

// Timers is the table of timers, in the order of results. A new timer is a row here, a stage of
// microbench, the rule of package params that uses it, and a row of docs/glossary.md.
var Timers = []TimerInfo{
	{Timer11, "P1's send call", "o_s", false},
	{Timer12, "P1's receive call, begun when the message has surely arrived", "o_r", false},
	{Timer21, "P2's receive call, begun together with P1's send", "o_s + (k−1) G + L + o_r; of a non-blocking receive o_r", false},
	{Timer22, "P2's send call", "o_s", false},
	{TimerIdle, "P1's send call, begun when no earlier message can delay it", "o_s", false},
	{TimerRTT, "a blocking send and the receive of an answer of the same length", "2 (o_s + (k−1) G + L + o_r)", false},
	{TimerTrain, "mean interval between the ends of consecutive sends of a burst", "max(o_s, g + (k−1) G)", false},
	{TimerSender, "from the start of a send until the sender may continue, with its receive posted", "equations (1) to (7)", false},
	{TimerOneWay, "from the start of P1's send until P2's receive, posted before, is complete", "equations (1) to (7)", false},
	{TimerGet, "a remote read, until it is found complete", "", false},
	{TimerPut, "a remote write, until it is found complete", "", false},
	{TimerFlush, "the flush at the end of an access to a window, begun when its call has returned", "", false},
	{TimerStream, "mean time per message of a window of non-blocking sends, with the short answer that ends it", "max(o_s, g + (k−1) G)", false},
	{TimerStreamBoth, "the same, while both ranks send: mean time per message in one direction", "", false},
	{TimerCollMin, "collective call behind a barrier: the fastest rank's time", "", true},
	{TimerCollMedian, "the same: the median of the ranks", "", true},
	{TimerCollMean, "the same: the mean of the ranks, by tools that print no more", "", true},
	{TimerCollMax, "the same: the slowest rank's time", "", true},
	{TimerCollLast, "from a start that ranks have agreed on until the last rank's call has ended", "schedules of model/collective", true},
}

// TimerIndex returns the place of a timer in the table, or its length.
func TimerIndex(name string) int {
	if i := slices.IndexFunc(Timers, func(t TimerInfo) bool { return t.Name == name }); i >= 0 {
		return i
	}
	return len(Timers)
}

// IsCollectiveTimer says whether a timer is of a collective operation.
func IsCollectiveTimer(timer string) bool {
	i := TimerIndex(timer)
	return i < len(Timers) && Timers[i].IsCollective
}

// Mode is a row of the table of modes: what a call promises. MPI standard, section 3.4.
type Mode struct {
	Name        string
	Blocking    bool // the buffer may be used when the call ends
	Synchronous bool // it ends, or is complete, when the receive has begun
	Ready       bool // the receive must be posted before
	Buffered    bool // the library copies the message
	OneSided    bool // it is an access to a window, complete after its flush
}

// LowLevelMode is the name of the low-level messages below MPI, which have the shape of a blocking
// send.
const LowLevelMode = "message"

// Modes is the table of modes, in the order of results: MPI's eight sends, low-level messages, and
// accesses to windows.
var Modes = []Mode{
	{"send", true, false, false, false, false},
	{"ssend", true, true, false, false, false},
	{"rsend", true, false, true, false, false},
	{"bsend", true, false, false, true, false},
	{"isend", false, false, false, false, false},
	{"issend", false, true, false, false, false},
	{"irsend", false, false, true, false, false},
	{"ibsend", false, false, false, true, false},
	{LowLevelMode, true, false, false, false, false},
	{"put", true, false, false, false, true},
	{"get", true, false, false, false, true},
}

// ModeNames returns the names of all modes, in the order of the table.
func ModeNames() []string {
	var names []string
	for _, m := range Modes {
		names = append(names, m.Name)
	}
	return names
}

// ModeIndex returns the place of a mode in the table, or its length.
func ModeIndex(name string) int {
	if i := slices.IndexFunc(Modes, func(m Mode) bool { return m.Name == name }); i >= 0 {
		return i
	}
	return len(Modes)
}

// IsOneSidedMode says whether a mode is an access to a window.
func IsOneSidedMode(mode string) bool {
	i := ModeIndex(mode)
	return i < len(Modes) && Modes[i].OneSided
}

// IsBlockingMode says whether the buffer may be used when a call of a mode ends. Modes that are not
// in the table are taken for blocking ones.
func IsBlockingMode(mode string) bool {
	i := ModeIndex(mode)
	return i == len(Modes) || Modes[i].Blocking
}
