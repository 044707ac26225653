package tcp

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"
)

// A deadlock is one only when reports have been old for the settle time: a rank that continues
// after a datagram withdraws its report.
func TestDeadlockNeedsSettledReports(t *testing.T) {
	const ranks = 2
	table := newProgressTable(ranks)
	table.settleTime = time.Hour
	report := make([]byte, progressSize(ranks))
	for r := range ranks {
		table.recordReport(r, false, report)
	}
	if got := table.deadlockedRanks(); got != nil {
		t.Errorf("just after the reports: ranks %v", got)
	}
	table.lastReport = time.Now().Add(-2 * time.Hour)
	if got, want := table.deadlockedRanks(), []int{0, 1}; !slices.Equal(got, want) {
		t.Errorf("after the settle time: ranks %v, want %v", got, want)
	}
	binary.LittleEndian.PutUint64(report[16:], activityMark)
	table.recordReport(1, false, report)
	table.lastReport = time.Now().Add(-2 * time.Hour)
	if got := table.deadlockedRanks(); got != nil {
		t.Errorf("after rank 1 has withdrawn its report: ranks %v", got)
	}
}
