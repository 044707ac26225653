package launch

import (
	"testing"

	"github.com/loggp/loggp/impl/real/host"
)

// Ranks spin by default if those of a host have a processor each: the processors of this process,
// and those to which other ranks are bound.
func TestRanksSpinWithProcessorEach(t *testing.T) {
	n := len(host.Processors()) + 1
	team := func(bound, apart bool) *Team {
		hosts := make([]Host, n)
		for r := range hosts {
			if bound {
				hosts[r].Processors = []int{1000 + r}
			}
			if apart && r == n-1 {
				hosts[r].Name = "another"
			}
		}
		return &Team{Hosts: hosts}
	}
	further := &Team{Hosts: append(team(false, false).Hosts, Host{Name: "another", Processors: []int{1000}})}
	for _, c := range []struct {
		name  string
		wait  Wait
		team  *Team
		ranks int
		want  bool
	}{
		{"as many as processors", Auto, nil, n - 1, false},
		{"more than processors", Auto, nil, n, true},
		{"more than processors", Spin, nil, n, false},
		{"a team of more than processors", Auto, team(false, false), n, true},
		{"a team that is bound", Auto, team(true, false), n, false},
		{"a team on two hosts", Auto, team(false, true), n, false},
		{"a team with further processors on another host", Auto, further, n + 1, true},
		{"a team that is bound", Block, team(true, false), n, true},
	} {
		if got := (&Config{Wait: c.wait, Team: c.team, Ranks: c.ranks}).IsBlocking(0); got != c.want {
			t.Errorf("%s, %d ranks, %q: blocking %v, want %v", c.name, c.ranks, c.wait, got, c.want)
		}
	}
}
