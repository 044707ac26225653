package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// contrast sets what was measured on several machines side by side.
func (c *comparison) contrast(cmd *cobra.Command, machines []sample.Machine) error {
	margin, err := unit.ParsePercent(c.margin)
	if err == nil && (margin < 0 || margin > 10) {
		err = errors.New("it must be from 0% to 1000%")
	}
	if err != nil {
		return misuse(cmd, fmt.Errorf("--margin %s: %w", c.margin, err))
	}
	lengths, err := sizes(c.sizes, nil)
	if err != nil {
		return misuse(cmd, err)
	}
	all, err := compare.NewContrast(machines, clean.Options{}, margin)
	if err != nil {
		return err
	}
	if err := comparable(all, lengths); err != nil {
		return err
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if c.output != "" {
		if err := sample.Save(c.output, func(w io.Writer) error { return compare.WriteContrast(w, all) }); err != nil {
			return fmt.Errorf("comparison: %w", err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "comparison of %d subjects written to %s\n", len(all.Subjects), c.output)
	}
	out := cmd.OutOrStdout()
	return reports.Contrast(out, all, lengths, style(out))
}

// comparable says what is missing if there is nothing to be seen side by side.
func comparable(c *compare.Contrast, lengths []int) error {
	if len(c.Subjects) < 2 {
		s := c.Subjects[0]
		return fmt.Errorf("compare: all samples are of %s, %s, %s: it takes two to compare. Measure another platform, library or place (loggp measure --platform NAME -o FILE) and name its file by another --samples; or say with --params whose predictions to set beside these samples",
			s.Platform, s.Library, s.Place)
	}
	common := reports.CommonSizes(c)
	if len(c.Readings) == 0 && len(c.Rivalries) == 0 {
		var lines []string
		for _, s := range c.Subjects {
			lines = append(lines, fmt.Sprintf("%s has %s at %s bytes", s.Name, orNone(strings.Join(s.Modes, " ")), numbers(s.Sizes)))
		}
		return fmt.Errorf("compare: no two subjects have samples of the same mode, with the library's choice of protocol, at the same size: %s. Measure them with the same --modes and --sizes", strings.Join(lines, "; "))
	}
	for _, k := range lengths {
		if !slices.Contains(common, k) {
			return fmt.Errorf("--sizes: no two subjects were measured at %d bytes; common sizes are %s", k, numbers(common))
		}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "no mode"
	}
	return s
}

// numbers lists numbers.
func numbers(list []int) string {
	if len(list) == 0 {
		return "none"
	}
	var words []string
	for _, n := range list {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}
