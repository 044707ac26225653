package timeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// loadedRun is a run of ranks that compute and wait in calls of MPI_Allreduce until all have
// computed; the wait is caused by the ranks that compute longest.
func loadedRun(computing ...unit.Time) *model.Timeline {
	r := &model.Timeline{}
	c := model.CallProfile{Name: "MPI_Allreduce", Count: len(computing), DelayedBy: make([]unit.Time, len(computing))}
	var end unit.Time
	for _, t := range computing {
		end = max(end, t)
	}
	for i, t := range computing {
		x := model.Track{Name: fmt.Sprintf("rank %d", i)}
		x.Totals[model.ComputeActivity], x.Totals[model.WaitActivity] = t, end-t
		c.Waiting, c.LateSender, c.Time = c.Waiting+end-t, c.LateSender+end-t, c.Time+end-t
		for j, u := range computing {
			if u == end {
				c.DelayedBy[j] += end - t
			}
		}
		r.Ranks = append(r.Ranks, x)
	}
	r.Profile.Calls = []model.CallProfile{{Name: "MPI_Waitall", Count: 1, Waiting: 1}, c}
	return r
}

// The sentence names the call with most of the waiting, the ranks that cause it, and why.
func TestCauseNamesRankAndCall(t *testing.T) {
	const ms = unit.Millisecond
	network := loadedRun(10*ms, 10*ms)
	for i := range network.Ranks {
		network.Ranks[i].Totals[model.BlockedActivity] = 8 * ms
	}
	link := model.Track{Name: "link 3"}
	link.Totals[model.CarryActivity] = 17 * ms
	network.Resources = []model.Track{link}
	transfer := loadedRun(10*ms, 10*ms, 10*ms, 20*ms)
	transfer.Profile.Calls[1].LateSender = 0
	for name, x := range map[string]struct {
		run  *model.Timeline
		want string
	}{
		"one slow rank":  {loadedRun(10*ms, 10*ms, 10*ms, 14*ms, 10*ms, 10*ms, 10*ms, 10*ms), "25 % of the time ranks wait in MPI_Allreduce for rank 3, which computes 1.4 times as long as the median rank. The run takes 14.00 ms."},
		"two slow ranks": {loadedRun(10*ms, 20*ms, 10*ms, 20*ms, 10*ms, 10*ms, 10*ms, 10*ms), "38 % of the time ranks wait in MPI_Allreduce for ranks 1 and 3, which compute 2.0 times as long as the median rank."},
		"computing":      {loadedRun(10*ms, 10*ms), "100 % of the time ranks compute, and communication is no bottleneck."},
		"network":        {network, "44 % of the time the network holds ranks up; link 3 is busy for 94 % of it."},
		"transfer":       {transfer, "38 % of the time ranks wait in MPI_Allreduce for messages on their way."},
	} {
		got := strings.ReplaceAll(causeSentence(x.run), "\u00a0", " ")
		if !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
