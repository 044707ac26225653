package launch

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/loggp/loggp/impl/device"
)

// A report restores the error in another process.
func TestReports(t *testing.T) {
	for _, err := range []error{
		nil,
		&Error{2, "a text", []byte("a detail")},
		&device.Failure{Rank: 2, Value: "a value", Stack: []byte("a stack")},
		&device.Deadlock{Ranks: []int{1, 2}, Of: 5},
		&device.Deadlock{Ranks: []int{1, 2}, Of: 5, Details: map[int][]byte{1: []byte("one"), 2: []byte("two")}},
		&Death{2, "signal: killed", "  its standard error"},
	} {
		if got := reportOf(2, err, nil).err(); !reflect.DeepEqual(got, err) {
			t.Errorf("%v became %v", err, got)
		}
		if err == nil {
			continue
		}
		if got := reportOf(2, fmt.Errorf("wrapped: %w", err), nil).err(); reflect.TypeOf(got) != reflect.TypeOf(err) {
			t.Errorf("wrapped, %v became %v", err, got)
		}
	}
	if got := reportOf(3, errors.New("a text"), nil).err(); !reflect.DeepEqual(got, &Error{3, "a text", nil}) {
		t.Errorf("an error became %#v", got)
	}
}

// Runs are kept by the arguments of their ranks, from the beginning of the command.
func TestHistory(t *testing.T) {
	a, b := []string{"one", "two"}, []string{"one two"}
	for _, args := range [][]string{a, a, b} {
		runs.ended[key(args)] = append(runs.ended[key(args)], report{})
	}
	if na, nb := len(runs.ended[key(a)]), len(runs.ended[key(b)]); na != 2 || nb != 1 {
		t.Errorf("%d and %d runs", na, nb)
	}
	Begin(a)
	if na, nb := len(runs.ended[key(a)]), len(runs.ended[key(b)]); na != 0 || nb != 1 {
		t.Errorf("after the beginning of another command: %d and %d runs", na, nb)
	}
	Begin(b)
}

// The variables that make a process a rank are not passed on.
func TestWithout(t *testing.T) {
	got := without([]string{"A=1", "LOGGP_RANK=2", "LOGGP_RANKS=3", "LOGGP_TOKEN=x", "B="})
	if want := []string{"A=1", "LOGGP_RANKS=3", "B="}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
