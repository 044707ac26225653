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
	beginTime time.Time // of the launch
	pair      [2]int    // of ranks that did the last command

	launcherEnded chan struct{} // closed when the launcher has ended
	cancel        context.CancelFunc
	output        *commandOutput // then
	err           error
}

// programExitDelay is how much longer than loggp the program waits before it ends, in case loggp
// has been killed.
const programExitDelay = time.Minute

// startSession starts the program, and lets it connect to a listener of its own. A launcher that
// starts ranks here has a directory of its own for its temporary files: that of Open MPI removes
// those that it shares, if they are empty, while another is about to put something there, and
// leaves some if it has to be killed. The program connects from here, or else from wherever the
// launcher starts rank 0.
func (b *compiledProgram) startSession(ctx context.Context, ranks int, launcher []string, timeout time.Duration, n int, here bool) (*session, error) {
	s := &session{dir: filepath.Join(b.directory, "launch"+strconv.Itoa(n)), launcher: launcher, ranks: ranks, timeout: timeout, ctx: ctx, launcherEnded: make(chan struct{})}
	program := filepath.Join(s.dir, filepath.Base(b.programPath))
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Link(b.programPath, program); err != nil {
		if err := copyProgram(b.programPath, program); err != nil {
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
	p := commandRunner{dir: s.dir}
	if here {
		p.temp = s.dir
	}
	go func() {
		defer close(s.launcherEnded)
		limit := strconv.Itoa(int((timeout + programExitDelay).Seconds()))
		s.output, s.err = p.run(ctx, append(launcher[:len(launcher):len(launcher)], program, s.dir, limit, strconv.Itoa(ranks)))
		l.Close()
	}()
	s.connected = make(chan net.Conn, 1)
	go acceptConnection(l, token, reply, s.connected)
	return s, nil
}

// acceptConnection hands over the connection that begins with a token, and closes all others. A
// connection that sends nothing does not delay the others.
func acceptConnection(l net.Listener, token, reply string, to chan<- net.Conn) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			said := make([]byte, len(token))
			c.SetDeadline(time.Now().Add(programExitDelay))
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

// copyProgram copies a program, for file systems without links.
func copyProgram(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o700)
}

// Commands to the program, as in probe.c.
const (
	executeRequest = 1 + iota
	idleRequest
	variablesRequest
	endRequest
)

// Kinds of answers, and bounds on them.
const (
	textAnswer = 1 + iota
	numbersAnswer

	maxAnswerText    = 1 << 20
	maxAnswerNumbers = 1 << 24
	maxAnswerTime    = int64(24 * 3600 * unit.Second) // a day
)

// awaitRanks waits until all ranks are there, and returns what they say of themselves.
func (s *session) awaitRanks() (*launchGreeting, error) {
	late := time.NewTimer(s.timeout)
	defer late.Stop()
	select {
	case s.conn = <-s.connected:
	case <-s.launcherEnded:
		return nil, s.sessionError(nil)
	case <-late.C:
		s.stop()
		return nil, s.sessionError(errTimeout)
	case <-s.ctx.Done():
		s.stop()
		return nil, s.ctx.Err()
	}
	text, err := s.readAnswer(textAnswer, maxAnswerText)
	if err != nil {
		return nil, err
	}
	h, err := readGreeting(string(text), s.ranks)
	if err != nil {
		return nil, s.badAnswerError(err)
	}
	return h, nil
}

// sendRequest tells the program to do something.
func (s *session) sendRequest(what int64, c microbench.Command) error {
	words := c.EncodeWords()
	raw := binary.LittleEndian.AppendUint64(nil, uint64(what))
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(w))
	}
	s.conn.SetDeadline(time.Now().Add(s.timeout))
	if _, err := s.conn.Write(raw); err != nil {
		return s.connectionError(err)
	}
	return nil
}

// readAnswer reads an answer of a kind.
func (s *session) readAnswer(kind, most int64) ([]byte, error) {
	defer context.AfterFunc(s.ctx, func() { s.conn.SetDeadline(time.Unix(1, 0)) })()
	var head [16]byte
	if _, err := io.ReadFull(s.conn, head[:]); err != nil {
		return nil, s.connectionError(err)
	}
	is, n := int64(binary.LittleEndian.Uint64(head[:])), int64(binary.LittleEndian.Uint64(head[8:]))
	if is != kind || n < 0 || n > most {
		return nil, s.badAnswerError(fmt.Errorf("an answer of kind %d and %d bytes: is its byte order another?", is, n))
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(s.conn, raw); err != nil {
		return nil, s.connectionError(err)
	}
	return raw, nil
}

// Execute executes a command: session is a microbench.Worker.
func (s *session) Execute(c microbench.Command) (microbench.CommandResult, error) {
	var r microbench.CommandResult
	if c.Pair != s.pair { // the others sleep while a pair measures
		s.pair = c.Pair
		if err := s.sendRequest(idleRequest, microbench.Command{}); err != nil {
			return r, err
		}
	}
	if err := s.sendRequest(executeRequest, c); err != nil {
		return r, err
	}
	raw, err := s.readAnswer(numbersAnswer, 8*maxAnswerNumbers)
	if err != nil {
		return r, err
	}
	if r, err = readResult(raw, c, s.ranks); err != nil {
		return r, s.badAnswerError(err)
	}
	return r, nil
}

// Now is that of microbench.Worker.
func (s *session) Now() unit.Time { return unit.Time(time.Since(s.beginTime)) * unit.Nanosecond }

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
	r.WarmupRoundTime, r.AllRoundsDuration = unit.Time(next(0, maxAnswerTime)), unit.Time(next(0, maxAnswerTime))
	whole := true
	for range next(0, int64(ranks)) {
		r.FixedWorkTimes = append(r.FixedWorkTimes, unit.Time(next(0, maxAnswerTime)))
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
			column[i] = unit.Time(next(int64(microbench.LateStartMarker), maxAnswerTime))
		}
		r.TimeColumns = append(r.TimeColumns, column)
	}
	if c.Rounds > 0 && len(r.TimeColumns) == 0 || len(raw) > 0 {
		err = errors.Join(err, fmt.Errorf("it has %d columns, and %d bytes behind them", len(r.TimeColumns), len(raw)))
	}
	return r, err
}

// readEagerVariables returns what the library says of its eager limits.
func (s *session) readEagerVariables() ([]eagerVariable, error) {
	if err := s.sendRequest(variablesRequest, microbench.Command{}); err != nil {
		return nil, err
	}
	text, err := s.readAnswer(textAnswer, maxAnswerText)
	if err != nil {
		return nil, err
	}
	v, err := readVariables(string(text))
	if err != nil {
		return nil, s.badAnswerError(err)
	}
	return v, nil
}

// awaitEnd waits until the program has ended, as it was told to.
func (s *session) awaitEnd() error {
	late := time.NewTimer(s.timeout)
	defer late.Stop()
	select {
	case <-s.launcherEnded:
	case <-late.C:
		s.stop()
		return s.sessionError(errTimeout)
	case <-s.ctx.Done():
		s.stop()
		return s.ctx.Err()
	}
	if s.err != nil {
		return s.sessionError(s.err)
	}
	return nil
}

// stop ends it now.
func (s *session) stop() {
	s.cancel()
	<-s.launcherEnded
	if s.conn != nil {
		s.conn.Close()
	}
}

// connectionError says why the connection is: the launcher ends soon, or the program did not answer
// in time.
func (s *session) connectionError(err error) error {
	if s.ctx.Err() != nil {
		s.stop()
		return s.ctx.Err()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		s.stop()
		return s.sessionError(errTimeout)
	}
	select { // its own words say more
	case <-s.launcherEnded:
	case <-time.After(gracePeriod):
		s.stop()
	}
	return s.sessionError(nil)
}

// badAnswerError is the error of an answer that the program does not give.
func (s *session) badAnswerError(err error) error {
	s.stop()
	return fmt.Errorf("the answer of %s is not what the program writes: %w%s", quoteCommand(s.launcher), err, s.output.lastLines())
}

// sessionError says why the session is over.
func (s *session) sessionError(err error) error {
	if err == nil {
		err = s.err
	}
	text, _ := os.ReadFile(filepath.Join(s.dir, "failed"))
	if err == nil && len(text) == 0 {
		return fmt.Errorf("%s succeeded, but the program did not do all that it was told%s\nThe first rank must see the directory %s: let TMPDIR be one that all hosts share",
			quoteCommand(s.launcher), s.output.lastLines(), filepath.Dir(filepath.Dir(s.dir)))
	}
	if len(text) > 0 {
		s.output.Write(append([]byte("\n"), text...))
	}
	if err == nil {
		err = errors.New("the program failed")
	}
	return launchError(s.launcher, s.output, err, s.timeout)
}
