package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// dataIDs returns the IDs of data connections from rank 1 and up.
func dataIDs(n int) []ID {
	list := make([]ID, n)
	for i := range list {
		list[i] = ID{Data, uint32(i + 1), 0}
	}
	return list
}

// listen listens on loopback, and checks in the end that nothing is left of the listener.
func listen(t *testing.T, token Token, ids ...ID) *Listener {
	t.Helper()
	files, routines := openFiles(t), runtime.NumGoroutine()
	l, err := Listen("", token, ids...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		for end := time.Now().Add(10 * time.Second); openFiles(t) > files || runtime.NumGoroutine() > routines; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d files are open, %d before; %d goroutines, %d before", openFiles(t), files, runtime.NumGoroutine(), routines)
			}
		}
	})
	return l
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files cannot be counted")
	}
	return len(list)
}

// timeoutContext returns a context with a timeout.
func timeoutContext(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// connect dials a listener, and sends a word each way, encrypted and then in plain text. The words
// follow the handshake at once, so that a byte of them that TLS has read is missed.
func connect(ctx context.Context, l *Listener, token Token, id ID) error {
	far, err := Dial(ctx, l.Addr().String(), token, id)
	if err != nil {
		return err
	}
	defer far.TCP.Close()
	near, err := l.Accept(ctx, id)
	if err != nil {
		return err
	}
	defer near.TCP.Close()
	ways := [][2]net.Conn{{far.TCP, near.TCP}, {near.TCP, far.TCP}}
	if id.Purpose == Control {
		ways = append([][2]net.Conn{{far, near}, {near, far}}, ways...)
	}
	for _, way := range ways {
		word := fmt.Appendf(nil, "%v from %v", id, way[0].LocalAddr())
		if _, err := way[0].Write(word); err != nil {
			return err
		}
		got := make([]byte, len(word))
		if _, err := io.ReadFull(way[1], got); err != nil || !bytes.Equal(got, word) {
			return fmt.Errorf("%q arrived as %q: %v", word, got, err)
		}
	}
	return nil
}

// Processes that know the token get the connections that they ask for, whichever comes first.
func TestConnect(t *testing.T) {
	token := NewToken()
	all := append(dataIDs(20), ID{Control, 1, 0}, ID{Control, 2, 0}, ID{Data, 2, 1})
	l := listen(t, token, all...)
	var wg sync.WaitGroup
	for _, id := range all {
		wg.Go(func() {
			if err := connect(timeoutContext(t, time.Minute), l, token, id); err != nil {
				t.Errorf("%v: %v", id, err)
			}
		})
	}
	wg.Wait()
	if refused := l.Refused(); refused != "" {
		t.Errorf("a connection was refused: %s", refused)
	}
}

// The listener sends in plain text while the dialer still reads its reply: TLS must not take that
// from the socket.
func TestPlainTextFollowsHandshake(t *testing.T) {
	token := NewToken()
	ids := dataIDs(50)
	l := listen(t, token, ids...)
	for _, id := range ids {
		go func() {
			if near, err := l.Accept(timeoutContext(t, time.Minute), id); err == nil {
				near.TCP.Write([]byte("at once"))
				near.TCP.Close()
			}
		}()
		far, err := Dial(timeoutContext(t, time.Minute), l.Addr().String(), token, id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(far.TCP)
		far.TCP.Close()
		if string(got) != "at once" || err != nil {
			t.Fatalf("%v: %q came, %v", id, got, err)
		}
	}
}

// An ID is accepted once, and one that the job does not have is not.
func TestConnectionIsAcceptedOnce(t *testing.T) {
	token := NewToken()
	id := dataIDs(1)[0]
	l := listen(t, token, id)
	if err := connect(timeoutContext(t, time.Minute), l, token, id); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(timeoutContext(t, time.Minute), l.Addr().String(), token, id); !errors.Is(err, errConnectionTaken) {
		t.Errorf("the second of one ID: %v", err)
	}
	if refused := l.Refused(); !strings.Contains(refused, "one other connection was refused: from 127.0.0.1:") || !strings.Contains(refused, "another process has made this connection already") {
		t.Errorf("of the refused it says %q", refused)
	}
	for _, other := range []ID{{Data, 9, 0}, {Data, 1, 1}, {Control, 1, 0}, {7, 1, 0}} {
		if _, err := Dial(timeoutContext(t, time.Minute), l.Addr().String(), token, other); !errors.Is(err, errUnknownConnection) {
			t.Errorf("%v: %v", other, err)
		}
	}
}

// Close closes connections that were not accepted, and ends Accept.
func TestCloseLeavesNothing(t *testing.T) {
	token := NewToken()
	ids := dataIDs(2)
	l := listen(t, token, ids...)
	far, err := Dial(timeoutContext(t, time.Minute), l.Addr().String(), token, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	defer far.TCP.Close()
	l.Close()
	far.SetDeadline(time.Now().Add(time.Minute))
	if _, err := far.TCP.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is open: %v", err)
	}
	for _, id := range ids {
		if _, err := l.Accept(t.Context(), id); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Accept of %v after Close: %v", id, err)
		}
	}
}

// Accept says which connection is missing, and which were refused in its place.
func TestAcceptNamesMissingConnection(t *testing.T) {
	id := dataIDs(1)[0]
	l := listen(t, NewToken(), id)
	if _, err := Dial(timeoutContext(t, time.Minute), l.Addr().String(), NewToken(), id); !errors.Is(err, errWrongToken) {
		t.Errorf("a wrong token: %v", err)
	}
	_, err := l.Accept(timeoutContext(t, 300*time.Millisecond), id)
	for _, want := range []string{"no data connection from rank 1 to rank 0 came to 127.0.0.1:", "deadline exceeded", "one other connection was refused", "the token is another's"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// Dial says what is wrong with an address, at once if another try would fail too.
func TestDialRetriesAndFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	l.Close()
	for _, c := range []struct {
		address, says string
		atOnce        bool
	}{
		{closed, "connect to " + closed + ": connection refused", false},
		{"no.such.host.invalid:1", "connect to no.such.host.invalid:1: ", true},
		{"127.0.0.1", "missing port", true},
	} {
		limit := time.Minute
		if !c.atOnce {
			limit = time.Second
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("in vain"))
		defer cancel()
		_, err := Dial(ctx, c.address, NewToken(), ID{Data, 1, 0})
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "in vain") {
			t.Errorf("%s: %v, want %q", c.address, err, c.says)
		}
		if over := ctx.Err() != nil; over == c.atOnce {
			t.Errorf("%s: tried to the end: %v", c.address, over)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("enough")) })
	if _, err := Dial(ctx, closed, NewToken(), ID{Data, 1, 0}); err == nil || !strings.HasSuffix(err.Error(), "enough") {
		t.Errorf("cancelled: %v", err)
	}
}

// Listen says why it cannot listen.
func TestListenAddresses(t *testing.T) {
	l := listen(t, NewToken())
	for address, says := range map[string]string{
		l.Addr().String():      "listen on " + l.Addr().String() + ": another program has this port",
		"192.0.2.1":            "listen on 192.0.2.1:0: this host does not have this address",
		"no.such.host.invalid": "listen on no.such.host.invalid:0: ",
		"127.0.0.1:port":       "listen on 127.0.0.1:port: ",
	} {
		if _, err := Listen(address, NewToken()); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %v, want %q", address, err, says)
		}
	}
	for address, want := range map[string]string{
		"": "127.0.0.1:0", "127.0.0.2": "127.0.0.2:0", "127.0.0.3:7": "127.0.0.3:7", ":7": "127.0.0.1:7", "::1": "[::1]:0", "[::1]": "[::1]:0", "[::1]:7": "[::1]:7",
	} {
		if got := completeAddress(address); got != want {
			t.Errorf("%q is taken for %s, want %s", address, got, want)
		}
	}
}

func TestTokenIsParsedAndHidden(t *testing.T) {
	a, b := NewToken(), NewToken()
	if a == b {
		t.Fatal("two tokens are one")
	}
	text := a.Text()
	for _, s := range []string{text, strings.ToUpper(text), " " + strings.ReplaceAll(text, "-", " ") + "\n"} {
		if got, err := ParseToken(s); got != a || err != nil {
			t.Errorf("%q is read as %q: %v", s, got.Text(), err)
		}
	}
	for _, s := range []string{"", "\n", text[1:], text + "a", "1" + text[1:], "=" + text[1:], strings.Repeat("a", 1000), text[:6] + "ä" + text[6:]} {
		if _, err := ParseToken(s); err == nil {
			t.Errorf("%q is a token", s)
		} else if len(s) > 10 && strings.Contains(err.Error(), s[2:6]) {
			t.Errorf("the error repeats it: %v", err)
		}
	}
	for _, s := range []string{fmt.Sprint(a), fmt.Sprintf("%v %+v %#v %s", a, a, a, struct{ T Token }{a})} {
		if strings.Contains(s, text[:6]) {
			t.Errorf("%q tells the token", s)
		}
	}
}
