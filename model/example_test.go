package model_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
)

// writeCost prints the terms of 3000 bytes by standard send, one link away.
func writeCost(w io.Writer) {
	x := model.Transfer{Machine: t3d(), Library: chimp(), Mode: model.StandardMode, Bytes: 3000, Path: model.Path{Hops: 1}}
	cost := x.Cost()
	for _, c := range cost.Sender {
		if c.Step == "" {
			c.Step = "call"
		}
		fmt.Fprintf(w, "%-4s %-8v %-20s %8.3f us = %v\n", c.Step, c.Side, c.Name, c.Time.Micros(), c)
	}
	fmt.Fprintf(w, "T_s   = %7.3f us\n", cost.Sender.Sum().Micros())
	fmt.Fprintf(w, "T_s-r = %7.3f us\n", cost.Delivery.Sum().Micros())
	v := model.LowLevelParameters(x.Machine, x.Library, x.Path)
	fmt.Fprintf(w, "(5)   = %7.3f us\n", model.SenderTime(model.ProtocolRTA, v, x.Bytes).Micros())
}

// writeTimeline prints the course of 3001 bytes by RAT, on the machine that is LogGP itself.
func writeTimeline(w io.Writer) {
	x := model.Transfer{Machine: &model.Machine{Network: &example}, Protocol: model.ProtocolRAT, Mode: model.SynchronousMode, Bytes: 3001}
	d := x.Timeline()
	for _, f := range d.Flights {
		fmt.Fprintf(w, "%-3s from the %-8v at %v, at the %v at %v\n", f.Name, d.Ranks[f.From].Name, f.Depart, d.Ranks[f.To].Name, f.Arrive)
	}
	fmt.Fprintf(w, "T_s = %v, T_s-r = %v\n", d.Ranks[0].Calls[0].To, d.Ranks[1].End())
}

// The library's rules choose RTA for a message of 3000 bytes. The sender's terms come in the
// order in which time passes. While it waits, the terms are those of the receiver.
func ExampleTransfer_Cost() {
	writeCost(os.Stdout)
	// Output:
	// call sender   software.send           8.000 us = 1 × 8us
	// R    sender   software.pack           5.100 us = 3000 B, 1.7ns/B
	// R    sender   processor.copy         17.647 us = 3000 B, 170MB/s
	// R    sender   software.control        1.000 us = 1 × 1us
	// R    sender   torus.send.start        1.200 us = 1 × 1.2us
	// R    sender   torus.send.bandwidth    0.333 us = 40 B, 120MB/s
	// R    wire     torus.hop               0.013 us = 1 × 13.333ns
	// R    wire     torus.deliver           0.100 us = 1 × 100ns
	// R    receiver torus.receive           0.147 us = 1 × 147ns
	// R    receiver software.handle         1.000 us = 1 × 1us
	// R    receiver software.match          1.000 us = 1 × 1us
	// M    receiver torus.get.start         4.500 us = 3 × 1.5us
	// M    wire     torus.hop               0.080 us = 6 × 13.333ns
	// M    wire     torus.deliver           0.600 us = 6 × 100ns
	// M    wire     torus.get.bandwidth    50.000 us = 3000 B in 3 parts, 60MB/s
	// M    receiver software.handle         3.000 us = 3 × 1us
	// M    receiver processor.copy         17.647 us = 3000 B in 3 parts, 170MB/s
	// ACK  receiver software.control        1.000 us = 1 × 1us
	// ACK  receiver torus.send.start        1.200 us = 1 × 1.2us
	// ACK  receiver torus.send.bandwidth    0.333 us = 40 B, 120MB/s
	// ACK  wire     torus.hop               0.013 us = 1 × 13.333ns
	// ACK  wire     torus.deliver           0.100 us = 1 × 100ns
	// ACK  sender   torus.receive           0.147 us = 1 × 147ns
	// ACK  sender   software.handle         1.000 us = 1 × 1us
	// call sender   software.standard      20.000 us = 1 × 20us
	// T_s   = 135.161 us
	// T_s-r = 114.901 us
	// (5)   =  57.684 us
}

func ExampleTransfer_Timeline() {
	writeTimeline(os.Stdout)
	// Output:
	// R   from the sender   at 2us, at the receiver at 7us
	// ACK from the receiver at 12us, at the sender at 17us
	// M   from the sender   at 22us, at the receiver at 57us
	// FIN from the sender   at 59us, at the receiver at 64us
	// T_s = 59us, T_s-r = 67us
}

// TestDocs keeps the equations of docs/model.md and its example of a timeline true.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	writeTimeline(&b)
	if !strings.Contains(string(page), "```\n"+b.String()+"```\n") {
		t.Errorf("docs/model.md does not have the timeline\n%s", b.String())
	}
	for _, p := range model.Protocols {
		for _, line := range []string{p.Equations().Sender.String(), p.Equations().Delivery.String()} {
			if !strings.Contains(string(page), "= "+line) {
				t.Errorf("docs/model.md does not have the equation %s of %s", line, p.Name)
			}
		}
	}
}
