package sample

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/loggp/loggp/model/unit"
)

// WriteJSON writes the set as one JSON object: facts, and series with their times in microseconds,
// as exact as in CSV.
func WriteJSON(w io.Writer, s *Set) error {
	if err := Write(io.Discard, s); err != nil {
		return err
	}
	type fact struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	type series struct {
		Platform  string       `json:"platform"`
		Library   string       `json:"library"`
		Clock     string       `json:"clock"`
		Place     string       `json:"place"`
		Mode      string       `json:"mode"`
		Protocol  string       `json:"protocol"`
		Timer     string       `json:"timer"`
		Bytes     int          `json:"bytes"`
		Launch    int          `json:"launch"`
		Ranks     int          `json:"ranks,omitempty"`
		Times     []jsonMicros `json:"time_us"`
		Disturbed bool         `json:"disturbed,omitempty"`
	}
	object := struct {
		Facts  []fact   `json:"facts"`
		Series []series `json:"series"`
	}{[]fact{}, []series{}}
	for _, f := range s.Facts {
		object.Facts = append(object.Facts, fact(f))
	}
	for _, x := range s.Series {
		times := make([]jsonMicros, len(x.Times))
		for i, t := range x.Times {
			times[i] = jsonMicros(t)
		}
		object.Series = append(object.Series, series{x.Platform, x.Library, x.Clock, x.Place, x.Mode, x.Protocol, x.Timer, x.Bytes, x.Launch, x.Ranks, times, x.Disturbed})
	}
	if err := json.NewEncoder(w).Encode(object); err != nil {
		return fmt.Errorf("write samples: %w", err)
	}
	return nil
}

// jsonMicros is a time that JSON has in microseconds.
type jsonMicros unit.Time

func (t jsonMicros) MarshalJSON() ([]byte, error) { return []byte(unit.Time(t).MicrosString()), nil }
