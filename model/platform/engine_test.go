package platform

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
)

// A library sets the FIFOs of an engine that has some, and of no other.
func TestOnlyEnginesWithFIFOsSetThem(t *testing.T) {
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
		if err != nil || l.MBCF.FIFOBytes != c.fifo || l.MBCF.Requests != c.requests {
			t.Errorf("%q: FIFO of %d bytes, %d requests, %v", c.more, l.MBCF.FIFOBytes, l.MBCF.Requests, err)
		}
	}
	if _, err := parse("    fifo: {value: 63B, basis: assumed, source: \"a test\"}\n"); err == nil {
		t.Error("a FIFO without room for a header is no error")
	}
	other := strings.Replace(string(file), "    engine: queue\n", "    engine: queue\n    fifo: {value: 4KiB, basis: assumed, source: \"a test\"}\n", 1)
	line := 1 + strings.Count(other[:strings.Index(other, "    fifo:")], "\n")
	want := fmt.Sprintf(`loggp.yaml:%d:5: libraries[queue]: setting "fifo" is read by the engine mbcf, not by this library's engine queue: remove it, or change engine`, line)
	if _, err := Parse("loggp.yaml", []byte(other)); fmt.Sprint(err) != want {
		t.Errorf("a FIFO for the engine queue: error\n%v, want\n%s", err, want)
	}
}

func TestEachDeclaredSettingHasAReader(t *testing.T) {
	for _, e := range slices.Concat(model.Engines, model.StandaloneEngines) {
		var declared, read []string
		for _, s := range e.Settings {
			declared = append(declared, s.Key)
		}
		if s := engineSettings[e]; s != nil {
			read = slices.Collect(maps.Keys(s(&fileReader{}, &model.Library{}).values))
		}
		slices.Sort(declared)
		slices.Sort(read)
		if !slices.Equal(declared, read) {
			t.Errorf("engine %s declares the settings %q; %q are read", e.Name, declared, read)
		}
	}
}
