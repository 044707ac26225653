package foreign

import (
	"regexp"
	"strings"
	"time"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// logpMPIFormat reads a file of Kielmann's LogP/MPI, the parameters of PLogP by size:
//
//	# LogP network performance data: logp_test.Send.Recv
//	# Latency = 0.0000001
//	# time      bytes os        os_min    os_cnfint or        or_min    or_cnfint g
//	1795217697       0 0.0000000 0.0000000 0.0000000 0.0000001 0.0000001 0.0000000 0.0000000
//
// in seconds with seven decimals. o_s(m) is the time of the send call, o_r(m) that of a receive
// begun when the message is surely there: timer11 and timer12. g(0) is the interval of a long
// burst, and g(m) = RTT(m) − RTT(0) + g(0): train. RTT(0) = 2(L + g(0)), the round trip of empty
// messages. (The tool's own loader takes os_cnfint for os_min; the header is right.) Kielmann, Bal
// and Verstoep 2000.
var logpMPIFormat = Format{
	Name:        "logp_mpi",
	Description: "Kielmann's LogP/MPI, parameters of PLogP (s)",
	Signature:   "a first line \"# LogP network performance data: ...\"",
	matchesText: func(text string) bool { return logpTitle.MatchString(text) },
	readFile:    readLogPMPI,
}

const logpHead = "time bytes os os_min os_cnfint or or_min or_cnfint g"

var (
	logpTitle   = regexp.MustCompile(`\A# (LogP network performance data): (\S{1,100})`)
	logpLatency = regexp.MustCompile(`^# Latency = (\S{1,40})`)
)

func readLogPMPI(in *inputText, b *setBuilder) {
	b.addFact("values", "means over the repetitions, one a size")
	b.addFact("train", "g(0) is measured by a burst, g(m) is RTT(m) - RTT(0) + g(0)")
	b.noteResolution(100 * unit.Nanosecond)
	mode, head := "", false
	latency, hasLatency := unit.Time(0), false
	in.forEachLine(func(l *inputLine, text string) {
		if m := logpTitle.FindStringSubmatch(l.text); m != nil {
			b.addFact("tool", "LogP/MPI")
			b.addFact("test", m[2])
			if mode = sendMode(m[2]); mode == "" {
				l.errorf(1, "%s does not name the calls that were measured, such as logp_test.Send.Recv", quoteShort(m[2]))
			}
		} else if m := logpLatency.FindStringSubmatchIndex(l.text); m != nil {
			l.words = []textWord{{l.text[m[2]:m[3]], m[2] + 1}}
			latency, hasLatency = l.parseTime(0, "s", "the latency in s"), true
		} else if strings.HasPrefix(text, "time") {
			if head = strings.Join(strings.Fields(text), " ") == logpHead; !head {
				l.errorf(1, "the columns %s where %q belong", quoteShort(text), logpHead)
			}
		}
	}, func(l *inputLine) {
		if mode == "" || !head {
			l.errorf(1, "a row before the title and the columns %q", logpHead)
		} else if l.splitWords(false, 9, 9, "a row of "+logpHead) {
			readLogPRow(l, b, mode, latency, hasLatency)
		}
	})
	if !hasLatency {
		b.noteLeftOut("L: the file does not say it")
	}
}

// sendMode returns the mode of the send call in the name of a test: logp_test.Send.Recv.
func sendMode(test string) string {
	parts := strings.Split(test, ".")
	if len(parts) < 3 {
		return ""
	}
	mode := strings.ToLower(parts[len(parts)-2])
	if mode == sample.LowLevelMode || sample.IsOneSidedMode(mode) || sample.ModeIndex(mode) == len(sample.Modes) {
		return ""
	}
	return mode
}

func readLogPRow(l *inputLine, b *setBuilder, mode string, latency unit.Time, hasLatency bool) {
	at := l.parseWhole(0, 0, 1<<40, "the time of the measurement in s since 1970")
	k := l.parseBytes(1)
	var t [7]unit.Time // os os_min os_cnfint or or_min or_cnfint g
	for i := range t {
		t[i] = l.parseTime(2+i, "s", "a time in s")
	}
	if len(b.series) == 0 {
		b.addFact("date", time.Unix(int64(at), 0).UTC().Format(time.RFC3339))
	}
	for i, timer := range []string{sample.Timer11, sample.Timer12} {
		b.addSummary(mode, timer, k, t[3*i])
		b.addDetail("minimum_us", mode, timer, k, t[3*i+1].MicrosString())
		b.addDetail("confidence_interval_us", mode, timer, k, t[3*i+2].MicrosString())
	}
	b.addSummary(mode, sample.TimerTrain, k, t[6])
	if k == 0 && hasLatency && sample.IsBlockingMode(mode) && mode != "rsend" {
		b.addSummary(mode, sample.TimerRTT, 0, 2*(latency+t[6]))
	}
}
