package main

import (
	"os"
	"strings"
	"testing"
)

// Without --sizes, parameters predict about the sizes that were measured; values far from them are
// refused.
func TestPredictRange(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("measure --platform t3d --modes send,message --sizes 0,16,128,1000 --reps 8 -o samples.csv")...)
	mustRun(t, strings.Fields("fit samples.csv -o params.csv")...)
	for _, flags := range []string{"", " --protocol RTA"} {
		out := mustRun(t, strings.Fields("predict --params params.csv"+flags)...)
		if strings.Contains(out, "\n  5000") || strings.Contains(out, "\n100000") || !strings.Contains(out, "1000") {
			t.Errorf("%s predicts sizes that are far from 0 to 1000:\n%s", flags, out)
		}
		var printed, errs buffer
		if status := runCommandLine(t.Context(), strings.Fields("predict --params params.csv --sizes 100,1MB"+flags), &printed, &errs); status != 0 ||
			!strings.Contains(errs.String(), "2 of 4 values cannot be predicted, the first: ") || !strings.Contains(errs.String(), "1000 bytes") ||
			!strings.Contains(strings.Join(strings.Fields(printed.String()), " "), " 1000000 - - ") {
			t.Errorf("%s of 1 MB: status %d, %s%s", flags, status, printed.String(), errs.String())
		}
		printed.Reset()
		errs.Reset()
		if status := runCommandLine(t.Context(), strings.Fields("predict --params params.csv --sizes 1MB"+flags), &printed, &errs); status != exitFailure || printed.Len() > 0 {
			t.Errorf("%s of 1 MB alone: status %d, %s%s", flags, status, printed.String(), errs.String())
		}
	}
}

// A size between two ranges is marked, one far below the first of a parameter has no value, and
// files say which is which.
func TestPredictMarks(t *testing.T) {
	t.Chdir(t.TempDir())
	const parameters = `platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples
toy,lib,intra,bsend,o_s,1000,2000,3,,,us,timer11,9
toy,lib,intra,bsend,o_s,1000,2000,0,,,us/B,timer11,9
toy,lib,intra,bsend,o_s,8000,9000,4,,,us,timer11,9
toy,lib,intra,bsend,o_s,8000,9000,0,,,us/B,timer11,9
toy,lib,intra,bsend,T,0,9000,5,,,us,rtt/2,9
toy,lib,intra,bsend,T,0,9000,0,,,us/B,rtt/2,9
`
	if err := os.WriteFile("params.csv", []byte(parameters), 0o644); err != nil {
		t.Fatal(err)
	}
	var printed, errs buffer
	if status := runCommandLine(t.Context(), strings.Fields("predict --params params.csv --sizes 0,1000,3000,10000 -o times.csv"), &printed, &errs); status != 0 ||
		strings.Count(errs.String(), "cannot be predicted") != 1 || !strings.Contains(errs.String(), "1 of 8 values") {
		t.Errorf("status %d, %s", status, errs.String())
	}
	text := strings.Join(strings.Fields(printed.String()), " ")
	if !strings.Contains(text, " 0 - 5.000 1000 3.000 5.000 3000 3.000! 5.000 10000 4.000! 5.000! ") {
		t.Error(printed.String())
	}
	file, err := os.ReadFile("times.csv")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{",0,T_s,,ranges,unknown\n", ",0,T_sr,5,ranges,\n", ",3000,T_s,3,ranges,between\n", ",10000,T_sr,5,ranges,outside\n"} {
		if !strings.Contains(string(file), want) {
			t.Errorf("no %q in\n%s", want, file)
		}
	}
}

// Of parameters of several platforms those of the first are predicted, and predict says so.
func TestPredictOnePlatform(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples\n"
	for _, p := range []string{"a", "z"} {
		rows += p + ",b,inter,send,o_s,8,8,5,,,us,timer11,100\n" + p + ",b,inter,send,T,8,8,9,,,us,rtt/2,100\n"
	}
	write(t, "both.csv", rows)
	var out, errs buffer
	if status := runCommandLine(t.Context(), strings.Fields("predict --params both.csv --sizes 8"), &out, &errs); status != exitSuccess ||
		!strings.Contains(out.String(), "calls on a, b, inter") || !strings.Contains(errs.String(), "both.csv also has parameters of z, b: only those of a, b") {
		t.Errorf("status %d, %s%s", status, out.String(), errs.String())
	}
}
