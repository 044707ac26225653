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

// hello is the first message of an agent.
type hello struct {
	Version    string
	Host       string // as the host calls itself
	Facts      []host.Fact
	Processors []int
}

// command is a message of rank 0 to an agent.
type command struct {
	Kind      string
	Why       string // of cmdRefuse
	Run       int    // of cmdRun and cmdStop; runs are numbered from 1 up
	Task      task   // of cmdRun
	Inherited []byte // of cmdRun: what the rank inherits from its transport
	Explain   bool   // of cmdStop: the rank may report where it is
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

// update is a message of an agent about a run: the report of its rank, if there is one, and then
// that the rank has ended, and how if there was none. The zero value is a heartbeat.
type update struct {
	Run    int
	Report *report
	Over   bool
	Death  *Death
}

// control is the connection between rank 0 and an agent. It carries JSON values.
type control struct {
	*auth.Conn
	limit   io.LimitedReader
	in      *json.Decoder
	unheard atomic.Int32  // heartbeats that were sent since a message was received
	closed  chan struct{} // by close
	once    sync.Once
}

// maxMessage is the maximum length of a message that is read.
const maxMessage = 1 << 20

// sendTimeout is how long a message may wait for room at the other side.
const sendTimeout = 5 * time.Second

func newControl(c *auth.Conn) *control {
	t := &control{Conn: c, limit: io.LimitedReader{R: c}, closed: make(chan struct{})}
	t.in = json.NewDecoder(&t.limit)
	return t
}

// send sends a message. It may be called concurrently.
func (c *control) send(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, err = c.Write(b)
	return cause(err)
}

// receive receives a message. The error is io.EOF if the other side has closed the connection.
func (c *control) receive(v any) error {
	c.limit.N = maxMessage
	err := c.in.Decode(v)
	c.unheard.Store(0)
	var op *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && c.limit.N > 0: // not closed as TLS asks for, as if the process was killed
		return io.EOF
	case errors.As(err, &op) || errors.Is(err, io.EOF):
		return cause(err)
	case c.limit.N == 0:
		return fmt.Errorf("it sent a message of more than %d bytes", maxMessage)
	}
	return fmt.Errorf("it sent what this version cannot read: %w", err)
}

// close closes the connection. Messages that were sent are delivered.
func (c *control) close() {
	c.once.Do(func() {
		close(c.closed)
		c.TCP.Close()
	})
}

// Heartbeats find out that the other host has vanished. The kernel there acknowledges them, so a
// process may be stopped, or wait for a processor, for as long as it likes. A host that has
// vanished is given up at most 1.8 s after it has acknowledged the last.
const (
	heartbeat  = time.Second
	ackTimeout = 800 * time.Millisecond // in which the kernel sends a heartbeat three times
	ackTrips   = 4                      // round trips that ackTimeout has at least
	maxUnheard = 1000                   // heartbeats that wait for a stopped process
	keepAlive  = 2 * time.Second        // until the kernel asks by itself, when it has that many
)

// errVanished is the error if the other host was switched off or has become unreachable.
var errVanished = errors.New("its machine does not answer")

// startHeartbeats sends heartbeats until the connection is closed, or the kernel closes it because
// the other host has vanished.
func (c *control) startHeartbeats(beat any) error {
	if err := c.TCP.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: time.Second, Count: 3}); err != nil {
		return err
	}
	if err := setUserTimeout(c.TCP, ackTimeout, ackTrips); err != nil {
		return err
	}
	go c.beat(beat, heartbeat)
	return nil
}

func (c *control) beat(beat any, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if c.unheard.Load() < maxUnheard {
				c.unheard.Add(1)
				c.send(beat) // receive returns the error
			}
		case <-c.closed:
			return
		}
	}
}

// cause returns a plain text for errors that mean that the other host has become unreachable.
func cause(err error) error {
	for _, gone := range []error{syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN} {
		if errors.Is(err, gone) {
			return errVanished
		}
	}
	return err
}
