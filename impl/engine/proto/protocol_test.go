package proto

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

func job(t *testing.T, l *model.Library, protocol string) *Job {
	t.Helper()
	j, err := newJob(l, protocol)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A protocol that does not exist is found before any rank runs, wherever it is named.
func TestUnknownProtocol(t *testing.T) {
	rules := quiet("")
	rules.Proto.Rules = append(rules.Proto.Rules, model.ProtocolRule{Mode: model.ReadyMode, MaxBytes: -1, Protocol: "XYZ"})
	for _, c := range []struct {
		where    string
		library  *model.Library
		protocol string
	}{{"rules", rules, ""}, {"fallback", quiet("XYZ"), ""}, {"force", quiet(""), "XYZ"}} {
		if _, err := New(c.library, c.protocol); err == nil || !strings.Contains(err.Error(), `no protocol "XYZ"`) {
			t.Errorf("%s: got %v", c.where, err)
		}
	}
}

// tested is a rank and its engine.
type tested struct {
	*engine.Rank
	e *Engine
}

// open returns the rank of a port.
func open(port device.Port, j *Job) tested {
	x := tested{new(engine.Rank), &Engine{job: j}}
	x.Setup(port, x.e, &engine.Config{})
	return x
}
