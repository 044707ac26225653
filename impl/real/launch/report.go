package launch

import (
	"errors"
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// report describes the end of a rank or a run, in a form that is sent between processes.
type report struct {
	Kind  string
	Rank  int    `json:",omitempty"`
	Of    int    `json:",omitempty"`
	Ranks []int  `json:",omitempty"`
	Text  string `json:",omitempty"`
	Stack []byte `json:",omitempty"`

	Detail  []byte         `json:",omitempty"` // error detail of the rank
	Details map[int][]byte `json:",omitempty"` // of the ranks of a deadlock
}

// Kinds of reports.
const (
	begun     = "begun" // no end: it comes first, from a rank that has come to its run
	done      = "done"
	failed    = "failed"
	panicked  = "panicked"
	deadlocks = "deadlock"
	died      = "died"
)

// Death is the error that the process of a rank has ended before its program.
type Death struct {
	Rank   int
	Status string // how: exit status 3, or signal: killed
	Stderr string // the beginning and the end of what it has written to its standard error, indented
}

// Error shows the standard error on lines of its own.
func (d *Death) Error() string {
	text := fmt.Sprintf("rank %d died: %s", d.Rank, d.Status)
	if d.Stderr != "" {
		text += "; its standard error:\n" + d.Stderr
	}
	return text
}

// Error is an error that the program of another process's rank returned.
type Error struct {
	Rank   int
	Text   string
	detail []byte
}

// ErrorDetail returns the detail that the rank has set by its device.ErrorDetailer, or nil.
func (e *Error) ErrorDetail() []byte { return e.detail }

// Error returns the text of the error.
func (e *Error) Error() string { return e.Text }

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

// reportOf returns the report of an error with which a rank, or a run of rank 0, has ended, and of
// its error detail.
func reportOf(rank int, err error, detail []byte) report {
	var failure *device.Failure
	var deadlock *device.Deadlock
	var death *Death
	var remote *Error
	var detailed interface{ ErrorDetail() []byte }
	switch {
	case err == nil:
		return report{Kind: done, Rank: rank, Detail: detail}
	case errors.As(err, &failure):
		return report{Kind: panicked, Rank: failure.Rank, Text: fmt.Sprint(failure.Value), Stack: failure.Stack}
	case errors.As(err, &deadlock):
		return report{Kind: deadlocks, Ranks: deadlock.Ranks, Of: deadlock.Of, Details: deadlock.Details}
	case errors.As(err, &death):
		return report{Kind: died, Rank: death.Rank, Text: death.Status, Stack: []byte(death.Stderr)}
	case errors.As(err, &remote):
		rank, detail = remote.Rank, remote.detail
	case errors.As(err, &detailed):
		detail = detailed.ErrorDetail()
	}
	return report{Kind: failed, Rank: rank, Text: err.Error(), Detail: detail}
}

// err is the inverse of reportOf, except that values become texts.
func (r report) err() error {
	switch r.Kind {
	case done:
		return nil
	case panicked:
		return &device.Failure{Rank: r.Rank, Value: r.Text, Stack: r.Stack}
	case deadlocks:
		return &device.Deadlock{Ranks: r.Ranks, Of: r.Of, Details: r.Details}
	case died:
		return &Death{r.Rank, r.Text, string(r.Stack)}
	}
	return &Error{r.Rank, r.Text, r.Detail}
}
