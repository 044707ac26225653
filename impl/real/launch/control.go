package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/host"
)

// agentHello is the first message of an agent.
type agentHello struct {
	Version    string
	Host       string // the host's own name
	Facts      []host.Fact
	Processors []int
}

// command is a message of rank 0 to an agent.
type command struct {
	Kind        string
	Why         string // of cmdRefuse
	Run         int    // of cmdRun and cmdStop; runs are numbered from 1 up
	Task        task   // of cmdRun
	Inherited   []byte // of cmdRun: what the rank inherits from its transport
	ExplainWait bool   // of cmdStop: the rank may report where it is
}

// Kinds of commands. The first is cmdAccept or cmdRefuse.
const (
	cmdAccept    = "accept"
	cmdRefuse    = "refuse"
	cmdRun       = "run"  // start the rank
	cmdStop      = "stop" // kill it
	cmdExit      = "exit" // the job is over
	cmdHeartbeat = "heartbeat"
)

// runUpdate is a message of an agent about a run: first the report of its rank, if it made one;
// then that the rank has ended, with its death if it made no report. The zero value is a heartbeat.
type runUpdate struct {
	Run    int
	Report *report
	IsOver bool
	Death  *RankDeath
}

// controlConnection is the connection between rank 0 and an agent. It carries JSON values.
type controlConnection struct {
	*auth.Conn
	limitedReader        io.LimitedReader
	decoder              *json.Decoder
	unansweredHeartbeats atomic.Int32  // heartbeats that were sent since a message was received
	closed               chan struct{} // by close
	closeOnce            sync.Once
}

// maxMessageSize is the maximum length of a message that is read.
const maxMessageSize = 1 << 20

// sendTimeout is how long a message may wait until the other side has room for it.
const sendTimeout = 5 * time.Second

func newControlConnection(c *auth.Conn) *controlConnection {
	t := &controlConnection{Conn: c, limitedReader: io.LimitedReader{R: c}, closed: make(chan struct{})}
	t.decoder = json.NewDecoder(&t.limitedReader)
	return t
}

// send sends a message. It may be called concurrently.
func (c *controlConnection) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, err = c.Write(b)
	return unreachableError(err)
}

// receive receives a message. The error is io.EOF if the other side has closed the connection.
func (c *controlConnection) receive(v any) error {
	c.limitedReader.N = maxMessageSize
	err := c.decoder.Decode(v)
	c.unansweredHeartbeats.Store(0)
	var op *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && c.limitedReader.N > 0: // not closed as TLS asks for, as if the process was killed
		return io.EOF
	case errors.As(err, &op) || errors.Is(err, io.EOF):
		return unreachableError(err)
	case c.limitedReader.N == 0:
		return fmt.Errorf("it sent a message of more than %d bytes", maxMessageSize)
	}
	return fmt.Errorf("it sent what this version cannot read: %w", err)
}

// close closes the connection. Messages that were sent are delivered.
func (c *controlConnection) close() {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.TCP.Close()
	})
}

// Heartbeats detect that the other host has vanished. The kernel there acknowledges them, so a
// process may be stopped, or wait for a processor, for any time. A vanished host is given up at
// most 1.8 s after its last acknowledgement.
const (
	heartbeatInterval       = time.Second
	ackTimeout              = 800 * time.Millisecond // long enough for the kernel to send a heartbeat three times
	minAckRoundTrips        = 4                      // the least number of round trips in ackTimeout
	maxUnansweredHeartbeats = 1000                   // heartbeats that may wait for a stopped process
	keepAliveIdle           = 2 * time.Second        // of silence before the kernel probes the connection itself
)

// errVanished is the error if the other host was switched off or has become unreachable.
var errVanished = errors.New("its machine does not answer")

// startHeartbeats sends heartbeats until the connection is closed, or the kernel closes it because
// the other host has vanished.
func (c *controlConnection) startHeartbeats(beat any) error {
	if err := c.TCP.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: time.Second, Count: 3}); err != nil {
		return err
	}
	if err := setUserTimeout(c.TCP, ackTimeout, minAckRoundTrips); err != nil {
		return err
	}
	go c.sendHeartbeats(beat, heartbeatInterval)
	return nil
}

func (c *controlConnection) sendHeartbeats(beat any, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if c.unansweredHeartbeats.Load() < maxUnansweredHeartbeats {
				c.unansweredHeartbeats.Add(1)
				c.send(beat) // receive returns the error
			}
		case <-c.closed:
			return
		}
	}
}

// unreachableError replaces errors which mean that the other host has become unreachable by
// errVanished.
func unreachableError(err error) error {
	for _, gone := range []error{syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN} {
		if errors.Is(err, gone) {
			return errVanished
		}
	}
	return err
}
