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
	maxTime               = unit.Second
	maxPerByte            = 1e9 // picoseconds: 1ms/B
	minRate               = 1e3 // bytes a second
	maxRate               = 1e18
	maxCount              = 1 << 20
	maxWindow             = 1 << 40
	maxRequestFIFOEntries = 1 << 16 // entries of a request FIFO

	maxChannels = 64 // of a communicator of NCCL: src/include/nccl_common.h, MAXCHANNELS
)

// readNumber reads value, basis, source, free and, of a fitted number, to. parse stores the value.
func (r *fileReader) readNumber(q Quantity, example string, parse func(s string) error) nodeReader {
	whole := fmt.Sprintf(`{value: %s, basis: assumed, source: "where it is from"}`, example)
	return nodeReader{whole, func(path string, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			r.reportProblem(n, path, "says neither basis nor source: write %s", whole)
			return
		}
		x, before := Number{Path: path, Quantity: q, Line: n.Line, Column: n.Column}, len(r.problems)
		r.readMapping(
			requiredField("value", r.parsedText(example, func(s string) error {
				x.Value = s
				return parse(s)
			})),
			requiredField("basis", oneOfWords(r, &x.Basis, allBases)),
			requiredField("source", r.sourceText(&x.Source)),
			optionalField("to", r.textList(&x.FittedTo, `["table-3 T3D o_s low"]`)),
			optionalField("free", r.freeRange(&x.Free, q, example, parse)),
		).read(path, n)
		if v := mappingValue(n, "value"); v != nil {
			x.Line, x.Column = v.Line, v.Column
		}
		r.checkBasis(path, n, x)
		if x.Free != nil && len(r.problems) == before && parse(x.Value) == nil { // again, because bounds were stored
			r.checkFree(path, mappingValue(n, "free"), x)
		}
		r.numbers = append(r.numbers, x)
	}}
}

var (
	citationPattern = regexp.MustCompile(`\[(\d+)\]`)
	recalledPattern = regexp.MustCompile(`(?i)\brecalled\b`)
	rowNamePattern  = regexp.MustCompile(`\b((table|figure)-\d[\w.]* \S+|claims [A-Z]+-\d+)`) // as in to
)

// checkBasis checks that basis, source and to of a number do not contradict each other.
func (r *fileReader) checkBasis(path string, n *yaml.Node, x Number) {
	switch {
	case x.Basis == BasisFitted && mappingValue(n, "to") == nil:
		r.reportProblem(n, path, `a fitted number names the published rows that it was fitted to: add to: ["table-3 T3D o_s low"]`)
	case x.Basis != BasisFitted && x.Basis != "" && mappingValue(n, "to") != nil:
		r.reportProblem(mappingValue(n, "to"), path+".to", "only a fitted number has it: write basis: fitted, or leave it out")
	case (x.Basis == BasisPublished || x.Basis == BasisDerived) && recalledPattern.MatchString(x.Source):
		r.reportProblem(mappingValue(n, "source"), path+".source", "what is only recalled is not %s: write basis: assumed", x.Basis)
	case x.Basis == BasisAssumed && rowNamePattern.MatchString(x.Source):
		r.reportProblem(mappingValue(n, "source"), path+".source", "it cites the published row %q: a number that was chosen by a row is fitted to it; write basis: fitted and name the row in to:, or another source", rowNamePattern.FindString(x.Source))
	}
}

// freeRange reads the bounds of a number that calibration may move, or the values that it may try.
func (r *fileReader) freeRange(to **FreeRange, q Quantity, example string, parse func(s string) error) nodeReader {
	whole := fmt.Sprintf("{min: %s, max: %s}", example, example)
	return nodeReader{whole, func(path string, n *yaml.Node) {
		*to = &FreeRange{}
		bound := func(x *float64) nodeReader {
			return r.parsedText(example, func(s string) (err error) {
				if err = parse(s); err == nil {
					*x, err = q.Parse(s)
				}
				return err
			})
		}
		switch {
		case q == WordQuantity:
			r.reportProblem(n, path, "it is not one number, and only a number can be free: leave it out")
		case n.Kind == yaml.SequenceNode:
			r.readList("["+example+", "+example+"]", func(path string, i int, n *yaml.Node) {
				bound(new(float64)).read(fmt.Sprintf("%s[%d]", path, i), n)
				(*to).Values = append((*to).Values, n.Value)
			}).read(path, n)
		case q == SizeQuantity || q == CountQuantity:
			r.reportProblem(n, path, "what depends on a %v changes in steps: write the values to try, such as [%s, %s]", q, example, example)
		default:
			r.readMapping(requiredField("min", bound(&(*to).Min)), requiredField("max", bound(&(*to).Max))).read(path, n)
		}
	}}
}

// checkFree checks that a free number has a range to move in, and begins in it.
func (r *fileReader) checkFree(path string, n *yaml.Node, x Number) {
	value, err := x.Quantity.Parse(x.Value)
	switch f := x.Free; {
	case err != nil:
	case len(f.Values) == 1:
		r.reportProblem(n, path+".free", "one value is no choice: write two or more")
	case f.Values != nil:
		for _, s := range f.Values {
			if y, err := x.Quantity.Parse(s); err == nil && y == value {
				return
			}
		}
		r.reportProblem(n, path+".free", "%s is not among the values: add it, or begin with one of them", x.Value)
	case f.Min >= f.Max:
		r.reportProblem(n, path+".free", "min %s is not less than max %s: write them so that min < max", x.Quantity.Format(f.Min), x.Quantity.Format(f.Max))
	case value < f.Min || value > f.Max:
		r.reportProblem(n, path+".free", "the value %s is not between min %s and max %s: begin inside, or write other bounds", x.Value, x.Quantity.Format(f.Min), x.Quantity.Format(f.Max))
	}
}

// citation is the source of a number, which may cite references.
type citation struct {
	path string
	node *yaml.Node
}

// sourceText reads the source of a number.
func (r *fileReader) sourceText(to *string) nodeReader {
	text := r.readText(to, `"where it is from"`)
	return nodeReader{text.example, func(path string, n *yaml.Node) {
		text.read(path, n)
		r.citations = append(r.citations, citation{path, n})
	}}
}

// checkCitations checks that every [n] in a source is one of the references. It runs at the end,
// when their number is known.
func (r *fileReader) checkCitations(references int) {
	for _, c := range r.citations {
		for _, m := range citationPattern.FindAllStringSubmatch(c.node.Value, -1) {
			if k, err := strconv.Atoi(m[1]); err != nil || k < 1 || k > references {
				r.reportProblem(c.node, c.path, "%s is no reference: there are %d, counted from [1]; add it to references", m[0], references)
			}
		}
	}
}

// readTime reads a time that is not negative.
func (r *fileReader) readTime(to *unit.Time) nodeReader {
	return r.readNumber(TimeQuantity, "5us", func(s string) (err error) {
		if *to, err = unit.ParseTime(s); err != nil {
			return err
		}
		return checkRange(s, *to, 0, maxTime, unit.Time.String)
	})
}

// perByte reads a time per byte that is not negative.
func (r *fileReader) perByte(to *unit.PerByte) nodeReader {
	return r.readNumber(PerByteQuantity, "10ns/B", func(s string) (err error) {
		if *to, err = unit.ParsePerByte(s); err != nil {
			return err
		}
		return checkRange(s, *to, 0, maxPerByte, unit.PerByte.String)
	})
}

// wholePerByte reads a time per byte in whole picoseconds.
func (r *fileReader) wholePerByte(to *unit.Time) nodeReader {
	return r.readNumber(PerByteQuantity, "2ns/B", func(s string) error {
		g, err := unit.ParsePerByte(s)
		if err != nil {
			return err
		}
		*to = unit.Time(g)
		if unit.PerByte(*to) != g {
			return fmt.Errorf("%q is not a whole number of picoseconds: write %s/B", s, g.Time(1))
		}
		return checkRange(s, g, 0, maxPerByte, unit.PerByte.String)
	})
}

// readRate reads a bandwidth.
func (r *fileReader) readRate(to *unit.Rate) nodeReader {
	return r.readNumber(BandwidthQuantity, "100MB/s", func(s string) (err error) {
		if *to, err = unit.ParseRate(s); err != nil {
			return err
		}
		return checkRange(s, *to, minRate, maxRate, unit.Rate.String)
	})
}

// readSize reads a number of bytes, which has its unit unless it is zero.
func (r *fileReader) readSize(to *int, low, high int) nodeReader {
	return r.readNumber(SizeQuantity, "4KiB", func(s string) (err error) {
		if *to, err = unit.ParseSize(s); err != nil {
			return err
		}
		if *to != 0 && strings.Trim(s, "0123456789.") == "" {
			return fmt.Errorf("size %q: missing unit: write %sB, or KB, MB, KiB, MiB", s, s)
		}
		return checkRange(s, *to, low, high, unit.Bytes)
	})
}

// readCount reads a whole number without unit.
func (r *fileReader) readCount(to *int, low, high int) nodeReader {
	return r.readNumber(CountQuantity, strconv.Itoa(max(low, 2)), func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("count %q: write a whole number, without unit", s)
		}
		*to = n
		return checkRange(s, n, low, high, strconv.Itoa)
	})
}

// readPercent reads a percentage as a fraction.
func (r *fileReader) readPercent(to *float64, high float64) nodeReader {
	return r.readNumber(ShareQuantity, "1%", func(s string) (err error) {
		if *to, err = unit.ParsePercent(s); err != nil {
			return err
		}
		return checkRange(s, *to, 0, high, unit.Percent)
	})
}

// checkRange returns an error unless x, written as s, is between low and high.
func checkRange[T int | float64 | unit.Time | unit.Rate | unit.PerByte](s string, x, low, high T, print func(T) string) error {
	if x < low || x > high {
		return fmt.Errorf("%q is out of range: write something from %s to %s", s, print(low), print(high))
	}
	return nil
}

// Parse reads a number of the quantity: picoseconds, picoseconds a byte, bytes a second, bytes, a
// count or a fraction.
func (q Quantity) Parse(s string) (float64, error) {
	switch q {
	case TimeQuantity:
		t, err := unit.ParseTime(s)
		return float64(t), err
	case PerByteQuantity:
		g, err := unit.ParsePerByte(s)
		return float64(g), err
	case BandwidthQuantity:
		r, err := unit.ParseRate(s)
		return float64(r), err
	case SizeQuantity:
		n, err := unit.ParseSize(s)
		return float64(n), err
	case CountQuantity:
		n, err := strconv.Atoi(s)
		return float64(n), err
	case ShareQuantity:
		return unit.ParsePercent(s)
	}
	return 0, fmt.Errorf("%q is not one number", s)
}

// Format prints a number of the quantity, in the units of Parse, as a platform file has it. It
// rounds to whole picoseconds, bytes and counts, and times a byte to whole picoseconds as well.
func (q Quantity) Format(x float64) string {
	switch q {
	case TimeQuantity:
		return unit.Time(math.Round(x)).String()
	case PerByteQuantity:
		return unit.PerByte(math.Round(x)).String()
	case BandwidthQuantity:
		return unit.Rate(x).String()
	case SizeQuantity:
		return unit.Bytes(int(math.Round(x)))
	case CountQuantity:
		return strconv.Itoa(int(math.Round(x)))
	case ShareQuantity:
		return unit.Percent(x)
	}
	panic("platform: a word is not a number")
}

// String names the quantity.
func (q Quantity) String() string {
	return [...]string{"word", "time", "time per byte", "bandwidth", "size", "count", "share"}[q]
}
