package timeline

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
)

// The parts of a machine as processes, which is how viewers of trace events group them.
const (
	ranksProcess = 1 + iota
	networkProcess
	messagesProcess
)

var processNames = [...]string{ranksProcess: "ranks", networkProcess: "network", messagesProcess: "messages under way"}

// firstThread is the first number of a thread. Viewers take 0 for an idle one, and a process's own
// number for its main one.
const firstThread = 10

// event is an event of the Trace Event Format (Google), which chrome://tracing and ui.perfetto.dev
// load. Times are microseconds with as many places as there are.
type event struct {
	Phase    string      `json:"ph"`
	Name     string      `json:"name"`
	Category string      `json:"cat,omitempty"`
	Process  int         `json:"pid"`
	Thread   int         `json:"tid"`
	Time     json.Number `json:"ts,omitempty"`
	Duration json.Number `json:"dur,omitempty"`
	ID       string      `json:"id,omitempty"`
	Bind     string      `json:"bp,omitempty"`
	Args     any         `json:"args,omitempty"`
}

// Events writes a recording as JSON for viewers: ranks and parts of the network as threads with
// complete events (X), calls around what is done for them; messages as asynchronous events (b, e),
// and as arrows (s, f) from the step that sends one to the step that takes it. The same recording
// gives the same bytes.
func Events(w io.Writer, t Trace) error {
	e := &eventWriter{w: bufio.NewWriter(w)}
	title, err := json.Marshal(map[string]string{"title": t.Title, "command": t.Command})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.w, "{\"displayTimeUnit\":\"ns\",\"otherData\":%s,\"traceEvents\":[", title)
	for p := ranksProcess; p <= messagesProcess; p++ {
		e.put(event{Phase: "M", Name: "process_name", Process: p, Args: map[string]any{"name": processNames[p]}})
		e.put(event{Phase: "M", Name: "process_sort_index", Process: p, Args: map[string]any{"sort_index": p}})
	}
	thread := firstThread
	calls := exchangedBy(t.Recording)
	for i, x := range t.Recording.Ranks {
		e.track(ranksProcess, thread, x, calls[i])
		thread++
	}
	for _, x := range t.Recording.Resources {
		e.track(networkProcess, thread, x, nil)
		thread++
	}
	for i, f := range t.Recording.Flights {
		e.flight(fmt.Sprintf("0x%x", i+1), f, t.Recording)
	}
	fmt.Fprint(e.w, "\n]}\n")
	if err := e.w.Flush(); e.err == nil {
		e.err = err
	}
	if e.err != nil {
		return fmt.Errorf("write trace events: %w", e.err)
	}
	return nil
}

type eventWriter struct {
	w    *bufio.Writer
	some bool
	err  error
}

// put writes an event, one a line.
func (e *eventWriter) put(x event) {
	b, err := json.Marshal(x)
	if e.err == nil {
		e.err = err
	}
	if e.some {
		e.w.WriteByte(',')
	}
	e.some = true
	e.w.WriteByte('\n')
	e.w.Write(b)
}

func micros(t unit.Time) json.Number { return json.Number(t.MicrosString()) }

// track writes a thread, with what its calls exchanged. A rank without events has no thread.
func (e *eventWriter) track(process, thread int, t model.Track, calls []exchanged) {
	if len(t.Spans)+len(t.Calls) == 0 {
		return
	}
	e.put(event{Phase: "M", Name: "thread_name", Process: process, Thread: thread, Args: map[string]any{"name": t.Name}})
	e.put(event{Phase: "M", Name: "thread_sort_index", Process: process, Thread: thread, Args: map[string]any{"sort_index": thread}})
	put := func(s model.Span, name, category string, args any) {
		e.put(event{Phase: "X", Name: name, Category: category, Process: process, Thread: thread, Time: micros(s.From), Duration: micros(s.Time()), Args: args})
	}
	for i, c := range t.Calls {
		put(c, c.Name, "call", calls[i].args())
	}
	for _, s := range t.Spans {
		var args any
		if s.Bytes > 0 {
			args = map[string]any{"bytes": s.Bytes}
		}
		put(s, chart.SpanName(s), s.Activity.String(), args)
	}
}

// flight writes a message: its way, if it arrived, and an arrow if both ends of that are in the
// recording.
func (e *eventWriter) flight(id string, f model.Flight, r *model.Timeline) {
	category := "message"
	if f.Hardware {
		category = "remote access"
	}
	if f.Arrived() && f.Depart >= 0 {
		args := map[string]any{"from": f.From, "to": f.To, "bytes": f.Bytes}
		if f.Detail != "" {
			args["of"] = f.Detail
		}
		name := fmt.Sprintf("%s %d → %d", f.Name, f.From, f.To)
		begin := event{Phase: "b", Name: name, Category: category, Process: messagesProcess, Thread: messagesProcess, Time: micros(f.Depart), ID: id, Args: args}
		end := begin
		end.Phase, end.Time, end.Args = "e", micros(f.Arrive), nil
		e.put(begin)
		e.put(end)
	}
	taker := f.To
	if f.Hardware {
		taker = f.By
	}
	if in(r, f.By, f.Sent) && in(r, taker, f.Taken) {
		arrow := event{Name: f.Name, Category: category, Process: ranksProcess, ID: id}
		arrow.Phase, arrow.Thread, arrow.Time = "s", firstThread+f.By, micros(f.Sent)
		e.put(arrow)
		arrow.Phase, arrow.Thread, arrow.Time, arrow.Bind = "f", firstThread+taker, micros(f.Taken), "e"
		e.put(arrow)
	}
}

// in reports whether a rank did something at a time, to which an arrow can be tied.
func in(r *model.Timeline, rank int, t unit.Time) bool {
	s := r.Ranks[rank].Spans
	return t >= 0 && len(s) > 0 && t >= s[0].From && t < s[len(s)-1].To
}
