package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// session is the program, started once: ranks that do what plans say. It waits asleep before the
// first plan and after each, so that several can be there while one measures.
type session struct {
	dir      string // of its files, and of its copy of the program, by which its processes are known
	launcher []string
	ranks    int
	timeout  time.Duration
	asked    int // plans

	over   chan struct{} // closed when the launcher has ended
	cancel context.CancelFunc
	output *output // then
	err    error
}

// later is how much longer than we the program waits before it ends by itself, if nobody is left
// who could end it.
const later = time.Minute

// begin starts the program. A launcher that starts ranks here has a directory of its own for its
// temporary files: that of Open MPI removes those that it shares, if they are empty, while another
// is about to put something there, and leaves some if it has to be killed.
func (b *built) begin(ctx context.Context, ranks int, launcher []string, timeout time.Duration, n int, here bool) (*session, error) {
	s := &session{dir: filepath.Join(b.dir, "launch"+strconv.Itoa(n)), launcher: launcher, ranks: ranks, timeout: timeout, over: make(chan struct{})}
	program := filepath.Join(s.dir, filepath.Base(b.program))
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Link(b.program, program); err != nil {
		if err := duplicate(b.program, program); err != nil {
			return nil, err
		}
	}
	ctx, s.cancel = context.WithCancel(ctx)
	limit := strconv.Itoa(int((timeout + later).Seconds()))
	p := runner{dir: s.dir}
	if here {
		p.temp = s.dir
	}
	go func() {
		defer close(s.over)
		s.output, s.err = p.run(ctx, append(launcher[:len(launcher):len(launcher)], program, s.dir, limit, strconv.Itoa(ranks)))
	}()
	return s, nil
}

// duplicate copies a program, for file systems without links.
func duplicate(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o700)
}

// glance is how often it is looked whether there is a file. Ranks that measure are not to be
// disturbed more often.
const glance = 2 * time.Millisecond

// await waits for a file of the program, and opens it.
func (s *session) await(ctx context.Context, name string) (*os.File, error) {
	late := time.NewTimer(s.timeout)
	defer late.Stop()
	again := time.NewTicker(glance)
	defer again.Stop()
	for over := false; ; {
		f, err := os.Open(filepath.Join(s.dir, name))
		switch {
		case !errors.Is(err, fs.ErrNotExist):
			return f, err
		case over:
			return nil, s.failure(nil)
		}
		select {
		case <-again.C:
		case <-s.over: // it may have been written before
			over = true
		case <-late.C:
			s.stop()
			return nil, s.failure(errTimeout)
		case <-ctx.Done():
			s.stop()
			return nil, ctx.Err()
		}
	}
}

// failure says why the session is over.
func (s *session) failure(err error) error {
	if err == nil {
		err = s.err
	}
	if err == nil {
		return fmt.Errorf("%s succeeded, but the program left no result%s\nThe first rank must see the directory %s: let TMPDIR be one that all hosts share",
			words(s.launcher), s.output.last(), filepath.Dir(filepath.Dir(s.dir)))
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "failed")); err == nil {
		s.output.Write(append([]byte("\n"), text...))
	}
	return launchError(s.launcher, s.output, err, s.timeout)
}

// ready waits until all ranks are there, and returns where.
func (s *session) ready(ctx context.Context) (*places, error) {
	f, err := s.await(ctx, "ready.0")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parsed(s, f, func(in io.Reader) (*places, error) { return readPlaces(in, s.ranks) })
}

// measure lets the program measure.
func (s *session) measure(ctx context.Context, p *plan) (*result, error) {
	n := strconv.Itoa(s.asked)
	if err := s.ask(p); err != nil {
		return nil, err
	}
	f, err := s.await(ctx, "result."+n)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parsed(s, f, func(in io.Reader) (*result, error) {
		r, err := read(in, p)
		if err == nil {
			err = r.of(p)
		}
		return r, err
	})
}

func parsed[T any](s *session, f *os.File, read func(io.Reader) (T, error)) (T, error) {
	r, err := read(f)
	if err != nil {
		return r, fmt.Errorf("the result of %s is not what the program writes: %w%s", words(s.launcher), err, s.words())
	}
	return r, nil
}

// words returns the end of what a launcher wrote, which it ends.
func (s *session) words() string {
	s.stop()
	return s.output.last()
}

// ask gives the program a plan, whole at once.
func (s *session) ask(p *plan) error {
	path := filepath.Join(s.dir, "plan."+strconv.Itoa(s.asked))
	s.asked++
	if err := os.WriteFile(path+".part", p.text(), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// dismiss lets the program end, and end waits until it has. If it is asked to it leaves the
// library's variables.
func (s *session) dismiss(variables bool) error { return s.ask(&plan{variables: variables}) }

func (s *session) end(ctx context.Context) error {
	late := time.NewTimer(s.timeout)
	defer late.Stop()
	select {
	case <-s.over:
	case <-late.C:
		s.stop()
		return s.failure(errTimeout)
	case <-ctx.Done():
		s.stop()
		return ctx.Err()
	}
	if s.err != nil {
		return s.failure(s.err)
	}
	return nil
}

// stop ends it now.
func (s *session) stop() {
	s.cancel()
	<-s.over
}
