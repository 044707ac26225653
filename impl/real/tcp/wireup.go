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

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/host"
)

// wireup connects a rank to all others. Each rank listens. All others connect to rank 0, which
// sends them the addresses of all; then each rank connects to those with lower numbers.
type wireup struct {
	RootAddress  string // rank 0 listens
	Token        auth.Token
	listener     *auth.Listener // of this rank
	rank         int
	ctx          context.Context
	conns        []*net.TCPConn        // to each rank
	afterConnect func(w *wireup) error // a further exchange between connected ranks; nil: none
}

// joinTimeout is how long a rank waits for another one to connect, and replyTimeout for a message
// of a connected one.
var (
	joinTimeout  = time.Minute
	replyTimeout = 10 * time.Second
)

// timeoutError is the error of a rank that has waited too long.
type timeoutError time.Duration

func (d timeoutError) Error() string { return fmt.Sprintf("not within %v", time.Duration(d)) }

// Is makes it an exceeded deadline, so that retries until the deadline report why they failed.
func (d timeoutError) Is(other error) bool { return other == context.DeadlineExceeded }

// newWireup lets rank 0 listen at an address, "" for loopback, and returns a file for the other
// ranks.
func newWireup(address string, ranks int) (*wireup, *os.File, error) {
	w := &wireup{Token: auth.NewToken(), conns: make([]*net.TCPConn, ranks)}
	if err := w.listen(address); err != nil {
		return nil, nil, err
	}
	w.RootAddress = w.listener.Addr().String()
	contents, err := json.Marshal(w)
	var f *os.File
	if err == nil {
		f, err = host.NewMemoryFile(contents)
	}
	if err == nil && w.listener.Addr().IP.IsLoopback() {
		err = checkReachable(w.RootAddress)
	}
	if err != nil {
		w.close()
		if f != nil {
			f.Close()
		}
		return nil, nil, err
	}
	return w, f, nil
}

// checkReachable returns an error if this host has no way to an address of its own. Nothing is
// sent.
func checkReachable(address string) error {
	c, err := net.Dial("udp", address)
	if err == nil {
		return c.Close()
	}
	if errors.Is(err, syscall.ENETUNREACH) {
		return fmt.Errorf("ranks on this host cannot reach each other at %s, because its loopback interface is down: ip link set lo up", address)
	}
	return fmt.Errorf("ranks on this host cannot reach each other: %w", err)
}

// readWireup reads the file as another rank.
func readWireup(f *os.File, rank, ranks int) (*wireup, error) {
	w := &wireup{rank: rank, conns: make([]*net.TCPConn, ranks)}
	if err := json.NewDecoder(io.NewSectionReader(f, 0, 1<<10)).Decode(w); err != nil {
		return nil, fmt.Errorf("read where rank 0 listens: %w", err)
	}
	return w, nil
}

// listen lets a rank listen for ranks with higher numbers.
func (w *wireup) listen(address string) (err error) {
	var ids []auth.ID
	for r := w.rank + 1; r < len(w.conns); r++ {
		ids = append(ids, connectionID(r, w.rank))
	}
	w.listener, err = auth.Listen(address, w.Token, ids...)
	return err
}

// connectionID names the connection between two ranks.
func connectionID(from, to int) auth.ID {
	return auth.ID{Purpose: auth.Data, From: uint32(from), To: uint32(to)}
}

func (w *wireup) close() {
	if w.listener != nil {
		w.listener.Close()
	}
}

// connect connects the rank to all others, and returns when all ranks are connected. If it fails
// conns has the connections made so far.
func (w *wireup) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, joinTimeout, timeoutError(joinTimeout))
	defer cancel()
	defer w.close()
	w.ctx = ctx
	exchange := w.joinRoot
	if w.rank == 0 {
		exchange = w.acceptAll
	}
	if err := exchange(); err != nil {
		return err
	}
	if w.afterConnect != nil {
		if err := w.afterConnect(w); err != nil {
			return err
		}
	}
	return w.barrier()
}

// acceptAll accepts all others at rank 0, and sends them the addresses of all.
func (w *wireup) acceptAll() error {
	where := make([]string, len(w.conns))
	where[0] = w.RootAddress
	for r := 1; r < len(w.conns); r++ {
		if err := w.acceptRank(r); err != nil {
			return err
		}
		if err := w.receiveValue(r, &where[r], replyTimeout); err != nil {
			return err
		}
	}
	return w.forEachOther(func(r int) error { return w.sendValue(r, where) })
}

// joinRoot connects to the ranks with lower numbers, and accepts those with higher ones at the
// address that is connected to rank 0.
func (w *wireup) joinRoot() error {
	if err := w.dialRank(0, w.RootAddress); err != nil {
		return err
	}
	if err := w.listen(w.conns[0].LocalAddr().(*net.TCPAddr).IP.String()); err != nil {
		return err
	}
	if err := w.sendValue(0, w.listener.Addr().String()); err != nil {
		return err
	}
	var where []string
	if err := w.receiveValue(0, &where, joinTimeout); err != nil {
		return err
	}
	if len(where) != len(w.conns) {
		return fmt.Errorf("rank 0 has a job of %d ranks, and this one is of %d", len(where), len(w.conns))
	}
	for r := 1; r < w.rank; r++ {
		if err := w.dialRank(r, where[r]); err != nil {
			return err
		}
	}
	for r := w.rank + 1; r < len(w.conns); r++ {
		if err := w.acceptRank(r); err != nil {
			return err
		}
	}
	return nil
}

func (w *wireup) dialRank(r int, where string) error {
	conn, err := auth.Dial(w.ctx, where, w.Token, connectionID(w.rank, r))
	if err != nil {
		return fmt.Errorf("rank %d: %w", r, err)
	}
	w.conns[r] = conn.TCP // messages are measured: they are not encrypted
	return nil
}

func (w *wireup) acceptRank(r int) error {
	conn, err := w.listener.Accept(w.ctx, connectionID(r, w.rank))
	if err == nil {
		w.conns[r] = conn.TCP
	}
	return err
}

// barrier returns when all ranks have called it.
func (w *wireup) barrier() error {
	var word string
	if w.rank != 0 {
		if err := w.sendValue(0, "here"); err != nil {
			return err
		}
		return w.receiveValue(0, &word, joinTimeout)
	}
	if err := w.forEachOther(func(r int) error { return w.receiveValue(r, &word, replyTimeout) }); err != nil {
		return err
	}
	return w.forEachOther(func(r int) error { return w.sendValue(r, "go") })
}

// forEachOther calls a function for each other rank, in turn.
func (w *wireup) forEachOther(do func(r int) error) error {
	for r := 1; r < len(w.conns); r++ {
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}

// sendValue sends a value to another rank, of at most 64 KiB: a list of launch.MaxRanks addresses
// has a twentieth of that.
func (w *wireup) sendValue(r int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	conn := w.conns[r]
	conn.SetDeadline(time.Now().Add(replyTimeout))
	if _, err := conn.Write(append([]byte{byte(len(b)), byte(len(b) >> 8)}, b...)); err != nil {
		return fmt.Errorf("send to rank %d: %w", r, err)
	}
	return nil
}

// receiveValue receives a value from another rank, which has some time to send it. It reads no
// further: the bytes that follow belong to the link.
func (w *wireup) receiveValue(r int, v any, d time.Duration) error {
	conn := w.conns[r]
	conn.SetDeadline(time.Now().Add(d))
	defer context.AfterFunc(w.ctx, func() { conn.SetDeadline(time.Now()) })()
	var n [2]byte
	if _, err := io.ReadFull(conn, n[:]); err != nil {
		return w.describeReceiveError(r, d, err)
	}
	b := make([]byte, int(n[0])|int(n[1])<<8)
	if _, err := io.ReadFull(conn, b); err != nil {
		return w.describeReceiveError(r, d, err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("rank %d has sent %.40q, which no rank sends: %w", r, b, err)
	}
	return nil
}

// describeReceiveError returns the error if nothing came from another rank.
func (w *wireup) describeReceiveError(r int, d time.Duration, err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("rank %d is connected, and has sent nothing for %v: is it stopped, or does it wait for another?", r, d)
	}
	return fmt.Errorf("the connection to rank %d has ended: %w", r, err)
}
