package launch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// A process finds its rank and a token in its environment. It accepts them only if its task has the
// same token.
const (
	rankVariable  = "LOGGP_RANK"
	tokenVariable = "LOGGP_TOKEN"
)

// Files that a rank inherits beside its standard files.
const (
	taskFile   = 3 + iota // with the rank's task; it ends when the process that started the rank ends
	reportFile            // to write its reports to
	sharedFile            // the transport's
)

// task is the work that a rank is given.
type task struct {
	Token       string
	Rank        int
	Ranks       int
	Args        []string
	EarlierRuns []report // ends of earlier runs
	Hosts       []Host   `json:",omitempty"` // by rank, if there are several
}

// rank is this process, if it was started as a rank.
type rank struct {
	task
	reports        *json.Encoder
	runCount       int           // that the rank has reached
	leaveRequested chan struct{} // closed when the rank must leave its program
}

// leaveProgramByte follows the task when the rank must leave its program.
const leaveProgramByte = '.'

// thisRank returns this process as a rank, or nil if the user started it.
var thisRank = sync.OnceValues(func() (*rank, error) {
	number, isRank := os.LookupEnv(rankVariable)
	token := os.Getenv(tokenVariable)
	if !isRank {
		return nil, nil
	}
	os.Unsetenv(rankVariable) // processes that the program starts are no ranks
	os.Unsetenv(tokenVariable)
	refuse := func(err error) error {
		return fmt.Errorf("launch: the environment has %s=%s, but this process was not started as a rank (unset the variable): %w", rankVariable, number, err)
	}
	if err := checkInheritedFiles(); err != nil {
		return nil, refuse(err)
	}
	r := &rank{reports: json.NewEncoder(os.NewFile(reportFile, "reports")), leaveRequested: make(chan struct{})}
	in := os.NewFile(taskFile, "task")
	tasks := json.NewDecoder(in)
	if err := tasks.Decode(&r.task); err != nil {
		return nil, refuse(err)
	}
	if token == "" || r.Token != token {
		return nil, refuse(errors.New("the token is another's"))
	}
	go func() {
		// The task is followed by the command to leave the program, or by the end of the file when
		// the process that started the rank has ended.
		b := bufio.NewReader(io.MultiReader(tasks.Buffered(), in))
		if _, err := b.ReadBytes(leaveProgramByte); err == nil {
			close(r.leaveRequested)
			io.Copy(io.Discard, b)
		}
		os.Exit(1)
	}()
	return r, nil
})

// reachRun returns the result of an earlier run, or takes part in this one and exits.
func (r *rank) reachRun(c Config, t Transport, program func(device.Port) error) error {
	if !slices.Equal(c.Args, r.Args) {
		return fmt.Errorf("launch: rank %d starts no jobs of its own", r.Rank)
	}
	n := r.runCount
	r.runCount++
	if n < len(r.EarlierRuns) {
		return r.EarlierRuns[n].toError()
	}
	detail, err := r.joinRun(c, t, program)
	if problem := r.reports.Encode(newReport(r.Rank, err, detail)); err != nil || problem != nil {
		os.Exit(1)
	}
	os.Exit(0)
	return nil
}

// joinRun takes part in a run, and returns the rank's error detail and how it ended.
func (r *rank) joinRun(c Config, t Transport, program func(device.Port) error) (detail []byte, err error) {
	if c.Ranks != r.Ranks {
		return nil, fmt.Errorf("launch: rank %d came to a run of %d ranks in place of one of %d: code between runs must do the same in every process", r.Rank, c.Ranks, r.Ranks)
	}
	node, err := t.Join(r.Rank, os.NewFile(sharedFile, "shared"))
	if err != nil {
		return nil, err
	}
	go func() {
		<-r.leaveRequested
		node.Stop()
	}()
	if err := r.reports.Encode(report{Kind: reportBegun, Rank: r.Rank}); err != nil {
		return nil, err
	}
	err = runProgram(node, r.Rank, c.Pin, program)
	detail = errorDetail(node)
	if err == nil {
		node.Finish()
	}
	return detail, err
}

// withoutRankVariables returns an environment without the variables that make a process a rank.
func withoutRankVariables(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		return strings.HasPrefix(v, rankVariable+"=") || strings.HasPrefix(v, tokenVariable+"=")
	})
}
