package tcp

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/auth"
)

// connectedPair returns both ends of a connection over loopback.
func connectedPair(t testing.TB) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

// singleNode returns rank 0 of a job of two, and the connection that rank 1 has to it.
func singleNode(t testing.TB, blocks bool) (*node, *net.TCPConn) {
	t.Helper()
	n := &node{port: newPort(0, 2, blocks), wireup: &wireup{}}
	n.connectContext, n.cancelConnect = context.WithCancel(context.Background())
	near, far := connectedPair(t)
	if err := n.makeLinks([]*net.TCPConn{nil, near}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return n, far
}

// receiveAll receives until the rank is ended, and returns how many packets it got and why it was.
func receiveAll(n *node) (packets int, err error) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			n.port.Recv(true)
			packets++
		}
	}()
	<-over
	return packets, n.Failure()
}

// encodeFrame returns a frame.
func encodeFrame(k frameKind, n int, data ...byte) []byte {
	var h [headerSize]byte
	encodeHeader(&h, k, &device.Head{1, 2, 3, 4, 5}, n)
	return append(h[:], data...)
}

// Data that no rank sends ends the job with an error that names the sender.
func TestMalformedFramesFailJob(t *testing.T) {
	account := progressSize(2)
	for _, c := range []struct {
		name  string
		sends []byte
		says  string
	}{
		{"zeros", make([]byte, 1000), "it begins with 0x0000000000000000"},
		{"another protocol", []byte("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: everything that there is\r\n\r\n"), "which is no frame of this program"},
		{"no kind", encodeFrame(0, 0), "an unknown kind 0"},
		{"an unknown kind", encodeFrame(endFrame+1, 0), "an unknown kind 4"},
		{"an account that is too short", encodeFrame(waitFrame, account-1, make([]byte, account-1)...), fmt.Sprintf("with %d bytes in place of %d", account-1, account)},
		{"an account that is far too long", encodeFrame(endFrame, maxPacketData), fmt.Sprintf("in place of %d", account)},
		{"a packet, and then nonsense", append(encodeFrame(packetFrame, 3, 1, 2, 3), make([]byte, headerSize)...), "no frame"},
	} {
		for _, blocks := range []bool{false, true} {
			n, far := singleNode(t, blocks)
			if _, err := far.Write(c.sends); err != nil {
				t.Fatal(err)
			}
			_, err := receiveAll(n)
			if err == nil || !strings.HasPrefix(err.Error(), "tcp: rank 0 cannot read what came from rank 1: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: the error is %v, want one that says %q", c.name, err, c.says)
			}
		}
	}
}

// A connection that ends before its rank does is an error, unless the job has learned meanwhile
// that the rank is dead.
func TestClosedConnectionFailsJob(t *testing.T) {
	var waits sync.WaitGroup // to be told of an exit
	for _, c := range []struct {
		name string
		do   func(far *net.TCPConn)
		says string
	}{
		{"closed", func(far *net.TCPConn) { far.Close() }, "tcp: rank 1 has closed its connection to rank 0 before its program ended"},
		{"within a header", func(far *net.TCPConn) { far.Write(encodeFrame(packetFrame, 0)[:10]); far.Close() }, "rank 1 has closed"},
		{"within data", func(far *net.TCPConn) { far.Write(encodeFrame(packetFrame, 1<<20)); far.Close() }, "rank 1 has closed"},
		{"reset", func(far *net.TCPConn) { far.SetLinger(0); far.Close() }, "tcp: the connection of rank 0 to rank 1: connection reset by peer"},
	} {
		n, far := singleNode(t, true)
		c.do(far)
		waits.Go(func() {
			if _, err := receiveAll(n); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: the error is %v, want %q", c.name, err, c.says)
			}
		})
	}
	waits.Wait()
}

// A header that promises much gets no memory for it until that comes.
func TestLengthAloneAllocatesLittle(t *testing.T) {
	const promised = 1 << 20 // which a header alone may ask for
	n, far := singleNode(t, true)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		far.Write(encodeFrame(packetFrame, maxPacketData, make([]byte, 3*promised)...))
		far.Close()
	}()
	receiveAll(n)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 32*promised {
		t.Errorf("%d bytes were allocated for a packet when %d had come", got, 3*promised)
	}
}

// parse reads frames from what is all there: it returns the packets as frames, and whether all is
// well.
func parse(b []byte) (packets []byte, ok bool) {
	for len(b) >= headerSize {
		w := binary.LittleEndian.Uint64(b)
		k, n := frameKind(w>>40), w&(1<<40-1)
		switch {
		case w>>48 != 'G'<<8|'L':
			return packets, false
		case k == packetFrame && n > uint64(len(b)-headerSize):
			return packets, true
		case k == packetFrame:
			packets = append(packets, b[:headerSize+int(n)]...)
		case k != waitFrame && k != endFrame || n != 32:
			return packets, false
		case len(b) < headerSize+32 || k == endFrame:
			return packets, true
		}
		b = b[headerSize+int(n):]
	}
	return packets, true
}

// Whatever comes, in whatever parts, is packets or an error.
func FuzzFrames(f *testing.F) {
	account := make([]byte, progressSize(2))
	f.Add(encodeFrame(packetFrame, 3, 1, 2, 3), uint8(1))
	f.Add(append(encodeFrame(packetFrame, 0), encodeFrame(endFrame, len(account), account...)...), uint8(50))
	f.Add(append(encodeFrame(waitFrame, len(account), account...), encodeFrame(packetFrame, 2, 1, 2)...), uint8(7))
	f.Add(encodeFrame(packetFrame, bufferSize, make([]byte, bufferSize+5)...), uint8(255))
	f.Add(append(encodeFrame(packetFrame, bufferSize+1, make([]byte, bufferSize+1)...), encodeFrame(packetFrame, 0)...), uint8(10))
	f.Add(encodeFrame(packetFrame, maxPacketData), uint8(255))
	f.Add(append(encodeFrame(packetFrame, 1, 1), make([]byte, headerSize)...), uint8(255))
	f.Add([]byte("GET / HTTP/1.1\r\nHost: localhost\r\nAccept: everything\r\n\r\n"), uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		p := newPort(0, 2, false)
		l := &link{fd: -1, peer: 1, buffer: make([]byte, bufferSize)}
		p.links[1], p.recentLink = l, l
		var got []byte // packets, as frames
		over := make(chan struct{})
		go func() { // which nonsense ends
			defer close(over)
			for rest := b; len(rest) > 0 && !l.peerEnded; {
				n := copy(l.readSpace(), rest[:min(len(rest), 1+int(step)*100)])
				l.addRead(n)
				rest = rest[n:]
				for q := p.takePacket(l); q != nil; q = p.takePacket(l) {
					var h [headerSize]byte
					encodeHeader(&h, packetFrame, &q.Head, len(q.Data))
					got = append(append(got, h[:]...), q.Data...)
					p.releaseLast()
				}
				if n == 0 {
					panic("there is no room")
				}
			}
		}()
		<-over
		want, ok := parse(b)
		if !bytes.Equal(got, want) {
			t.Errorf("packets of %d bytes came, want %d", len(got), len(want))
		}
		if failed := p.failure.Load() != nil; failed == ok {
			t.Errorf("failed: %v, want %v", failed, !ok)
		}
	})
}

// Packets come as they were sent, whatever parts the kernel makes of them.
func TestPacketsArriveInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var want [][]byte
	var all []byte
	for range 200 {
		n := r.IntN(1 << r.IntN(19))
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		want = append(want, b)
		all = append(all, encodeFrame(packetFrame, n, b...)...)
	}
	n, far := singleNode(t, true)
	go func() {
		for rest := all; len(rest) > 0; {
			k := min(len(rest), 1+r.IntN(1<<r.IntN(18)))
			far.Write(rest[:k])
			rest = rest[k:]
		}
	}()
	for i, b := range want {
		q := n.port.Recv(true)
		if q.Src != 1 || q.Head != (device.Head{1, 2, 3, 4, 5}) || !bytes.Equal(q.Data, b) {
			t.Fatalf("packet %d: %d bytes with head %v came in place of %d", i, len(q.Data), q.Head, len(b))
		}
	}
}

// setTimeout shortens waits for a test.
func setTimeout(t *testing.T, of *time.Duration, to time.Duration) {
	before := *of
	*of = to
	t.Cleanup(func() { *of = before })
}

// stopAnswering lets a connection hear nothing more, as if its machine were off: the kernel drops
// what comes for it and answers nothing.
func stopAnswering(t *testing.T, c *net.TCPConn) {
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	nothing := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	if problem := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &nothing})
	}); problem != nil || err != nil {
		t.Skip("no filter can be attached: ", problem, err)
	}
}

// A machine that does not answer any more is not waited for forever, whether something is on its
// way there or not. One that answers and computes, with no more room for what is sent, is waited
// for.
func TestSilentHostFailsJob(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for some seconds")
	}
	setTimeout(t, &maxSilence, time.Second)
	begin := time.Now()
	busy, reader := singleNode(t, true)
	sent := make(chan error, 1)
	go func() {
		busy.port.Send(1, &device.Packet{Data: make([]byte, 32<<20)})
		sent <- nil
	}()
	var waits sync.WaitGroup
	for _, c := range []struct {
		name string
		do   func(p *port)
	}{
		{"nothing", func(*port) {}},
		{"a packet", func(p *port) { p.Send(1, &device.Packet{}) }},
		{"more than fits", func(p *port) { p.Send(1, &device.Packet{Data: make([]byte, 64<<20)}) }},
	} {
		for _, blocks := range []bool{false, true} {
			n, far := singleNode(t, blocks)
			stopAnswering(t, far)
			waits.Go(func() {
				over := make(chan struct{})
				go func() { // which a failure ends
					defer close(over)
					c.do(n.port)
					n.port.Recv(true)
				}()
				<-over
				if err := n.Failure(); err == nil || !strings.Contains(err.Error(), "rank 1: no answer from its machine") && !strings.Contains(err.Error(), "rank 1: connection timed out") {
					t.Errorf("%s, blocking %v: after %v the error is %v", c.name, blocks, time.Since(begin), err)
				}
			})
		}
	}
	waits.Wait()
	time.Sleep(time.Until(begin.Add(6 * time.Second)))
	if err := busy.Failure(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for b := make([]byte, 1<<20); ; {
			if _, err := reader.Read(b); err != nil {
				return
			}
		}
	}()
	select {
	case <-sent:
	case <-time.After(20 * time.Second):
		t.Error("it was not sent")
	}
}

// A rank that does not connect, or connects and does not go on, ends the job in bounded time with
// an error that names it.
func TestWireupFails(t *testing.T) {
	setTimeout(t, &joinTimeout, 300*time.Millisecond)
	setTimeout(t, &replyTimeout, 200*time.Millisecond)
	come := func(m *wireup) *net.TCPConn {
		c, err := auth.Dial(t.Context(), m.RootAddress, m.Token, connectionID(1, 0))
		if err != nil {
			t.Error(err)
			return new(net.TCPConn)
		}
		t.Cleanup(func() { c.TCP.Close() })
		return c.TCP
	}
	for _, c := range []struct {
		name string
		do   func(m *wireup)
		says string
	}{
		{"stays away", func(*wireup) {}, "no data connection from rank 1 to rank 0 came to 127.0.0.1:"},
		{"comes and says nothing", func(m *wireup) { come(m) }, "rank 1 is connected, and has sent nothing for 200ms"},
		{"comes and says half", func(m *wireup) { come(m).Write([]byte{10, 0, '"'}) }, "rank 1 is connected, and has sent nothing for 200ms"},
		{"comes and goes", func(m *wireup) { come(m).Close() }, "the connection to rank 1 has ended: EOF"},
		{"says nonsense", func(m *wireup) { come(m).Write([]byte{3, 0, 'a', 'b', 'c'}) }, `rank 1 has sent "abc", which no rank sends`},
		{"says where it is and nothing more", func(m *wireup) { come(m).Write([]byte{3, 0, '"', 'x', '"'}) }, "rank 1 is connected, and has sent nothing for 200ms"},
	} {
		m, f, err := newWireup("", 2)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		var far sync.WaitGroup
		far.Go(func() { c.do(m) })
		err = m.connect(t.Context())
		far.Wait()
		joinTimeout = 20 * time.Second // of those that connect, however busy the machine is
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("rank 1 %s: the error is %v, want %q", c.name, err, c.says)
		}
	}
}

// A rank that finds no rank 0, or one that does not go on, says so.
func TestMissingRootFailsRank(t *testing.T) {
	setTimeout(t, &joinTimeout, time.Second)
	setTimeout(t, &replyTimeout, 200*time.Millisecond)
	m, f, err := newWireup("", 3)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	guest := &wireup{RootAddress: m.RootAddress, Token: m.Token, rank: 1, conns: make([]*net.TCPConn, 3)}
	if err := guest.connect(t.Context()); err == nil || !strings.Contains(err.Error(), "rank 0 is connected, and has sent nothing for 1s") {
		t.Errorf("rank 0 does not go on: the error is %v", err)
	}
	m.close()
	guest = &wireup{RootAddress: m.RootAddress, Token: m.Token, rank: 1, conns: make([]*net.TCPConn, 3)}
	if err := guest.connect(t.Context()); err == nil || !strings.Contains(err.Error(), "rank 0: connect to "+m.RootAddress+": connection refused") {
		t.Errorf("nothing listens there: the error is %v", err)
	}
}

// A job that is stopped while ranks meet does not wait for those that have not come.
func TestStopEndsWireup(t *testing.T) {
	m, f, err := newWireup("", 2)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	n := &node{port: newPort(0, 2, true), wireup: m}
	n.connectContext, n.cancelConnect = context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		n.Connect()
		t.Error("Start returned")
	}()
	time.Sleep(10 * time.Millisecond)
	n.Stop()
	select {
	case <-over:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits on")
	}
	if err := n.Failure(); err != nil {
		t.Errorf("the transport failed: %v", err)
	}
	n.Close()
}

// A connection over which packets keep arriving does not keep the rank from reading others.
func TestBusyConnectionDoesNotStarveOthers(t *testing.T) {
	n := &node{port: newPort(0, 3, false), wireup: &wireup{}}
	n.connectContext, n.cancelConnect = context.WithCancel(context.Background())
	nearBusy, busy := connectedPair(t)
	nearQuiet, quiet := connectedPair(t)
	if err := n.makeLinks([]*net.TCPConn{nil, nearBusy, nearQuiet}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	receive := func() int {
		busy.Write(encodeFrame(packetFrame, 0))
		return n.port.Recv(true).Src
	}
	receive() // from the busy one, which is polled first from now on
	quiet.Write(encodeFrame(packetFrame, 0))
	time.Sleep(10 * time.Millisecond)
	for range 3 * maxReadStreak {
		if receive() == 2 {
			return
		}
	}
	t.Errorf("a packet is not received before %d of another rank that arrived later", 3*maxReadStreak)
}
