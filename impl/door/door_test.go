package door

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

// places returns those of data from rank 1 and up.
func places(n int) []Who {
	list := make([]Who, n)
	for i := range list {
		list[i] = Who{Data, 1, uint32(i + 1), 0}
	}
	return list
}

// open opens a door on loopback, and checks in the end that nothing is left of it.
func open(t *testing.T, token Token, places ...Who) *Door {
	t.Helper()
	files, routines := openFiles(t), runtime.NumGoroutine()
	d, err := Listen("", token, places...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		for end := time.Now().Add(10 * time.Second); openFiles(t) > files || runtime.NumGoroutine() > routines; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d files are open, %d before; %d goroutines, %d before", openFiles(t), files, runtime.NumGoroutine(), routines)
			}
		}
	})
	return d
}

func openFiles(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("open files cannot be counted")
	}
	return len(list)
}

// within returns a context for what must not take long even on a busy machine.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// meet has one come to a door, and sends a word each way.
func meet(ctx context.Context, d *Door, token Token, who Who) error {
	far, err := Dial(ctx, d.Addr().String(), token, who)
	if err != nil {
		return err
	}
	defer far.Close()
	near, err := d.Admit(ctx, who)
	if err != nil {
		return err
	}
	defer near.Close()
	for _, way := range [][2]*net.TCPConn{{far, near}, {near, far}} {
		word := fmt.Appendf(nil, "%v from %v", who, way[0].LocalAddr())
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

// Those who know the token get the connections that they asked for, whoever comes first.
func TestMeet(t *testing.T) {
	token := NewToken()
	all := append(places(20), Who{Control, 1, 1, 0}, Who{Data, 2, 1, 0}, Who{Data, 1, 2, 1})
	d := open(t, token, all...)
	var wg sync.WaitGroup
	for _, who := range all {
		wg.Go(func() {
			if err := meet(within(t, time.Minute), d, token, who); err != nil {
				t.Errorf("%v: %v", who, err)
			}
		})
	}
	wg.Wait()
	if note := d.Note(); note != "" {
		t.Errorf("somebody was refused: %s", note)
	}
}

// Who comes before his place does is let in as soon as it is there.
func TestEarly(t *testing.T) {
	token := NewToken()
	d := open(t, token)
	who := places(1)[0]
	go func() {
		time.Sleep(20 * time.Millisecond)
		d.Expect(who)
	}()
	far, err := Dial(within(t, time.Minute), d.Addr().String(), token, who)
	if err != nil {
		t.Fatal(err)
	}
	far.Close()
	if note := d.Note(); note != "" {
		t.Errorf("somebody was refused: %s", note)
	}
}

// A place is given once, and is not there when it is forgotten.
func TestOnce(t *testing.T) {
	token := NewToken()
	who := places(1)[0]
	d := open(t, token, who)
	if err := meet(within(t, time.Minute), d, token, who); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(within(t, time.Minute), d.Addr().String(), token, who); !errors.Is(err, errTaken) {
		t.Errorf("the second of a place: %v", err)
	}
	if note := d.Note(); !strings.Contains(note, "one other connection was refused: from 127.0.0.1:") || !strings.Contains(note, "somebody has taken this place") {
		t.Errorf("the note is %q", note)
	}
	d.Forget(who)
	if _, err := try(t.Context(), d.Addr().String(), token, who); !errors.Is(err, errEarly) {
		t.Errorf("a place that is forgotten: %v", err)
	}
}

// A connection that nobody has asked for is closed with its place, and with the door.
func TestForget(t *testing.T) {
	token := NewToken()
	who := places(2)
	d := open(t, token, who...)
	for i, end := range []func(){func() { d.Forget(who[0]) }, d.Close} {
		far, err := Dial(within(t, time.Minute), d.Addr().String(), token, who[i])
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		end()
		far.SetDeadline(time.Now().Add(time.Minute))
		if _, err := far.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("case %d: the connection is open: %v", i, err)
		}
	}
	if _, err := d.Admit(t.Context(), who[1]); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed door: %v", err)
	}
}

// Who waits for somebody is told who did not come, and who came in his place.
func TestAbsent(t *testing.T) {
	who := places(1)[0]
	d := open(t, NewToken(), who)
	if _, err := Dial(within(t, time.Minute), d.Addr().String(), NewToken(), who); !errors.Is(err, errStranger) {
		t.Errorf("a wrong token: %v", err)
	}
	_, err := d.Admit(within(t, 50*time.Millisecond), who)
	for _, want := range []string{"data from rank 1 to rank 0 in run 1 did not come to 127.0.0.1:", "deadline exceeded", "one other connection was refused", "the token is another's"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// Dial says what is wrong with an address, at once where another try is in vain.
func TestDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	for _, c := range []struct {
		address, says string
		atOnce        bool
	}{
		{gone, "connect to " + gone + ": connection refused", false},
		{"no.such.host.invalid:1", "connect to no.such.host.invalid:1: ", true},
		{"127.0.0.1", "missing port", true},
	} {
		limit := time.Minute
		if !c.atOnce {
			limit = time.Second
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), limit, errors.New("in vain"))
		defer cancel()
		_, err := Dial(ctx, c.address, NewToken(), Who{Data, 0, 1, 0})
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "in vain") {
			t.Errorf("%s: %v, want %q", c.address, err, c.says)
		}
		if over := ctx.Err() != nil; over == c.atOnce {
			t.Errorf("%s: tried to the end: %v", c.address, over)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("enough")) })
	if _, err := Dial(ctx, gone, NewToken(), Who{Data, 0, 1, 0}); err == nil || !strings.HasSuffix(err.Error(), "enough") {
		t.Errorf("cancelled: %v", err)
	}
}

// Who listens where one cannot is told why.
func TestListen(t *testing.T) {
	d := open(t, NewToken())
	for address, says := range map[string]string{
		d.Addr().String():      "listen on " + d.Addr().String() + ": another program has this port",
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
		if got := complete(address); got != want {
			t.Errorf("%q is taken for %s, want %s", address, got, want)
		}
	}
}

func TestToken(t *testing.T) {
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
