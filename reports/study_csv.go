package reports

import (
	"encoding/csv"
	"errors"
	"fmt"
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
	var rows [][]string
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
	return writeRows(w, "cells", cellHeader, rows)
}

// WriteClaims writes a row for each claim as CSV.
func WriteClaims(w io.Writer, s *Study) error {
	var rows [][]string
	for _, c := range s.Claims {
		rows = append(rows, []string{c.ID, c.Verdict, flat(c.Evidence)})
	}
	return writeRows(w, "claims", claimHeader, rows)
}

func writeRows(w io.Writer, what, header string, rows [][]string) error {
	c := csv.NewWriter(w)
	err := c.Write(strings.Split(header, ","))
	if err == nil {
		err = c.WriteAll(rows)
	}
	c.Flush()
	if err = errors.Join(err, c.Error()); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

// exact returns a number with ten significant digits, more than any measurement has, so that files show no digits of floating-point
// arithmetic. For none it returns nothing.
func exact(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return ""
	}
	return strconv.FormatFloat(x+0, 'g', 10, 64)
}
