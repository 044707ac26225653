package mbcf

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/model"
)

var native = binary.NativeEndian

var interleavings = flag.Int("interleavings", 2000, "number of random orders in which the rules are tested")

// sent is a message of a random run.
type sent struct {
	context     uint32
	tag, size   int
	by          *posted // what received it, if anything
	src, id     int
	synchronous bool
}

// posted is a receive of one.
type posted struct {
	context  uint32
	src, tag int
	buf      []byte
	op       *engine.Op
	got      *sent
	cancel   bool
}

func (r *posted) wants(m *sent) bool {
	return r.context == m.context && (r.src == engine.AnySourceOrTag || r.src == m.src) && (r.tag == engine.AnySourceOrTag || r.tag == m.tag)
}

// fill writes the number of a message all over its data.
func (m *sent) fill() []byte {
	b := make([]byte, m.size)
	for i := range b {
		b[i] = byte(m.src*50 + m.id + 1)
	}
	return b
}

// exchange lets two or three ranks send to rank 0 at random, and judges what rank 0 receives by the
// rules of MPI: messages and receives do not overtake, each message is received once and as a
// whole, and none is left while a receive waits for it.
func exchange(seed uint64, skip orderRule, total *[numCounts]int64) error {
	rnd := rand.New(rand.NewPCG(seed, 2))
	senders := 1 + rnd.IntN(3)
	w := newInterleaved(seed, 1+senders)
	l := &model.Library{Name: "test", Engine: model.MBCFEngine, MBCF: model.MBCFSettings{FIFOBytes: []int{100, 300, 4096}[rnd.IntN(3)], Requests: []int{1, 4, 64, 64, -1}[rnd.IntN(5)]}}
	tags, contexts, wild := 1+rnd.IntN(2), 1+rnd.IntN(2), rnd.IntN(2) == 0
	all := make([][]*sent, senders+1)
	for s := 1; s <= senders; s++ {
		for i := range 1 + rnd.IntN(8) {
			all[s] = append(all[s], &sent{context: uint32(2 * rnd.IntN(contexts)), tag: rnd.IntN(tags), size: 1 + rnd.IntN(20)*rnd.IntN(2)*rnd.IntN(40), src: s, id: i, synchronous: rnd.IntN(8) == 0})
		}
	}
	var receives []*posted
	for range 3 + rnd.IntN(12) {
		r := &posted{context: uint32(2 * rnd.IntN(contexts)), src: 1 + rnd.IntN(senders), tag: rnd.IntN(tags), buf: make([]byte, 800), cancel: rnd.IntN(12) == 0}
		if wild && rnd.IntN(4) == 0 {
			r.src = engine.AnySourceOrTag
		}
		if rnd.IntN(4) == 0 {
			r.tag = engine.AnySourceOrTag
		}
		receives = append(receives, r)
	}
	ended := 0
	err := w.Run(func(port device.Port) error {
		m, err := New(l, "")
		if err != nil {
			return err
		}
		mk := m.(jobEngines)
		mk.disabledRules = skip
		r, e := enginetest.NewStandaloneRank[*Engine](port, mk)
		dawdle := func() {
			for range rnd.IntN(6) {
				if rnd.IntN(2) == 0 {
					e.Progress(false)
				} else {
					port.Delay(0)
				}
			}
		}
		if port.Rank() > 0 {
			var ops []*engine.Op
			for _, m := range all[port.Rank()] {
				dawdle()
				mode := model.StandardMode
				if m.synchronous {
					mode = model.SynchronousMode
				}
				o := r.Isend(mode, m.fill(), 0, 0, m.context, m.tag)
				ops = append(ops, o)
				if rnd.IntN(3) == 0 && !m.synchronous {
					r.WaitUntilFinished(o)
				}
			}
			for i, o := range ops {
				for !o.IsFinished() && !(all[port.Rank()][i].synchronous && ended >= senders) {
					e.Progress(false)
					port.Delay(0)
					if all[port.Rank()][i].synchronous { // it may have no receive
						break
					}
				}
			}
			ended++
			for !(ended == senders+1) { // answer cancels, take completions
				e.Progress(false)
				port.Delay(0)
			}
			for i, n := range e.counts {
				total[i] += n
			}
			return nil
		}
		for _, x := range receives {
			dawdle()
			x.op = r.Irecv(x.buf, 0, x.src, x.context, x.tag)
			if x.cancel {
				dawdle()
				r.Cancel(x.op)
			}
		}
		for idle := 0; idle < 50; {
			idle++
			if e.Progress(false) {
				idle = 0
			}
			e.Probe(engine.AnySourceOrTag, 1, 0, false) // takes in messages without a receive, whose senders may wait
			port.Delay(0)
			if ended < senders {
				idle = 0
			}
			for _, way := range w.ways {
				if len(way) > 0 {
					idle = 0
				}
			}
		}
		ended++
		for i, n := range e.counts {
			total[i] += n
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, r := range receives {
		if !r.op.IsFinished() || r.op.IsCancelled() {
			if r.cancel && !r.op.IsFinished() {
				return fmt.Errorf("receive %d is neither cancelled nor complete", i)
			}
			continue
		}
		st, _ := r.op.Received()
		id := int(r.buf[0]) - 1 - 50*st.Source
		if id < 0 || id >= len(all[st.Source]) {
			return fmt.Errorf("receive %d has data of no message of rank %d", i, st.Source)
		}
		m := all[st.Source][id]
		for j, x := range r.buf {
			if j < m.size && x != r.buf[0] || j >= m.size && x != 0 {
				return fmt.Errorf("receive %d: byte %d is of another message than %d of rank %d", i, j, id, m.src)
			}
		}
		if m.by != nil || !r.wants(m) || st.Tag != m.tag || st.Bytes != m.size {
			return fmt.Errorf("receive %d got message %d of rank %d, which is another's: %+v", i, id, m.src, st)
		}
		r.got, m.by = m, r
	}
	order := map[*posted]int{}
	for i, r := range receives {
		order[r] = i
	}
	for s := 1; s <= senders; s++ {
		for i, a := range all[s] {
			for _, b := range all[s][i+1:] { // sent later
				if r := b.by; r != nil && r.wants(a) && (a.by == nil || order[a.by] > order[r]) {
					return fmt.Errorf("message %d of rank %d overtook message %d", b.id, s, a.id)
				}
			}
			for j, r := range receives {
				waits := r.got == nil && !r.op.IsCancelled() && r.wants(a)
				if waits && a.by == nil {
					return fmt.Errorf("message %d of rank %d is left, and receive %d waits for it", a.id, s, j)
				}
				if waits && order[a.by] > j {
					return fmt.Errorf("message %d of rank %d was for receive %d, and a later one got it", a.id, s, j)
				}
			}
		}
	}
	return nil
}

// attempt is exchange, and a panic is an error.
func attempt(seed uint64, skip orderRule, total *[numCounts]int64) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return exchange(seed, skip, total)
}

// TestRules tests the rules in many random orders, and that messages go all ways in them.
func TestRules(t *testing.T) {
	var total [numCounts]int64
	for seed := range uint64(*interleavings) {
		if err := attempt(seed, 0, &total); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	for i, n := range total {
		t.Logf("%s: %d", countNames[i], n)
		if n == 0 {
			t.Errorf("%s: none", countNames[i])
		}
	}
}

// TestRulesAreNeeded leaves out one rule after the other. A wrong order has to be found.
func TestRulesAreNeeded(t *testing.T) {
	if enginetest.RaceDetectorOn {
		t.Skip("its ranks take turns, so that there are no races to find")
	}
	for _, c := range []struct {
		name string
		skip orderRule
	}{
		{"freshness", ruleRefuseStaleRequests}, {"succession", ruleUseRequestsInOrder}, {"retire", ruleRetireAnsweredReceives}, {"own source", ruleRepostToDrainedSourceOnly}, {"repost early", ruleRepostAfterEarlyEnd},
		{"wild serial", ruleAnySourceUsesSerials}, {"wild stops", ruleAnySourceStopsReposting}, {"every serial", ruleSerialForEveryReceive},
	} {
		var total [numCounts]int64
		found, runs, first := 0, uint64(0), error(nil)
		for ; runs < 20000 && (found == 0 || runs < 300); runs++ {
			if err := attempt(runs, c.skip, &total); err != nil {
				if found++; found == 1 {
					first = err
				}
			}
		}
		t.Logf("%s: %d of %d runs are wrong; the first: %v", c.name, found, runs, first)
		if found == 0 {
			t.Errorf("without %s nothing is wrong", c.name)
		}
	}
}
