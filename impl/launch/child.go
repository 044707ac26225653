package launch

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/loggp/loggp/impl/device"
)

// A process finds in its environment that it is a rank, and a token, which is what it was given by who started it only if its orders
// have the same.
const (
	rankVariable  = "LOGGP_RANK"
	tokenVariable = "LOGGP_TOKEN"
)

// What a rank inherits beside its standard files.
const (
	ordersFile = 3 + iota // to read its orders from; it ends when rank 0's process does
	reportFile            // to write its report to
	sharedFile            // the transport's
)

// orders are what a rank is told.
type orders struct {
	Token   string
	Rank    int
	Ranks   int
	Args    []string
	Earlier []report // runs that are over
	Hosts   []Host   `json:",omitempty"` // by rank, if there are several
}

// child is this process, if it is a rank that was started.
type child struct {
	orders
	report *os.File
	runs   int           // it has come to
	told   chan struct{} // closed when the rank is to leave its program
	words  []byte        // that it has left
}

// leave is what a rank reads behind its orders when it is to leave its program.
const leave = '.'

// self returns this process as a rank, or nil if the user started it.
var self = sync.OnceValues(func() (*child, error) {
	rank, isRank := os.LookupEnv(rankVariable)
	token := os.Getenv(tokenVariable)
	if !isRank {
		return nil, nil
	}
	os.Unsetenv(rankVariable) // processes that the program starts are no ranks
	os.Unsetenv(tokenVariable)
	stranger := func(err error) error {
		return fmt.Errorf("launch: the environment has %s=%s, but this process was not started as a rank (unset the variable): %w", rankVariable, rank, err)
	}
	if err := inherited(); err != nil {
		return nil, stranger(err)
	}
	c := &child{report: os.NewFile(reportFile, "report"), told: make(chan struct{})}
	in := os.NewFile(ordersFile, "orders")
	orders := json.NewDecoder(in)
	if err := orders.Decode(&c.orders); err != nil {
		return nil, stranger(err)
	}
	if token == "" || c.Token != token {
		return nil, stranger(errors.New("the token is another's"))
	}
	go c.listen(io.MultiReader(orders.Buffered(), in))
	return c, nil
})

// listen hears what comes behind the orders: that the rank is to leave its program, or that rank 0's process has ended.
func (c *child) listen(in io.Reader) {
	r := bufio.NewReader(in)
	if _, err := r.ReadBytes(leave); err == nil {
		close(c.told)
		io.Copy(io.Discard, r)
	}
	os.Exit(1)
}

// run returns the end of a run that is over, or takes part and exits.
func (c *child) run(cfg Config, t Transport, program func(device.Port) error) error {
	if !slices.Equal(cfg.Args, c.Args) {
		return fmt.Errorf("launch: rank %d starts no jobs of its own", c.Rank)
	}
	n := c.runs
	c.runs++
	if n < len(c.Earlier) {
		return c.Earlier[n].err()
	}
	if err := c.take(cfg, t, program); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
	return nil
}

// take takes part in a run and reports how it ended.
func (c *child) take(cfg Config, t Transport, program func(device.Port) error) error {
	err := c.join(cfg, t, program)
	if problem := json.NewEncoder(c.report).Encode(reportOf(c.Rank, err, c.words)); problem != nil {
		return problem
	}
	return err
}

func (c *child) join(cfg Config, t Transport, program func(device.Port) error) error {
	if cfg.Ranks != c.Ranks {
		return fmt.Errorf("launch: rank %d came to a run of %d ranks in place of one of %d: code between runs must do the same in every process", c.Rank, cfg.Ranks, c.Ranks)
	}
	node, err := t.Join(c.Rank, os.NewFile(sharedFile, "shared"))
	if err != nil {
		return err
	}
	go func() {
		<-c.told
		node.Stop()
	}()
	if err := json.NewEncoder(c.report).Encode(report{Kind: begun, Rank: c.Rank}); err != nil {
		return err
	}
	err = live(node, c.Rank, cfg.Pin, program)
	c.words = left(node)
	if err == nil {
		node.End()
	}
	return err
}

// without returns an environment without what makes a process a rank.
func without(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, rankVariable+"=") && !strings.HasPrefix(v, tokenVariable+"=") {
			kept = append(kept, v)
		}
	}
	return kept
}
