package probe

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model/unit"
)

// session is the program, started once: ranks that do commands, which they get over one connection.
// They sleep until the first command and when they rest, so that several sessions can be there
// while one measures; else they poll.
type session struct {
	dir      string // of its files, and of its copy of the program, by which its processes are known
	launcher []string
	ranks    int
	timeout  time.Duration
	ctx      context.Context

	connected chan net.Conn
	conn      net.Conn
	begun     time.Time // of the launch
	pair      [2]int    // of ranks that did the last command

	over   chan struct{} // closed when the launcher has ended
	cancel context.CancelFunc
	output *output // then
	err    error
}

// later is how much longer than loggp the program waits before it ends, in case loggp has been
// killed.
const later = time.Minute

// begin starts the program, and lets it connect to a listener of its own. A launcher that starts
// ranks here has a directory of its own for its temporary files: that of Open MPI removes those
// that it shares, if they are empty, while another is about to put something there, and leaves some
// if it has to be killed. The program connects from here, or else from wherever the launcher starts
// rank 0.
func (b *built) begin(ctx context.Context, ranks int, launcher []string, timeout time.Duration, n int, here bool) (*session, error) {
	s := &session{dir: filepath.Join(b.dir, "launch"+strconv.Itoa(n)), launcher: launcher, ranks: ranks, timeout: timeout, ctx: ctx, over: make(chan struct{})}
	program := filepath.Join(s.dir, filepath.Base(b.program))
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Link(b.program, program); err != nil {
		if err := duplicate(b.program, program); err != nil {
			return nil, err
		}
	}
	address, hosts := "127.0.0.1:0", []string{"127.0.0.1"}
	if name, err := os.Hostname(); !here && err == nil {
		address, hosts = ":0", append(hosts, name)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("a port for the program: %w", err)
	}
	token, reply := rand.Text(), rand.Text()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	text := fmt.Sprintf("%s %s %s\n%s\n", port, token, reply, strings.Join(hosts, "\n"))
	if err := os.WriteFile(filepath.Join(s.dir, "connect"), []byte(text), 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	ctx, s.cancel = context.WithCancel(ctx)
	p := runner{dir: s.dir}
	if here {
		p.temp = s.dir
	}
	go func() {
		defer close(s.over)
		limit := strconv.Itoa(int((timeout + later).Seconds()))
		s.output, s.err = p.run(ctx, append(launcher[:len(launcher):len(launcher)], program, s.dir, limit, strconv.Itoa(ranks)))
		l.Close()
	}()
	s.connected = make(chan net.Conn, 1)
	go accept(l, token, reply, s.connected)
	return s, nil
}

// accept hands over the connection that begins with a token, and closes all others. A connection
// that sends nothing does not delay the others.
func accept(l net.Listener, token, reply string, to chan<- net.Conn) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			said := make([]byte, len(token))
			c.SetDeadline(time.Now().Add(later))
			if _, err := io.ReadFull(c, said); err != nil || string(said) != token {
				c.Close()
			} else if _, err := io.WriteString(c, reply); err != nil {
				c.Close()
			} else {
				l.Close()
				to <- c
			}
		}()
	}
}

// duplicate copies a program, for file systems without links.
func duplicate(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o700)
}

// Commands to the program, as in probe.c.
const (
	doing = 1 + iota
	resting
	variables
	ending
)

// Kinds of answers, and bounds on them.
const (
	textAnswer = 1 + iota
	numbers

	mostText    = 1 << 20
	mostNumbers = 1 << 24
	maxTime     = int64(24 * 3600 * unit.Second) // a day
)

// ready waits until all ranks are there, and returns what they say of themselves.
func (s *session) ready() (*hello, error) {
	late := time.NewTimer(s.timeout)
	defer late.Stop()
	select {
	case s.conn = <-s.connected:
	case <-s.over:
		return nil, s.failure(nil)
	case <-late.C:
		s.stop()
		return nil, s.failure(errTimeout)
	case <-s.ctx.Done():
		s.stop()
		return nil, s.ctx.Err()
	}
	text, err := s.answer(textAnswer, mostText)
	if err != nil {
		return nil, err
	}
	h, err := readHello(string(text), s.ranks)
	if err != nil {
		return nil, s.nonsense(err)
	}
	return h, nil
}

// tell tells the program to do something.
func (s *session) tell(what int64, c microbench.Command) error {
	words := c.EncodeWords()
	raw := binary.LittleEndian.AppendUint64(nil, uint64(what))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(w))
	}
	s.conn.SetDeadline(time.Now().Add(s.timeout))
	if _, err := s.conn.Write(raw); err != nil {
		return s.broken(err)
	}
	return nil
}

// answer reads an answer of a kind.
func (s *session) answer(kind, most int64) ([]byte, error) {
	defer context.AfterFunc(s.ctx, func() { s.conn.SetDeadline(time.Unix(1, 0)) })()
	var head [16]byte
	if _, err := io.ReadFull(s.conn, head[:]); err != nil {
		return nil, s.broken(err)
	}
	is, n := int64(binary.LittleEndian.Uint64(head[:])), int64(binary.LittleEndian.Uint64(head[8:]))
	if is != kind || n < 0 || n > most {
		return nil, s.nonsense(fmt.Errorf("an answer of kind %d and %d bytes: is its byte order another?", is, n))
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(s.conn, raw); err != nil {
		return nil, s.broken(err)
	}
	return raw, nil
}

// Execute executes a command: session is a microbench.Worker.
func (s *session) Execute(c microbench.Command) (microbench.CommandResult, error) {
	var r microbench.CommandResult
	if c.Pair != s.pair { // the others sleep while a pair measures
		s.pair = c.Pair
		if err := s.tell(resting, microbench.Command{}); err != nil {
			return r, err
		}
	}
	if err := s.tell(doing, c); err != nil {
		return r, err
	}
	raw, err := s.answer(numbers, 8*mostNumbers)
	if err != nil {
		return r, err
	}
	if r, err = readResult(raw, c, s.ranks); err != nil {
		return r, s.nonsense(err)
	}
	return r, nil
}

// Now is that of microbench.Worker.
func (s *session) Now() unit.Time { return unit.Time(time.Since(s.begun)) * unit.Nanosecond }

// readResult reads the result of a command.
func readResult(raw []byte, c microbench.Command, ranks int) (r microbench.CommandResult, err error) {
	next := func(low, high int64) int64 {
		if len(raw) < 8 {
			err = errors.Join(err, errors.New("it ends too early"))
			return low
		}
		n := int64(binary.LittleEndian.Uint64(raw))
		if raw = raw[8:]; n < low || n > high {
			err = errors.Join(err, fmt.Errorf("%d is not from %d to %d", n, low, high))
			return low
		}
		return n
	}
	r.WarmupRoundTime, r.RoundsDuration = unit.Time(next(0, maxTime)), unit.Time(next(0, maxTime))
	whole := true
	for range next(0, int64(ranks)) {
		r.FixedWorkTimes = append(r.FixedWorkTimes, unit.Time(next(0, maxTime)))
		whole = whole && r.FixedWorkTimes[len(r.FixedWorkTimes)-1] > 0
	}
	if !whole {
		r.FixedWorkTimes = nil
	}
	for range next(0, int64(max(2*4, ranks))) {
		n := next(0, int64(c.Rounds))
		if err != nil || 8*n > int64(len(raw)) {
			break
		}
		column := make([]unit.Time, n)
		for i := range column {
			column[i] = unit.Time(next(int64(microbench.LateStartMarker), maxTime))
		}
		r.Times = append(r.Times, column)
	}
	if c.Rounds > 0 && len(r.Times) == 0 || len(raw) > 0 {
		err = errors.Join(err, fmt.Errorf("it has %d columns, and %d bytes behind them", len(r.Times), len(raw)))
	}
	return r, err
}

// limits returns what the library says of its eager limits.
func (s *session) limits() ([]variable, error) {
	if err := s.tell(variables, microbench.Command{}); err != nil {
		return nil, err
	}
	text, err := s.answer(textAnswer, mostText)
	if err != nil {
		return nil, err
	}
	v, err := readVariables(string(text))
	if err != nil {
		return nil, s.nonsense(err)
	}
	return v, nil
}

// ended waits until the program has ended, as it was told to.
func (s *session) ended() error {
	late := time.NewTimer(s.timeout)
	defer late.Stop()
	select {
	case <-s.over:
	case <-late.C:
		s.stop()
		return s.failure(errTimeout)
	case <-s.ctx.Done():
		s.stop()
		return s.ctx.Err()
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
	if s.conn != nil {
		s.conn.Close()
	}
}

// broken says why the connection is: the launcher ends soon, or the program did not answer in time.
func (s *session) broken(err error) error {
	if s.ctx.Err() != nil {
		s.stop()
		return s.ctx.Err()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.stop()
		return s.failure(errTimeout)
	}
	select { // its own words say more
	case <-s.over:
	case <-time.After(grace):
		s.stop()
	}
	return s.failure(nil)
}

// nonsense is the error of an answer that the program does not give.
func (s *session) nonsense(err error) error {
	s.stop()
	return fmt.Errorf("the answer of %s is not what the program writes: %w%s", words(s.launcher), err, s.output.last())
}

// failure says why the session is over.
func (s *session) failure(err error) error {
	if err == nil {
		err = s.err
	}
	text, _ := os.ReadFile(filepath.Join(s.dir, "failed"))
	if err == nil && len(text) == 0 {
		return fmt.Errorf("%s succeeded, but the program did not do all that it was told%s\nThe first rank must see the directory %s: let TMPDIR be one that all hosts share",
			words(s.launcher), s.output.last(), filepath.Dir(filepath.Dir(s.dir)))
	}
	if len(text) > 0 {
		s.output.Write(append([]byte("\n"), text...))
	}
	if err == nil {
		err = errors.New("the program failed")
	}
	return launchError(s.launcher, s.output, err, s.timeout)
}
