package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench/probe"
	"github.com/loggp/loggp/microbench/sample"
)

// spoiled is what will spoil a measurement on this machine, as far as that can be told in a moment
// before it begins.
type spoiled []string

// look looks for it, once for all ranks, and not where nothing is measured here: on emulated
// machines, and where a launcher of the user's may start ranks elsewhere.
func (s *spoiled) look(cmd *cobra.Command, m *measure) {
	local := isHere(m.platform) || m.platform == probe.Platform && m.vendor.launcher == ""
	if local && !launch.IsRank() {
		ranks := max(m.ranks, 2)
		if m.here.manager != nil {
			ranks = m.here.sharing()
		}
		*s = host.QuickWarnings(cmd.Context(), ranks)
	}
}

// facts returns it for the head of a data set.
func (s spoiled) facts() []sample.Fact {
	if len(s) == 0 {
		return nil
	}
	return []sample.Fact{{Key: sample.FailedChecksFact, Value: strings.Join(s, "; ")}}
}

// complain says it in a line behind the results.
func (s spoiled) complain(cmd *cobra.Command) {
	if len(s) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "possible disturbances: %s ('loggp doctor' says what to do)\n", strings.Join(s, "; "))
	}
}
