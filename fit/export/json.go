package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/loggp/loggp/fit/params"
)

// jsonFormat writes all parameters as one JSON object, in the order and with the columns of the
// table. What has no number is null, and its method says so.
var jsonFormat = Format{
	Name:        "json",
	Description: "all parameters, with intervals and methods, as one JSON object",
	write:       writeJSON,
}

// jsonParameter is a parameter. Times are in microseconds, sizes in bytes.
type jsonParameter struct {
	Platform  string   `json:"platform"`
	Library   string   `json:"library"`
	Place     string   `json:"place"`
	Mode      string   `json:"mode"`
	Parameter string   `json:"parameter"`
	From      *int     `json:"bytes_from"`
	To        *int     `json:"bytes_to"`
	Value     *float64 `json:"value"`
	Low       *float64 `json:"ci_low"`
	High      *float64 `json:"ci_high"`
	Unit      string   `json:"unit"`
	Method    string   `json:"method"`
	Bound     bool     `json:"bound"` // the value is not exceeded, and more is not known
	Samples   int      `json:"samples"`
}

const jsonConventions = "times in us, us/B a byte, sizes in bytes; a range has a value at bytes_from and a slope; null: not identifiable; methods: docs/fit.md of loggp"

func writeJSON(w io.Writer, ps []params.Parameter, _ Options) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "{\"conventions\": %q,\n\"parameters\": [", jsonConventions)
	for i, p := range ps {
		text, err := json.Marshal(jsonParameter{p.Platform, p.Library, p.Place, p.Mode, p.Name, formatSize(p.From), formatSize(p.To), jsonNumber(p.Value), jsonNumber(p.Low), jsonNumber(p.High),
			p.Unit, p.Method, p.IsBound(), p.SampleCount})
		if err != nil {
			return fmt.Errorf("write parameters: %w", err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "\n  %s", text)
	}
	b.WriteString("]}\n")
	return b.Flush()
}

// formatSize returns nil where size has no meaning.
func formatSize(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

// jsonNumber returns nil for what is no number.
func jsonNumber(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
