package paper

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports"
)

// Figures 1 to 5 are diagrams and pseudo-code. They are checked on the T3D, whose protocols they show.

// drawn is the length of the messages in diagrams: long enough to be seen and short enough to see the rest.
const drawn = 1000

// transfer returns a message of the T3D.
func (x *run) transfer(p *model.Protocol, mode model.Mode, nonblocking bool) model.Transfer {
	s := x.site(t3d)
	there, _ := s.path()
	return model.Transfer{Machine: s.job.Platform.Machine, Library: s.job.Library, Protocol: p, Mode: mode, Bytes: drawn, Path: there, Nonblocking: nonblocking}
}

// timeline draws a transfer.
func timeline(figure int, what string, t model.Transfer) *reports.Chart {
	protocol := t.Protocol.Name
	title := fmt.Sprintf("%s of %d bytes by %s on T3D", what, t.Bytes, protocol)
	return reports.Timeline(fmt.Sprintf("figure-%d-%s-%s", figure, strings.ReplaceAll(what, " ", "-"), protocol), title, t.Timeline())
}

// figure1 sets the messages of each protocol beside those that went over the emulated network.
func (x *run) figure1(src *source) reports.Artefact {
	a := reports.Artefact{ID: "figure-1", Caption: src.figure(1)["caption"], Words: []string{
		fmt.Sprintf("Each protocol was forced on a message of %d bytes, and what went over the emulated network written down. A remote read or write counts as one message.", drawn)}}
	for _, p := range model.Protocols {
		step := 0
		for _, r := range src.sequences {
			if r["protocol"] != p.Name {
				continue
			}
			found, agree := "no message", false
			if step < len(x.sequences[p.Name]) {
				h := x.sequences[p.Name][step]
				found, agree = h.String(), h.is(r)
			}
			step++
			f := words(t3d, mode(p), p.Name+" "+r["step"], drawn, fmt.Sprintf("%s, %s to %s: %s", r["kind"], r["from"], r["to"], r["carries"]), found)
			f.Source = "Figure 1"
			compare(&f, agree)
			a.Rows = append(a.Rows, f)
		}
		if step == 0 {
			continue // the paper does not have it
		}
		for _, extra := range x.sequences[p.Name][min(step, len(x.sequences[p.Name])):] {
			f := words(t3d, mode(p), p.Name, drawn, "nothing more", extra.String())
			compare(&f, false)
			a.Rows = append(a.Rows, f)
		}
		m := model.Standard
		if p.Synchronous() {
			m = model.Synchronous
		}
		a.Charts = append(a.Charts, timeline(1, "a blocking "+m.String()+" send", x.transfer(p, m, false)))
	}
	return a
}

// mode is the call by which a protocol was forced.
func mode(p *model.Protocol) string {
	if p.Synchronous() {
		return "ssend"
	}
	return "send"
}

// figure2 names the pseudo-code.
func (x *run) figure2(src *source) reports.Artefact {
	return reports.Artefact{ID: "figure-2", Caption: src.figure(2)["caption"], Words: []string{
		"It is microbench/pingpong.go, which has the pseudo-code above the program: timer11 and timer12 at P1, timer21 and timer22 at P2, 10 rounds without timers, then as many with timers as the facts say, with the root of the barrier at P1 and again at P2.",
		"Delta, of which the paper says no number, is twice the longest round that P1 saw in the warm-up.",
	}}
}

// times are the rows of a forced protocol: how long the sender is busy, and until the message is there.
func (x *run) times(p *model.Protocol) []reports.Finding {
	var all []reports.Finding
	for _, k := range protocolSizes {
		for _, timer := range []string{sample.Sender, sample.OneWay} {
			q := quantity{t3d, "ssend", p.Name, timer, k}
			f := finding(t3d, "ssend", timer+" of "+p.Name, k, "us")
			show(&f, x.measured.get(q), x.predicted.get(q))
			all = append(all, f)
		}
	}
	return all
}

// figure3 is the synchronous send by RTA, which contains the latency.
func (x *run) figure3(src *source) reports.Artefact {
	a := reports.Artefact{ID: "figure-3", Caption: src.figure(3)["caption"], Rows: x.times(model.RTA),
		Charts: []*reports.Chart{timeline(3, "a blocking synchronous send", x.transfer(model.RTA, model.Synchronous, false))}}
	f := finding(t3d, "ssend", "o_s less that of issend", small, "us")
	inside := func(r *Results) Value { return r.send(t3d, "ssend", small).minus(r.send(t3d, "issend", small)) }
	show(&f, inside(x.measured), inside(x.predicted))
	f.Note = fmt.Sprintf("L, which lies inside the send, is %s.", x.measured.latency(t3d).us())
	a.Rows = append(a.Rows, f)
	return a
}

// figure4 is the one that does not block, during which the sender may work.
func (x *run) figure4(src *source) reports.Artefact {
	a := reports.Artefact{ID: "figure-4", Caption: src.figure(4)["caption"],
		Charts: []*reports.Chart{timeline(4, "a synchronous send that does not block", x.transfer(model.RTA, model.Synchronous, true))}}
	for _, k := range tableSizes {
		for _, mode := range []string{"ssend", "issend"} {
			f := finding(t3d, mode, "o_s", k, "us")
			show(&f, x.measured.send(t3d, mode, k), x.predicted.send(t3d, mode, k))
			a.Rows = append(a.Rows, f)
		}
	}
	return a
}

// figure5 is RAT as the T3D's synchronous send, beside a buffered one.
func (x *run) figure5(src *source) reports.Artefact {
	buffered := x.transfer(nil, model.Buffered, false)
	buffered.Protocol = model.Named(buffered.Library.Protocol(model.Buffered, buffered.Path.Tier, drawn))
	return reports.Artefact{ID: "figure-5", Caption: src.figure(5)["caption"], Rows: x.times(model.RAT), Charts: []*reports.Chart{
		timeline(5, "a blocking buffered send", buffered), timeline(5, "a blocking synchronous send", x.transfer(model.RAT, model.Synchronous, false)),
	}}
}
