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

	Words   []byte         `json:",omitempty"` // what the rank has left
	Waiting map[int][]byte `json:",omitempty"` // what those of a deadlock have
}

// The kinds of ends.
const (
	begun     = "begun" // no end: it comes first, from a rank that has come to its run
	done      = "done"
	failed    = "failed"
	panicked  = "panicked"
	deadlocks = "deadlock"
	died      = "died"
)

// Error is an error that the program of another process's rank returned.
type Error struct {
	Rank  int
	Text  string
	words []byte
}

// ErrorDetail returns what the rank has left by a device.ErrorDetailer, or nil.
func (e *Error) ErrorDetail() []byte { return e.words }

// Error returns the text of the error as it was.
func (e *Error) Error() string { return e.Text }

// Testimony makes a port a device.ErrorDetailer.
type Testimony struct{ testimony []byte }

// SetErrorDetail implements device.ErrorDetailer.
func (t *Testimony) SetErrorDetail(words []byte) { t.testimony = words }

func (t *Testimony) left() []byte { return t.testimony }

// left returns what the rank of a node has left in words. Its program has ended.
func left(n Node) []byte {
	if t, ok := n.Port().(interface{ left() []byte }); ok {
		return t.left()
	}
	return nil
}

// reportOf puts into words how rank, which has left some, or a run ended.
func reportOf(rank int, err error, words []byte) report {
	var f *device.Failure
	var d *device.Deadlock
	var death *Death
	var far *Error
	var detailed interface{ ErrorDetail() []byte }
	switch {
	case err == nil:
		return report{Kind: done, Rank: rank, Words: words}
	case errors.As(err, &f):
		return report{Kind: panicked, Rank: f.Rank, Text: fmt.Sprint(f.Value), Stack: f.Stack}
	case errors.As(err, &d):
		return report{Kind: deadlocks, Ranks: d.Ranks, Of: d.Of, Waiting: d.Details}
	case errors.As(err, &death):
		return report{Kind: died, Rank: death.Rank, Text: death.Status, Stack: []byte(death.Stderr)}
	case errors.As(err, &far):
		rank, words = far.Rank, far.words
	case errors.As(err, &detailed):
		words = detailed.ErrorDetail()
	}
	return report{Kind: failed, Rank: rank, Text: err.Error(), Words: words}
}

// err is the inverse of reportOf, as far as it goes: values become texts.
func (r report) err() error {
	switch r.Kind {
	case done:
		return nil
	case panicked:
		return &device.Failure{Rank: r.Rank, Value: r.Text, Stack: r.Stack}
	case deadlocks:
		return &device.Deadlock{Ranks: r.Ranks, Of: r.Of, Details: r.Waiting}
	case died:
		return &Death{r.Rank, r.Text, string(r.Stack)}
	}
	return &Error{r.Rank, r.Text, r.Words}
}
