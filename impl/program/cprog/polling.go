//go:build cgo && linux && (amd64 || arm64)

package cprog

import (
	"fmt"
	"syscall"
	"time"

	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/program/cprog/toolchain"
)

// Program.StallLimit is for loops without calls, which watchProgress finds, and for loops that only
// poll, which this file finds.

// pollResultArguments has the functions with which programs poll, and for each the index of the
// argument that points to its flag. -1: the function reads the clock, sleeps, or makes progress for
// a result that the program checks itself.
var pollResultArguments = map[string]int{
	"MPI_Test": 1, "MPI_Testany": 3, "MPI_Testall": 2, "MPI_Testsome": 2, "MPI_Request_get_status": 1, "MPI_Parrived": 2,
	"MPI_Request_get_status_all": 2, "MPI_Request_get_status_any": 3, "MPI_Request_get_status_some": 2,
	"MPI_Iprobe": 3, "MPI_Improbe": 3, "MPI_Win_test": 1,
	"MPI_Win_sync": -1, "MPI_Wtime": -1, "loggp_now": -1, "loggp_sleep": -1,
}

// pollResultByFunction has the same arguments, plus 2, by function number; 0: not a polling
// function.
var pollResultByFunction = func() []int {
	all := make([]int, len(toolchain.Functions))
	for i, f := range toolchain.Functions {
		if a, ok := pollResultArguments[f.Name]; ok {
			all[i] = a + 2
		}
	}
	return all
}()

// isUnsuccessfulPoll reports whether a call was a poll without a result.
func isUnsuccessfulPoll(number int, a args) bool {
	result := pollResultByFunction[number]
	return result == 1 || result > 1 && *pointerAt[int32](a[result-2]) == 0
}

// checkPolling returns an error if the ranks of this process have only polled without a result for
// longer than the limit.
func (r *rank) checkPolling(number int, a args) error {
	now := time.Since(r.program.startTime)
	if !isUnsuccessfulPoll(number, a) {
		r.program.lastProgress.Store(int64(now))
		return nil
	}
	if now-time.Duration(r.program.lastProgress.Load()) < r.program.StallLimit {
		return nil
	}
	at := r.siteAt(uintptr(r.hostRank.r.caller)).Parenthesized()
	text := fmt.Sprintf("it polled in vain for %v, longer than --limit allows%s%s", r.program.StallLimit, at, r.describeLastCall())
	return &mpi.AbortError{Rank: r.world.JobRank(), Code: 128 + int(syscall.SIGXCPU), Reason: text}
}
