package probe

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// fleet is all launches of a measurement. To start an MPI takes longer than to measure it, and most of that is waiting: so launches are started together,
// and wait asleep for their turn. Only those of a launcher that was named are started one after the other, as it may have places for one at a time.
type fleet struct {
	*built
	ranks     int
	launcher  []string
	here      bool // it was not named, and starts ranks on this machine
	timeout   time.Duration
	together  int // so many are started at once
	variables bool

	sessions []*session
	places   []*places // of each launch
}

// muster starts those that are started together, and waits until they are there.
func (f *fleet) muster(ctx context.Context) error {
	for range f.together {
		if err := f.start(ctx); err != nil {
			return err
		}
	}
	for n := range f.sessions {
		if err := f.meet(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (f *fleet) start(ctx context.Context) error {
	s, err := f.begin(ctx, f.ranks, f.launcher, f.timeout, len(f.sessions), f.here)
	if err == nil {
		f.sessions = append(f.sessions, s)
	}
	return err
}

// meet waits until the ranks of a launch are there.
func (f *fleet) meet(ctx context.Context, n int) error {
	p, err := f.sessions[n].ready(ctx)
	if err == nil {
		f.places = append(f.places, p)
	}
	return err
}

// session returns that of a launch, ready.
func (f *fleet) session(ctx context.Context, n int) (*session, error) {
	if n < len(f.sessions) {
		return f.sessions[n], nil
	}
	if err := f.start(ctx); err != nil {
		return nil, err
	}
	return f.sessions[n], f.meet(ctx, n)
}

// rest is called after a launch: one that was started alone ends.
func (f *fleet) rest(ctx context.Context, n int) error {
	if n < f.together {
		return nil
	}
	s := f.sessions[n]
	if err := s.dismiss(f.variables && n == 0); err != nil {
		return err
	}
	return s.end(ctx)
}

// disband ends all that still wait.
func (f *fleet) disband(ctx context.Context) error {
	waiting := f.sessions[:min(f.together, len(f.sessions))]
	for n, s := range waiting {
		if err := s.dismiss(f.variables && n == 0); err != nil {
			return err
		}
	}
	for _, s := range waiting {
		if err := s.end(ctx); err != nil {
			return err
		}
	}
	return nil
}

// stop ends all, whatever they do.
func (f *fleet) stop() {
	for _, s := range f.sessions {
		s.cancel()
	}
	for _, s := range f.sessions {
		<-s.over
	}
}

// limits returns the library's variables about eager messages. A program that was not asked for them, or could not tell, leaves none.
func (f *fleet) limits() ([]variable, error) {
	file, err := os.Open(filepath.Join(f.sessions[0].dir, "variables.0"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parsed(f.sessions[0], file, readVariables)
}
