package door

import (
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
)

// How handshakes fail.
var (
	errEarly    = errors.New("it has no such place, or not yet")
	errTaken    = errors.New("somebody has taken this place")
	errStranger = errors.New("the token is another's")
	errCrowded  = fmt.Errorf("it stalls, and %d others came", crowd)
)

// handshake has the door's side of it.
func (d *Door) handshake(c net.Conn) (s secret, err error) {
	first := make([]byte, helloSize)
	if err := read(c, first); err != nil {
		return s, err
	}
	who, theirs, err := parseHello(first)
	if err != nil {
		return s, err
	}
	ours := newNonce()
	s = secret{d.token, who, theirs, ours}
	if _, err := c.Write(challenge(ours)); err != nil {
		return s, err
	}
	proof := make([]byte, macSize)
	if err := read(c, proof); err != nil {
		return s, err
	}
	if !hmac.Equal(proof, s.mac(guest, 0)) {
		c.Write(append([]byte{byte(stranger)}, make([]byte, macSize)...))
		return s, errStranger
	}
	d.leave(c) // who has come this far is not to be dropped for others
	v := d.take(who)
	_, err = c.Write(append([]byte{byte(v)}, s.mac(host, v)...))
	if v != welcome {
		return s, v.err()
	}
	if err != nil {
		d.giveBack(who)
	}
	return s, err
}

// knock has the side of who dials.
func knock(c io.ReadWriter, token Token, who Who) (s secret, err error) {
	ours := newNonce()
	if _, err := c.Write(hello(who, ours)); err != nil {
		return s, err
	}
	first := make([]byte, challengeSize)
	if err := read(c, first); err != nil {
		return s, err
	}
	theirs, err := parseChallenge(first)
	if err != nil {
		return s, err
	}
	s = secret{token, who, ours, theirs}
	if _, err := c.Write(s.mac(guest, 0)); err != nil {
		return s, err
	}
	answer := make([]byte, answerSize)
	if err := read(c, answer); err != nil {
		return s, err
	}
	v := verdict(answer[0])
	if v != stranger && !hmac.Equal(answer[1:], s.mac(host, v)) {
		return s, errStranger
	}
	return s, v.err()
}

// err returns what a verdict means.
func (v verdict) err() error {
	switch v {
	case welcome:
		return nil
	case early:
		return errEarly
	case taken:
		return errTaken
	}
	return errStranger
}

// read fills b, and says what it means if that fails.
func read(r io.Reader, b []byte) error {
	n, err := io.ReadFull(r, b)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it stalls: %d of %d bytes came in %v", n, len(b), patience)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return fmt.Errorf("it hung up after %d of %d bytes", n, len(b))
	}
	return err
}
