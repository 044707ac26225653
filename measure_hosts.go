package loggp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/loggp/loggp/impl/real/launch"
)

// hasHosts reports whether ranks are started other than by this process on this host.
func (m *measurement) hasHosts() bool { return len(m.Hosts) > 0 || m.Expect > 0 || m.Managed != nil }

// isOnSeveralHosts reports whether ranks are, or may be, on several hosts.
func (m *measurement) isOnSeveralHosts() bool {
	if m.Managed == nil || m.team == nil {
		return m.hasHosts()
	}
	n := len(m.team.Hosts)
	return m.team.RanksOnHost(0, n) < n
}

// checkHosts checks the options about hosts, and sets the number of ranks.
func (m *measurement) checkHosts() error {
	others := len(m.Hosts) + m.Expect
	if m.Managed != nil {
		others = m.Managed.Size - 1
	}
	for _, x := range []struct {
		option                  string
		set, managed, unmanaged bool // whether it is set; whether it is allowed for ranks started by a manager, and for others
	}{
		{"Hosts", m.Hosts != nil, false, true},
		{"Expect", m.Expect != 0, false, true},
		{"SSH", m.SSH != nil, false, true},
		{"RemoteProgram", m.RemoteProgram != "", false, true},
		{"Listen", m.Listen != "", true, true},
		{"SharedDir", m.SharedDir != "", true, false},
	} {
		switch {
		case !x.set || m.Managed != nil && x.managed:
		case m.Managed != nil:
			return optionErrorf(x.option, "%s has started the ranks of this job", m.Managed.Manager)
		case !x.unmanaged:
			return optionErrorf(x.option, "it is for ranks that mpirun or srun has started")
		case !m.hasHosts():
			return optionErrorf(x.option, "it is for ranks on other hosts: name them with --hosts, or wait for them with --expect")
		}
	}
	if slices.Contains(m.Hosts, "") {
		return optionErrorf("Hosts", "a list of hosts, such as node2,node3")
	}
	if m.SSH != nil && len(m.SSH) == 0 {
		return optionErrorf("SSH", "it names no command")
	}
	if m.Expect < 0 || others > launch.MaxRanks-1 {
		return optionErrorf("Hosts, Expect", "%d ranks beside this one, and there may be from 1 to %d", others, launch.MaxRanks-1)
	}
	if !m.hasHosts() {
		return nil
	}
	ranks := 1 + others
	if m.Ranks != 0 && m.Ranks != ranks {
		err := fmt.Errorf("this process, --hosts and --expect are %d ranks", ranks)
		if m.Managed != nil {
			err = fmt.Errorf("%s has started %d", m.Managed.Manager, ranks)
		}
		return &OptionError{"Ranks", fmt.Sprint(m.Ranks), err}
	}
	m.Ranks = ranks
	return nil
}

// gatherTeam connects the hosts of the ranks. It first checks everything that can be checked
// without them.
func (m *measurement) gatherTeam(ctx context.Context) (err error) {
	if err := m.checkPlan(); err != nil {
		return err
	}
	config := launch.TeamConfig{
		Hosts: m.Hosts, ExternalRanks: m.Expect, SSHCommand: m.SSH, ProgramPath: m.RemoteProgram, ListenAddress: m.Listen,
		AgentArgs: m.AgentArgs, Announce: m.Announce,
	}
	switch {
	case m.Managed != nil && !launch.IsRank():
		m.Managed.Directory = m.SharedDir
		m.team, err = m.Managed.Gather(ctx, config)
	case len(m.Hosts) > 0 && m.AgentArgs == nil:
		return errors.New("measure on other hosts: MeasureOptions.AgentArgs has to say how this program becomes an agent there")
	default:
		m.team, err = launch.GatherTeam(ctx, config)
	}
	if err == nil && m.Managed != nil {
		m.findDisturbances(ctx)
	}
	return err
}

// checkPlan returns an error if the plan is invalid.
func (m *measurement) checkPlan() error {
	if len(m.Collective) > 0 {
		_, err := m.newCollectiveExperiment(m.Ranks, nil)
		return err
	}
	plan, err := m.newPlan()
	if err == nil {
		_, err = m.newExperiment(plan)
	}
	return err
}
