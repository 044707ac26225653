package papers

import (
	"fmt"
	"strings"
	"testing"
)

// Whether the send or the receive comes first decides how the engine of MPI/MBCF moves a message.
// Its barriers send no messages.
func TestSequencesCountTheEngineEvents(t *testing.T) {
	x := NewResults()
	measure(t, "sequences", openSite(t, Subject{ID: "sr", Platform: "mbcf-hub", Library: "sr", Place: "inter"}), Experiment{}, x)
	for key, want := range map[string]float64{
		"count(sr,send,queued)": 1, "count(sr,send,requests)": 0, "count(sr,receive,written)": 1, "count(sr,receive,requests)": 1, "count(sr,cross,queued)": 1,
		"count(sr,cross,stale)": 1, "count(sr,cross,written)": 1, "count(sr,send,copies)": 1, "count(sr,receive,copies)": 0, "count(sr,cross,copies)": 1,
		"count(sr,trips,written)": 20, "count(sr,trips,queued)": 0, "completions(sr,quiet)": 1, "completions(sr,all)": 40, "prefix(sr)": 10,
	} {
		if got, known := x.Numbers[key]; !known || got != want {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	for program, want := range map[string]string{
		"send":    "message of 32 bytes 0-1, message of 1000 bytes 0-1",
		"receive": "request of 44 bytes 1-0, remote write of 1000 bytes 0-1, remote write of 16 bytes 0-1",
		"cross": "message of 32 bytes 0-1, request of 44 bytes 1-0, message of 1000 bytes 0-1, request of 44 bytes 1-0, " +
			"remote write of 1000 bytes 0-1, remote write of 16 bytes 0-1",
	} {
		var all []string
		for _, f := range x.Recordings[program+"(sr)"].Flights {
			if f.Depart < 0 || f.Arrive < f.Depart {
				t.Errorf("%s: %s departs at %v and arrives at %v", program, f.Name, f.Depart, f.Arrive)
			}
			all = append(all, fmt.Sprintf("%s %d-%d", f.Name, f.From, f.To))
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s: %s; want %s", program, got, want)
		}
	}
}
