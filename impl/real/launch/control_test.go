package launch

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/impl/real/auth"
)

// An agent that has connected and says nothing, or half of a hello, is not waited for.
func TestSilentAgentIsGivenUp(t *testing.T) {
	usual := helloTimeout
	helloTimeout = 50 * time.Millisecond
	t.Cleanup(func() { helloTimeout = usual })
	for _, said := range []string{"", `{"Version":"v`} {
		far, near := controlPair(t)
		far.Write([]byte(said))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := (&remoteAgent{rank: 1, control: near}).handshake(ctx, "v1")
		if err == nil || !strings.HasPrefix(err.Error(), "rank 1 has connected from 127.0.0.1:") || !strings.Contains(err.Error(), "not identified itself within 50ms") {
			t.Errorf("after %q the error is %v", said, err)
		}
	}
}

// Nor is one that knows the token waited for by a team.
func TestSilentExternal(t *testing.T) {
	usual := helloTimeout
	helloTimeout = 50 * time.Millisecond
	t.Cleanup(func() { helloTimeout = usual })
	team, err := GatherTeam(t.Context(), TeamConfig{ExternalRanks: 1, Announce: func(address string, token auth.Token, _ []int) {
		go func() {
			if c, err := auth.Dial(t.Context(), address, token, controlID(1)); err == nil {
				c.Read(make([]byte, 1))
				c.Close()
			}
		}()
	}})
	if err == nil {
		team.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "rank 1 has connected from 127.0.0.1:") {
		t.Errorf("the error is %v", err)
	}
}

// A message that is repeated, as by a faulty agent, is not taken for one of another run.
func TestRepeatedMessageEndsJob(t *testing.T) {
	far, near := controlPair(t)
	for range 2 {
		far.send(runUpdate{Run: 1, IsOver: true})
	}
	a := &remoteAgent{rank: 1, control: near}
	if d := a.superviseRun(1, nil, new(bool), nil); d != nil {
		t.Errorf("run 1: %v", d)
	}
	if d := a.superviseRun(2, nil, new(bool), nil); d == nil || !strings.Contains(d.Status, "it reports of run 1 in run 2: a message was repeated") {
		t.Errorf("run 2: %v", d)
	}
	for _, c := range []struct {
		command command
		says    string
	}{
		{command{Kind: cmdAccept}, `rank 0 sent the command "accept", which comes first and once`},
		{command{Kind: cmdRefuse}, `rank 0 sent the command "refuse", which comes first and once`},
		{command{Kind: cmdRun, Run: 2}, `rank 0 sent the command "run" for run 2 in run 1: a message was repeated`},
		{command{Kind: cmdStop, Run: 1}, `rank 0 sent the command "stop" for run 1 in run 0: a message was repeated`},
		{command{Kind: "dance"}, `rank 0 sent the command "dance", which this version does not know`},
	} {
		far, near := controlPair(t)
		near.send(c.command)
		if err := (&Agent{Rank: 1}).executeCommands(far); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.command, err)
		}
	}
}
