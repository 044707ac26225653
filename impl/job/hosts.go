package job

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model"
)

// HasCommonClock reports whether all ranks read the same clock, as those of one machine do.
func (j *Job) HasCommonClock() bool {
	for r := range j.Ranks {
		if j.tierOfRanks(0, r) != model.IntraNode && j.IsLocal() {
			return false
		}
	}
	return true
}

// factsOfHosts returns a fact for each host of a job with several.
func (j *Job) factsOfHosts() []host.Fact {
	if j.localOptions.Team == nil {
		return nil
	}
	var facts []host.Fact
	for r, h := range j.localOptions.Team.Hosts {
		about := []string{h.Name, h.Address}
		for _, f := range h.Facts {
			about = append(about, f.Key+" "+f.Value)
		}
		facts = append(facts, host.Fact{Key: fmt.Sprintf("host_%d", r), Value: strings.Join(about, "; ")})
	}
	return facts
}
