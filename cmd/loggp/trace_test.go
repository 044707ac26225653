package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/program"
	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/render"
)

// What is printed is reviewed like code (go test ./cmd/loggp -run TraceText -update). The machines
// are files of tests: no golden file changes when a platform of the catalogue is fitted anew.
func TestTraceText(t *testing.T) {
	for name, args := range map[string]string{
		"ssend":   "trace --platform testdata/t3e.yaml --mode ssend --size 2KB",
		"late":    "trace --platform testdata/t3e.yaml --mode send --size 100 --late 50us",
		"loggp":   "trace --platform loggp:L=5us,o_s=2us,o_r=3us,g=40us,G=0.01us/B --ranks 2 --program pingpong --size 100",
		"tcp":     "trace --platform ../../model/platform/testdata/ethernet.yaml --mode ssend --size 4KB",
		"overlap": "trace --platform testdata/t3e.yaml --ranks 4 --program overlap --size 700 --window 10us..40us",
	} {
		got := mustRun(t, strings.Fields(args)...)
		golden := filepath.Join("testdata", "trace-"+name+".txt")
		if *update {
			put(t, golden, []byte(got))
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("loggp %s prints what %s does not have:\n%s", args, golden, got)
		}
	}
}

// event is an event as a viewer reads it.
type event struct {
	Phase    string `json:"ph"`
	Name     string
	Process  int          `json:"pid"`
	Thread   int          `json:"tid"`
	Time     *json.Number `json:"ts"`
	Duration *json.Number `json:"dur"`
	ID       string
	Bind     string `json:"bp"`
	Args     map[string]any
}

// A compressed file of trace events is JSON that is packed once.
func TestTraceCompressed(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("trace --platform loggp -o x.json.gz")...)
	packed, err := input.Open("x.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	var x struct{ TraceEvents []event }
	if err := json.NewDecoder(packed).Decode(&x); err != nil || len(x.TraceEvents) == 0 {
		t.Errorf("%d events: %v", len(x.TraceEvents), err)
	}
}

// ps reads microseconds to the picosecond.
func ps(t *testing.T, n *json.Number) unit.Time {
	t.Helper()
	if n == nil {
		t.Fatal("an event has no time")
	}
	if strings.ContainsAny(n.String(), "eE") {
		t.Fatalf("time %s: not every reader takes exponents", n)
	}
	x, err := unit.ParseTime(n.String() + "us")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestTraceEvents reads the events of every program on every machine as a viewer would: threads
// have names, their slices nest, every arrow begins and ends in a slice, and every message that
// begins ends.
func TestTraceEvents(t *testing.T) {
	t.Chdir(t.TempDir())
	commands := []string{"--mode ssend --size 20KB", "--mode ibsend --size 700 --late 1ms", "--mode send --size 3KB --window 20us..60us"}
	for _, p := range program.SmallProgramNames() {
		command := "--program " + p + " --rounds 2"
		if p != "barrier" { // which has no data
			command += " --size 6000"
		}
		commands = append(commands, command)
	}
	for _, platform := range []string{"t3d", "now", "convex", "loggp --ranks 6"} {
		for _, c := range commands {
			args := strings.Fields("trace --platform " + platform + " " + c + " -o x.json")
			mustRun(t, args...)
			b, err := os.ReadFile("x.json")
			if err != nil {
				t.Fatal(err)
			}
			mustRun(t, args...)
			if again, _ := os.ReadFile("x.json"); !bytes.Equal(b, again) {
				t.Errorf("%s: the same command wrote other bytes", args)
			}
			var file struct {
				Unit   string  `json:"displayTimeUnit"`
				Events []event `json:"traceEvents"`
			}
			if err := json.Unmarshal(b, &file); err != nil {
				t.Fatalf("%s: %v", args, err)
			}
			t.Run(strings.Join(args[2:], " "), func(t *testing.T) { readable(t, file.Events, !strings.Contains(c, "window")) })
		}
	}
}

// slice is a complete event.
type slice struct {
	from, to unit.Time
	name     string
}

// readable checks events. Where all of a run is in them some messages are.
func readable(t *testing.T, events []event, whole bool) {
	threads, found := map[[2]int]string{}, map[[2]int][]slice{}
	open, arrows := map[string]event{}, map[string]event{}
	ended := 0
	for _, e := range events {
		at := [2]int{e.Process, e.Thread}
		switch e.Phase {
		case "M":
			if e.Name == "thread_name" {
				threads[at] = fmt.Sprint(e.Args["name"])
			}
		case "X":
			s := slice{ps(t, e.Time), 0, e.Name}
			d := ps(t, e.Duration)
			if s.to = s.from + d; s.from < 0 || d < 0 || e.Name == "" {
				t.Fatalf("slice %+v", s)
			}
			found[at] = append(found[at], s)
		case "b", "s":
			into := map[string]map[string]event{"b": open, "s": arrows}[e.Phase]
			if _, twice := into[e.ID]; twice {
				t.Fatalf("%s %s begins twice", e.Phase, e.ID)
			}
			into[e.ID] = e
		case "e", "f":
			from := map[string]map[string]event{"e": open, "f": arrows}[e.Phase]
			begin, ok := from[e.ID]
			if !ok || ps(t, begin.Time) > ps(t, e.Time) || begin.Name != e.Name {
				t.Fatalf("%s %s at %v ends what began as %+v", e.Phase, e.Name, e.Time, begin)
			}
			delete(from, e.ID)
			if ended++; e.Phase == "e" {
				break
			}
			for _, x := range []event{begin, e} {
				tied := slices.ContainsFunc(found[[2]int{x.Process, x.Thread}], func(s slice) bool { return s.from <= ps(t, x.Time) && ps(t, x.Time) < s.to })
				if !tied {
					t.Fatalf("arrow %s has no slice at %v on thread %d", x.Name, x.Time, x.Thread)
				}
			}
			if e.Bind != "e" {
				t.Fatalf("arrow %s is not bound to the slice that it ends in", e.Name)
			}
		default:
			t.Fatalf("phase %q", e.Phase)
		}
	}
	if len(open)+len(arrows) > 0 || whole && ended == 0 {
		t.Fatalf("%d messages, of which %d do not end, and %d arrows", ended, len(open), len(arrows))
	}
	for at, list := range found {
		if threads[at] == "" {
			t.Fatalf("thread %v has no name", at)
		}
		nested(t, threads[at], list)
	}
}

// nested checks that of two slices of a thread one is in the other, or they do not overlap.
func nested(t *testing.T, thread string, list []slice) {
	slices.SortStableFunc(list, func(a, b slice) int {
		if a.from != b.from {
			return int(min(max(a.from-b.from, -1), 1))
		}
		return int(min(max(b.to-a.to, -1), 1)) // what is around comes first
	})
	var around []slice
	for _, s := range list {
		for len(around) > 0 && around[len(around)-1].to <= s.from {
			around = around[:len(around)-1]
		}
		if n := len(around); n > 0 && s.to > around[n-1].to {
			t.Fatalf("%s: %+v laps over %+v", thread, s, around[n-1])
		}
		around = append(around, s)
	}
}

// TestTracePicture compares the picture of docs/trace.md with what its command draws (go test
// ./cmd/loggp -run TracePicture -update).
func TestTracePicture(t *testing.T) {
	const shown = "../../docs/t3d-trace.svg"
	drawn := filepath.Join(t.TempDir(), "ssend.svg")
	mustRun(t, strings.Fields("trace --platform t3d --mode ssend --size 2KB -o "+drawn)...)
	got, err := os.ReadFile(drawn)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		put(t, shown, got)
		return
	}
	if want, _ := os.ReadFile(shown); !bytes.Equal(got, want) {
		t.Errorf("%s is not what the command draws", shown)
	}
}

// A page has all its files, or is not there.
func TestTracePage(t *testing.T) {
	t.Chdir(t.TempDir())
	mustRun(t, strings.Fields("trace --platform t3d --program ring --ranks 4 -o ring")...)
	sees(t, "ring", ".loggp-report", "course.csv", "index.html", "time-of-network.csv", "time-of-ranks.csv", "trace-t3d-ring.png", "trace-t3d-ring.svg", "trace.json")
	page, err := os.ReadFile("ring/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"ring on t3d", `<svg `, "loggp trace --platform t3d --program ring --ranks 4", "software.match", "prefers-color-scheme"} {
		if !strings.Contains(string(page), s) {
			t.Errorf("the page does not have %q", s)
		}
	}
	if n := strings.Count(string(page), "<script"); n != 1 || !strings.Contains(string(page), "<script>\n"+render.Script+"</script>") {
		t.Errorf("the page has %d scripts, want the one of all pages", n)
	}
}

// Of a run that is too long to be recorded whole the begin is, and the command says so.
func TestTraceTooMuch(t *testing.T) {
	t.Chdir(t.TempDir())
	var out, errs buffer
	status := runCommandLine(t.Context(), strings.Fields("trace --platform t3d --program exchange --rounds 10000 -o x.json"), &out, &errs)
	if status != 0 || !strings.Contains(errs.String(), "Recorded until") {
		t.Errorf("status %d: %s", status, errs.String())
	}
	sees(t, ".", "x.json")
}
