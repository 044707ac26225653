package loggp_test

import (
	"testing"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/real/host"
)

// What makes measuring impossible is an error that says so, and nothing else is.
func TestHostProblems(t *testing.T) {
	checks := loggp.HostChecks{Results: []host.CheckResult{{Check: "a", Found: "fine"}, {Check: "b", Verdict: host.Warning, Found: "bad"}}}
	if err := checks.Problem(); err != nil {
		t.Errorf("a warning is an error: %v", err)
	}
	checks.Results = append(checks.Results, host.CheckResult{Check: "memory", Verdict: host.Problem, Found: "none"}, host.CheckResult{Check: "system", Verdict: host.Problem, Found: "plan9"})
	if err := checks.Problem(); err == nil || err.Error() != "this machine cannot be measured: memory: none; system: plan9" {
		t.Errorf("got %v", err)
	}
}
