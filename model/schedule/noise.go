package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Noise is time that an operating system takes from the CPUs of a schedule: detours that recur with
// a period. Each rank begins at a random point of the period, drawn from the seed. A detour
// suspends the work of a CPU. A nil Noise has no detours.
type Noise struct {
	detours       []detour // in the order of their starts
	period        uint64
	seed          uint64
	workPerPeriod uint64 // of a period, without detours
}

// detour is an interval without work. before is the time for work in the period before it.
type detour struct{ from, to, workBefore uint64 }

// ParseNoise reads noise such as period=1ms,length=20us: one detour in each period.
func ParseNoise(s string, seed uint64) (*Noise, error) {
	times := map[string]unit.Time{}
	for _, item := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		t, err := unit.ParseTime(value)
		switch _, given := times[name]; {
		case name != "period" && name != "length":
			err = errors.New("write period=1ms,length=20us, or the name of a file")
		case given:
			err = fmt.Errorf("%s is given twice", name)
		case err == nil && t < 0:
			err = errors.New("it is negative")
		}
		if err != nil {
			return nil, fmt.Errorf("noise %q: %w", item, err)
		}
		times[name] = t
	}
	if len(times) < 2 {
		return nil, fmt.Errorf("noise %q: write both, as in period=1ms,length=20us", s)
	}
	return newNoise([]detour{{from: 0, to: uint64(times["length"])}}, uint64(times["period"]), seed)
}

// ReadNoise reads the detours of one period: in each line the start and the length of a detour in
// nanoseconds, in the order of their starts. The last line has only the period. Lines that begin
// with # are comments.
func ReadNoise(in io.Reader, name string, seed uint64) (*Noise, error) {
	var detours []detour
	period := uint64(0)
	lines := bufio.NewScanner(in)
	n := 0
	for lines.Scan() {
		n++
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if period > 0 {
			return nil, &Error{name, n, 1, "a line follows that of the period"}
		}
		times, err := parseNoiseLine(text)
		switch {
		case err != nil:
			return nil, &Error{name, n, 1, err.Error()}
		case len(times) == 2:
			detours = append(detours, detour{from: uint64(times[0] * 1000), to: uint64((times[0] + times[1]) * 1000)})
		case times[0]*1000 < 1:
			return nil, &Error{name, n, 1, "the period is shorter than a picosecond"}
		default:
			period = uint64(times[0] * 1000)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &Error{name, n + 1, 1, fmt.Sprintf("the line is longer than %d bytes", bufio.MaxScanTokenSize)}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case period == 0:
		return nil, &Error{name, n + 1, 1, "the file ends without the period, a line with one number"}
	}
	noise, err := newNoise(detours, period, seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return noise, nil
}

// parseNoiseLine returns the start and the length of a detour, or the period, in nanoseconds.
func parseNoiseLine(text string) ([]float64, error) {
	const longest = 1e15 // ns
	words := strings.Fields(text)
	if len(words) > 2 {
		return nil, fmt.Errorf("unexpected %.40q: a line has the start of a detour and its length in ns, and the last one the period", words[2])
	}
	times := make([]float64, len(words))
	for i, w := range words {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil || !(x >= 0 && x < longest) {
			return nil, fmt.Errorf("%.40q is not a number of nanoseconds from 0 to below 1e15", w)
		}
		times[i] = x
	}
	return times, nil
}

func newNoise(detours []detour, period, seed uint64) (*Noise, error) {
	n := &Noise{detours: detours, period: period, seed: seed}
	at := uint64(0)
	for i := range n.detours {
		d := &n.detours[i]
		if d.from < at || d.to < d.from || d.to > period {
			return nil, fmt.Errorf("detour %d, from %v to %v: detours follow each other and end before the period of %v", i+1, unit.Time(d.from), unit.Time(d.to), unit.Time(period))
		}
		n.workPerPeriod += d.from - at
		d.workBefore, at = n.workPerPeriod, d.to
	}
	if n.workPerPeriod += period - at; n.workPerPeriod == 0 || period-n.workPerPeriod > n.workPerPeriod*1000 {
		return nil, errors.New("noise leaves less than a thousandth of the time for work")
	}
	return n, nil
}

// offsetOfRank returns the place of a rank in the period at time 0: a number that is drawn from the
// seed by SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA
// 2014).
func (n *Noise) offsetOfRank(rank uint32) uint64 {
	z := n.seed + (uint64(rank)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) % n.period
}

// endOfWork returns when work that begins at a time is done, or what is later than the longest time
// if it is.
func (n *Noise) endOfWork(rank uint32, at, work uint64) uint64 {
	if n == nil || work == 0 {
		return at + work
	}
	offset := n.offsetOfRank(rank)
	at += offset
	periods, rest := at/n.period, at%n.period
	i, _ := slices.BinarySearchFunc(n.detours, rest, func(d detour, t uint64) int {
		if d.from <= t {
			return -1
		}
		return 1
	})
	done := rest // of this period's time for work; the i detours before have begun
	if i > 0 {
		d := n.detours[i-1]
		done = d.workBefore + max(rest, d.to) - d.to
	}
	done += work
	periods, done = periods+(done-1)/n.workPerPeriod, (done-1)%n.workPerPeriod+1
	i, _ = slices.BinarySearchFunc(n.detours, done, func(d detour, t uint64) int {
		if d.workBefore < t {
			return -1
		}
		return 1
	})
	if i > 0 {
		done += n.detours[i-1].to - n.detours[i-1].workBefore
	}
	if periods > math.MaxInt64/n.period {
		return 1 << 63
	}
	return periods*n.period + done - offset
}
