package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/loggp/loggp/impl/auth"
	"github.com/loggp/loggp/impl/machine"
)

// hello is the first that an agent says.
type hello struct {
	Version string
	Host    string // as it calls itself
	Facts   []machine.Fact
}

// order is what rank 0 says to an agent.
type order struct {
	Kind   string // of those below
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
	Report *report
	Over   bool
	Death  *Death
}

// control is the connection between rank 0 and an agent. It carries JSON values.
type control struct {
	*auth.Conn
	limit io.LimitedReader
	in    *json.Decoder
	why   atomic.Pointer[error] // it was ended
}

// maxMessage bounds what is read of a message.
const maxMessage = 1 << 20

// sendTimeout is how long a message may wait for room at the other side.
const sendTimeout = 5 * time.Second

func newControl(c *auth.Conn) *control {
	t := &control{Conn: c, limit: io.LimitedReader{R: c}}
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
	return c.cause(err)
}

// hear receives a message. The error is io.EOF if the other side has closed the connection.
func (c *control) hear(v any) error {
	c.limit.N = maxMessage
	err := c.in.Decode(v)
	var op *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF) && c.limit.N > 0: // closed without the end of TLS, as by a process that was killed
		return c.cause(io.EOF)
	case errors.As(err, &op) || errors.Is(err, io.EOF):
		return c.cause(err)
	}
	return fmt.Errorf("it sent what this version cannot read: %w", err)
}

// close closes the connection at once, without waiting for what was sent.
func (c *control) close() { c.TCP.Close() }

// end closes the connection for a reason, which is the error of say and hear from then on.
func (c *control) end(why error) {
	c.why.CompareAndSwap(nil, &why)
	c.TCP.Close()
}

// cause returns why the connection has ended.
func (c *control) cause(err error) error {
	if why := c.why.Load(); why != nil && err != nil {
		return *why
	}
	return err
}
