package door

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// protocol begins the first message of each side. It has the version of the handshake.
const protocol = "loggp:d1"

// Messages of the handshake, in their order. All have a fixed size.
//
//	hello      from who dials: protocol, place, nonce
//	challenge  from the door:  protocol, nonce
//	proof      from who dials: MAC of role guest
//	answer     from the door:  verdict, MAC of role host and the verdict
const (
	nonceSize     = 32
	whoSize       = 16
	macSize       = sha256.Size
	helloSize     = len(protocol) + whoSize + nonceSize
	challengeSize = len(protocol) + nonceSize
	answerSize    = 1 + macSize
)

// nonce is drawn for each handshake, by either side.
type nonce [nonceSize]byte

func newNonce() (n nonce) {
	rand.Read(n[:]) // which does not fail
	return n
}

// verdict is what the door says in the end.
type verdict byte

const (
	welcome  verdict = 1 + iota
	early            // there is no such place, or not yet
	taken            // somebody has it
	stranger         // the proof is wrong; the MAC of this answer is empty
)

// role of a MAC: what one side says is no proof of the other.
type role byte

const (
	guest role = 'g'
	host  role = 'h'
)

// secret is what both sides of a handshake know.
type secret struct {
	token        Token
	who          Who
	guest, house nonce // whose they are
}

// mac returns HMAC-SHA256 with the token as key over
//
//	protocol, role, place, nonce of who dials, nonce of the door, verdict
//
// each of a fixed size. The verdict of a guest is 0.
func (s *secret) mac(r role, v verdict) []byte {
	h := hmac.New(sha256.New, s.token[:])
	h.Write([]byte(protocol))
	h.Write([]byte{byte(r)})
	h.Write(s.who.append(nil))
	h.Write(s.guest[:])
	h.Write(s.house[:])
	h.Write([]byte{byte(v)})
	return h.Sum(nil)
}

func (w Who) append(b []byte) []byte {
	b = append(b, byte(w.Purpose), 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, w.Run)
	b = binary.BigEndian.AppendUint32(b, w.Rank)
	return binary.BigEndian.AppendUint32(b, w.To)
}

var errGarbage = errors.New("it does not speak this protocol")

// parseWho reads a place of whoSize bytes.
func parseWho(b []byte) (w Who, err error) {
	w.Purpose = Purpose(b[0])
	if w.Purpose != Control && w.Purpose != Data || b[1]|b[2]|b[3] != 0 {
		return w, errGarbage
	}
	w.Run = binary.BigEndian.Uint32(b[4:])
	w.Rank = binary.BigEndian.Uint32(b[8:])
	w.To = binary.BigEndian.Uint32(b[12:])
	return w, nil
}

// hello returns the first message of who dials.
func hello(who Who, n nonce) []byte {
	return append(who.append([]byte(protocol)), n[:]...)
}

// parseHello reads it from helloSize bytes.
func parseHello(b []byte) (who Who, n nonce, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(protocol))
	if !ok || len(b) != helloSize {
		return who, n, errGarbage
	}
	who, err = parseWho(rest)
	return who, nonce(rest[whoSize:]), err
}

// challenge returns the first message of the door.
func challenge(n nonce) []byte { return append([]byte(protocol), n[:]...) }

// parseChallenge reads it from challengeSize bytes.
func parseChallenge(b []byte) (n nonce, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(protocol))
	if !ok || len(b) != challengeSize {
		return n, errGarbage
	}
	return nonce(rest), nil
}
