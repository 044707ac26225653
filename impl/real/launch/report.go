package launch

import (
	"errors"
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// report describes the end of a rank or a run, in a form that is sent between processes.
type report struct {
	Kind      string
	Rank      int    `json:",omitempty"`
	RankCount int    `json:",omitempty"`
	Ranks     []int  `json:",omitempty"`
	Text      string `json:",omitempty"`
	Stack     []byte `json:",omitempty"`

	Detail  []byte         `json:",omitempty"` // error detail of the rank
	Details map[int][]byte `json:",omitempty"` // of the ranks of a deadlock
}

// Kinds of reports.
const (
	reportBegun    = "begun" // not an end: the first report of a rank, which has reached its run
	reportDone     = "done"
	reportFailed   = "failed"
	reportPanicked = "panicked"
	reportDeadlock = "deadlock"
	reportDied     = "died"
)

// RankDeath is the error if the process of a rank ended before its program did.
type RankDeath struct {
	Rank   int
	Status string // how: exit status 3, or signal: killed
	Stderr string // the first and the last part of its standard error, indented
}

// Error shows the standard error on lines of its own.
func (d *RankDeath) Error() string {
	text := fmt.Sprintf("rank %d died: %s", d.Rank, d.Status)
	if d.Stderr != "" {
		text += "; its standard error:\n" + d.Stderr
	}
	return text
}

// RemoteError is an error that the program of another process's rank returned.
type RemoteError struct {
	Rank   int
	Text   string
	detail []byte
}

// ErrorDetail returns the detail that the rank has set by its device.ErrorDetailer, or nil.
func (e *RemoteError) ErrorDetail() []byte { return e.detail }

// Error returns the text of the error.
func (e *RemoteError) Error() string { return e.Text }

// ErrorDetail makes a port that embeds it a device.ErrorDetailer.
type ErrorDetail struct{ detail []byte }

// SetErrorDetail implements device.ErrorDetailer.
func (e *ErrorDetail) SetErrorDetail(detail []byte) { e.detail = detail }

func (e *ErrorDetail) errorDetail() []byte { return e.detail }

// errorDetail returns the error detail of a node's rank, whose program has ended.
func errorDetail(n Node) []byte {
	if p, ok := n.Port().(interface{ errorDetail() []byte }); ok {
		return p.errorDetail()
	}
	return nil
}

// newReport returns the report of an error with which a rank, or a run of rank 0, has ended, and of
// its error detail.
func newReport(rank int, err error, detail []byte) report {
	var failure *device.Failure
	var deadlock *device.Deadlock
	var death *RankDeath
	var remote *RemoteError
	var detailed interface{ ErrorDetail() []byte }
	switch {
	case err == nil:
		return report{Kind: reportDone, Rank: rank, Detail: detail}
	case errors.As(err, &failure):
		return report{Kind: reportPanicked, Rank: failure.Rank, Text: fmt.Sprint(failure.Value), Stack: failure.Stack}
	case errors.As(err, &deadlock):
		return report{Kind: reportDeadlock, Ranks: deadlock.Ranks, RankCount: deadlock.TotalRanks, Details: deadlock.RankDetails}
	case errors.As(err, &death):
		return report{Kind: reportDied, Rank: death.Rank, Text: death.Status, Stack: []byte(death.Stderr)}
	case errors.As(err, &remote):
		rank, detail = remote.Rank, remote.detail
	case errors.As(err, &detailed):
		detail = detailed.ErrorDetail()
	}
	return report{Kind: reportFailed, Rank: rank, Text: err.Error(), Detail: detail}
}

// toError is the inverse of newReport, except that values become texts.
func (r report) toError() error {
	switch r.Kind {
	case reportDone:
		return nil
	case reportPanicked:
		return &device.Failure{Rank: r.Rank, Value: r.Text, Stack: r.Stack}
	case reportDeadlock:
		return &device.Deadlock{Ranks: r.Ranks, TotalRanks: r.RankCount, RankDetails: r.Details}
	case reportDied:
		return &RankDeath{r.Rank, r.Text, string(r.Stack)}
	}
	return &RemoteError{r.Rank, r.Text, r.Detail}
}
