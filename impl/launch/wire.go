package launch

import (
	"encoding/json"
	"fmt"

	"github.com/loggp/loggp/impl/door"
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

// say sends a message as JSON.
func say(c *door.Channel, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.Send(b)
}

// hear receives one. What cannot be read was sent by another version, for nobody else can send.
func hear(c *door.Channel, v any) error {
	b, err := c.Receive()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("it says what this version does not know: %w", err)
	}
	return nil
}
