package reports

import (
	"fmt"
	"io"
	"strings"
)

// TracePage writes a page on a recording into a directory: index.html, which needs nothing else, the time line as PNG and SVG, the
// tables as CSV, and trace.json for viewers of trace events. The directory is made whole or not at all, as by Page.
func TracePage(dir string, t Trace) error {
	d := newDocument(t.Title)
	d.Lead = []string{"What every processor, the network and the protocol did, as the emulated machine itself saw it. Nothing here is estimated."}
	d.Keys = t.keys()
	d.Footer = "Made by loggp."
	d.csv = []file{{"trace.json", func(w io.Writer) error { return TraceEvents(w, t) }}}
	d.add(section{ID: "time-line", Title: "Time line", Charts: []chartView{d.across(t.Chart())}})
	d.add(section{ID: "time", Title: "Where the time went", Tables: d.tables(t.sums()...)})
	course := t.course(pageRows)
	course.Title = ""
	d.add(section{ID: "course", Title: "Step by step", Tables: d.tables(course)})
	d.add(section{ID: "more", Title: "To look closer", Text: []string{"trace.json beside this page is for https://ui.perfetto.dev and chrome://tracing, which zoom. The same command gives the same again:"}, Commands: []string{t.Command}})
	d.add(section{ID: "words", Title: "What the words mean", Words: traceWords})
	return replace(dir, d.files)
}

// keys are the first things to know.
func (t Trace) keys() []fact {
	packets, accesses := map[string]int{}, 0
	var names []string
	for _, f := range t.Recording.Flights {
		if f.Hardware {
			accesses++
			continue
		}
		if packets[f.Name] == 0 {
			names = append(names, f.Name)
		}
		packets[f.Name]++
	}
	var list []string
	for _, n := range names {
		list = append(list, fmt.Sprintf("%d %s", packets[n], n))
	}
	out := []fact{{"time", number(t.Recording.End().Micros()) + " us", "from the first thing to the last"}}
	if len(list) > 0 {
		out = append(out, fact{"packets", strings.Join(list, ", "), ""})
	}
	if accesses > 0 {
		out = append(out, fact{"remote access", plural(accesses, "transfer"), "requests, data and confirmations, without a processor"})
	}
	return out
}

// traceWords explain what a page on a recording says.
var traceWords = []word{
	{"software", "What the library does, by the names of its costs in the platform's file."},
	{"copy", "The processor copies in its own memory."},
	{"send, receive", "The processor brings a packet onto the network, or takes one off it."},
	{"wait", "The processor has nothing to do until what it names has come."},
	{"blocked", "The network does not take what the processor sends."},
	{"carry", "This part of the network is taken by a message, and others wait before it."},
	{"RM, R", "The first packet of a message, with its data or without."},
	{"ACK, M, FIN", "The receive is there; the data alone; the data has come."},
	{"get, done", "The hardware asks for data, or tells that it has come."},
	{"credit", "Room in the receiver's buffer is given back."},
}
