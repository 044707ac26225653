package job

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/model"
)

// Common reports whether all ranks read the same clock, as those of one machine do.
func (j *Job) Common() bool {
	for r := range j.Ranks {
		if j.tier(0, r) != model.Intra && j.Real() {
			return false
		}
	}
	return true
}

// hosts returns a fact for each host of a job with several.
func (j *Job) hosts() []host.Fact {
	if j.here.Team == nil {
		return nil
	}
	var facts []host.Fact
	for r, h := range j.here.Team.Hosts {
		about := []string{h.Name, h.Address}
		for _, f := range h.Facts {
			about = append(about, f.Key+" "+f.Value)
		}
		facts = append(facts, host.Fact{Key: fmt.Sprintf("host_%d", r), Value: strings.Join(about, "; ")})
	}
	return facts
}
