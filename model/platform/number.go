package platform

import (
	"fmt"
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
)

// number reads value, basis, source and, of a fitted number, to.
func (r *reader) number(example string, parse func(s string) error) reading {
	whole := fmt.Sprintf(`{value: %s, basis: assumed, source: "where it is from"}`, example)
	return reading{whole, func(path string, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			r.wrong(n, path, "says neither basis nor source: write %s", whole)
			return
		}
		x := Number{Path: path, Line: n.Line, Column: n.Column}
		r.mapping(
			must("value", r.parsed(example, func(s string) error {
				x.Value = s
				return parse(s)
			})),
			must("basis", choice(r, &x.Basis, bases)),
			must("source", r.source(&x.Source)),
			may("to", r.texts(&x.FittedTo, `["table-3 T3D o_s low"]`)),
		).read(path, n)
		if v := lookup(n, "value"); v != nil {
			x.Line, x.Column = v.Line, v.Column
		}
		r.checkBasis(path, n, x)
		r.numbers = append(r.numbers, x)
	}}
}

var (
	cited    = regexp.MustCompile(`\[(\d+)\]`)
	recalled = regexp.MustCompile(`(?i)\brecalled\b`)
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
	return r.number("5us", func(s string) (err error) {
		if *to, err = unit.ParseTime(s); err != nil {
			return err
		}
		return within(s, *to, 0, maxTime, unit.Time.String)
	})
}

// perByte reads a time per byte that is not negative.
func (r *reader) perByte(to *unit.PerByte) reading {
	return r.number("10ns/B", func(s string) (err error) {
		if *to, err = unit.ParsePerByte(s); err != nil {
			return err
		}
		return within(s, *to, 0, maxPerByte, unit.PerByte.String)
	})
}

// wholePerByte reads a time per byte in whole picoseconds.
func (r *reader) wholePerByte(to *unit.Time) reading {
	return r.number("2ns/B", func(s string) error {
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
	return r.number("100MB/s", func(s string) (err error) {
		if *to, err = unit.ParseRate(s); err != nil {
			return err
		}
		return within(s, *to, minRate, maxRate, unit.Rate.String)
	})
}

// size reads a number of bytes, which has its unit unless it is zero.
func (r *reader) size(to *int, low, high int) reading {
	return r.number("4KiB", func(s string) (err error) {
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
	return r.number(strconv.Itoa(max(low, 2)), func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("count %q: write a whole number, without unit", s)
		}
		*to = n
		return within(s, n, low, high, strconv.Itoa)
	})
}

// percent reads a percentage as a fraction.
func (r *reader) percent(to *float64) reading {
	return r.number("1%", func(s string) (err error) {
		if *to, err = unit.ParsePercent(s); err != nil {
			return err
		}
		return within(s, *to, 0, 1, unit.Percent)
	})
}

// within returns an error unless x, written as s, is between low and high.
func within[T int | float64 | unit.Time | unit.Rate | unit.PerByte](s string, x, low, high T, print func(T) string) error {
	if x < low || x > high {
		return fmt.Errorf("%q is out of range: write something from %s to %s", s, print(low), print(high))
	}
	return nil
}
