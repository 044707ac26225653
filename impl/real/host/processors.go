package host

import (
	"path"
	"strconv"
	"strings"
)

// Processors returns the processors on which this process was allowed to run when it started, in
// ascending order; none if that is unknown. Pinning a thread does not change it.
func Processors() []int { return allowedProcessors }

// allowedProcessors is read at the start, because a pinned thread may run on one processor only.
var allowedProcessors = readAffinity()

// RankProcessor returns the processor to which a rank is pinned, or -1 if none is known: the
// allowed ones in their order, and again from the first if there are more ranks.
func RankProcessor(rank int) int {
	if len(allowedProcessors) == 0 {
		return -1
	}
	return allowedProcessors[rank%len(allowedProcessors)]
}

// processorDir returns the directory of a processor in /sys.
func processorDir(n int) string { return path.Join("sys/devices/system/cpu", "cpu"+strconv.Itoa(n)) }

// maxProcessorNumber bounds the numbers in lists of processors. Linux has at most 8,192 on x86-64.
const maxProcessorNumber = 1 << 16

// parseProcessorList parses a list of processors as the kernel prints it, in ascending order:
// 0-3,8. A list of another form is empty.
func parseProcessorList(s string) []int {
	var all []int
	next := 0 // the least number that may follow
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(first)
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < next || to >= maxProcessorNumber {
			return nil
		}
		next = to + 1
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all
}

// joinNumbers prints numbers: 0, 2.
func joinNumbers(numbers []int) string {
	var words []string
	for _, n := range numbers {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}
