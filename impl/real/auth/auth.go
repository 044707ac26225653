// Package auth makes connections between the processes of a job, which know the job's token, and
// between no others.
//
// A Listener waits for connections that are named in advance by an ID: their purpose, the dialing
// and the listening rank. Both sides authenticate each other by TLS 1.3 with the same Ed25519 key,
// which is derived from the token. A side that can sign with it knows the token, which itself is
// never sent. Then the dialer sends its ID, and each ID is accepted once.
//
// A connection stays encrypted, or continues as plain TCP where TLS would change the measured times
// (Conn.TCP). Plain connections are authenticated when they begin and not protected afterwards: a
// machine on the path between two hosts can read and change what they carry, and take them over.
//
// All processes that know the token are trusted equally.
package auth

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// protocolVersion is negotiated by both sides (ALPN). It ends in the version of what this package
// sends.
const protocolVersion = "loggp/2"

// handshakeTimeout bounds a handshake: three round trips.
var handshakeTimeout = 3 * time.Second

// Errors of a handshake.
var (
	errWrongToken        = errors.New("the token is another's")
	errWrongProtocol     = errors.New("it does not speak this protocol, or another version of it: use the same loggp on all hosts")
	errUnknownConnection = errors.New("the job has no such connection")
	errConnectionTaken   = errors.New("another process has made this connection already")
	errHungUp            = errors.New("it closed the connection during the handshake")
	errStalled           = fmt.Errorf("it did not complete the handshake within %v", handshakeTimeout)
	errEvicted           = errors.New("it had not completed the handshake when others needed the room")
)

// Purpose is the kind of data that a connection carries.
type Purpose uint8

// Purposes.
const (
	Control Purpose = 1 + iota // commands and reports
	Data                       // messages of ranks
)

// ID names a connection of a job.
type ID struct {
	Purpose Purpose
	From    uint32 // rank that dials
	To      uint32 // rank that listens
}

// String describes it, for errors.
func (id ID) String() string {
	kind := "data"
	if id.Purpose == Control {
		kind = "control"
	}
	return fmt.Sprintf("%s connection from rank %d to rank %d", kind, id.From, id.To)
}

// Conn is an authenticated, encrypted connection.
type Conn struct {
	*tls.Conn

	// TCP is the connection below TLS, from which only the handshake has been read. Both sides may
	// continue on it instead, in plain text, if neither uses TLS any more.
	TCP *net.TCPConn
}

// recordReader reads from a TCP connection no further than the end of the current TLS record: plain
// text that follows the handshake stays in the socket.
type recordReader struct {
	*net.TCPConn
	header      []byte // the part of the record's header that has been read
	bodyLeft    int    // bytes of the record behind its header
	hasReceived atomic.Bool
}

const recordHeaderSize = 5 // type, version and length

func (c *recordReader) Read(b []byte) (int, error) {
	inHeader := c.bodyLeft == 0
	if inHeader && len(c.header) == recordHeaderSize {
		c.header = c.header[:0]
	}
	limit := c.bodyLeft
	if inHeader {
		limit = recordHeaderSize - len(c.header)
	}
	n, err := c.TCPConn.Read(b[:min(len(b), limit)])
	if n > 0 {
		c.hasReceived.Store(true)
	}
	if !inHeader {
		c.bodyLeft -= n
	} else if c.header = append(c.header, b[:n]...); len(c.header) == recordHeaderSize {
		c.bodyLeft = int(binary.BigEndian.Uint16(c.header[3:]))
	}
	return n, err
}

// tlsConfig returns the configuration by which both sides authenticate each other. Strangers can
// learn the public key, but cannot derive the token from it: the token has 120 random bits.
func tlsConfig(token Token) (*tls.Config, error) {
	seed, err := hkdf.Key(sha256.New, token[:], nil, "loggp Ed25519 key of a job", ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	key := ed25519.NewKeyFromSeed(seed)
	public := key.Public().(ed25519.PublicKey)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		NextProtos:             []string{protocolVersion},
		Certificates:           []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // names and issuers mean nothing here: VerifyConnection compares the key
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			theirs, _ := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
			switch {
			case subtle.ConstantTimeCompare(theirs, public) != 1:
				return errWrongToken
			case s.NegotiatedProtocol != protocolVersion:
				return errWrongProtocol
			}
			return nil
		},
	}, nil
}

// reply is the listener's answer to an ID.
type reply uint8

const (
	replyAccepted reply = 1 + iota
	replyUnknown
	replyTaken
)

func (r reply) toError() error {
	switch r {
	case replyAccepted:
		return nil
	case replyUnknown:
		return errUnknownConnection
	case replyTaken:
		return errConnectionTaken
	}
	return errWrongProtocol
}

// requestConnection is the dialer's side of a handshake.
func requestConnection(c *tls.Conn, id ID) error {
	if err := c.Handshake(); err != nil {
		return handshakeError(err)
	}
	if err := binary.Write(c, binary.BigEndian, id); err != nil {
		return handshakeError(err)
	}
	var r reply
	if err := binary.Read(c, binary.BigEndian, &r); err != nil {
		return handshakeError(err)
	}
	return r.toError()
}

// handshakeError translates the error of a handshake.
func handshakeError(err error) error {
	var record tls.RecordHeaderError
	var op *net.OpError
	switch {
	case errors.Is(err, errWrongToken) || errors.Is(err, errWrongProtocol):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errStalled
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errHungUp
	case errors.As(err, &record):
		return errWrongProtocol
	case errors.As(err, &op) && op.Op == "remote error": // a TLS alert, which has no exported type
		switch alert := op.Err.Error(); {
		case strings.HasSuffix(alert, "bad certificate"):
			return errWrongToken
		case strings.HasSuffix(alert, "no application protocol"), strings.HasSuffix(alert, "protocol version not supported"):
			return errWrongProtocol
		}
	}
	return err
}

// netErrorCause returns an error of package net without the addresses, which the caller has.
func netErrorCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var sys syscall.Errno
	if errors.As(err, &sys) {
		return sys
	}
	return err
}
