package tcp

import (
	"slices"
	"testing"
)

// A rank that waits to hear of an end is not stuck when rank 0 has heard of that end before it, which is too short a time for processes to be caught in.
func TestStuckAndMourning(t *testing.T) {
	c := newCensus(3)
	tell := func(rank int, ended bool, mourned ...int) {
		links := make([]*link, 3)
		for r := range links {
			if r != rank {
				links[r] = &link{peer: r, sent: uint64(10*rank + r), got: uint64(10*r + rank), mourned: slices.Contains(mourned, r)}
			}
		}
		a := newAccount(3)
		a.take(links)
		b := make([]byte, accountSize(3))
		a.encode(b)
		c.note(rank, ended, b)
	}
	stuck := func(when string, want ...int) {
		t.Helper()
		if got := c.stuck(); !slices.Equal(got, want) {
			t.Errorf("%s: ranks %v are stuck, want %v", when, got, want)
		}
	}
	tell(0, false, 1)
	tell(2, true)
	stuck("rank 1 computes")
	tell(1, false)
	stuck("rank 1 waits, too", 0, 1)
	tell(1, true)
	stuck("rank 1 has ended, and rank 0 has not looked")
	tell(0, false)
	stuck("rank 0 waits for something else", 0)
	tell(0, false, 2)
	stuck("rank 0 is to hear of an end that has come")
}
