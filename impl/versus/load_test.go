package versus

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/real/host"
)

// load is what a candidate measures of one length: the median over blocks of half a round
// trip, after a block that warms up. Blocks are long enough for the clock not to matter, and enough
// of them for the median.
type load struct{ bytes, trips, blocks int }

// newLoad returns the load of a length. It takes some tens of milliseconds.
func newLoad(bytes int) load {
	trips := max(1, min(50, 1<<19/max(bytes, 1)))
	return load{bytes, trips, max(40, min(300, 1<<25/(trips*max(bytes, 1))))}
}

// buffer returns memory that was written: what was not is one page of zeroes, over and over.
func (l load) buffer() []byte { return bytes.Repeat([]byte{1}, l.bytes) }

// encodeLoads are loads as arguments of a command, one each.
func encodeLoads(loads []load) (words []string) {
	for _, l := range loads {
		words = append(words, fmt.Sprintf("%d:%d:%d", l.bytes, l.trips, l.blocks))
	}
	return words
}

// parseLoads is the inverse of words.
func parseLoads(words []string) (loads []load, err error) {
	for _, w := range words {
		var l load
		if _, err := fmt.Sscanf(w, "%d:%d:%d", &l.bytes, &l.trips, &l.blocks); err != nil {
			return nil, fmt.Errorf("%q is not BYTES:TRIPS:BLOCKS: %w", w, err)
		}
		loads = append(loads, l)
	}
	return loads, nil
}

// measure plays the load by a function that makes so many round trips. It returns the median in
// nanoseconds.
func (l load) measure(run func(trips int)) float64 {
	half := make([]float64, l.blocks)
	run(l.trips)
	for i := range half {
		begin := host.Now()
		run(l.trips)
		half[i] = float64(host.Now()-begin) / float64(l.trips) / 2
	}
	return median(half)
}

func median(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }

// name says a length.
func (l load) name() string {
	for _, u := range []struct {
		bytes int
		name  string
	}{{1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if l.bytes >= u.bytes && l.bytes%u.bytes == 0 {
			return fmt.Sprint(l.bytes/u.bytes, u.name)
		}
	}
	return fmt.Sprint(l.bytes, "B")
}

// formatRange is the least and the greatest of numbers.
func formatRange(x []float64, format string) string {
	return fmt.Sprintf(format+"-"+format, slices.Min(x), slices.Max(x))
}
