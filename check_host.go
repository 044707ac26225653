package loggp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/reports"
	"github.com/loggp/loggp/reports/doc"
)

// HostOptions configure CheckHost.
type HostOptions struct {
	Ranks int  // ranks of the job to be measured; 0: 2
	Quick bool // watch for interruptions for a shorter time, half a second in total
}

// maxHostRanks is the largest HostOptions.Ranks.
const maxHostRanks = 1_000_000

// HostChecks are the results of checks of this machine.
type HostChecks struct{ Results []host.CheckResult }

// CheckHost checks this computer for conditions that disturb measurements.
func CheckHost(ctx context.Context, o HostOptions) (*HostChecks, error) {
	inspect := host.InspectOptions{Ranks: o.Ranks, WatchDuration: host.ThoroughWatch}
	if o.Ranks == 0 {
		inspect.Ranks = 2
	}
	if err := checkRange("Ranks", inspect.Ranks, 1, maxHostRanks); err != nil {
		return nil, err
	}
	if o.Quick {
		inspect.WatchDuration = host.QuickWatch
	}
	inspection, err := host.Inspect(ctx, inspect)
	if err != nil {
		return nil, fmt.Errorf("look at this machine: %w", err)
	}
	return &HostChecks{host.RunChecks(inspection)}, nil
}

// Document lists the results with advice.
func (c *HostChecks) Document() *doc.Document {
	var list []reports.HostCheck
	for _, r := range c.Results {
		list = append(list, reports.HostCheck{Check: r.Check, Verdict: r.Verdict.String(), Finding: r.Found, Reason: r.Why, Remedy: r.Do, IsSerious: r.Verdict >= host.Warning})
	}
	return reports.HostChecks(list)
}

// WriteJSON writes the results and the worst verdict as JSON.
func (c *HostChecks) WriteJSON(w io.Writer) error {
	type result struct {
		Check   string `json:"check"`
		Verdict string `json:"verdict"`
		Found   string `json:"found"`
		Why     string `json:"why,omitempty"`
		Do      string `json:"do,omitempty"`
	}
	list := []result{}
	for _, r := range c.Results {
		list = append(list, result{r.Check, r.Verdict.String(), r.Found, r.Why, r.Do})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Verdict string   `json:"verdict"`
		Checks  []result `json:"checks"`
	}{host.WorstVerdict(c.Results).String(), list})
}

// Problem returns an error if measuring is impossible here.
func (c *HostChecks) Problem() error {
	var problems []string
	for _, r := range c.Results {
		if r.Verdict == host.Problem {
			problems = append(problems, r.Check+": "+r.Found)
		}
	}
	if problems == nil {
		return nil
	}
	return errors.New("this machine cannot be measured: " + strings.Join(problems, "; "))
}
