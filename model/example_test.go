package model_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
)

// writeCost prints the terms of the example of docs/model.md: 3000 bytes by standard send, one link away.
func writeCost(w io.Writer) {
	x := model.Transfer{Machine: t3d(), Library: chimp(), Mode: model.Standard, Bytes: 3000, Path: model.Path{Hops: 1}}
	cost := x.Cost()
	for _, c := range cost.Sender {
		if c.Step == "" {
			c.Step = "call"
		}
		fmt.Fprintf(w, "%-4s %-8v %-20s %8.3f us = %v\n", c.Step, c.Where, c.Name, c.Time.Micros(), c)
	}
	fmt.Fprintf(w, "T_s   = %7.3f us\n", cost.Sender.Sum().Micros())
	fmt.Fprintf(w, "T_s-r = %7.3f us\n", cost.Delivery.Sum().Micros())
}

// writeTimeline prints the course of the same message by RAT, on the machine that is LogGP itself.
func writeTimeline(w io.Writer) {
	x := model.Transfer{Machine: &model.Machine{LogGP: &example}, Protocol: model.RAT, Mode: model.Synchronous, Bytes: 3001}
	d := x.Timeline()
	for _, a := range d.Arrows {
		fmt.Fprintf(w, "%-3s from the %-8v at %v, at the %v at %v\n", a.Step, a.From, a.Depart, a.To, a.Arrive)
	}
	fmt.Fprintf(w, "T_s = %v, T_s-r = %v\n", d.Sender.Call, d.Receiver.End)
}

// The library's rules choose RTA for a message of 3000 bytes. What the sender pays comes in the order in which time passes: where
// it waits, the terms are those of whom it waits for.
func ExampleTransfer_Cost() {
	writeCost(os.Stdout)
	// Output:
	// x
}

func ExampleTransfer_Timeline() {
	writeTimeline(os.Stdout)
	// Output:
	// x
}

// TestDocs keeps the examples of docs/model.md true.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer){"writeCost": writeCost, "writeTimeline": writeTimeline} {
		var b strings.Builder
		write(&b)
		if !strings.Contains(string(page), "```\n"+b.String()+"```\n") {
			t.Errorf("docs/model.md does not have what %s prints:\n%s", name, b.String())
		}
	}
	for _, p := range model.Protocols {
		for _, line := range []string{p.Equations().Sender.String(), p.Equations().Delivery.String()} {
			if !strings.Contains(string(page), "= "+line) {
				t.Errorf("docs/model.md does not have the equation %s of %s", line, p.Name)
			}
		}
	}
}
