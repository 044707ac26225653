package reports

import (
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	cellHeader  = "artefact,platform,library,place,mode,parameter,bytes,published_low,published_high,measured,predicted,error_percent,basis"
	claimHeader = "id,verdict,evidence"
)

// WriteCells writes a row for each finding as CSV, in the units of the findings. The cell of a number that there is none of is empty.
func WriteCells(w io.Writer, s *Study) error {
	rows := [][]string{strings.Split(cellHeader, ",")}
	for _, a := range s.Artefacts {
		for _, r := range a.Rows {
			bytes := ""
			if r.Bytes >= 0 {
				bytes = strconv.Itoa(r.Bytes)
			}
			rows = append(rows, []string{a.ID, r.Platform, r.Library, r.Place, r.Mode, r.Parameter, bytes,
				exact(r.Low), exact(r.High), exact(r.Measured), exact(r.Predicted), exact(r.ErrorPercent()), r.Basis})
		}
	}
	return writeLines(w, "cells", rows)
}

// WriteClaims writes a row for each claim as CSV.
func WriteClaims(w io.Writer, s *Study) error {
	rows := [][]string{strings.Split(claimHeader, ",")}
	for _, c := range s.Claims {
		rows = append(rows, []string{c.ID, c.Verdict, flat(c.Evidence)})
	}
	return writeLines(w, "claims", rows)
}

// exact returns a number with ten significant digits, more than any measurement has, so that files show no digits of floating-point
// arithmetic. For none it returns nothing.
func exact(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x+0, 'g', 10, 64)
}
