package door

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Channel carries messages over a connection that was admitted. Who does not know the token can neither read nor change them, nor repeat or
// leave out one of them: the channel ends instead.
//
// A message is its length in four bytes and its text, sealed by AES-256-GCM with a key for each direction, which both sides
// derive from the token and the nonces of their handshake (HKDF), and with its number. So control is secret; data, which is measured, is not.
type Channel struct {
	conn     *net.TCPConn
	patience time.Duration // with who takes no byte of a message
	in       sealer
	why      atomic.Pointer[error] // it was ended

	mu  sync.Mutex // held while a message is sent
	out sealer
}

// MaxMessage is the most bytes of a message.
const MaxMessage = 1 << 20

// slow is the patience of channels.
const slow = 5 * time.Second

// sealer seals or opens the messages of one direction.
type sealer struct {
	cipher.AEAD
	count uint64
}

// number returns that of the next message, which is used once.
func (s *sealer) number() []byte {
	n := make([]byte, s.NonceSize())
	binary.BigEndian.PutUint64(n[len(n)-8:], s.count)
	s.count++
	return n
}

// sealer returns that of what one side sends.
func (s *secret) sealer(r role) sealer {
	info := protocol + string(s.who.append([]byte{byte(r)}))
	key, err := hkdf.Key(sha256.New, s.token[:], slices.Concat(s.guest[:], s.house[:]), info, 32)
	if err != nil {
		panic(fmt.Sprintf("door: %v", err)) // of lengths, which are right
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(fmt.Sprintf("door: %v", err))
	}
	sealing, err := cipher.NewGCM(block)
	if err != nil {
		panic(fmt.Sprintf("door: %v", err))
	}
	return sealer{AEAD: sealing}
}

// DialChannel is Dial for a channel.
func DialChannel(ctx context.Context, address string, token Token, who Who) (*Channel, error) {
	a, err := dial(ctx, address, token, who)
	if err != nil {
		return nil, err
	}
	return &Channel{conn: a.TCPConn, patience: slow, in: a.sealer(host), out: a.sealer(guest)}, nil
}

// AdmitChannel is Admit for a channel.
func (d *Door) AdmitChannel(ctx context.Context, who Who) (*Channel, error) {
	a, err := d.admit(ctx, who)
	if err != nil {
		return nil, err
	}
	return &Channel{conn: a.TCPConn, patience: slow, in: a.sealer(guest), out: a.sealer(host)}, nil
}

// Conn returns the connection, for its addresses and options.
func (c *Channel) Conn() *net.TCPConn { return c.conn }

// Send sends a message. It may be called by several at once.
func (c *Channel) Send(message []byte) error {
	if len(message) > MaxMessage {
		return fmt.Errorf("a message of %d bytes is too long: at most %d", len(message), MaxMessage)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b := binary.BigEndian.AppendUint32(nil, uint32(len(message)+c.out.Overhead()))
	b = c.out.Seal(b, c.out.number(), message, b)
	c.conn.SetWriteDeadline(time.Now().Add(c.patience))
	_, err := c.conn.Write(b)
	if err != nil {
		err = c.cause(err)
	}
	return err
}

// cause returns why the channel has ended.
func (c *Channel) cause(err error) error {
	if why := c.why.Load(); why != nil {
		return *why
	}
	return cause(err)
}

// ErrTampered says that what came over a channel was not sent by the other side.
var ErrTampered = errors.New("what came was not sent by the other side: somebody is between")

// Receive waits for a message. One goroutine at a time may call it. The error is io.EOF where the other side has closed the channel.
func (c *Channel) Receive() ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.conn, head); err != nil {
		return nil, c.cause(err)
	}
	n := int(binary.BigEndian.Uint32(head))
	if n < c.in.Overhead() || n > MaxMessage+c.in.Overhead() {
		return nil, ErrTampered
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(c.conn, b); err != nil {
		return nil, c.cause(err)
	}
	message, err := c.in.Open(b[:0], c.in.number(), b, head)
	if err != nil {
		return nil, ErrTampered
	}
	return message, nil
}

// Close closes it at once. Who waits in Receive returns.
func (c *Channel) Close() { c.conn.Close() }

// End closes it for a reason, which is the error of Send and Receive from then on.
func (c *Channel) End(why error) {
	c.why.CompareAndSwap(nil, &why)
	c.Close()
}
