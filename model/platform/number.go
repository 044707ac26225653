package platform

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/unit"
	"go.yaml.in/yaml/v3"
)

// Limits of what a number may be. They are far beyond any machine, and keep sums of times from
// overflowing.
const (
	maxTime    = unit.Second
	maxPerByte = 1e9 // picoseconds: 1ms/B
	minRate    = 1e3 // bytes a second
	maxRate    = 1e18
	maxCount   = 1 << 20
	maxWindow  = 1 << 40
	maxRequest = 1 << 16 // entries of a request FIFO
)

// number reads value, basis, source, free and, of a fitted number, to. parse stores the value.
func (r *reader) number(q Quantity, example string, parse func(s string) error) reading {
	whole := fmt.Sprintf(`{value: %s, basis: assumed, source: "where it is from"}`, example)
	return reading{whole, func(path string, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			r.wrong(n, path, "says neither basis nor source: write %s", whole)
			return
		}
		x, before := Number{Path: path, Quantity: q, Line: n.Line, Column: n.Column}, len(r.problems)
		r.mapping(
			must("value", r.parsed(example, func(s string) error {
				x.Value = s
				return parse(s)
			})),
			must("basis", choice(r, &x.Basis, bases)),
			must("source", r.source(&x.Source)),
			may("to", r.texts(&x.FittedTo, `["table-3 T3D o_s low"]`)),
			may("free", r.free(&x.Free, q, example, parse)),
		).read(path, n)
		if v := lookup(n, "value"); v != nil {
			x.Line, x.Column = v.Line, v.Column
		}
		r.checkBasis(path, n, x)
		if x.Free != nil && len(r.problems) == before && parse(x.Value) == nil { // again, because bounds were stored
			r.checkFree(path, lookup(n, "free"), x)
		}
		r.numbers = append(r.numbers, x)
	}}
}

var (
	cited    = regexp.MustCompile(`\[(\d+)\]`)
	recalled = regexp.MustCompile(`(?i)\brecalled\b`)
	rowName  = regexp.MustCompile(`\b((table|figure)-\d[\w.]* \S+|claims [A-Z]+-\d+)`) // as in to
)

// checkBasis checks that basis, source and to of a number do not contradict each other.
func (r *reader) checkBasis(path string, n *yaml.Node, x Number) {
	switch {
	case x.Basis == Fitted && lookup(n, "to") == nil:
		r.wrong(n, path, `a fitted number names the published rows that it was fitted to: add to: ["table-3 T3D o_s low"]`)
	case x.Basis != Fitted && x.Basis != "" && lookup(n, "to") != nil:
		r.wrong(lookup(n, "to"), path+".to", "only a fitted number has it: write basis: fitted, or leave it out")
	case (x.Basis == Published || x.Basis == Derived) && recalled.MatchString(x.Source):
		r.wrong(lookup(n, "source"), path+".source", "what is only recalled is not %s: write basis: assumed", x.Basis)
	case x.Basis == Assumed && rowName.MatchString(x.Source):
		r.wrong(lookup(n, "source"), path+".source", "it cites the published row %q: a number that was chosen by a row is fitted to it; write basis: fitted and name the row in to:, or another source", rowName.FindString(x.Source))
	}
}

// free reads the bounds of a number that calibration may move, or the values that it may try.
func (r *reader) free(to **Free, q Quantity, example string, parse func(s string) error) reading {
	whole := fmt.Sprintf("{min: %s, max: %s}", example, example)
	return reading{whole, func(path string, n *yaml.Node) {
		*to = &Free{}
		bound := func(x *float64) reading {
			return r.parsed(example, func(s string) (err error) {
				if err = parse(s); err == nil {
					*x, err = q.Parse(s)
				}
				return err
			})
		}
		switch {
		case q == Word:
			r.wrong(n, path, "it is not one number, and only a number can be free: leave it out")
		case n.Kind == yaml.SequenceNode:
			r.list("["+example+", "+example+"]", func(path string, i int, n *yaml.Node) {
				bound(new(float64)).read(fmt.Sprintf("%s[%d]", path, i), n)
				(*to).Values = append((*to).Values, n.Value)
			}).read(path, n)
		case q == Size || q == Count:
			r.wrong(n, path, "what depends on a %v changes in steps: write the values to try, such as [%s, %s]", q, example, example)
		default:
			r.mapping(must("min", bound(&(*to).Min)), must("max", bound(&(*to).Max))).read(path, n)
		}
	}}
}

// checkFree checks that a free number has a range to move in, and begins in it.
func (r *reader) checkFree(path string, n *yaml.Node, x Number) {
	value, err := x.Quantity.Parse(x.Value)
	switch f := x.Free; {
	case err != nil:
	case len(f.Values) == 1:
		r.wrong(n, path+".free", "one value is no choice: write two or more")
	case f.Values != nil:
		for _, s := range f.Values {
			if y, err := x.Quantity.Parse(s); err == nil && y == value {
				return
			}
		}
		r.wrong(n, path+".free", "%s is not among the values: add it, or begin with one of them", x.Value)
	case f.Min >= f.Max:
		r.wrong(n, path+".free", "min %s is not less than max %s: write them so that min < max", x.Quantity.Format(f.Min), x.Quantity.Format(f.Max))
	case value < f.Min || value > f.Max:
		r.wrong(n, path+".free", "the value %s is not between min %s and max %s: begin inside, or write other bounds", x.Value, x.Quantity.Format(f.Min), x.Quantity.Format(f.Max))
	}
}

// cite is the source of a number, which may cite references.
type cite struct {
	path string
	node *yaml.Node
}

// source reads the source of a number.
func (r *reader) source(to *string) reading {
	text := r.text(to, `"where it is from"`)
	return reading{text.example, func(path string, n *yaml.Node) {
		text.read(path, n)
		r.cites = append(r.cites, cite{path, n})
	}}
}

// checkCites checks that every [n] in a source is one of the references. It runs at the end, when
// their number is known.
func (r *reader) checkCites(references int) {
	for _, c := range r.cites {
		for _, m := range cited.FindAllStringSubmatch(c.node.Value, -1) {
			if k, err := strconv.Atoi(m[1]); err != nil || k < 1 || k > references {
				r.wrong(c.node, c.path, "%s is no reference: there are %d, counted from [1]; add it to references", m[0], references)
			}
		}
	}
}

// time reads a time that is not negative.
func (r *reader) time(to *unit.Time) reading {
	return r.number(Time, "5us", func(s string) (err error) {
		if *to, err = unit.ParseTime(s); err != nil {
			return err
		}
		return within(s, *to, 0, maxTime, unit.Time.String)
	})
}

// perByte reads a time per byte that is not negative.
func (r *reader) perByte(to *unit.PerByte) reading {
	return r.number(PerByte, "10ns/B", func(s string) (err error) {
		if *to, err = unit.ParsePerByte(s); err != nil {
			return err
		}
		return within(s, *to, 0, maxPerByte, unit.PerByte.String)
	})
}

// wholePerByte reads a time per byte in whole picoseconds.
func (r *reader) wholePerByte(to *unit.Time) reading {
	return r.number(PerByte, "2ns/B", func(s string) error {
		g, err := unit.ParsePerByte(s)
		if err != nil {
			return err
		}
		*to = unit.Time(g)
		if unit.PerByte(*to) != g {
			return fmt.Errorf("%q is not a whole number of picoseconds: write %s/B", s, g.Time(1))
		}
		return within(s, g, 0, maxPerByte, unit.PerByte.String)
	})
}

// rate reads a bandwidth.
func (r *reader) rate(to *unit.Rate) reading {
	return r.number(Bandwidth, "100MB/s", func(s string) (err error) {
		if *to, err = unit.ParseRate(s); err != nil {
			return err
		}
		return within(s, *to, minRate, maxRate, unit.Rate.String)
	})
}

// size reads a number of bytes, which has its unit unless it is zero.
func (r *reader) size(to *int, low, high int) reading {
	return r.number(Size, "4KiB", func(s string) (err error) {
		if *to, err = unit.ParseSize(s); err != nil {
			return err
		}
		if *to != 0 && strings.Trim(s, "0123456789.") == "" {
			return fmt.Errorf("size %q: missing unit: write %sB, or KB, MB, KiB, MiB", s, s)
		}
		return within(s, *to, low, high, unit.Bytes)
	})
}

// count reads a whole number without unit.
func (r *reader) count(to *int, low, high int) reading {
	return r.number(Count, strconv.Itoa(max(low, 2)), func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("count %q: write a whole number, without unit", s)
		}
		*to = n
		return within(s, n, low, high, strconv.Itoa)
	})
}

// percent reads a percentage as a fraction.
func (r *reader) percent(to *float64, high float64) reading {
	return r.number(Share, "1%", func(s string) (err error) {
		if *to, err = unit.ParsePercent(s); err != nil {
			return err
		}
		return within(s, *to, 0, high, unit.Percent)
	})
}

// within returns an error unless x, written as s, is between low and high.
func within[T int | float64 | unit.Time | unit.Rate | unit.PerByte](s string, x, low, high T, print func(T) string) error {
	if x < low || x > high {
		return fmt.Errorf("%q is out of range: write something from %s to %s", s, print(low), print(high))
	}
	return nil
}

// Parse reads a number of the quantity: picoseconds, picoseconds a byte, bytes a second, bytes, a
// count or a fraction.
func (q Quantity) Parse(s string) (float64, error) {
	switch q {
	case Time:
		t, err := unit.ParseTime(s)
		return float64(t), err
	case PerByte:
		g, err := unit.ParsePerByte(s)
		return float64(g), err
	case Bandwidth:
		r, err := unit.ParseRate(s)
		return float64(r), err
	case Size:
		n, err := unit.ParseSize(s)
		return float64(n), err
	case Count:
		n, err := strconv.Atoi(s)
		return float64(n), err
	case Share:
		return unit.ParsePercent(s)
	}
	return 0, fmt.Errorf("%q is not one number", s)
}

// Format prints a number of the quantity, in the units of Parse, as a platform file has it. It
// rounds to whole picoseconds, bytes and counts, and times a byte to whole picoseconds as well.
func (q Quantity) Format(x float64) string {
	switch q {
	case Time:
		return unit.Time(math.Round(x)).String()
	case PerByte:
		return unit.PerByte(math.Round(x)).String()
	case Bandwidth:
		return unit.Rate(x).String()
	case Size:
		return unit.Bytes(int(math.Round(x)))
	case Count:
		return strconv.Itoa(int(math.Round(x)))
	case Share:
		return unit.Percent(x)
	}
	panic("platform: a word is not a number")
}

// String names the quantity.
func (q Quantity) String() string {
	return [...]string{"word", "time", "time per byte", "bandwidth", "size", "count", "share"}[q]
}
