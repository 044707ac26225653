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

	"github.com/loggp/loggp/impl/auth"
	"github.com/loggp/loggp/impl/machine"
)

// hello is the first that an agent says.
type hello struct {
	Version string
	Host    string // as it calls itself
	Facts   []machine.Fact

	Processors []int
}

// order is what rank 0 says to an agent.
type order struct {
	Kind   string // of those below
	Run    int    // to start or stop: they are numbered from 1 up
	Why    string // of a refusal
	Orders orders // of a run
	Asks   bool   // before the rank is killed it may say where it is
	Letter []byte // what the rank inherits from its transport
}

// The kinds of orders.
const (
	accepts = "welcome" // first: or
	refuses = "refuse"
	starts  = "run"  // start a rank
	stops   = "stop" // kill it
	leaves  = "bye"  // the job is over
	nothing = "nothing"
)

// word is what an agent says of a run: the report of its rank, if that makes one, and then that it has ended, and how if there was none. One that has
// none of these means nothing.
type word struct {
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
	unheard atomic.Int32  // heartbeats that were sent since something came
	closed  chan struct{} // by close
	once    sync.Once
}

// maxMessage bounds what is read of a message.
const maxMessage = 1 << 20

// sendTimeout is how long a message may wait for room at the other side.
const sendTimeout = 5 * time.Second

func newControl(c *auth.Conn) *control {
	t := &control{Conn: c, limit: io.LimitedReader{R: c}, closed: make(chan struct{})}
	t.in = json.NewDecoder(&t.limit)
	return t
}

// say sends a message. It may be called concurrently.
func (c *control) say(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	c.SetWriteDeadline(time.Now().Add(sendTimeout))
	_, err = c.Write(b)
	return cause(err)
}

// hear receives a message. The error is io.EOF if the other side has closed the connection.
func (c *control) hear(v any) error {
	c.limit.N = maxMessage
	err := c.in.Decode(v)
	c.unheard.Store(0)
	var op *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && c.limit.N > 0: // closed without the end of TLS, as by a process that was killed
		return io.EOF
	case errors.As(err, &op) || errors.Is(err, io.EOF):
		return cause(err)
	}
	return fmt.Errorf("it sent what this version cannot read: %w", err)
}

// close closes the connection at once, without waiting for what was sent.
func (c *control) close() {
	c.once.Do(func() {
		close(c.closed)
		c.TCP.Close()
	})
}

// Heartbeats find out that the other host has vanished: the kernel there acknowledges them, so a process may be stopped, or wait for
// a processor, for as long as it likes. A host that has vanished is given up at most 1.8 s after it has acknowledged the last.
const (
	heartbeat  = time.Second
	ackTimeout = 800 * time.Millisecond // in which the kernel sends a heartbeat three times
	ackTrips   = 4                      // round trips that ackTimeout has at least
	maxUnheard = 1000                   // heartbeats that a stopped process has to read when it continues
	keepAlive  = 2 * time.Second        // until the kernel asks by itself, when it has that many
)

// errVanished says that the other host was switched off or cannot be reached any more.
var errVanished = errors.New("its machine does not answer")

// sendHeartbeats sends heartbeats until the connection is closed, or the kernel closes it because the other host has vanished.
func (c *control) sendHeartbeats(beat any) error {
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
				c.say(beat) // hear returns the error
			}
		case <-c.closed:
			return
		}
	}
}

// cause returns a plain text for errors that say that the other host has vanished.
func cause(err error) error {
	for _, gone := range []error{syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN} {
		if errors.Is(err, gone) {
			return errVanished
		}
	}
	return err
}
