package platform

import (
	"math"
	"testing"

	"github.com/loggp/loggp/model"
)

// The accesses to the interface of start-x give the overheads and latencies that are published:
// Husbands and Hoe 1998, table 1. Its third column is one way, as the abstract says.
func TestStartXTable1(t *testing.T) {
	f := load(t, "start-x").Machine.Network.(*model.FatTree)
	for _, row := range []struct {
		name                   string
		bytes                  int
		burst                  bool
		send, receive, latency float64 // us
	}{
		{"a", 16, false, 0.6, 3.0, 5.5},
		{"b", 64, false, 1.4, 11.3, 14.6},
		{"c", 64, true, 0.4, 3.5, 5.6},
	} {
		send, receive := f.Send, f.Receive
		if !row.burst {
			send.Burst, receive.Burst = model.AccessWidth{}, model.AccessWidth{}
		}
		s, r := send.Time(row.bytes).Micros(), receive.Time(row.bytes).Micros()
		latency := s + f.Latency(1).Micros() + r
		for _, x := range []struct {
			what      string
			got, want float64
		}{{"send overhead", s, row.send}, {"receive overhead", r, row.receive}, {"latency", latency, row.latency}} {
			if math.Abs(x.got/x.want-1) > 0.02 {
				t.Errorf("row %s: %s of %.3f us, published %.1f", row.name, x.what, x.got, x.want)
			}
		}
	}
}
