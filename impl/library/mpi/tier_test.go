package mpi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
)

// byPeer returns a library with different protocol rules, different transfers of long messages, or
// both, for peers on the same node.
func byPeer(rules, long bool) *model.Library {
	l := &model.Library{Name: "by peer", Proto: model.ProtoSettings{Fallback: "RTA", WindowBytes: 4096, LongMessages: model.ForEveryTier(model.LongMessage{CopiesToAccessibleMemory: true, BounceBufferBytes: 600})}}
	if long {
		l.Proto.LongMessages[model.IntraNode] = model.LongMessage{}
	}
	for m := range model.NumModes {
		if rules {
			l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, Peers: model.IntraPeers, MaxBytes: 100, Protocol: "RAT"})
		}
		l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: 200, Protocol: "TA"}, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: "RTA"})
	}
	return l
}

// sent returns the kind of a message's first packet, and the sizes in bytes of its copies on both
// sides.
func sent(t *testing.T, l *model.Library, from, to, bytes int) (first string, copies []int) {
	t.Helper()
	w, err := hw.New(hw.Config{Machine: machine(), Library: l, Ranks: 4})
	if err != nil {
		t.Fatal(err)
	}
	var log trace.Log
	err = mpi.Run(trace.World(w, &log), mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
		var open []mpi.Request
		if c.Rank() == to {
			open = append(open, mpi.Irecv(c, make([]byte, bytes), from, 7))
		}
		if c.Rank() == from {
			open = append(open, mpi.Isend(c, make([]byte, bytes), to, 7))
		}
		mpi.WaitAll(open, nil)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log.Events() {
		if s := tell(e.Head); e.Kind == trace.Send && first == "" && strings.Contains(s, " bytes)") {
			first = s
		}
		if e.Kind == trace.Copy {
			copies = append(copies, e.Amount)
		}
	}
	return first, copies
}

// On the torus ranks 0 and 1 share a node, as do ranks 2 and 3. The protocol of a message, and how
// a long one is transferred, depend on the tier of the pair.
func TestByPeer(t *testing.T) {
	both, rules, long := byPeer(true, true), byPeer(true, false), byPeer(false, true)
	for _, c := range []struct {
		l               *model.Library
		from, to, bytes int
		want            string
		copies          []int
	}{
		{both, 0, 1, 100, "RAT", nil},
		{both, 1, 0, 100, "RAT", nil},
		{both, 2, 3, 100, "RAT", nil},
		{both, 2, 2, 100, "RAT", nil}, // a rank has distance 0 to itself
		{both, 1, 2, 100, "TA", []int{100}},
		{both, 3, 0, 100, "TA", []int{100}},
		{both, 0, 1, 101, "TA", []int{101}},
		{both, 0, 1, 1000, "RTA", nil},
		{both, 1, 2, 1000, "RTA", []int{1000, 600, 400}}, // staged in two segments
		{rules, 0, 1, 100, "RAT", []int{100}},
		{rules, 1, 2, 100, "TA", []int{100}},
		{rules, 0, 1, 1000, "RTA", []int{1000, 600, 400}},
		{long, 0, 1, 100, "TA", []int{100}},
		{long, 0, 1, 1000, "RTA", nil},
		{long, 1, 2, 1000, "RTA", []int{1000, 600, 400}},
	} {
		if first, copies := sent(t, c.l, c.from, c.to, c.bytes); !strings.Contains(first, "("+c.want+",") || !slices.Equal(copies, c.copies) {
			t.Errorf("%d bytes from %d to %d: %s, copies of %v bytes; want %s and %v", c.bytes, c.from, c.to, first, copies, c.want, c.copies)
		}
	}
}

// The closed form also depends on the peer.
func TestExactByPeer(t *testing.T) {
	m, l := machine(), byPeer(true, true)
	l.Software = odd(false, 0).Software
	for _, p := range []pair{{4, 0, 1}, {4, 0, 2}, {4, 3, 2}, {4, 3, 0}} {
		for _, k := range []int{0, 100, 101, 200, 201, 1000} {
			x := model.Transfer{Machine: m, Library: l, Bytes: k, Path: m.PathBetweenRanks(p.ranks, p.from, p.to)}
			got, want := emulate(t, x, p, ""), x.Cost()
			if got.sender != want.Sender.Sum() || got.delivery != want.Delivery.Sum() {
				t.Errorf("%d bytes, %+v: emulated %v and %v, closed form %v and %v", k, p, got.sender, got.delivery, want.Sender.Sum(), want.Delivery.Sum())
			}
		}
	}
}
