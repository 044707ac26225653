package sim

import "github.com/loggp/loggp/model/unit"

// Server is a resource that serves one request after the other: a link, a port, a bus. The zero
// value is free.
type Server struct {
	free unit.Time

	Mark int // of who observes it; 0: nobody does
}

// Reserve occupies the server for d from the first time at or after t at which it is free, and
// returns that time.
func (s *Server) Reserve(t, d unit.Time) unit.Time {
	t = max(t, s.free)
	s.free = t + d
	return t
}

// Hold keeps the server busy until a time, if it is not busy for longer.
func (s *Server) Hold(until unit.Time) { s.free = max(s.free, until) }

// Free returns the time from which the server is free.
func (s *Server) Free() unit.Time { return s.free }
