package unit

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// MaxSize is the longest message that a list of sizes may hold.
const MaxSize = 1 << 30

// MaxLongSize is the longest buffer of a collective operation that is computed without messages.
const MaxLongSize = 1 << 44

// MaxSizes is how many sizes a list may hold.
const MaxSizes = 10000

// sizeUnits are the units of size, in letters of either case. Those that Bytes prints are the
// powers of two.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, // as other benchmarks and dd have them
}

const sizeNames = "B, KB, MB, GB (powers of ten), K, M, G, KiB, MiB or GiB (powers of two)"

// ParseSize reads a number of bytes: 512B, 1KB (1000 bytes), 4KiB or 4K (4096), 1.5MiB, or 16384
// without a unit; 1kb is 1KB, and 4k is 4K. The result must be a whole, non-negative number of
// bytes.
func ParseSize(s string) (int, error) {
	n, err := parseSize(s)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w", s, err)
	}
	return n, nil
}

func parseSize(s string) (int, error) {
	number, name, err := splitQuantity(s)
	if err != nil {
		return 0, err
	}
	if name == "" {
		name = "B"
	}
	for _, u := range sizeUnits {
		if !strings.EqualFold(u.name, name) {
			continue
		}
		n, err := scaleExactly(number, u.bytes)
		switch {
		case err == errFiner:
			return 0, errors.New("not a whole number of bytes")
		case err != nil:
			return 0, err
		case n < 0:
			return 0, errors.New("negative")
		case n > math.MaxInt:
			return 0, errRange
		}
		return int(n), nil
	}
	return 0, fmt.Errorf("unknown unit %q: use %s", name, sizeNames)
}

// Bytes prints n bytes exactly, in the largest power of 1024 that divides them: 16B, 1KiB, 1000B.
// ParseSize reads it back.
func Bytes(n int) string {
	if n == 0 {
		return "0B"
	}
	k := min(bits.TrailingZeros64(uint64(n))/10, 4)
	return fmt.Sprint(n>>(10*k)) + [...]string{"B", "KiB", "MiB", "GiB", "TiB"}[k]
}

// ParseSizes reads a list of sizes, separated by commas, in any order. An item is
//
//	1KB        one size, as ParseSize reads it
//	1..1MiB*2  the sizes 1, 1·2, 1·2·2 ... up to 1MiB; the factor may be a decimal such as 1.5
//	0..1KiB+64 the sizes 0, 64, 128 and so on that are at most 1KiB
//
// The result is in ascending order, each size once. At most MaxSizes sizes, at most MaxSize bytes
// each.
func ParseSizes(s string) ([]int, error) { return parseSizesUpTo(s, MaxSize) }

// ParseLongSizes is ParseSizes with sizes of up to MaxLongSize bytes.
func ParseLongSizes(s string) ([]int, error) { return parseSizesUpTo(s, MaxLongSize) }

func parseSizesUpTo(s string, longest int) ([]int, error) {
	var all []int
	at := 1
	for i, item := range strings.Split(s, ",") {
		some, err := parseItem(strings.TrimSpace(item), longest)
		if err == nil && len(all)+len(some) > MaxSizes {
			err = tooManyError()
		}
		if err != nil {
			return nil, fmt.Errorf("item %d, at column %d: %w", i+1, at, nameItem(strings.TrimSpace(item), err))
		}
		all = append(all, some...)
		at += len(item) + 1
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// nameItem puts an item before an error that does not show it.
func nameItem(item string, err error) error {
	if strings.Contains(err.Error(), strconv.Quote(item)) {
		return err
	}
	return fmt.Errorf("%q: %w", item, err)
}

func tooManyError() error { return fmt.Errorf("more than %d sizes", MaxSizes) }

// parseItem reads one item of a list of sizes.
func parseItem(item string, longest int) ([]int, error) {
	from, rest, ok := strings.Cut(item, "..")
	if !ok {
		n, err := parseListed(item, longest)
		return []int{n}, err
	}
	i := strings.IndexAny(rest, "*+")
	if i < 0 {
		return nil, fmt.Errorf("a range needs a factor or a step: write %s*2 or %s+64B", item, item)
	}
	low, err := parseListed(from, longest)
	if err != nil {
		return nil, err
	}
	high, err := parseListed(rest[:i], longest)
	if err != nil {
		return nil, err
	}
	if low > high {
		return nil, fmt.Errorf("the range is empty: %s is more than %s", Bytes(low), Bytes(high))
	}
	if rest[i] == '*' {
		return geometricRange(low, high, rest[i+1:])
	}
	return arithmeticRange(low, high, rest[i+1:])
}

// parseListed reads a size of a list.
func parseListed(s string, longest int) (int, error) {
	n, err := ParseSize(s)
	if err == nil && n > longest {
		err = fmt.Errorf("size %q: more than %s", s, Bytes(longest))
	}
	return n, err
}

// geometricRange returns low·f^i while that is at most high.
func geometricRange(low, high int, factor string) ([]int, error) {
	number, name, err := splitQuantity(factor)
	if err != nil || name != "" {
		return nil, fmt.Errorf("factor %q: write a number such as 2 or 1.5", factor)
	}
	f, err := scaleByPowerOfTen(number, 0)
	switch {
	case err != nil || f < 1.001:
		return nil, fmt.Errorf("factor %q: must be at least 1.001", factor)
	case low == 0:
		return nil, errors.New("a multiple of 0 is 0: write 0,1B..., a range that begins with at least one byte")
	}
	var all []int
	for x := float64(low); x <= float64(high); x *= f {
		if len(all) == MaxSizes {
			return nil, tooManyError()
		}
		all = append(all, int(math.Round(x)))
	}
	return all, nil
}

// arithmeticRange returns low + i·step while that is at most high.
func arithmeticRange(low, high int, step string) ([]int, error) {
	by, err := ParseSize(step)
	switch {
	case err != nil:
		return nil, err
	case by == 0:
		return nil, errors.New("a step must be at least one byte")
	case (high-low)/by >= MaxSizes:
		return nil, tooManyError()
	}
	var all []int
	for n := low; n <= high && n >= low; n += by {
		all = append(all, n)
	}
	return all, nil
}
