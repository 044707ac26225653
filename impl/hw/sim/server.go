package sim

import "github.com/loggp/loggp/model/unit"

// Server is a resource that serves one request at a time, such as a link, a port or a bus. The zero
// value is free.
type Server struct {
	freeAt unit.Time

	TrackID int // number given by the probe; 0: not observed
}

// Reserve reserves the server for d, from the earliest time at or after t at which it is free, and
// returns that time.
func (s *Server) Reserve(t, d unit.Time) unit.Time {
	t = max(t, s.freeAt)
	s.freeAt = t + d
	return t
}

// HoldUntil keeps the server busy at least until a time.
func (s *Server) HoldUntil(until unit.Time) { s.freeAt = max(s.freeAt, until) }

// FreeAt returns the time at which the server becomes free.
func (s *Server) FreeAt() unit.Time { return s.freeAt }
