package sample

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// header is the first line of a data set that is not a fact; paced that of one of which somebody looked how quickly processors worked.
const (
	header = "platform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us"
	paced  = "platform,library,clock,place,mode,protocol,timer,bytes,launch,pace,rep,time_us"
)

// paced says whether there is a series with a pace.
func (s *Set) paced() bool {
	return slices.ContainsFunc(s.Series, func(x Series) bool { return x.Pace != "" })
}

// Write writes the set as CSV: the facts, the header, and a row for each sample, in the order of the set. The same
// set gives the same bytes. A set that Read would refuse, such as one with two series of one key, is an error.
func Write(w io.Writer, s *Set) error {
	if err := s.check(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	for _, f := range s.Facts {
		fmt.Fprintf(b, "# %s: %s\n", f.Key, f.Value)
	}
	pace := s.paced()
	if pace {
		b.WriteString(paced + "\n")
	} else {
		b.WriteString(header + "\n")
	}
	var row []byte
	for i := range s.Series {
		row = appendKey(row[:0], &s.Series[i].Key)
		if pace {
			row = append(append(row, s.Series[i].Pace...), ',')
		}
		key := len(row)
		for rep, t := range s.Series[i].Times {
			row = strconv.AppendInt(row[:key], int64(rep), 10)
			row = append(row, ',')
			row = append(row, t.MicrosString()...)
			row = append(row, '\n')
			b.Write(row) // its error stays until Flush
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// appendKey writes the columns to launch, each followed by a comma.
func appendKey(b []byte, k *Key) []byte {
	for _, s := range k.texts() {
		if strings.ContainsAny(*s, `",`) {
			b = append(b, '"')
			b = append(b, strings.ReplaceAll(*s, `"`, `""`)...)
			b = append(b, '"')
		} else {
			b = append(b, *s...)
		}
		b = append(b, ',')
	}
	b = append(strconv.AppendInt(b, int64(k.Bytes), 10), ',')
	return append(strconv.AppendInt(b, int64(k.Launch), 10), ',')
}

// texts returns the columns that hold names, in order.
func (k *Key) texts() [7]*string {
	return [...]*string{&k.Platform, &k.Library, &k.Clock, &k.Place, &k.Mode, &k.Protocol, &k.Timer}
}

// String names the measurement in messages.
func (k Key) String() string {
	pace := ""
	if k.Pace != "" {
		pace = ", pace " + k.Pace
	}
	return fmt.Sprintf("%s of %s at %d bytes (%s, %s, %s, %s clock, protocol %s, launch %d%s)",
		k.Timer, k.Mode, k.Bytes, k.Platform, k.Library, k.Place, k.Clock, k.Protocol, k.Launch, pace)
}

// check says why the set cannot be written so that it can be read.
func (s *Set) check() error {
	for _, f := range s.Facts {
		if err := f.check(); err != nil {
			return err
		}
	}
	seen := make(map[Key]bool, len(s.Series))
	for i := range s.Series {
		k := s.Series[i].Key
		if err := k.check(); err != nil {
			return fmt.Errorf("write samples: %w", err)
		}
		if seen[k] {
			return fmt.Errorf("write samples: two series of %v", k)
		}
		seen[k] = true
	}
	if n := s.Rows(); n > MaxRows {
		return fmt.Errorf("write samples: %d of them are more than %d", n, MaxRows)
	}
	return nil
}

func (f Fact) check() error {
	if fact, ok := parseFact("# " + f.Key + ": " + f.Value); !ok || fact != f || !printable(f.Key+f.Value) {
		return fmt.Errorf("write samples: fact %q with value %q cannot stand in a line \"# key: value\"", f.Key, f.Value)
	}
	if n := len(f.Key) + len(f.Value); n > maxFact {
		return fmt.Errorf("write samples: fact %q has %d characters, the limit is %d", f.Key, n, maxFact)
	}
	return nil
}

// parseFact reads a line "# key: value".
func parseFact(line string) (Fact, bool) {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "#"), ":")
	f := Fact{strings.TrimSpace(key), strings.TrimSpace(value)}
	return f, ok && f.Key != ""
}

// check holds for what Read and Write accept.
func (k *Key) check() error {
	for i, s := range k.texts() {
		if err := checkName(columns[i], *s); err != nil {
			return err
		}
	}
	switch {
	case k.Bytes < 0 || k.Bytes > maxNumber:
		return fmt.Errorf("column \"bytes\": %d is not a size", k.Bytes)
	case k.Launch < 0 || k.Launch > maxNumber:
		return fmt.Errorf("column \"launch\": %d is not a count of launches", k.Launch)
	}
	return checkPace(k.Pace)
}

func checkPace(s string) error {
	if s == "" || slices.Contains(Paced, s) {
		return nil
	}
	return fmt.Errorf("column \"pace\": %q is none of %s, nor empty", s, strings.Join(Paced, ", "))
}

// checkName holds for a cell with a name. Only the library and the protocol may be without one.
func checkName(column, s string) error {
	switch {
	case s == "" && column != "library" && column != "protocol":
		return fmt.Errorf("column %q is empty", column)
	case len(s) > maxName:
		return fmt.Errorf("column %q: a name of %d characters, the limit is %d", column, len(s), maxName)
	case !printable(s) || strings.TrimSpace(s) != s || strings.HasPrefix(s, "#"):
		return fmt.Errorf("column %q: %q is not a name", column, s)
	case column == "clock" && s != "virtual" && s != "real":
		return fmt.Errorf("column %q: %q is neither virtual nor real", column, s)
	case column == "place" && s != "inter" && s != "intra":
		if _, _, pair := RanksOf(s); !pair {
			return fmt.Errorf("column %q: %q is neither inter nor intra, nor a pair of ranks such as 0-7", column, s)
		}
	}
	return nil
}

func printable(s string) bool {
	for _, r := range s {
		if r < ' ' || r == 0x7f {
			return false
		}
	}
	return true
}
