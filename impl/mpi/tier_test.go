package mpi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/proto"
	"github.com/loggp/loggp/impl/trace"
	"github.com/loggp/loggp/model"
)

// byPeer is a library that treats peers of its node otherwise.
func byPeer() *model.Library {
	l := &model.Library{Name: "by peer", Fallback: "RTA", Window: window,
		Long: [model.NumTiers]model.Long{model.Inter: {Stage: true, Bounce: 600}, model.Intra: {}}}
	for m := range model.NumModes {
		l.Rules = append(l.Rules, model.Rule{Mode: m, Peers: model.IntraPeers, UpTo: 100, Protocol: "RAT"}, model.Rule{Mode: m, UpTo: 200, Protocol: "TA"},
			model.Rule{Mode: m, UpTo: -1, Protocol: "RTA"})
	}
	return l
}

// On the torus two ranks share a node: 0 and 1, 2 and 3. What a message goes by, and how a long one moves, depends on how near its
// receiver is to its sender.
func TestRulesByPeer(t *testing.T) {
	for _, c := range []struct {
		from, to, bytes int
		want            string
		copies          []int // at the sender, at the receiver
	}{
		{0, 1, 100, "RAT", nil},
		{1, 0, 100, "RAT", nil},
		{2, 3, 100, "RAT", nil},
		{2, 2, 100, "RAT", nil}, // a rank is nearest to itself
		{1, 2, 100, "TA", []int{100}},
		{3, 0, 100, "TA", []int{100}},
		{0, 1, 101, "TA", []int{101}},
		{0, 1, 1000, "RTA", nil},
		{1, 2, 1000, "RTA", []int{1000, 600, 400}}, // staged, and in two pieces
	} {
		l := byPeer()
		w, err := hw.New(hw.Config{Machine: machine(), Library: l, Ranks: 4})
		if err != nil {
			t.Fatal(err)
		}
		var log trace.Log
		err = mpi.Run(trace.World(w, &log), mpi.Options{Library: l}, func(comm *mpi.Comm) error {
			b := make([]byte, c.bytes)
			var open []mpi.Request
			if comm.Rank() == c.to {
				open = append(open, comm.Irecv(b, c.from, 7))
			}
			if comm.Rank() == c.from {
				open = append(open, comm.Isend(make([]byte, c.bytes), c.to, 7))
			}
			mpi.WaitAll(open, nil)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		first, copies := "", []int(nil)
		for _, e := range log.Events() {
			if s := proto.Tell(e.Head); e.Kind == trace.Send && first == "" && strings.HasPrefix(s, "R") {
				first = s
			}
			if e.Kind == trace.Copy {
				copies = append(copies, e.N)
			}
		}
		if !strings.Contains(first, "("+c.want+",") || !slices.Equal(copies, c.copies) {
			t.Errorf("%d bytes from %d to %d: %s, copies of %v bytes; want %s and %v", c.bytes, c.from, c.to, first, copies, c.want, c.copies)
		}
	}
}

// The closed form looks at the peer too.
func TestExactByPeer(t *testing.T) {
	m, l := machine(), byPeer()
	l.Software = odd(false, 0).Software
	for _, p := range []pair{{4, 0, 1}, {4, 0, 2}, {4, 3, 2}, {4, 3, 0}} {
		for _, k := range []int{0, 100, 101, 200, 201, 1000} {
			x := model.Transfer{Machine: m, Library: l, Bytes: k, Path: m.Path(p.ranks, p.from, p.to)}
			got, want := emulate(t, x, p, ""), x.Cost()
			if got.sender != want.Sender.Sum() || got.delivery != want.Delivery.Sum() {
				t.Errorf("%d bytes, %s: emulated %v and %v, closed form %v and %v", k, fmt.Sprint(p), got.sender, got.delivery, want.Sender.Sum(), want.Delivery.Sum())
			}
		}
	}
}
