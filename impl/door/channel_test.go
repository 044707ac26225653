package door

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// channel returns both ends of one, and what stands between them: it may change what the guest sends.
func channel(t *testing.T, between func(from, to net.Conn)) (house, far *Channel) {
	t.Helper()
	token := NewToken()
	who := Who{Control, 0, 1, 0}
	d := open(t, token, who)
	address := d.Addr().String()
	if between != nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		address = l.Addr().String()
		go func() {
			from, err := l.Accept()
			if err != nil {
				return
			}
			defer from.Close()
			to, err := net.Dial("tcp", d.Addr().String())
			if err != nil {
				return
			}
			defer to.Close()
			go io.Copy(from, to)
			io.CopyN(to, from, int64(helloSize+macSize))
			between(from, to)
		}()
	}
	far, err := DialChannel(within(t, time.Minute), address, token, who)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(far.Close)
	house, err = d.AdmitChannel(within(t, time.Minute), who)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(house.Close)
	return house, far
}

// Messages arrive as they were sent, in both directions, up to the longest; then the end does.
func TestChannel(t *testing.T) {
	house, far := channel(t, nil)
	for _, ends := range [][2]*Channel{{house, far}, {far, house}} {
		for _, n := range []int{0, 1, 1000, MaxMessage} {
			want := random(n)
			sent := make(chan error, 1)
			go func() { sent <- ends[0].Send(want) }()
			if got, err := ends[1].Receive(); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes arrived as %d: %v", n, len(got), err)
			}
			if err := <-sent; err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := far.Send(make([]byte, MaxMessage+1)); err == nil {
		t.Error("a message that is too long was sent")
	}
	far.Close()
	if _, err := house.Receive(); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

// Who stands between both sides sees no text, and what he changes, repeats, or leaves out ends the channel.
func TestTampering(t *testing.T) {
	const size = 4 + 5 + 16 // of a message of five bytes
	read := func(c net.Conn) []byte {
		b := make([]byte, size)
		io.ReadFull(c, b)
		return b
	}
	for name, between := range map[string]func(from, to net.Conn){
		"a bit":     func(from, to net.Conn) { b := read(from); b[size-1] ^= 1; to.Write(b) },
		"the text":  func(from, to net.Conn) { b := read(from); b[4] ^= 1; to.Write(b) },
		"repeats":   func(from, to net.Conn) { b := read(from); to.Write(b); to.Write(b) },
		"leaves":    func(from, to net.Conn) { read(from); to.Write(read(from)) },
		"the order": func(from, to net.Conn) { b := read(from); to.Write(read(from)); to.Write(b) },
		"too long":  func(from, to net.Conn) { to.Write([]byte{0xff, 0xff, 0xff, 0xff}); to.Write(read(from)) },
		"too short": func(from, to net.Conn) { to.Write([]byte{0, 0, 0, 0}); to.Write(read(from)) },
		"injects":   func(from, to net.Conn) { to.Write(append([]byte{0, 0, 0, 21}, random(21)...)); read(from) },
		"text": func(from, to net.Conn) {
			b := read(from)
			if bytes.Contains(b, []byte("hello")) {
				t.Error("the text can be read")
			}
			b[5] ^= 1
			to.Write(b)
		},
	} {
		house, far := channel(t, between)
		go func() {
			far.Send([]byte("hello"))
			far.Send([]byte("hello"))
		}()
		house.Conn().SetReadDeadline(time.Now().Add(time.Minute))
		var err error
		for n := 0; err == nil; n++ {
			var b []byte
			if b, err = house.Receive(); err == nil && (n > 0 || string(b) != "hello") {
				t.Errorf("%s: message %d is %q", name, n, b)
			}
		}
		if !errors.Is(err, ErrTampered) {
			t.Errorf("%s: the channel ended by %v", name, err)
		}
	}
}

// A message that nobody takes is not waited for for ever.
func TestNobodyReceives(t *testing.T) {
	house, _ := channel(t, nil)
	house.patience = 50 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for house.Send(make([]byte, MaxMessage)) == nil {
		if ctx.Err() != nil {
			t.Fatal("it takes messages for ever")
		}
	}
}
