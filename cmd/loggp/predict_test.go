package main

import (
	"strings"
	"testing"
)

// Without --sizes, parameters predict about the sizes that were measured; those far from them are refused.
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
		if status := run(t.Context(), strings.Fields("predict --params params.csv --sizes 100,1MB"+flags), &printed, &errs); status != failed || printed.Len() > 0 || !strings.Contains(errs.String(), "1000 bytes") {
			t.Errorf("%s of 1 MB: status %d, %s%s", flags, status, printed.String(), errs.String())
		}
	}
}
