package mbcf

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packetTransport is a fabric for ports without queues: a request is a packet, a message is one
// whatever its length, and a remote write is one whose data the receiver, or its port, puts into
// the user's buffer. Where there is Memory, the data of a long remote write is put there by the
// sender, and the packet says that it has arrived.
//
// The FIFOs are what the engines keep: that of requests is bounded. An arriving message is taken
// from its FIFO at once, so the FIFO of messages is never full. Cancels are answered in calls.
type packetTransport struct {
	e      *Engine
	memory device.Memory // nil: none
	buffer [8]byte
}

// minDirectPut is from which length on data is put by remote memory access. On shared memory a
// packet takes 0.05 us less for 4 KiB, and half as long again for 8 KiB.
const minDirectPut = 5 << 10

// requestRing is requests that have come, in a ring.
type requestRing struct {
	all   []request
	first int
	n     int
}

// target is where a request wants the data.
type target struct {
	receive      uint32     // the receive
	writable     bool       // its buffer can be written by remote memory access:
	key          device.Key // that of the buffer
	recordKey    device.Key // that of the completion record, at an offset, with a token that tells the use
	recordOffset int
	token        uint32
}

func newPackets(e *Engine) *packetTransport {
	f := &packetTransport{e: e, memory: e.port.Memory()}
	if p, ok := e.port.(device.DirectPlacer); ok {
		p.SetPlacement(f.placeData)
	}
	return f
}

// placeData says where the data of a remote write is to be.
func (f *packetTransport) placeData(src int, w *device.Head, n int) []byte {
	if h := decodeHead(w); h.kind == kindWrite && int(h.to) < len(f.e.ops) && h.size == n {
		if o := f.e.ops[h.to]; o.requestLive && int(o.Peer) == src && n <= len(o.Buf) {
			return o.Buf[:n]
		}
	}
	return nil
}

// oldestRequest looks at what has come if no request has.
func (f *packetTransport) oldestRequest(p *peer) *request {
	x := &p.fifo
	for i := 0; i < engine.MaxPolledPackets && x.n == 0 && f.handleNextPacket(false); i++ {
	}
	f.repostIfDrained()
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
func (x *requestRing) put(room int) *request {
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

func (f *packetTransport) post(p *peer, o *op, h head) {
	if f.memory == nil || len(o.Buf) < minDirectPut {
		f.e.sendPacket(int(p.rank), &h, nil)
		return
	}
	if !o.exposed {
		o.key, o.exposed = f.memory.Expose(o.Buf), true
	}
	binary.LittleEndian.PutUint64(f.buffer[:], uint64(o.key))
	f.e.sendPacket(int(p.rank), &h, f.buffer[:])
}

// handleRequest keeps a request.
func (f *packetTransport) handleRequest(p *peer, h *head, b []byte) {
	r := p.fifo.put(f.e.size.requests)
	if r == nil {
		f.e.counts[requestsLost]++
		return
	}
	*r = request{context: h.context, tag: h.tag, size: h.size, serial: h.serial, accepted: h.other}
	if r.receive = h.from; len(b) > 0 {
		r.writable, r.key = true, device.Key(binary.LittleEndian.Uint64(b))
	}
}

// write sends the data, or puts it and then says so. Meanwhile no message may leave for the same
// rank, as it would be there before.
func (f *packetTransport) write(p *peer, s *op, r *request) {
	s.to = r.receive
	if r.writable && s.Size >= minDirectPut {
		p.blocked = true
		f.memory.Put(int(p.rank), r.key, 0, s.Buf, (&head{kind: kindPut, from: s.ID()}).encode())
		return
	}
	f.written(s, s.Buf)
}

func (f *packetTransport) written(s *op, b []byte) {
	f.e.sendPacket(int(s.Peer), &head{kind: kindWrite, mode: s.Mode, tag: s.Tag, context: s.Context, sign: s.Signature, to: s.to, size: s.Size}, b)
	f.e.rank.Complete(&s.Op)
}

// sends sends a standard message, unless its data is put, or goes to the rank itself, or must wait.
func (f *packetTransport) sends(b []byte, sign engine.Signature, dst int32, context uint32, tag int32) bool {
	e, p := f.e, f.e.peer(dst)
	if dst == e.self || p.blocked || f.memory != nil && len(b) >= minDirectPut {
		return false
	}
	e.spend(model.MBCFSend)
	h := head{mode: model.Standard, tag: tag, context: context, sign: sign, size: len(b)}
	if r := e.claimRequest(p, context, tag, len(b)); r != nil {
		h.kind, h.to = kindWrite, r.receive
	} else {
		h = e.assignSerial(p, h)
	}
	e.sendPacket(int(dst), &h, b)
	return true
}

func (f *packetTransport) enqueue(p *peer, s *op) {
	h := f.e.nextHeader(p, s)
	f.e.sendPacket(int(p.rank), &h, s.Buf)
	f.e.endFIFOSend(s)
}

func (f *packetTransport) runAtPeer(dst int, h *head) { f.e.sendPacket(dst, h, nil) }

func (f *packetTransport) progress(block bool) bool {
	if !f.handleNextPacket(block) {
		return false
	}
	for i := 0; i < engine.MaxPolledPackets && len(f.e.drainedPeers) > 0 && f.handleNextPacket(false); i++ { // what has come makes requests stale
	}
	f.repostIfDrained()
	return true
}

// repostIfDrained posts receives again if a FIFO was drained.
func (f *packetTransport) repostIfDrained() {
	if len(f.e.drainedPeers) > 0 {
		f.e.repostDrained()
	}
}

func (f *packetTransport) drain(_ int32, o *op) {
	for i := 0; i < engine.MaxPolledPackets && o.list != nil && f.handleNextPacket(false); i++ {
	}
}

// handleNextPacket takes in one packet.
func (f *packetTransport) handleNextPacket(block bool) bool {
	q := f.e.port.Recv(block)
	if q == nil {
		return false
	}
	e, h := f.e, decodeHead(&q.Head)
	switch h.kind {
	case kindMessage:
		p := e.peer(int32(q.Src))
		m := e.handleHeader(p, &h)
		e.appendData(m, q.Data)
		e.noteTaken(p, m)
	case kindRequest:
		f.handleRequest(e.peer(int32(q.Src)), &h, q.Data)
	case kindWrite:
		f.handleWriteEnd(q, &h)
	case kindPut:
		if q.Refused {
			panic(fmt.Sprintf("mbcf: rank %d: a remote write was refused: the buffer is not exposed", e.self))
		}
		s := e.ops[h.from]
		p := e.peer(s.Peer)
		f.written(s, nil)
		e.resumeSends(p)
	case kindRecall, kindVoid:
		e.handleCancel(int32(q.Src), &h)
	default:
		e.handleControl(q, &h)
	}
	return true
}

// handleWriteEnd takes in the end of a remote write.
func (f *packetTransport) handleWriteEnd(q *device.Packet, h *head) {
	o := f.e.ops[h.to]
	if !o.requestLive || int(o.Peer) != q.Src {
		panic(fmt.Sprintf("mbcf: rank %d: rank %d answers a request that is not out", f.e.self, q.Src))
	}
	if n := len(q.Data); n > 0 && &q.Data[0] != &o.Buf[0] {
		f.e.rank.Copy(o.Buf, q.Data)
	}
	f.e.finishWritten(o, int32(q.Src), h.tag, h.size, h.sign)
}

func (f *packetTransport) endRemoteUse(o *op) {
	if o.exposed {
		o.exposed = false
		f.memory.Withdraw(o.key)
	}
}

func (f *packetTransport) recall(*peer, *op) {} // what is sent is in the FIFO
func (f *packetTransport) peerExited(*peer)  {}
func (f *packetTransport) enter()            {}
func (f *packetTransport) leave()            {}
