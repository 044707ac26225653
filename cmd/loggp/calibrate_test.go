package main

import (
	"os"
	"strings"
	"testing"
)

// What calibrate and sensitivity cannot do is said, and nothing is written.
func TestCalibrateWrong(t *testing.T) {
	file, err := os.ReadFile("../../docs/here.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"here.yaml": text, "wrong.yaml": strings.Replace(text, "{min: 0.5GB/s, max: 100GB/s}", "{min: 5GB/s, max: 1GB/s}", 1)} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for want, c := range map[string]struct {
		args   string
		status int
	}{
		"no number is free":                   {"calibrate t3d --to table-3* -o out.yaml", exitFailure},
		"there are no targets":                {"calibrate here.yaml -o out.yaml", exitUsage},
		"max 1GB/s: write them so that min":   {"calibrate wrong.yaml --to x.csv -o out.yaml", exitFailure},
		"no such file":                        {"calibrate here.yaml --to x.csv -o out.yaml", exitFailure},
		"there is no directory":               {"calibrate here.yaml --to x.csv -o no/out.yaml", exitUsage},
		"there is no platform":                {"calibrate t4d --to x.csv -o out.yaml", exitUsage},
		"it has no file of its own":           {"platforms sensitivity loggp:L=5us -o out.yaml", exitUsage},
		"name one platform file":              {"calibrate", exitUsage},
		"give one of them":                    {"platforms sensitivity t3d --own --to table-3*", exitUsage},
		`no library "lapi"`:                   {"platforms sensitivity t3d --library lapi -o out.yaml", exitFailure},
		`it is of platform now, not of t3d`:   {"platforms sensitivity t3d --to table-3?NOW* -o out.yaml", exitFailure},
		"is not emulated":                     {"calibrate shm --to x.csv -o out.yaml", exitUsage},
		"unknown unit \"XB\"":                 {"calibrate here.yaml --to x.csv --sizes 3XB -o out.yaml", exitUsage},
		"paper prints a row of platform here": {"calibrate here.yaml --to table-3* -o out.yaml", exitFailure},
	} {
		var out, errs strings.Builder
		status := runCommandLine(t.Context(), strings.Fields(c.args), &out, &errs)
		if status != c.status || !strings.Contains(errs.String(), want) || out.Len() > 0 {
			t.Errorf("%s: status %d, %s%s\nwant %d, %s", c.args, status, &out, &errs, c.status, want)
		}
		if _, err := os.Stat("out.yaml"); err == nil {
			t.Fatalf("%s: a file was written", c.args)
		}
	}
}
