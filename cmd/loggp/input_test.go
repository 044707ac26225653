package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/input"
)

// Every verb that reads files bounds their text, facts, series and operations, packed or not. The
// error names the file, and the flag that allows more, which does.
func TestFilesAreBounded(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Cleanup(func() { input.SetMaxBytes(0) })
	samples := func(facts, series int) string {
		var b strings.Builder
		for range facts {
			b.WriteString("# a: b\n")
		}
		b.WriteString("platform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us\n")
		for i := range series {
			b.WriteString("t,l,virtual,inter,send,p,x" + strings.Repeat("x", i) + ",8,0,0,1\n")
		}
		return b.String()
	}
	goal := func(operations int, more string) string {
		return "num_ranks 1\nrank 0 {\n" + strings.Repeat("calc 1\n", operations) + "}\n" + more
	}
	const long = " of text, unpacked; --max-input allows more"
	for _, c := range []struct {
		text, limit, says string
		verbs             []string
	}{
		{samples(0, 5) + strings.Repeat("\n", 70_000), "64KiB", "FILE: more than 64KiB" + long, []string{"fit FILE", "report FILE -o out", "compare FILE FILE"}},
		{strings.Repeat("\n", 70_000), "64KiB", "FILE: more than 64KiB" + long, []string{"predict --params FILE --sizes 8", "export json FILE", "fit FILE"}},
		{samples(5, 1), "64KiB", "FILE:3:1: more than 2 facts above the header; --max-input allows more", []string{"fit FILE", "report FILE -o out", "compare FILE FILE"}},
		{samples(1, 200), "64KiB", "FILE:131:26: column \"timer\": more than 128 series", []string{"fit FILE", "report FILE -o out", "compare FILE FILE"}},
		{goal(10, strings.Repeat("// x\n", 20_000)), "64KiB", "FILE: more than 64KiB" + long, []string{"simulate FILE", "run --platform t3d FILE", "schedule check FILE", "schedule append FILE FILE -o -", "schedule alltoallv --from FILE --platform cc-cluster", "compare --platform t3d --schedule FILE"}},
		{goal(5_000, ""), "64KiB", "rank 0: the operations up to here take more than 64KiB of memory; --max-input allows more", []string{"simulate FILE", "run --platform t3d FILE", "schedule check FILE", "compare --platform t3d --schedule FILE"}},
		{"num_ranks 1\nrank 0 {\ncalc 1\x00\n}\n", "64KiB", "FILE:3:7: a byte of 0: this is not text", []string{"simulate FILE", "run --platform t3d FILE", "compare --platform t3d --schedule FILE"}},
	} {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		io.WriteString(z, c.text)
		z.Close()
		for name, contents := range map[string][]byte{"plain.goal": []byte(c.text), "packed.goal": packed.Bytes()} {
			if err := os.WriteFile(name, contents, 0o666); err != nil {
				t.Fatal(err)
			}
			for _, v := range c.verbs {
				args := append(strings.Fields(strings.ReplaceAll(v, "FILE", name)), "--max-input", c.limit)
				var out, errs buffer
				status := runCommandLine(t.Context(), args, &out, &errs)
				if want := strings.Replace(c.says, "FILE", name, 1); status != exitFailure || !strings.Contains(errs.String(), want) {
					t.Errorf("%q: status %d, %.300s, want %s", args, status, errs.String(), want)
				}
			}
		}
	}
	write(t, "long.goal", goal(5_000, ""))
	mustRun(t, "simulate", "long.goal", "--max-input", "1MiB")
	for _, bad := range []string{"0", "-1", "x", "1"} {
		var out, errs buffer
		if status := runCommandLine(t.Context(), []string{"simulate", "long.goal", "--max-input", bad}, &out, &errs); status == exitSuccess {
			t.Errorf("--max-input %s is accepted", bad)
		}
	}
}

// A verb reads - once for all that it needs of it, and says that it cannot be two inputs. A report
// does not wait on its terminal for a platform that came by standard input when it was measured.
func TestStandardInputIsOneInput(t *testing.T) {
	loggp := linkCommand(t)
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform t3d --modes send,isend --sizes 0,64,1K,4K --reps 6 -o x.csv")...)
	mustRun(t, strings.Fields("fit x.csv -o p.csv")...)
	write(t, "my.yaml", mustRun(t, strings.Fields("platforms show t3d --yaml")...))
	write(t, "osu.txt", "# OSU MPI Latency Test v7.2\n# Size          Latency (us)\n8 1.5\n")
	const once = "standard input can be read only once: write it to a file"
	for _, c := range []struct{ in, line, says string }{
		{"x.csv", "report -", "A message of 0 B takes"},
		{"x.csv", "compare --samples - --params p.csv", "Predicted and measured times"},
		{"x.csv", "fit - -", once},
		{"x.csv", "compare - -", once},
		{"my.yaml", "predict --platform - --collective bcast -n 4 --sizes 8", "By the model, chimp takes"},
		{"my.yaml", "platforms show - --yaml", "name: t3d"},
		{"my.yaml", "calibrate - --to x.csv", "no number is free"},
		{"my.yaml", "measure --platform - --modes send --sizes 8 --reps 3 -o y.csv", "written to y.csv"},
		{"my.yaml", "report y.csv", "platform-changed"},
		{"osu.txt", "import - osu.txt", "read osu.txt: 1 row"},
	} {
		in, err := os.Open(c.in)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), loggp, strings.Fields(c.line)...)
		cmd.Stdin = in
		out, _ := cmd.CombinedOutput()
		in.Close()
		if !strings.Contains(string(out), c.says) {
			t.Errorf("%s < %s: %.400s, want %q", c.line, c.in, out, c.says)
		}
	}
}
