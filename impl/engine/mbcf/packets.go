package mbcf

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packets is a fabric for ports without queues: a request is a packet, a message is one whatever
// its length, and a remote write is one whose data the receiver, or its port, puts into the user's
// buffer. Where there is Memory, the data of a long remote write is put there by the sender, and
// the packet says that it has arrived.
//
// The FIFOs are what the engines keep: that of requests is bounded. An arriving message is taken
// from its FIFO at once, so the FIFO of messages is never full. Cancels are answered in calls.
type packets struct {
	e      *Engine
	memory device.Memory // nil: none
	buffer [8]byte
}

// direct is from which length on data is put by remote memory access. On shared memory a packet
// takes 0.05 us less for 4 KiB, and half as long again for 8 KiB.
const direct = 5 << 10

// fifo is requests that have come, in a ring.
type fifo struct {
	all   []request
	first int
	n     int
}

// target is where a request wants the data.
type target struct {
	to    uint32     // the receive
	reach bool       // its buffer can be written by remote memory access:
	key   device.Key // that of the buffer
	block device.Key // that of the completion record, at an offset, with a token that tells the use
	off   int
	token uint32
}

func newPackets(e *Engine) *packets {
	f := &packets{e: e, memory: e.port.Memory()}
	if p, ok := e.port.(device.Placer); ok {
		p.Place(f.place)
	}
	return f
}

// place says where the data of a remote write is to be.
func (f *packets) place(src int, w *device.Head, n int) []byte {
	if h := headOf(w); h.kind == kindWrite && int(h.to) < len(f.e.ops) && h.size == n {
		if o := f.e.ops[h.to]; o.live && int(o.Peer) == src && n <= len(o.Buf) {
			return o.Buf[:n]
		}
	}
	return nil
}

// request looks at what has come if no request has.
func (f *packets) request(p *peer) *request {
	x := &p.fifo
	for i := 0; i < engine.Look && x.n == 0 && f.one(false); i++ {
	}
	f.repost()
	if x.n == 0 {
		return nil
	}
	r := &x.all[x.first]
	if x.first++; x.first == len(x.all) {
		x.first = 0
	}
	x.n--
	return r
}

// put keeps a request that has come, if there is room.
func (x *fifo) put(room int) *request {
	if x.n == room {
		return nil
	}
	if x.all == nil {
		x.all = make([]request, room)
	}
	i := x.first + x.n
	if i >= room {
		i -= room
	}
	x.n++
	return &x.all[i]
}

func (f *packets) post(p *peer, o *op, h head) {
	if f.memory == nil || len(o.Buf) < direct {
		f.e.send(int(p.rank), &h, nil)
		return
	}
	if !o.exposed {
		o.key, o.exposed = f.memory.Expose(o.Buf), true
	}
	binary.LittleEndian.PutUint64(f.buffer[:], uint64(o.key))
	f.e.send(int(p.rank), &h, f.buffer[:])
}

// requested keeps a request.
func (f *packets) requested(p *peer, h *head, b []byte) {
	r := p.fifo.put(f.e.size.requests)
	if r == nil {
		f.e.counts[lost]++
		return
	}
	*r = request{context: h.context, tag: h.tag, size: h.size, serial: h.serial, accepted: h.other}
	if r.to = h.from; len(b) > 0 {
		r.reach, r.key = true, device.Key(binary.LittleEndian.Uint64(b))
	}
}

// write sends the data, or puts it and then says so. Meanwhile no message may leave for the same
// rank, as it would be there before.
func (f *packets) write(p *peer, s *op, r *request) {
	s.to = r.to
	if r.reach && s.Size >= direct {
		p.blocked = true
		f.memory.Put(int(p.rank), r.key, 0, s.Buf, (&head{kind: kindPut, from: s.ID()}).words())
		return
	}
	f.written(s, s.Buf)
}

func (f *packets) written(s *op, b []byte) {
	f.e.send(int(s.Peer), &head{kind: kindWrite, mode: s.Mode, tag: s.Tag, context: s.Context, sign: s.Sign, to: s.to, size: s.Size}, b)
	f.e.rank.Complete(&s.Op)
}

// sends sends a standard message, unless its data is put, or goes to the rank itself, or must wait.
func (f *packets) sends(b []byte, sign engine.Signature, dst int32, context uint32, tag int32) bool {
	e, p := f.e, f.e.peer(dst)
	if dst == e.self || p.blocked || f.memory != nil && len(b) >= direct {
		return false
	}
	e.spend(model.MBCFSend)
	h := head{mode: model.Standard, tag: tag, context: context, sign: sign, size: len(b)}
	if r := e.claim(p, context, tag, len(b)); r != nil {
		h.kind, h.to = kindWrite, r.to
	} else {
		h = e.place(p, h)
	}
	e.send(int(dst), &h, b)
	return true
}

func (f *packets) enqueue(p *peer, s *op) {
	h := f.e.next(p, s)
	f.e.send(int(p.rank), &h, s.Buf)
	f.e.left(s)
}

func (f *packets) tell(dst int, h *head) { f.e.send(dst, h, nil) }

func (f *packets) progress(block bool) bool {
	if !f.one(block) {
		return false
	}
	for i := 0; i < engine.Look && len(f.e.dirty) > 0 && f.one(false); i++ { // what has come makes requests stale
	}
	f.repost()
	return true
}

// repost posts receives again if a FIFO was drained.
func (f *packets) repost() {
	if len(f.e.dirty) > 0 {
		f.e.repost()
	}
}

func (f *packets) drain(_ int32, o *op) {
	for i := 0; i < engine.Look && o.list != nil && f.one(false); i++ {
	}
}

// one takes in one packet.
func (f *packets) one(block bool) bool {
	q := f.e.port.Recv(block)
	if q == nil {
		return false
	}
	e, h := f.e, headOf(&q.Head)
	switch h.kind {
	case kindMessage:
		p := e.peer(int32(q.Src))
		m := e.accept(p, &h)
		e.add(m, q.Data)
		e.taken(p, m)
	case kindRequest:
		f.requested(e.peer(int32(q.Src)), &h, q.Data)
	case kindWrite:
		f.land(q, &h)
	case kindPut:
		if q.Refused {
			panic(fmt.Sprintf("mbcf: rank %d: a remote write was refused: the buffer is not exposed", e.self))
		}
		s := e.ops[h.from]
		p := e.peer(s.Peer)
		f.written(s, nil)
		e.unblock(p)
	case kindRecall, kindVoid:
		e.told(int32(q.Src), &h)
	default:
		e.control(q, &h)
	}
	return true
}

// land takes in the end of a remote write.
func (f *packets) land(q *device.Packet, h *head) {
	o := f.e.ops[h.to]
	if !o.live || int(o.Peer) != q.Src {
		panic(fmt.Sprintf("mbcf: rank %d: rank %d answers a request that is not out", f.e.self, q.Src))
	}
	if n := len(q.Data); n > 0 && &q.Data[0] != &o.Buf[0] {
		f.e.rank.Copy(o.Buf, q.Data)
	}
	f.e.answered(o, int32(q.Src), h.tag, h.size, h.sign)
}

func (f *packets) forget(o *op) {
	if o.exposed {
		o.exposed = false
		f.memory.Withdraw(o.key)
	}
}

func (f *packets) recall(*peer, *op) {} // what is sent is in the FIFO
func (f *packets) ended(*peer)       {}
func (f *packets) enter()            {}
func (f *packets) leave()            {}
