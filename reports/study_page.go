package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/compare"
)

// StudyPage writes a page on a study into a directory: index.html, which needs nothing else, cells.csv, claims.csv, and the charts as
// PNG and SVG. The same study gives the same bytes. The directory is made whole or not at all, as by Page.
func StudyPage(dir string, s *Study) error {
	d := newStudyPage(s)
	return replace(dir, d.files)
}

// The files beside the page of a study.
const (
	cellsFile  = "cells.csv"
	claimsFile = "claims.csv"
)

func newStudyPage(s *Study) *document {
	d := newDocument(s.Title)
	d.Lead = []string{s.Source,
		"Each table and figure of this paper, and each of its statements that a program can check, beside what loggp measured on emulated machines and what its models predict.",
		strings.TrimSpace(s.counts() + " " + s.agreement())}
	d.Keys = s.keys()
	d.Footer = "Made by loggp."
	d.csv = []file{
		{cellsFile, func(w io.Writer) error { return WriteCells(w, s) }},
		{claimsFile, func(w io.Writer) error { return WriteClaims(w, s) }},
	}
	if len(s.Claims) > 0 {
		d.add(section{ID: "claims", Title: "Claims", Tables: view(s.claimTable(true), claimsFile)})
	}
	d.add(section{ID: "reading", Title: "How to read the tables", Items: reading})
	for i := range s.Artefacts {
		d.artefact(&s.Artefacts[i])
	}
	d.studyRun(s)
	d.add(section{ID: "source", Title: "Source", Text: []string{s.Source}})
	d.add(section{ID: "glossary", Title: "What the words mean", Words: slices.Concat(studyWords, glossary)})
	return &d
}

// keys are the first things to know of a study.
func (s *Study) keys() []fact {
	var out []fact
	for _, v := range verdicts {
		fitted := s.Fitted(v)
		if n := s.Count(v) - fitted; n > 0 {
			out = append(out, fact{phrases[v].Text, s.ofClaims(n), "claims"})
		}
		if fitted > 0 {
			out = append(out, fact{phrases[v].Text + fittedTo, s.ofClaims(fitted), "claims that a number was fitted to"})
		}
	}
	if all, within := s.Rows(compare.Validation, near); all > 0 {
		out = append(out, fact{"validation", fmt.Sprintf("%d of %d", within, all), fmt.Sprintf("published values met within %d %%", near)})
	}
	if all, agree := s.Words(); all > 0 {
		out = append(out, fact{"words", fmt.Sprintf("%d of %d", agree, all), "answers in words that agree"})
	}
	if all, _ := s.Rows(compare.Calibration, near); all > 0 {
		out = append(out, fact{"calibration", fmt.Sprint(all), "published values that were fitted to"})
	}
	return out
}

// ofClaims says how many of the claims.
func (s *Study) ofClaims(n int) string { return fmt.Sprintf("%d of %d", n, len(s.Claims)) }

// artefact adds the section of a table or figure.
func (d *document) artefact(a *Artefact) {
	x := section{ID: fileName(a.ID), Title: a.title(), Short: a.name(), Items: a.Words}
	charts := a.Charts
	if c := a.chart(); c != nil {
		charts = append([]*Chart{c}, charts...)
	}
	for _, c := range charts {
		v := d.alone(c)
		v.ID, v.Bare = "chart-"+v.Name, c.Title == x.Title
		x.Charts = append(x.Charts, v)
	}
	if t := a.findings(true); t.rows() > 0 {
		t.Title = a.name() + ", published and measured"
		x.Tables = view(t, cellsFile)
	}
	d.add(x)
}

// view returns a table whose numbers are in a file that is written anyway.
func view(t *Table, file string) []tableView { return []tableView{newView(t, file)} }

// studyRun says how the numbers came about.
func (d *document) studyRun(s *Study) {
	t := s.factTable()
	if t.rows() == 0 {
		return
	}
	d.add(section{ID: "run", Title: "The run", Tables: d.tables(t)})
	again := section{ID: "again", Title: "How to get the same again", Text: []string{"The same command gives the same numbers, to the last digit."}}
	for _, f := range s.Facts {
		if f[0] == "command" {
			again.Commands = append(again.Commands, f[1])
		}
	}
	if len(again.Commands) > 0 {
		d.add(again)
	}
}

// studyWords explain what a page on a study says beside the words of all pages.
var studyWords = []word{
	{"published", "As it is printed in the paper; both ends where it is a range."},
	{"measured", "By loggp's micro-benchmarks on the emulated machine, with the 95 % interval."},
	{"predicted", "By the models, from the file of the platform, without running anything."},
	{"holds, fails", "What the check of a claim said, by the numbers that are its evidence."},
	{"holds, fitted", "It holds, but a number of a platform was fitted to it: that proves nothing."},
	{"not applicable", "What the claim speaks of is not there to be run."},
}
