package launch

import (
	"testing"
	"time"

	"github.com/loggp/loggp/impl/real/auth"
)

// controlPair returns both ends of a control connection.
func controlPair(t *testing.T) (agent, leader *controlConnection) {
	t.Helper()
	token := auth.NewToken()
	l, err := auth.Listen("", token, controlID(1))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialed, err := auth.Dial(t.Context(), l.Addr().String(), token, controlID(1))
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept(t.Context(), controlID(1))
	if err != nil {
		t.Fatal(err)
	}
	agent, leader = newControlConnection(dialed), newControlConnection(accepted)
	t.Cleanup(agent.close)
	t.Cleanup(leader.close)
	return agent, leader
}

// Heartbeats carry no information and may arrive at any time.
func TestHeartbeatsAreIgnored(t *testing.T) {
	far, near := controlPair(t)
	for _, w := range []runUpdate{{}, {Run: 1, Report: &report{}}, {}, {Run: 1, IsOver: true}} {
		if err := far.send(w); err != nil {
			t.Fatal(err)
		}
	}
	reports := 0
	if d := (&remoteAgent{control: near}).superviseRun(1, nil, new(bool), func(report) { reports++ }); d != nil || reports != 1 {
		t.Errorf("%d reports, and %v", reports, d)
	}
	for _, kind := range []string{cmdHeartbeat, cmdHeartbeat, cmdExit} {
		if err := near.send(command{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&Agent{Rank: 1}).executeCommands(far); err != nil {
		t.Error(err)
	}
}

// A process that is stopped gets a bounded number of heartbeats, and more when it continues. They
// end with the connection.
func TestHeartbeatsPauseForStoppedProcess(t *testing.T) {
	far, near := controlPair(t)
	over := make(chan struct{})
	go func() {
		far.sendHeartbeats(runUpdate{}, 50*time.Microsecond)
		close(over)
	}()
	hear := func(n int) {
		near.SetReadDeadline(time.Now().Add(time.Minute))
		for i := range n {
			if err := near.receive(&runUpdate{}); err != nil {
				t.Fatalf("heartbeat %d: %v", i, err)
			}
		}
	}
	for end := time.Now().Add(time.Minute); far.unansweredHeartbeats.Load() < maxUnansweredHeartbeats; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the heartbeats do not come")
		}
	}
	time.Sleep(10 * time.Millisecond)
	hear(maxUnansweredHeartbeats)
	near.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if err := near.receive(&runUpdate{}); err == nil {
		t.Errorf("there are more than %d heartbeats", maxUnansweredHeartbeats)
	}
	far.close()
	<-over

	far, near = controlPair(t)
	go far.sendHeartbeats(runUpdate{}, 50*time.Microsecond)
	go func() {
		for far.receive(&command{}) == nil {
		}
	}()
	for range 3 * maxUnansweredHeartbeats / 500 {
		hear(500)
		if err := near.send(command{Kind: cmdHeartbeat}); err != nil {
			t.Fatal(err)
		}
	}
}
