package clean

import "github.com/loggp/loggp/microbench/sample"

// Subject is where something was measured.
type Subject struct{ Platform, Library, Place string }

func SubjectOf(s *sample.Series) Subject { return Subject{s.Platform, s.Library, s.Place} }

// warning returns one that is of no mode.
func (s Subject) warning(of, code, text string) Warning {
	return Warning{Platform: s.Platform, Library: s.Library, Place: s.Place, Parameter: of, Code: code, Text: text}
}
