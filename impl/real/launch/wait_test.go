package launch

import (
	"testing"

	"github.com/loggp/loggp/impl/real/host"
)

// A rank that may choose spins if the ranks of its host have a processor each: those of this
// process, and those to which other ranks are bound.
func TestWaits(t *testing.T) {
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
		want  Wait
	}{
		{"as many as processors", Auto, nil, n - 1, Spin},
		{"more than processors", Auto, nil, n, Block},
		{"more than processors", Spin, nil, n, Spin},
		{"a team of more than processors", Auto, team(false, false), n, Block},
		{"a team that is bound", Auto, team(true, false), n, Spin},
		{"a team on two hosts", Auto, team(false, true), n, Spin},
		{"a team with further processors on another host", Auto, further, n + 1, Block},
		{"a team that is bound", Block, team(true, false), n, Block},
	} {
		if got := c.wait.Waits(c.team, 0, c.ranks); got != c.want {
			t.Errorf("%s, %d ranks, %q: %s, want %s", c.name, c.ranks, c.wait, got, c.want)
		}
	}
}
