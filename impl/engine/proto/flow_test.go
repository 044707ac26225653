package proto

import (
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/real/loop"
	"github.com/loggp/loggp/model"
)

// quiet is a library of protocol T with a window of 100 bytes.
func quiet(fallback string) *model.Library {
	l := &model.Library{Name: "quiet", Proto: model.ProtoSettings{WindowBytes: 100, Fallback: fallback}}
	for m := range model.NumModes {
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "T"})
	}
	return l
}

// parted is the same library with PTAT for all but the shortest messages.
func parted() *model.Library {
	l := quiet("RTA")
	l.Proto.FirstBytes = 10
	var rules []model.ProtocolRule
	for m := range model.NumModes {
		rules = append(rules, model.ProtocolRule{Mode: m, MaxBytes: 1, Protocol: "T"}, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "PTAT"})
	}
	l.Proto.Rules = rules
	return l
}

// Whatever is sent is credited, and all credit comes home: when two ranks have taken each other's
// messages, no byte is out and none is due but what half a window allows, whether messages ran out
// of the window or it was not asked.
func TestCredit(t *testing.T) {
	for _, c := range []struct {
		library  *model.Library
		protocol string
	}{{quiet("RTA"), ""}, {quiet(""), ""}, {quiet("RTA"), "T"}, {parted(), ""}} {
		j := job(t, c.library, c.protocol)
		err := loop.New(2).Run(func(p device.Port) error {
			e := open(p, j)
			peer := 1 - p.Rank()
			b, into := make([]byte, 300), make([]byte, 300)
			var ops []*engine.Op
			for i := range 50 {
				ops = append(ops, e.Isend(model.StandardMode, b[:i*7%300], 0, peer, 0, 0))
			}
			for range 50 {
				e.Recv(into, 0, peer, 0, 0)
			}
			for _, o := range ops {
				e.Wait(o)
				e.Release(o)
			}
			e.Send(model.StandardMode, b[:1], 0, peer, 0, 1) // takes all credit along
			e.Recv(into, 0, peer, 0, 1)
			if out := e.e.flow.peer(peer).outstanding.value(); out != 1 {
				t.Errorf("fallback %q, forced %q: %d bytes are out, want the last alone", c.library.Proto.Fallback, c.protocol, out)
			}
			if n := e.OpenOps(); n != 0 {
				t.Errorf("%d operations are open", n)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Every peer has a place of its own however many there are, and is found near where it is looked
// for, whatever ranks a rank talks to.
func TestPeers(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for name, rank := range map[string]func(i int) int{
		"in a row":        func(i int) int { return i },
		"a column":        func(i int) int { return 1024*i + 7 },
		"4096 apart":      func(i int) int { return 4096 * i },
		"by exclusive or": func(i int) int { return 421 ^ i },
		"any":             func(int) int { return rng.IntN(1 << 20) },
	} {
		f := flowControl{windowBytes: 1 << 30, lastPeer: &noPeer, tables: new(peerTablePool)}
		out := map[int]int{}
		for i := range 1000 {
			r := rank(i)
			f.reserveWindow(r, i+1, true)
			out[r] += i + 1
		}
		far := 0
		for i := range f.peers {
			p := &f.peers[i]
			r := int(p.rankPlusOne) - 1
			if p.outstanding.value() != out[r] {
				t.Errorf("%s, seed %d: %d bytes are out to rank %d, not %d", name, seed, p.outstanding.value(), r, out[r])
			}
			if p.rankPlusOne != 0 {
				far += (i - int(firstSlotOfRank(r))) & (len(f.peers) - 1)
			}
			delete(out, r)
		}
		if len(out) > 0 {
			t.Errorf("%s, seed %d: %d peers are missing", name, seed, len(out))
		}
		if far > 4*1000 {
			t.Errorf("%s, seed %d: peers are %d places away in all from where they are looked for", name, seed, far)
		}
	}
}

// A rank that talks to many in turn, with few of them open at a time, remembers those and no more,
// and takes no memory for the rest.
func TestPeersAreForgotten(t *testing.T) {
	f := flowControl{windowBytes: 1 << 30, lastPeer: &noPeer, tables: new(peerTablePool)}
	turn := func(from int) {
		for i := from; i < from+1000; i++ {
			f.reserveWindow(i, i+1, true)
			f.noteFreed(i+5000, 7)
			if i >= from+3 {
				f.addCredit(i-3, i-2)
				if n := f.takeCredit(i - 3 + 5000); n != 7 {
					t.Fatalf("%d bytes are due to rank %d, not 7", n, i-3+5000)
				}
			}
		}
		for i := from + 997; i < from+1000; i++ {
			if p := f.peer(i); p.outstanding.value() != i+1 {
				t.Errorf("%d bytes are out to rank %d, not %d", p.outstanding.value(), i, i+1)
			}
			f.addCredit(i, i+1)
			if n := f.takeCredit(i + 5000); n != 7 {
				t.Errorf("%d bytes are due to rank %d, not 7", n, i+5000)
			}
		}
	}
	turn(0)
	if len(f.peers) > 32 {
		t.Errorf("a table of %d for 8 peers at a time", len(f.peers))
	}
	if n := testing.AllocsPerRun(1, func() { turn(20000) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Six bytes count up to 2⁴⁸−1 bytes under way, and more is refused, not counted wrongly.
func TestByteCount(t *testing.T) {
	var c byteCount
	for _, n := range []int{0, 1, 1<<32 - 1, 1 << 32, maxByteCount} {
		if c.set(n); c.value() != n {
			t.Errorf("%d bytes are counted as %d", n, c.value())
		}
	}
	defer func() {
		if recover() == nil {
			t.Errorf("one byte more than %d was counted as %d", maxByteCount, c.value())
		}
	}()
	c.add(1)
}
