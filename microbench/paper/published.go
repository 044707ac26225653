package paper

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/testdata"
)

// record is a row of a file of the source, by the names of its columns.
type record = map[string]string

// source is what the paper prints.
type source struct {
	parameters reports.Published // tables 3 and 4
	latencies  reports.Published // table 5
	modes      []record          // table 1
	platforms  []record          // table 2
	sequences  []record          // figure 1
	figures    []record
	equations  []record
	claims     []record
}

// read reads the source.
func read() (*source, error) {
	dir, err := fs.Sub(testdata.Published, "published/altawil-moritz")
	if err != nil {
		return nil, err
	}
	x := &source{}
	if x.parameters, err = reports.ReadPublished(dir); err != nil {
		return nil, err
	}
	if x.latencies, err = reports.ReadLatencies(dir); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name string
		to   *[]record
	}{
		{"table-1-send-modes.csv", &x.modes}, {"table-2-platforms.csv", &x.platforms}, {"figure-1-protocols.csv", &x.sequences},
		{"figures.csv", &x.figures}, {"equations.csv", &x.equations}, {"claims.csv", &x.claims},
	} {
		if *f.to, err = reports.ReadTable(dir, f.name); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// figure returns the row of a figure.
func (x *source) figure(number int) record {
	for _, r := range x.figures {
		if r["figure"] == fmt.Sprint(number) {
			return r
		}
	}
	return record{}
}

// subject returns what a published number is about.
func subject(r reports.Row) Subject {
	switch {
	case strings.EqualFold(r.Platform, t3d.Platform):
		return t3d
	case strings.EqualFold(r.Platform, now.Platform):
		return now
	case r.Level == convexIntra.Place:
		return convexIntra
	}
	return convexInter
}
