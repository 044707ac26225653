package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The same seed gives the same directory, on one core too, and another seed another one. What the run took, and where, is in none of its
// files.
func TestReproduceIsDeterministic(t *testing.T) {
	long(t)
	t.Chdir(t.TempDir())
	args := "reproduce altawil-moritz --reps 4 -o "
	if out := runOnce(t, strings.Fields(args+"paper")...); !strings.Contains(out, "true by construction") || !strings.Contains(out, "AM-29") || strings.Contains(out, "Table 3:") {
		t.Errorf("with -o it prints something else than the verdicts: %s", out)
	}
	before := runtime.GOMAXPROCS(1)
	mustRun(t, strings.Fields(args+"b")...)
	runtime.GOMAXPROCS(before)
	mustRun(t, strings.Fields(args+"c --seed 2")...)
	entries, err := os.ReadDir("paper")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	read := func(dir, name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, e := range entries {
		a := read("paper", e.Name())
		if a != read("b", e.Name()) {
			t.Errorf("%s differs", e.Name())
		}
		if strings.Contains(a, here) {
			t.Errorf("%s names the directory", e.Name())
		}
	}
	for _, name := range []string{"index.html", "cells.csv", "claims.csv"} {
		if read("paper", name) == read("c", name) {
			t.Errorf("another seed gave the same %s", name)
		}
	}
}

// Without a name the papers are listed.
func TestReproduceLists(t *testing.T) {
	if out := mustRun(t, "reproduce"); !strings.Contains(out, "altawil-moritz      29  K. Al-Tawil") {
		t.Errorf("the list is %s", out)
	}
	if out := mustRun(t, "reproduce", "--format", "json"); !json.Valid([]byte(out)) || !strings.Contains(out, "altawil-moritz") {
		t.Errorf("the list as JSON is %s", out)
	}
}

// What is printed can be chosen, and is what the files of a directory have.
func TestReproduceFormats(t *testing.T) {
	long(t)
	t.Chdir(t.TempDir())
	base := "reproduce altawil-moritz --reps 2 --noise off --format "
	cells := mustRun(t, strings.Fields(base+"cells -o paper")...)
	if b, err := os.ReadFile("paper/cells.csv"); err != nil || string(b) != cells {
		t.Errorf("what is printed is not what is written: %v", err)
	}
	rows, err := csv.NewReader(strings.NewReader(mustRun(t, strings.Fields(base+"claims")...))).ReadAll()
	if err != nil || len(rows) != 30 || strings.Join(rows[0], ",") != "id,verdict,evidence,rests_on,note" {
		t.Errorf("%d rows of claims, %v", len(rows), err)
	}
	for _, row := range rows[min(1, len(rows)):] {
		if row[1] == "" || row[2] == "" {
			t.Errorf("claim without verdict or evidence: %q", row)
		}
	}
	if text := mustRun(t, strings.Fields(base+"json")...); !json.Valid([]byte(text)) || !strings.Contains(text, "AM-29") {
		t.Errorf("no JSON: %.200s", text)
	}
	if table := mustRun(t, strings.Fields(base+"table")...); !strings.Contains(table, "Table 3: LogGP signature") || !strings.Contains(table, "AM-29") {
		t.Errorf("the table is %s", table)
	}
}
