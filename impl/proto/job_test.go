package proto

import (
	"github.com/loggp/loggp/impl/device"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
)

func job(t *testing.T, cfg Config) *Job {
	t.Helper()
	j, err := NewJob(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// A protocol that does not exist is found before any rank runs, wherever it is named.
func TestUnknownProtocol(t *testing.T) {
	rules := quiet("")
	rules.Rules = append(rules.Rules, model.Rule{Mode: model.Ready, UpTo: -1, Protocol: "XYZ"})
	for where, c := range map[string]Config{"rules": {Library: rules}, "fallback": {Library: quiet("XYZ")}, "force": {Library: quiet(""), Force: "XYZ"}} {
		if _, err := NewJob(c); err == nil || !strings.Contains(err.Error(), `no protocol "XYZ"`) {
			t.Errorf("%s: got %v", where, err)
		}
	}
}

// New returns the engine of a rank.
func New(port device.Port, j *Job) *Engine {
	e := new(Engine)
	e.Setup(port, j)
	return e
}
