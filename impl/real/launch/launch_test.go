package launch

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/loggp/loggp/impl/device"
)

// A report restores the error in another process.
func TestReportsKeepErrors(t *testing.T) {
	for _, err := range []error{
		nil,
		&RemoteError{2, "a text", []byte("a detail")},
		&device.Failure{Rank: 2, Value: "a value", Stack: []byte("a stack")},
		&device.Deadlock{Ranks: []int{1, 2}, TotalRanks: 5},
		&device.Deadlock{Ranks: []int{1, 2}, TotalRanks: 5, RankDetails: map[int][]byte{1: []byte("one"), 2: []byte("two")}},
		&RankDeath{2, "signal: killed", "  its standard error"},
	} {
		if got := newReport(2, err, nil).toError(); !reflect.DeepEqual(got, err) {
			t.Errorf("%v became %v", err, got)
		}
		if err == nil {
			continue
		}
		if got := newReport(2, fmt.Errorf("wrapped: %w", err), nil).toError(); reflect.TypeOf(got) != reflect.TypeOf(err) {
			t.Errorf("wrapped, %v became %v", err, got)
		}
	}
	if got := newReport(3, errors.New("a text"), nil).toError(); !reflect.DeepEqual(got, &RemoteError{3, "a text", nil}) {
		t.Errorf("an error became %#v", got)
	}
}

// Runs are kept by the arguments of their ranks, from the beginning of the command.
func TestRunsAreKeptByArguments(t *testing.T) {
	a, b := []string{"one", "two"}, []string{"one two"}
	for _, args := range [][]string{a, a, b} {
		pastRuns.ended[argsKey(args)] = append(pastRuns.ended[argsKey(args)], report{})
	}
	if na, nb := len(pastRuns.ended[argsKey(a)]), len(pastRuns.ended[argsKey(b)]); na != 2 || nb != 1 {
		t.Errorf("%d and %d runs", na, nb)
	}
	BeginCommand(a)
	if na, nb := len(pastRuns.ended[argsKey(a)]), len(pastRuns.ended[argsKey(b)]); na != 0 || nb != 1 {
		t.Errorf("after the beginning of another command: %d and %d runs", na, nb)
	}
	BeginCommand(b)
}

// The variables that make a process a rank are not passed on.
func TestRankVariablesAreRemoved(t *testing.T) {
	got := withoutRankVariables([]string{"A=1", "LOGGP_RANK=2", "LOGGP_RANKS=3", "LOGGP_TOKEN=x", "B="})
	if want := []string{"A=1", "LOGGP_RANKS=3", "B="}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
