package start

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/model"
)

// text returns the bytes that a rank sends to another.
func text(from, to, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(from), byte(to)}).Read(b)
	return b
}

// exchange lets each rank send so many bytes to others at once, and receive what they send to it.
// It returns what the ranks have counted, and an error if anything is not as it was sent or the job
// hangs.
func exchange(t *testing.T, processors, ranks int, l model.Library, skip transferRule, bytesEach int, to func(rank int) []int) ([numCounts]int64, error) {
	t.Helper()
	var total [numCounts]int64
	l.Engine = model.StartEngine
	sources := make([][]int, ranks)
	for r := range ranks {
		for _, d := range to(r) {
			sources[d] = append(sources[d], r)
		}
	}
	err := smps(processors, 0)(t, &l, ranks).Run(func(p device.Port) (err error) {
		defer func() { // a rule that is left out may fail a rank
			if v := recover(); v != nil && skip != 0 {
				if _, ok := v.(string); !ok {
					panic(v)
				}
				err = fmt.Errorf("%v", v)
			}
		}()
		m, err := New(&l, "")
		if err != nil {
			return err
		}
		mk := m.(jobEngines)
		mk.disabledRules = skip
		r, e := enginetest.NewStandaloneRank[*Engine](p, mk)
		me := p.Rank()
		var ops []*engine.Op
		got := map[int][]byte{}
		for _, s := range sources[me] {
			got[s] = make([]byte, bytesEach)
			ops = append(ops, r.Irecv(got[s], 0, s, 0, 1))
		}
		for _, d := range to(me) {
			ops = append(ops, r.Isend(model.StandardMode, text(me, d, bytesEach), 0, d, 0, 1))
		}
		for _, o := range ops {
			r.Wait(o)
			r.Release(o)
		}
		for s, b := range got {
			if !bytes.Equal(b, text(s, me, bytesEach)) {
				return fmt.Errorf("rank %d has not got what rank %d sent", me, s)
			}
		}
		for i, n := range e.counts {
			total[i] += n
		}
		return leftover(e)
	})
	return total, err
}

// patterns are those in which ranks wait for each other, if anything lets them.
var patterns = map[string]struct {
	ranks int
	to    func(rank int) []int
}{
	"two":           {2, func(r int) []int { return []int{1 - r} }},
	"ring of three": {3, func(r int) []int { return []int{(r + 1) % 3} }},
	"ring of seven": {7, func(r int) []int { return []int{(r + 3) % 7} }},
	"all to all of five": {5, func(r int) (all []int) {
		for i := range 4 {
			all = append(all, (r+1+i)%5)
		}
		return all
	}},
	"four to one": {5, func(r int) []int {
		if r == 0 {
			return nil
		}
		return []int{0}
	}},
}

// small is pinned memory of six blocks.
var small = model.Library{Name: "small", Start: model.StartSettings{ShortBytes: [model.NumTiers]int{16, 16}, BlockBytes: 1000, PinnedBytes: 6000}}

// Large messages in both directions between two ranks, around rings and all at once arrive, however
// much pinned memory there is.
func TestExchanges(t *testing.T) {
	for name, p := range patterns {
		for _, l := range []model.Library{small, {Name: "least", Start: model.StartSettings{BlockBytes: 700, PinnedBytes: 2100}}, {Name: "default"}} {
			for _, n := range []int{100, 3000, 50_001} {
				for _, processors := range []int{1, 2} {
					if _, err := exchange(t, processors, p.ranks, l, 0, n, p.to); err != nil {
						t.Errorf("%s, %d bytes, library %s, SMPs of %d: %v", name, n, l.Name, processors, err)
					}
				}
			}
		}
	}
}

// Ranks of one to three full SMPs exchange with a rank of another, if there is one.
func TestSMPs(t *testing.T) {
	for _, ranks := range []int{2, 8, 9, 16, 24} {
		if _, err := exchange(t, 8, ranks, model.Library{Start: model.StartSettings{ShortBytes: [model.NumTiers]int{1024, 8192}}}, 0, 40_000, func(r int) []int { return []int{(r + ranks - 1) % ranks, (r + ranks/2) % ranks} }); err != nil {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
}

// Each rule is needed: without it a job hangs, or data is lost.
func TestRulesAreNeeded(t *testing.T) {
	for _, c := range []struct {
		skip  transferRule
		name  string
		bytes int
		in    []string // patterns
		hangs bool     // in all of them; if not, anything goes wrong
	}{
		{grantWithoutCommitment, "a grant does not commit the receiver", 3000, []string{"two", "ring of three", "ring of seven"}, true},
		{oneTransferPerSender, "a sender is busy for a transfer, not for a message", 50_001, []string{"two", "ring of three", "ring of seven"}, true},
		{reserveSenderMemory, "receivers leave pinned memory to senders", 50_001, []string{"two", "ring of three", "ring of seven"}, true},
		{grantOneTransfer, "one transfer is granted at a time", 3000, []string{"all to all of five", "four to one"}, false},
	} {
		for _, name := range c.in {
			p := patterns[name]
			_, err := exchange(t, 1, p.ranks, small, c.skip, c.bytes, p.to)
			var d *device.Deadlock
			if err == nil || c.hangs && !errors.As(err, &d) {
				t.Errorf("without the rule %q, %s ends with %v, want a deadlock or an error", c.name, name, err)
			}
		}
	}
}

// A message that is longer than pinned memory comes in several transfers, and is copied once on
// each side, which goes on while blocks are under way.
func TestSeriesOfTransfers(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ bytes, transfers int }{{16 * mb / 2, 1}, {40 * mb, 3}} {
		got, err := exchange(t, 1, 2, model.Library{Start: model.StartSettings{ShortBytes: [model.NumTiers]int{1024, 1024}}}, 0, c.bytes, func(r int) []int {
			if r == 0 {
				return []int{1}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got[rdmaTransfers] != int64(c.transfers) || got[bytesCopiedIn] != int64(c.bytes) || got[bytesCopiedOut] != int64(c.bytes) {
			t.Errorf("%d bytes: %d transfers, %d bytes copied in and %d out; want %d transfers, and each byte copied once on each side", c.bytes, got[rdmaTransfers], got[bytesCopiedIn], got[bytesCopiedOut], c.transfers)
		}
	}
}
