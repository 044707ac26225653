package microbench_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/loggp/loggp/microbench"
)

// What a campaign leaves open is set, and what cannot be is refused with a word about it.
func TestCampaignCheck(t *testing.T) {
	plan := microbench.Plan{Modes: []string{"send"}, Sizes: []int{1}}
	c := microbench.Campaign{Plan: plan}
	if err := c.Check(); err != nil || c.LeastLaunches() != 5 || c.Time() != 4*time.Second || c.Wanted() != 0.02 {
		t.Errorf("%v: %d launches, %v, %v", err, c.LeastLaunches(), c.Time(), c.Wanted())
	}
	c = microbench.Campaign{Plan: plan, Quick: true, Launches: 7, Precision: 0.1}
	if err := c.Check(); err != nil || c.LeastLaunches() != 7 || c.Time() != 600*time.Millisecond || c.Wanted() != 0.1 {
		t.Errorf("%v: %d launches, %v, %v", err, c.LeastLaunches(), c.Time(), c.Wanted())
	}
	c = microbench.Campaign{Plan: plan}
	if c.Reps = 8; c.Time() != 0 {
		t.Errorf("8 repetitions may take %v", c.Time())
	}
	for _, wrong := range []struct {
		change func(c *microbench.Campaign)
		says   string
	}{
		{func(c *microbench.Campaign) { c.Launches = 1001 }, "1001 launches"},
		{func(c *microbench.Campaign) { c.Budget = -1 }, "budget"},
		{func(c *microbench.Campaign) { c.Precision = math.NaN() }, "precision"},
		{func(c *microbench.Campaign) { c.Precision = 1 }, "precision"},
		{func(c *microbench.Campaign) { c.Reps = -1 }, "repetitions"},
		{func(c *microbench.Campaign) { c.Modes = []string{"zsend"} }, "zsend"},
	} {
		c := microbench.Campaign{Plan: plan}
		wrong.change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), wrong.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
