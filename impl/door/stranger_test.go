package door

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

var usual = patience

// visit connects to a door as somebody who may do what he likes.
func visit(t *testing.T, d *Door) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", d.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	t.Cleanup(func() { c.Close() })
	return c
}

// sentAway checks that the door closes a connection, and what it says before, which is nothing of a MAC.
func sentAway(t *testing.T, c net.Conn, says int) {
	t.Helper()
	rest, err := io.ReadAll(c)
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		t.Errorf("the connection is still open")
	}
	if len(rest) > says {
		t.Errorf("the door said %d bytes, of %d at most", len(rest), says)
	}
	for i := challengeSize + 1; i < len(rest); i++ {
		if rest[i] != 0 {
			t.Fatalf("the door gave a MAC away: %x", rest)
		}
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// Strangers get nothing, whatever they send, and those who belong here come in meanwhile.
func TestStrangers(t *testing.T) {
	token := NewToken()
	who := places(2)
	late := Who{Data, 9, 1, 0}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, d *Door, c net.Conn)
	}{
		{"leaves", func(t *testing.T, d *Door, c net.Conn) { c.Close() }},
		{"says nothing and hangs up", func(t *testing.T, d *Door, c net.Conn) {
			c.(*net.TCPConn).CloseWrite()
			sentAway(t, c, 0)
		}},
		{"sends garbage", func(t *testing.T, d *Door, c net.Conn) {
			c.Write(random(helloSize))
			sentAway(t, c, 0)
		}},
		{"speaks HTTP", func(t *testing.T, d *Door, c net.Conn) {
			c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost:43211\r\nUser-Agent: some browser or other\r\n\r\n"))
			sentAway(t, c, 0)
		}},
		{"sends much garbage", func(t *testing.T, d *Door, c net.Conn) {
			for b := random(1 << 20); ; {
				if _, err := c.Write(b); err != nil {
					return // it was hung up on
				}
			}
		}},
		{"sends a purpose that there is not", func(t *testing.T, d *Door, c net.Conn) {
			c.Write(hello(Who{Purpose: 7, Rank: 1}, newNonce()))
			sentAway(t, c, 0)
		}},
		{"does not know the token", func(t *testing.T, d *Door, c net.Conn) {
			if _, err := knock(c, NewToken(), who[0]); !errors.Is(err, errStranger) {
				t.Errorf("got %v", err)
			}
			sentAway(t, c, 0)
		}},
		{"does not know the token, nor a place", func(t *testing.T, d *Door, c net.Conn) {
			if _, err := knock(c, NewToken(), late); !errors.Is(err, errStranger) { // and not that there is no such place
				t.Errorf("got %v", err)
			}
		}},
		{"sends a proof of garbage", func(t *testing.T, d *Door, c net.Conn) {
			c.Write(hello(who[0], newNonce()))
			c.Write(random(macSize))
			sentAway(t, c, challengeSize+answerSize)
		}},
		{"sends a proof of zeros, and more", func(t *testing.T, d *Door, c net.Conn) {
			c.Write(hello(who[0], newNonce()))
			c.Write(make([]byte, 1000))
			sentAway(t, c, challengeSize+answerSize)
		}},
		{"has a handshake of a place that is not there", func(t *testing.T, d *Door, c net.Conn) {
			if _, err := knock(c, token, late); !errors.Is(err, errEarly) {
				t.Errorf("got %v", err)
			}
			sentAway(t, c, 0)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := open(t, token, who...)
			stranger := visit(t, d)
			var wg sync.WaitGroup
			wg.Go(func() { c.do(t, d, stranger) })
			for _, w := range who {
				if err := meet(within(t, time.Minute), d, token, w); err != nil {
					t.Errorf("%v: %v", w, err)
				}
			}
			wg.Wait()
		})
	}
}

// tap copies what passes between two who have a handshake.
type tap struct {
	io.ReadWriter
	sent bytes.Buffer
}

func (w *tap) Write(b []byte) (int, error) {
	w.sent.Write(b)
	return w.ReadWriter.Write(b)
}

// Who sends a handshake again that was a good one is a stranger, even when the place is free.
func TestReplay(t *testing.T) {
	token := NewToken()
	who := places(1)[0]
	d := open(t, token, who)
	w := &tap{ReadWriter: visit(t, d)}
	if _, err := knock(w, token, who); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(w.sent.Bytes(), token[:5]) || bytes.Contains(w.sent.Bytes(), []byte(token.Text()[:6])) {
		t.Error("the token was sent")
	}
	d.Forget(who)
	d.Expect(who)
	c := visit(t, d)
	c.Write(w.sent.Bytes())
	sentAway(t, c, challengeSize+answerSize)
	if err := meet(within(t, time.Minute), d, token, who); err != nil {
		t.Errorf("the place is not free: %v", err)
	}
}

// Who sends back to a door what a guest of his own sent, or what the door itself said, is a stranger: roles are part of what is proved, and places.
func TestReflection(t *testing.T) {
	token := NewToken()
	who := places(2)
	d := open(t, token, who...)
	theirs, ours := newNonce(), newNonce()
	mac := func(token Token, r role, who Who, guest, house nonce, v verdict) []byte {
		return (&secret{token, who, guest, house}).mac(r, v)
	}
	macs := map[string][]byte{"right": mac(token, guest, who[0], theirs, ours, 0)}
	macs["of the other role"] = mac(token, host, who[0], theirs, ours, 0)
	macs["of the answer"] = mac(token, host, who[0], theirs, ours, welcome)
	macs["of another place"] = mac(token, guest, who[1], theirs, ours, 0)
	macs["of nonces the other way round"] = mac(token, guest, who[0], ours, theirs, 0)
	macs["of another token"] = mac(NewToken(), guest, who[0], theirs, ours, 0)
	for a, x := range macs {
		for b, y := range macs {
			if a != b && bytes.Equal(x, y) {
				t.Errorf("the MAC %s is that %s", a, b)
			}
		}
	}
	// A guest that is asked to prove himself at a stranger's door, who passes it on to the real one as that of another place.
	c := visit(t, d)
	n := newNonce()
	c.Write(hello(who[1], n))
	first := make([]byte, challengeSize)
	if _, err := io.ReadFull(c, first); err != nil {
		t.Fatal(err)
	}
	asked, _ := parseChallenge(first)
	c.Write(mac(token, guest, who[0], n, asked, 0))
	sentAway(t, c, answerSize)
}

// Who does not know the token cannot pass for the door, not even with what the guest has sent.
func TestPosingAsDoor(t *testing.T) {
	token := NewToken()
	who := places(1)[0]
	for name, answer := range map[string]func(proof []byte) []byte{
		"the proof itself":   func(proof []byte) []byte { return append([]byte{byte(welcome)}, proof...) },
		"zeros":              func([]byte) []byte { return append([]byte{byte(welcome)}, make([]byte, macSize)...) },
		"an unknown verdict": func([]byte) []byte { return append([]byte{99}, make([]byte, macSize)...) },
	} {
		near, far := net.Pipe()
		go func() {
			io.ReadFull(near, make([]byte, helloSize))
			near.Write(challenge(newNonce()))
			proof := make([]byte, macSize)
			io.ReadFull(near, proof)
			near.Write(answer(proof))
			near.Close()
		}()
		if _, err := knock(far, token, who); !errors.Is(err, errStranger) {
			t.Errorf("%s: got %v", name, err)
		}
		far.Close()
	}
}

// Who stalls, at whatever point, or drips, is sent away in bounded time, and keeps nobody out meanwhile.
func TestStalls(t *testing.T) {
	token := NewToken()
	who := places(2)
	d := open(t, token, who...)
	begin := time.Now()
	var wg sync.WaitGroup
	for _, n := range []int{0, 1, len(protocol), helloSize - 1, helloSize} {
		c := visit(t, d)
		c.Write(hello(who[0], newNonce())[:n])
		wg.Go(func() { sentAway(t, c, challengeSize) })
	}
	drip := visit(t, d)
	wg.Go(func() {
		for _, b := range hello(who[0], newNonce()) {
			if _, err := drip.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(patience / 20)
		}
		sentAway(t, drip, 0)
	})
	for _, w := range who {
		if err := meet(within(t, time.Minute), d, token, w); err != nil {
			t.Errorf("%v: %v", w, err)
		}
	}
	wg.Wait()
	if took := time.Since(begin); took > patience+10*time.Second {
		t.Errorf("the last was sent away after %v", took)
	}
}

// A thousand who stall keep nobody out: the oldest make room.
func TestCrowd(t *testing.T) {
	token := NewToken()
	who := places(20)
	patience = time.Hour // so that nobody goes because of it
	t.Cleanup(func() { patience = usual })
	d := open(t, token, who...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 250 {
				c, err := net.Dial("tcp", d.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				t.Cleanup(func() { c.Close() })
				c.Write(hello(who[0], newNonce()))
			}
		})
	}
	for _, w := range who {
		if err := meet(within(t, time.Minute), d, token, w); err != nil {
			t.Errorf("%v: %v", w, err)
		}
	}
	wg.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.crowd) > crowd {
		t.Errorf("%d are in a handshake at once, of %d at most", len(d.crowd), crowd)
	}
}

// Places and nonces are read as they were written, and nothing else is read as one.
func FuzzHello(f *testing.F) {
	f.Add(hello(Who{Data, 3, 2, 1}, newNonce()))
	f.Add(hello(Who{Control, 1 << 31, 1<<32 - 1, 0}, nonce{}))
	f.Add(challenge(newNonce()))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := parseChallenge(b); err == nil && !bytes.Equal(challenge(n), b) {
			t.Errorf("%x is read as the challenge %x", b, n)
		}
		if who, n, err := parseHello(b); err == nil && !bytes.Equal(hello(who, n), b) {
			t.Errorf("%x is read as %v, %x", b, who, n)
		}
	})
}
