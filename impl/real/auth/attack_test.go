package auth

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// dialListener connects to a listener as a stranger, who may send anything.
func dialListener(t *testing.T, l *Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(time.Minute))
	t.Cleanup(func() { c.Close() })
	return c
}

// checkClosed checks that the listener closes a connection and sends at most an alert before.
func checkClosed(t *testing.T, c net.Conn) {
	t.Helper()
	rest, err := io.ReadAll(c)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection is still open")
	}
	if len(rest) > 100 {
		t.Errorf("the listener sent %d bytes", len(rest))
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// clientHello returns what a dialer sends first.
func clientHello(t *testing.T, conf *tls.Config) []byte {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		tls.Client(far, conf).Handshake()
		far.Close()
	}()
	b := make([]byte, recordHeaderSize)
	if _, err := io.ReadFull(near, b); err != nil {
		t.Fatal(err)
	}
	b = append(b, make([]byte, binary.BigEndian.Uint16(b[3:]))...)
	if _, err := io.ReadFull(near, b[recordHeaderSize:]); err != nil {
		t.Fatal(err)
	}
	return b
}

// mustTLSConfig returns the configuration of a token.
func mustTLSConfig(t *testing.T, token Token) *tls.Config {
	conf, err := tlsConfig(token)
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

// changedTLSConfig returns a configuration that accepts any peer.
func changedTLSConfig(t *testing.T, token Token, change func(c *tls.Config)) *tls.Config {
	conf := mustTLSConfig(t, token)
	conf.VerifyConnection = nil
	change(conf)
	return conf
}

// Strangers are refused, whatever they send, and processes that know the token connect meanwhile.
func TestStrangersAreRefused(t *testing.T) {
	token := NewToken()
	ids := dataIDs(2)
	refused := func(token Token, change func(t *testing.T, c *tls.Config)) func(t *testing.T, c net.Conn) {
		return func(t *testing.T, c net.Conn) {
			conf := changedTLSConfig(t, token, func(conf *tls.Config) { change(t, conf) })
			if err := requestConnection(tls.Client(c, conf), ids[0]); err == nil {
				t.Error("the stranger was accepted")
			}
			checkClosed(t, c)
		}
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, c net.Conn)
	}{
		{"leaves", func(t *testing.T, c net.Conn) { c.Close() }},
		{"sends nothing and hangs up", func(t *testing.T, c net.Conn) {
			c.(*net.TCPConn).CloseWrite()
			checkClosed(t, c)
		}},
		{"sends garbage", func(t *testing.T, c net.Conn) {
			c.Write(randomBytes(1000))
			checkClosed(t, c)
		}},
		{"sends garbage in a record", func(t *testing.T, c net.Conn) {
			c.Write(append([]byte{22, 3, 1, 3, 232}, randomBytes(1000)...))
			checkClosed(t, c)
		}},
		{"speaks HTTP", func(t *testing.T, c net.Conn) {
			c.Write([]byte("GET / HTTP/1.1\r\nHost: localhost:43211\r\nUser-Agent: some browser or other\r\n\r\n"))
			checkClosed(t, c)
		}},
		{"sends much garbage", func(t *testing.T, c net.Conn) {
			for b := randomBytes(1 << 20); ; {
				if _, err := c.Write(b); err != nil {
					return // the connection was closed
				}
			}
		}},
		{"has another token", refused(NewToken(), func(*testing.T, *tls.Config) {})},
		{"has no certificate", refused(NewToken(), func(t *testing.T, c *tls.Config) { c.Certificates = nil })},
		{"has the certificate and not its key", refused(NewToken(), func(t *testing.T, c *tls.Config) {
			c.Certificates[0].Certificate = mustTLSConfig(t, token).Certificates[0].Certificate
			_, private, _ := ed25519.GenerateKey(nil)
			c.Certificates[0].PrivateKey = private
		})},
		{"has a certificate for another kind of key", refused(NewToken(), func(t *testing.T, c *tls.Config) {
			c.Certificates = []tls.Certificate{ecdsaCertificate(t)}
		})},
		{"speaks TLS 1.2", refused(token, func(t *testing.T, c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 })},
		{"speaks no protocol", refused(token, func(t *testing.T, c *tls.Config) { c.NextProtos = nil })},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := listen(t, token, ids...)
			stranger := dialListener(t, l)
			var wg sync.WaitGroup
			wg.Go(func() { c.do(t, stranger) })
			for _, id := range ids {
				if err := connect(timeoutContext(t, time.Minute), l, token, id); err != nil {
					t.Errorf("%v: %v", id, err)
				}
			}
			wg.Wait()
		})
	}
}

func ecdsaCertificate(t *testing.T) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	b, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{b}, PrivateKey: key}
}

// A dialer with another version of the protocol is told so.
func TestOtherVersionIsRefused(t *testing.T) {
	token := NewToken()
	l := listen(t, token, dataIDs(1)...)
	err := requestConnection(tls.Client(dialListener(t, l), changedTLSConfig(t, token, func(c *tls.Config) { c.NextProtos = []string{"loggp/1"} })), dataIDs(1)[0])
	if !errors.Is(err, errWrongProtocol) {
		t.Errorf("got %v", err)
	}
}

// A stranger cannot pass for the listener, not even one who sends back what the dialer has sent.
func TestImpostorListenerIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(c net.Conn)
		says   string
	}{
		"another token": {func(c net.Conn) { tls.Server(c, changedTLSConfig(t, NewToken(), func(*tls.Config) {})).Handshake() }, errWrongToken.Error()},
		"an echo":       {func(c net.Conn) { io.Copy(c, c) }, "tls: "},
		"garbage":       {func(c net.Conn) { c.Write(randomBytes(1000)); io.Copy(io.Discard, c) }, errWrongProtocol.Error()},
		"silence":       {func(c net.Conn) { c.Read(make([]byte, 5000)) }, errHungUp.Error()},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if near, err := l.Accept(); err == nil {
				c.answer(near)
				near.Close()
			}
		}()
		far, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		far.SetDeadline(time.Now().Add(time.Minute))
		if err := requestConnection(tls.Client(far, mustTLSConfig(t, NewToken())), dataIDs(1)[0]); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %q", name, err, c.says)
		}
		far.Close()
		l.Close()
	}
}

// connectThroughProxy connects a dialer to a listener by a machine in the middle, which may change
// what the dialer sends after the handshake.
func connectThroughProxy(t *testing.T, change func(from, to net.Conn)) (near, far *Conn) {
	t.Helper()
	token := NewToken()
	id := ID{Control, 1, 0}
	l := listen(t, token, id)
	middle, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { middle.Close() })
	go func() {
		from, err := middle.Accept()
		if err != nil {
			return
		}
		defer from.Close()
		to, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			return
		}
		defer to.Close()
		go io.Copy(from, to)
		for n := 0; n != 9+1+16; { // until the record with the ID
			b := make([]byte, recordHeaderSize)
			if _, err := io.ReadFull(from, b); err != nil {
				return
			}
			n = int(binary.BigEndian.Uint16(b[3:]))
			b = append(b, make([]byte, n)...)
			io.ReadFull(from, b[recordHeaderSize:])
			to.Write(b)
		}
		change(from, to)
	}()
	far, err = Dial(timeoutContext(t, time.Minute), middle.Addr().String(), token, id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { far.TCP.Close() })
	near, err = l.Accept(timeoutContext(t, time.Minute), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.TCP.Close() })
	return near, far
}

// A machine between both sides cannot read what they send, and if it changes, repeats or leaves out
// something the connection ends.
func TestTamperingIsDetected(t *testing.T) {
	const size = recordHeaderSize + 5 + 1 + 16 // of a record with five bytes
	read := func(c net.Conn) []byte {
		b := make([]byte, size)
		io.ReadFull(c, b)
		if bytes.Contains(b, []byte("hello")) {
			t.Error("the text can be read")
		}
		return b
	}
	for name, change := range map[string]func(from, to net.Conn){
		"a bit":     func(from, to net.Conn) { b := read(from); b[size-1] ^= 1; to.Write(b) },
		"the text":  func(from, to net.Conn) { b := read(from); b[recordHeaderSize] ^= 1; to.Write(b) },
		"repeats":   func(from, to net.Conn) { b := read(from); to.Write(b); to.Write(b) },
		"leaves":    func(from, to net.Conn) { read(from); to.Write(read(from)) },
		"the order": func(from, to net.Conn) { b := read(from); to.Write(read(from)); to.Write(b) },
		"injects":   func(from, to net.Conn) { to.Write(append([]byte{23, 3, 3, 0, 22}, randomBytes(22)...)); read(from) },
	} {
		near, far := connectThroughProxy(t, change)
		go func() {
			far.Write([]byte("hello"))
			far.Write([]byte("hello"))
		}()
		near.SetReadDeadline(time.Now().Add(time.Minute))
		var err error
		got := []byte{}
		for b := make([]byte, 5); err == nil; {
			var n int
			n, err = near.Read(b)
			got = append(got, b[:n]...)
		}
		if want := "tls: bad record MAC"; !bytes.HasPrefix([]byte("hello"), got) || !bytes.Contains([]byte(err.Error()), []byte(want)) {
			t.Errorf("%s: %q came, and the connection ended by %v", name, got, err)
		}
	}
}

// Connections that stall at whatever point, or drip, are closed in bounded time, and do not keep
// others out meanwhile.
func TestStalledHandshakesEnd(t *testing.T) {
	token := NewToken()
	ids := dataIDs(2)
	l := listen(t, token, ids...)
	hello := clientHello(t, mustTLSConfig(t, token))
	begin := time.Now()
	var wg sync.WaitGroup
	for _, n := range []int{0, 1, recordHeaderSize, len(hello) - 1} {
		c := dialListener(t, l)
		c.Write(hello[:n])
		wg.Go(func() { checkClosed(t, c) })
	}
	whole := dialListener(t, l)
	whole.Write(hello)
	wg.Go(func() { io.Copy(io.Discard, whole) }) // the listener's side of the handshake
	drip := dialListener(t, l)
	wg.Go(func() {
		for _, b := range hello {
			if _, err := drip.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(handshakeTimeout / 20)
		}
		t.Error("a dripping connection was kept")
	})
	for _, id := range ids {
		if err := connect(timeoutContext(t, time.Minute), l, token, id); err != nil {
			t.Errorf("%v: %v", id, err)
		}
	}
	wg.Wait()
	if took := time.Since(begin); took > handshakeTimeout+10*time.Second {
		t.Errorf("the last was closed after %v", took)
	}
}

// floodListener opens idle connections to a listener.
func floodListener(t *testing.T, l *Listener, n int, first []byte) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range n / 4 {
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				t.Cleanup(func() { c.Close() })
				c.Write(first)
			}
		})
	}
	t.Cleanup(wg.Wait)
}

// A thousand connections that stall do not keep others out: they are evicted.
func TestBacklogEvictsStrangers(t *testing.T) {
	token := NewToken()
	ids := dataIDs(20)
	usual := handshakeTimeout
	handshakeTimeout = time.Hour // so that none goes because of it
	t.Cleanup(func() { handshakeTimeout = usual })
	l := listen(t, token, ids...)
	floodListener(t, l, 1000, []byte{22})
	for _, id := range ids {
		if err := connect(timeoutContext(t, time.Minute), l, token, id); err != nil {
			t.Errorf("%v: %v", id, err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.backlog) > maxBacklog {
		t.Errorf("%d are in a handshake at once, of %d at most", len(l.backlog), maxBacklog)
	}
}

// interruptedWriter sends half of what is first written to it, and the rest when another thing has
// been done.
type interruptedWriter struct {
	net.Conn
	meanwhile func()
}

func (c *interruptedWriter) Write(b []byte) (int, error) {
	n := 0
	if c.meanwhile != nil {
		n, _ = c.Conn.Write(b[:len(b)/2])
		c.meanwhile()
		c.meanwhile = nil
	}
	m, err := c.Conn.Write(b[n:])
	return n + m, err
}

// A slow connection whose handshake has begun is not evicted for idle ones.
func TestIdleConnectionsAreEvictedFirst(t *testing.T) {
	token := NewToken()
	id := dataIDs(1)[0]
	usual := handshakeTimeout
	handshakeTimeout = time.Hour
	t.Cleanup(func() { handshakeTimeout = usual })
	l := listen(t, token, id)
	slow := &interruptedWriter{Conn: dialListener(t, l)}
	slow.meanwhile = func() {
		for !hasBegunHandshake(l) { // at load the listener may take long to see it
			time.Sleep(time.Millisecond)
		}
		for range 5 * maxBacklog {
			dialListener(t, l)
		}
	}
	if err := requestConnection(tls.Client(slow, mustTLSConfig(t, token)), id); err != nil {
		t.Error(err)
	}
}

// hasBegunHandshake reports whether the listener has received something from a connection.
func hasBegunHandshake(l *Listener) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.backlog, func(c *recordReader) bool { return c.hasReceived.Load() })
}

// The same holds where the process may open few files. The listener is this test in another
// process, started by a shell that sets the limit.
func TestBacklogShrinksWithoutFiles(t *testing.T) {
	const inner = "LOGGP_TEST_TOKEN"
	id := ID{Control, 1, 0}
	var token Token
	if text := os.Getenv(inner); text != "" {
		handshakeTimeout = time.Hour
		token.UnmarshalText([]byte(text))
		l, err := Listen("", token, id)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(l.Addr())
		io.Copy(io.Discard, os.Stdin)
		return
	}
	token = NewToken()
	cmd := exec.Command("sh", "-c", `ulimit -n 40 && exec "$0" -test.run='^TestBacklogShrinksWithoutFiles$'`, os.Args[0])
	cmd.Env = append(os.Environ(), inner+"="+token.Text())
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer stdin.Close()
	var address string
	if _, err := fmt.Fscanln(stdout, &address); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	c, err := Dial(timeoutContext(t, 10*time.Second), address, token, id)
	if err != nil {
		t.Fatal(err)
	}
	c.TCP.Close()
}

// Whatever arrives, in whatever pieces, is read as it was sent and no further than the end of the
// record.
func FuzzRecords(f *testing.F) {
	f.Add([]byte{22, 3, 1, 0, 3, 'a', 'b', 'c', 'p', 'l'}, 3)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		size = 1 + (size%4096+4096)%4096
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		far, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		near, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
		go func() {
			far.Write(b)
			far.Close()
		}()
		r := &recordReader{TCPConn: near.(*net.TCPConn)}
		var got []byte
		for piece := make([]byte, size); ; {
			n, err := r.Read(piece)
			got = append(got, piece[:n]...)
			if err != nil {
				break
			}
			if len(got) < recordHeaderSize {
				continue
			}
			if end := recordHeaderSize + int(binary.BigEndian.Uint16(got[3:])); len(got) > end {
				t.Fatalf("%d bytes were read of a record of %d", len(got), end)
			} else if len(got) == end {
				break
			}
		}
		if !bytes.HasPrefix(b, got) {
			t.Fatalf("%x was read as %x", b, got)
		}
	})
}
