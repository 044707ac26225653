package hw

import "github.com/loggp/loggp/model/unit"

// pace is a rate that remembers how long the last length took. Messages of one length follow each other, and a division takes
// longer than all else that a link does.
type pace struct {
	rate unit.Rate
	n    int
	last unit.Time
}

// time returns how long n bytes take.
func (p *pace) time(n int) unit.Time {
	if n != p.n {
		p.n, p.last = n, p.rate.Time(n)
	}
	return p.last
}
