package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/render"
)

var advice = []reports.HostCheck{
	{Check: "system", Verdict: "ok", Finding: "linux"},
	{Check: "cores", Verdict: "note", Finding: "2 threads", Reason: "siblings slow it down", Remedy: ""},
	{Check: "busy", Verdict: "warning", Finding: "others use 1.5 processors", Reason: "they take processors", Remedy: "stop them", IsSerious: true},
}

// All findings stand in order; of advice what is grave comes first, and what is well has none.
func TestDoctor(t *testing.T) {
	var plain, narrow, csv bytes.Buffer
	if err := render.WriteText(&plain, reports.HostChecks(advice), render.PlainStyle); err != nil {
		t.Fatal(err)
	}
	const want = `What measurements on this machine depend on

check   verdict  found
system  ok       linux
cores   note     2 threads
busy    warning  others use 1.5 processors

check  why it matters         what to do
busy   they take processors   stop them
cores  siblings slow it down  -
`
	if plain.String() != want {
		t.Errorf("got\n%s\nwant\n%s", plain.String(), want)
	}
	terminal := render.TerminalStyle
	terminal.Width = 40
	if err := render.WriteText(&narrow, reports.HostChecks(advice), terminal); err != nil {
		t.Fatal(err)
	}
	if text := narrow.String(); !strings.Contains(text, "\x1b[31mwarning") || !strings.Contains(text, "\x1b[32mok") || strings.Contains(text, "\x1b[31mnote") {
		t.Errorf("colours: %q", text)
	}
	if err := render.WriteCSV(&csv, reports.HostChecks(advice), ""); err != nil {
		t.Fatal(err)
	}
	const lines = "check,verdict,found,why,do\nsystem,ok,linux,,\ncores,note,2 threads,siblings slow it down,\nbusy,warning,others use 1.5 processors,they take processors,stop them\n"
	if csv.String() != lines {
		t.Errorf("got\n%s\nwant\n%s", csv.String(), lines)
	}
}
