package tcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/loggp/loggp/impl/auth"
)

// meeting is how ranks find each other: each listens. The others connect to rank 0, which tells them where all listen, and then each connects to the ranks
// before its own.
type meeting struct {
	Where    string // rank 0 listens
	Token    auth.Token
	listener *auth.Listener // of this rank
}

// arrival is how long a rank is waited for that has not come, and stall one that has and does not go on.
var (
	arrival = time.Minute
	stall   = 10 * time.Second
)

// late is why nobody waits any longer.
type late time.Duration

func (d late) Error() string { return fmt.Sprintf("not within %v", time.Duration(d)) }

// Is says that it is what a deadline comes to, so that whoever tries again until then tells why he had to.
func (d late) Is(other error) bool { return other == context.DeadlineExceeded }

// invite lets rank 0 listen at an address, "" for loopback, and returns what the others inherit.
func invite(address string, ranks int) (*meeting, *os.File, error) {
	m := &meeting{Token: auth.NewToken()}
	if err := m.open(address, 0, ranks); err != nil {
		return nil, nil, err
	}
	m.Where = m.listener.Addr().String()
	var f *os.File
	var err error
	if m.listener.Addr().IP.IsLoopback() {
		err = reach(m.Where)
	}
	if err == nil {
		f, err = letter()
	}
	if err == nil {
		err = json.NewEncoder(f).Encode(m)
	}
	if err != nil {
		m.close()
		return nil, nil, err
	}
	return m, f, nil
}

// reach returns an error if this host has no way to an address of its own. Nothing is sent.
func reach(address string) error {
	c, err := net.Dial("udp", address)
	if err == nil {
		return c.Close()
	}
	if errors.Is(err, syscall.ENETUNREACH) {
		return fmt.Errorf("ranks on this host cannot reach each other at %s, because its loopback interface is down: ip link set lo up", address)
	}
	return fmt.Errorf("ranks on this host cannot reach each other: %w", err)
}

// invited reads what was inherited.
func invited(f *os.File) (*meeting, error) {
	m := &meeting{}
	if err := json.NewDecoder(io.NewSectionReader(f, 0, 1<<10)).Decode(m); err != nil {
		return nil, fmt.Errorf("where to find the others: %w", err)
	}
	return m, nil
}

// open lets a rank listen for those after it.
func (m *meeting) open(address string, rank, ranks int) (err error) {
	var ids []auth.ID
	for r := rank + 1; r < ranks; r++ {
		ids = append(ids, connection(r, rank))
	}
	m.listener, err = auth.Listen(address, m.Token, ids...)
	return err
}

// connection names the connection between two ranks.
func connection(from, to int) auth.ID {
	return auth.ID{Purpose: auth.Data, From: uint32(from), To: uint32(to)}
}

func (m *meeting) close() {
	if m.listener != nil {
		m.listener.Close()
	}
}

// circle is a rank's connections while it meets the others.
type circle struct {
	*meeting
	ctx  context.Context
	rank int
	met  []*net.TCPConn
}

// meet connects a rank to all others, and returns when all are connected. If it fails it returns the connections that there are.
func (m *meeting) meet(ctx context.Context, rank, ranks int) ([]*net.TCPConn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, arrival, late(arrival))
	defer cancel()
	defer m.close()
	c := &circle{m, ctx, rank, make([]*net.TCPConn, ranks)}
	gather := c.come
	if rank == 0 {
		gather = c.host
	}
	err := gather()
	if err == nil {
		err = c.barrier()
	}
	return c.met, err
}

// host lets all come to rank 0, and tells them where the others are.
func (c *circle) host() error {
	where := make([]string, len(c.met))
	where[0] = c.Where
	for r := 1; r < len(c.met); r++ {
		if err := c.accept(r); err != nil {
			return err
		}
		if err := c.read(r, &where[r], stall); err != nil {
			return err
		}
	}
	return c.all(func(r int) error { return c.write(r, where) })
}

// come comes to the ranks before this one, and lets in those after it, at the address from which it came to rank 0.
func (c *circle) come() error {
	if err := c.dial(0, c.Where); err != nil {
		return err
	}
	if err := c.open(c.met[0].LocalAddr().(*net.TCPAddr).IP.String(), c.rank, len(c.met)); err != nil {
		return err
	}
	if err := c.write(0, c.listener.Addr().String()); err != nil {
		return err
	}
	var where []string
	if err := c.read(0, &where, arrival); err != nil {
		return err
	}
	if len(where) != len(c.met) {
		return fmt.Errorf("rank 0 has a job of %d ranks, and this one is of %d", len(where), len(c.met))
	}
	for r := 1; r < c.rank; r++ {
		if err := c.dial(r, where[r]); err != nil {
			return err
		}
	}
	for r := c.rank + 1; r < len(c.met); r++ {
		if err := c.accept(r); err != nil {
			return err
		}
	}
	return nil
}

func (c *circle) dial(r int, where string) error {
	conn, err := auth.Dial(c.ctx, where, c.Token, connection(c.rank, r))
	if err != nil {
		return fmt.Errorf("rank %d: %w", r, err)
	}
	c.met[r] = conn.TCP // messages are measured: they are not encrypted
	return nil
}

func (c *circle) accept(r int) error {
	conn, err := c.listener.Accept(c.ctx, connection(r, c.rank))
	if err == nil {
		c.met[r] = conn.TCP
	}
	return err
}

// barrier returns when all are as far.
func (c *circle) barrier() error {
	var word string
	if c.rank != 0 {
		if err := c.write(0, "here"); err != nil {
			return err
		}
		return c.read(0, &word, arrival)
	}
	if err := c.all(func(r int) error { return c.read(r, &word, stall) }); err != nil {
		return err
	}
	return c.all(func(r int) error { return c.write(r, "go") })
}

// all does something with each other rank, in turn.
func (c *circle) all(do func(r int) error) error {
	for r := 1; r < len(c.met); r++ {
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// write tells another rank something, of 64 KiB at most: a list of MaxRanks addresses has a twentieth of that.
func (c *circle) write(r int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	conn := c.met[r]
	conn.SetDeadline(time.Now().Add(stall))
	if _, err := conn.Write(append([]byte{byte(len(b)), byte(len(b) >> 8)}, b...)); err != nil {
		return fmt.Errorf("to tell rank %d: %w", r, err)
	}
	return nil
}

// read is told something by another rank, which has some time for it. It reads no byte more than that: what follows is for the link.
func (c *circle) read(r int, v any, d time.Duration) error {
	conn := c.met[r]
	conn.SetDeadline(time.Now().Add(d))
	defer context.AfterFunc(c.ctx, func() { conn.SetDeadline(time.Now()) })()
	var n [2]byte
	if _, err := io.ReadFull(conn, n[:]); err != nil {
		return c.unsaid(r, d, err)
	}
	b := make([]byte, int(n[0])|int(n[1])<<8)
	if _, err := io.ReadFull(conn, b); err != nil {
		return c.unsaid(r, d, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("rank %d says %.40q, which is nonsense: %w", r, b, err)
	}
	return nil
}

// unsaid says why another rank has not told something.
func (c *circle) unsaid(r int, d time.Duration, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("rank %d is connected, and says nothing for %v: is it stopped, or does it wait for another?", r, d)
	}
	return fmt.Errorf("rank %d is connected no more: %w", r, err)
}
