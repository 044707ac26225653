package launch

import (
	"errors"
	"fmt"

	"github.com/loggp/loggp/impl/device"
)

// report says how a rank or a run ended, in a form that goes from process to process.
type report struct {
	Kind  string // of kinds
	Rank  int    `json:",omitempty"`
	Of    int    `json:",omitempty"`
	Ranks []int  `json:",omitempty"`
	Text  string `json:",omitempty"`
	Stack []byte `json:",omitempty"`
}

// The kinds of ends.
const (
	done      = "done"
	failed    = "failed"
	panicked  = "panicked"
	deadlocks = "deadlock"
	died      = "died"
)

// Error is an error that the program of another process's rank returned.
type Error struct {
	Rank int
	Text string
}

// Error returns the text of the error as it was.
func (e *Error) Error() string { return e.Text }

// reportOf puts into words how rank, or a run, ended.
func reportOf(rank int, err error) report {
	var f *device.Failure
	var d *device.Deadlock
	var death *Death
	var far *Error
	switch {
	case err == nil:
		return report{Kind: done, Rank: rank}
	case errors.As(err, &f):
		return report{Kind: panicked, Rank: f.Rank, Text: fmt.Sprint(f.Value), Stack: f.Stack}
	case errors.As(err, &d):
		return report{Kind: deadlocks, Ranks: d.Ranks, Of: d.Of}
	case errors.As(err, &death):
		return report{Kind: died, Rank: death.Rank, Text: death.Status, Stack: []byte(death.Words)}
	case errors.As(err, &far):
		rank = far.Rank
	}
	return report{Kind: failed, Rank: rank, Text: err.Error()}
}

// err is the inverse of reportOf, as far as it goes: values become texts.
func (r report) err() error {
	switch r.Kind {
	case done:
		return nil
	case panicked:
		return &device.Failure{Rank: r.Rank, Value: r.Text, Stack: r.Stack}
	case deadlocks:
		return &device.Deadlock{Ranks: r.Ranks, Of: r.Of}
	case died:
		return &Death{r.Rank, r.Text, string(r.Stack)}
	}
	return &Error{r.Rank, r.Text}
}
