package reports_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/render"
)

var advice = []reports.Advice{
	{Check: "system", Verdict: "ok", Found: "linux"},
	{Check: "cores", Verdict: "note", Found: "2 threads", Why: "siblings slow it down", Do: ""},
	{Check: "busy", Verdict: "warning", Found: "others use 1.5 processors", Why: "they take processors", Do: "stop them", IsGrave: true},
}

// All findings stand in order; of advice what is grave comes first, and what is well has none.
func TestDoctor(t *testing.T) {
	var plain, narrow, csv bytes.Buffer
	if err := render.WriteText(&plain, reports.Doctor(advice), render.PlainStyle); err != nil {
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
	if err := render.WriteText(&narrow, reports.Doctor(advice), terminal); err != nil {
		t.Fatal(err)
	}
	if text := narrow.String(); !strings.Contains(text, "\x1b[31mwarning") || !strings.Contains(text, "\x1b[32mok") || strings.Contains(text, "\x1b[31mnote") {
		t.Errorf("colours: %q", text)
	}
	if err := render.WriteCSV(&csv, reports.Doctor(advice)); err != nil {
		t.Fatal(err)
	}
	const lines = "check,verdict,found,why,do\nsystem,ok,linux,,\ncores,note,2 threads,siblings slow it down,\nbusy,warning,others use 1.5 processors,they take processors,stop them\n"
	if csv.String() != lines {
		t.Errorf("got\n%s\nwant\n%s", csv.String(), lines)
	}
}
