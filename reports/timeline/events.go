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

// firstThreadID is the first number of a thread. Viewers take 0 for an idle one, and a process's
// own number for its main one.
const firstThreadID = 10

// traceEvent is an event of the Trace Event Format (Google), which chrome://tracing and
// ui.perfetto.dev load. Times are microseconds with as many places as there are.
type traceEvent struct {
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

// WriteEvents writes a recording as JSON for viewers: ranks and parts of the network as threads
// with complete events (X), calls around what is done for them; messages as asynchronous events (b,
// e), and as arrows (s, f) from the step that sends one to the step that takes it. If that is more
// than viewers show well, it has less detail: see eventDetail. The same recording gives the same
// bytes.
func WriteEvents(w io.Writer, t Trace) error { return writeEvents(w, t, eventDetailOf(t)) }

// WriteAllEvents is WriteEvents with all detail, however much that is.
func WriteAllEvents(w io.Writer, t Trace) error { return writeEvents(w, t, eventDetail{}) }

func writeEvents(w io.Writer, t Trace, detail eventDetail) error {
	e := &eventWriter{w: bufio.NewWriter(w), detail: detail}
	title, err := json.Marshal(map[string]string{"title": t.Title, "command": t.Command, "detail": detail.String()})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.w, "{\"displayTimeUnit\":\"ns\",\"otherData\":%s,\"traceEvents\":[", title)
	for p := ranksProcess; p <= messagesProcess; p++ {
		e.write(traceEvent{Phase: "M", Name: "process_name", Process: p, Args: map[string]any{"name": processNames[p]}})
		e.write(traceEvent{Phase: "M", Name: "process_sort_index", Process: p, Args: map[string]any{"sort_index": p}})
	}
	thread := firstThreadID
	exchanges := make([][]callExchange, len(t.Recording.Ranks))
	if detail.shortest == 0 {
		exchanges = callExchanges(t.Recording)
	}
	for i, x := range t.Recording.Ranks {
		if detail.shortest > 0 {
			x.Calls = mergeShort(x.Calls, detail.shortest)
			x.Spans = mergeShort(waitsOf(x.Spans), detail.shortest)
		}
		e.writeTrack(ranksProcess, thread, x, exchanges[i])
		thread++
	}
	if !detail.withoutSteps {
		for _, x := range t.Recording.Resources {
			e.writeTrack(networkProcess, thread, x, nil)
			thread++
		}
	}
	if !detail.withoutMessages {
		for i, f := range t.Recording.Flights {
			e.writeFlight(fmt.Sprintf("0x%x", i+1), f, t.Recording)
		}
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
	w         *bufio.Writer
	detail    eventDetail
	hasEvents bool
	err       error
}

// write writes an event, one a line.
func (e *eventWriter) write(x traceEvent) {
	b, err := json.Marshal(x)
	if e.err == nil {
		e.err = err
	}
	if e.hasEvents {
		e.w.WriteByte(',')
	}
	e.hasEvents = true
	e.w.WriteByte('\n')
	e.w.Write(b)
}

func jsonMicros(t unit.Time) json.Number { return json.Number(t.MicrosString()) }

// writeTrack writes a thread, with what its calls exchanged. A rank without events has no thread.
func (e *eventWriter) writeTrack(process, thread int, t model.Track, calls []callExchange) {
	if len(t.Spans)+len(t.Calls) == 0 {
		return
	}
	e.write(traceEvent{Phase: "M", Name: "thread_name", Process: process, Thread: thread, Args: map[string]any{"name": t.Name}})
	e.write(traceEvent{Phase: "M", Name: "thread_sort_index", Process: process, Thread: thread, Args: map[string]any{"sort_index": thread}})
	put := func(s model.Span, name, category string, args any) {
		if e.detail.withoutSteps {
			category = "" // the name says enough
		}
		e.write(traceEvent{Phase: "X", Name: name, Category: category, Process: process, Thread: thread, Time: jsonMicros(s.From), Duration: jsonMicros(s.Duration()), Args: args})
	}
	for i, c := range t.Calls {
		switch {
		case c.Count > 1:
			put(c, c.Name, "call", map[string]any{"calls": c.Count})
		case calls != nil:
			put(c, c.Name, "call", calls[i].eventArgs())
		default:
			put(c, c.Name, "call", nil)
		}
	}
	for _, s := range t.Spans {
		if k := s.Activity.OverviewKind(); process == ranksProcess && e.detail.withoutSteps && (k == model.OverheadKind || k == model.ComputeKind) {
			continue
		}
		var args any
		if s.Bytes > 0 {
			args = map[string]any{"bytes": s.Bytes}
		}
		put(s, chart.SpanName(s), s.Activity.String(), args)
	}
}

// writeFlight writes a message: its way, if it arrived, and an arrow if both ends of that are in
// the recording.
func (e *eventWriter) writeFlight(id string, f model.Flight, r *model.Timeline) {
	category := "message"
	if f.IsRemoteAccess {
		category = "remote access"
	}
	if f.Arrived() && f.Depart >= 0 {
		args := map[string]any{"from": f.From, "to": f.To, "bytes": f.Bytes}
		if f.Detail != "" {
			args["of"] = f.Detail
		}
		name := fmt.Sprintf("%s %d → %d", f.Name, f.From, f.To)
		begin := traceEvent{Phase: "b", Name: name, Category: category, Process: messagesProcess, Thread: messagesProcess, Time: jsonMicros(f.Depart), ID: id, Args: args}
		end := begin
		end.Phase, end.Time, end.Args = "e", jsonMicros(f.Arrive), nil
		e.write(begin)
		e.write(end)
	}
	taker := f.To
	if f.IsRemoteAccess {
		taker = f.Initiator
	}
	if isActiveAt(r, f.Initiator, f.Sent) && isActiveAt(r, taker, f.TakenIn) {
		arrow := traceEvent{Name: f.Name, Category: category, Process: ranksProcess, ID: id}
		arrow.Phase, arrow.Thread, arrow.Time = "s", firstThreadID+f.Initiator, jsonMicros(f.Sent)
		e.write(arrow)
		arrow.Phase, arrow.Thread, arrow.Time, arrow.Bind = "f", firstThreadID+taker, jsonMicros(f.TakenIn), "e"
		e.write(arrow)
	}
}

// isActiveAt reports whether a rank did something at a time, to which an arrow can be tied.
func isActiveAt(r *model.Timeline, rank int, t unit.Time) bool {
	s := r.Ranks[rank].Spans
	return t >= 0 && len(s) > 0 && t >= s[0].From && t < s[len(s)-1].To
}
