package sample

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/loggp/loggp/model/unit"
)

// WriteJSON writes the set as one JSON object: facts, and series with their times in microseconds, as exact as in CSV.
func WriteJSON(w io.Writer, s *Set) error {
	if err := s.check(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	b.WriteString("{\"facts\": [")
	for i, f := range s.Facts {
		fmt.Fprintf(b, "%s\n  {\"key\": %s, \"value\": %s}", comma(i), quote(f.Key), quote(f.Value))
	}
	b.WriteString("],\n\"series\": [")
	for i := range s.Series {
		k := &s.Series[i].Key
		fmt.Fprintf(b, "%s\n  {", comma(i))
		for c, text := range k.texts() {
			fmt.Fprintf(b, "\"%s\": %s, ", columns[c], quote(*text))
		}
		fmt.Fprintf(b, "\"bytes\": %d, \"launch\": %d, ", k.Bytes, k.Launch)
		if k.Pace != "" {
			fmt.Fprintf(b, "\"pace\": %s, ", quote(k.Pace))
		}
		b.WriteString("\"time_us\": [")
		writeTimes(b, s.Series[i].Times)
		b.WriteString("]}")
	}
	b.WriteString("]}\n")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// quote returns s as a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("sample: " + err.Error()) // a string has always a JSON form
	}
	return string(b)
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func writeTimes(b *bufio.Writer, times []unit.Time) {
	for i, t := range times {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(t.MicrosString())
	}
}
