package schedule

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Noise is time that an operating system takes from the CPUs of a schedule: detours that recur with
// a period. Each rank begins at a random point of the period, drawn from the seed. A detour
// suspends the work of a CPU. A nil Noise has no detours.
type Noise struct {
	detours []detour // in the order of their starts
	period  uint64
	seed    uint64
	free    uint64 // of a period, without detours
}

// detour is an interval without work. before is the time for work in the period before it.
type detour struct{ from, to, before uint64 }

// ParseNoise reads noise such as period=1ms,length=20us: one detour in each period.
func ParseNoise(s string, seed uint64) (*Noise, error) {
	var period, length unit.Time
	for _, item := range strings.Split(s, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		t, err := unit.ParseTime(value)
		switch {
		case name == "period":
			period = t
		case name == "length":
			length = t
		default:
			err = errors.New("write period=1ms,length=20us, or the name of a file")
		}
		if err != nil {
			return nil, fmt.Errorf("noise %q: %w", item, err)
		}
	}
	return newNoise([]detour{{from: 0, to: uint64(length)}}, uint64(period), seed)
}

// ReadNoise reads the detours of one period: in each line the start and the length of a detour in
// nanoseconds, in the order of their starts. The last line has only the period. Lines that begin
// with
// # are comments.
func ReadNoise(in io.Reader, name string, seed uint64) (*Noise, error) {
	var detours []detour
	period := uint64(0)
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		var from, length float64
		count, _ := fmt.Sscan(text, &from, &length)
		bad := !(from >= 0 && from < 1e15 && length >= 0 && length < 1e15)
		switch {
		case period > 0:
			return nil, &Error{name, n, 1, "there is a line behind the period"}
		case count == 2 && !bad:
			detours = append(detours, detour{from: uint64(from * 1000), to: uint64((from + length) * 1000)})
		case count == 1 && !bad && from > 0:
			period = uint64(from * 1000)
		default:
			return nil, &Error{name, n, 1, "a line has the start of a detour and its length in ns, and the last one the period"}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	noise, err := newNoise(detours, period, seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return noise, nil
}

func newNoise(detours []detour, period, seed uint64) (*Noise, error) {
	n := &Noise{detours: detours, period: period, seed: seed}
	at := uint64(0)
	for i := range n.detours {
		d := &n.detours[i]
		if d.from < at || d.to < d.from || d.to > period {
			return nil, fmt.Errorf("detour %d, from %v to %v: detours follow each other and end before the period of %v", i+1, unit.Time(d.from), unit.Time(d.to), unit.Time(period))
		}
		n.free += d.from - at
		d.before, at = n.free, d.to
	}
	if n.free += period - at; n.free == 0 || period-n.free > n.free*1000 {
		return nil, errors.New("noise leaves less than a thousandth of the time for work")
	}
	return n, nil
}

// offset returns the place of a rank in the period at time 0: a number that is drawn from the seed
// by SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA
// 2014).
func (n *Noise) offset(rank uint32) uint64 {
	z := n.seed + (uint64(rank)+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) % n.period
}

// endOfWork returns when work that begins at a time is done.
func (n *Noise) endOfWork(rank uint32, at, work uint64) uint64 {
	if n == nil || work == 0 {
		return at + work
	}
	offset := n.offset(rank)
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
		done = d.before + max(rest, d.to) - d.to
	}
	done += work
	periods, done = periods+(done-1)/n.free, (done-1)%n.free+1
	i, _ = slices.BinarySearchFunc(n.detours, done, func(d detour, t uint64) int {
		if d.before < t {
			return -1
		}
		return 1
	})
	if i > 0 {
		done += n.detours[i-1].to - n.detours[i-1].before
	}
	return periods*n.period + done - offset
}
