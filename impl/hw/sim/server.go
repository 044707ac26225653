package sim

import "github.com/loggp/loggp/model/unit"

// Server is a resource that serves one request after the other: a link, a port, a bus. The zero
// value is free.
type Server struct {
	freeAt unit.Time

	TrackID int // the observer's number of it; 0: not observed
}

// Reserve occupies the server for d from the first time at or after t at which it is free, and
// returns that time.
func (s *Server) Reserve(t, d unit.Time) unit.Time {
	t = max(t, s.freeAt)
	s.freeAt = t + d
	return t
}

// HoldUntil keeps the server busy until a time, if it is not busy for longer.
func (s *Server) HoldUntil(until unit.Time) { s.freeAt = max(s.freeAt, until) }

// FreeAt returns the time from which the server is free.
func (s *Server) FreeAt() unit.Time { return s.freeAt }
