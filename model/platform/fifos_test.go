package platform

import (
	"os"
	"strings"
	"testing"
)

// A library sets the FIFOs of an engine that has some, and of no other.
func TestFIFOs(t *testing.T) {
	file, err := os.ReadFile("loggp.yaml")
	if err != nil {
		t.Fatal(err)
	}
	parse := func(more string) (*Platform, error) {
		return Parse("loggp.yaml", []byte(strings.Replace(string(file), "    engine: mbcf\n", "    engine: mbcf\n"+more, 1)))
	}
	for _, c := range []struct {
		more           string
		fifo, requests int
	}{
		{"", 0, 64},
		{"    fifo: {value: 4KiB, basis: assumed, source: \"a test\"}\n    requests: {value: 3, basis: assumed, source: \"a test\"}\n", 4096, 3},
		{"    requests: {value: 0, basis: assumed, source: \"a test\"}\n", 0, -1},
	} {
		p, err := parse(c.more)
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.Library("mbcf")
		if err != nil || l.FIFO != c.fifo || l.Requests != c.requests {
			t.Errorf("%q: FIFO of %d bytes, %d requests, %v", c.more, l.FIFO, l.Requests, err)
		}
	}
	if _, err := parse("    fifo: {value: 63B, basis: assumed, source: \"a test\"}\n"); err == nil {
		t.Error("a FIFO without room for a header is no error")
	}
	other := strings.Replace(string(file), "    engine: queue\n", "    engine: queue\n    fifo: {value: 4KiB, basis: assumed, source: \"a test\"}\n", 1)
	if _, err := Parse("loggp.yaml", []byte(other)); err == nil {
		t.Error("the engine queue has no FIFOs, and may set one")
	}
}
