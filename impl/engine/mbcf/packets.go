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
	engine *Engine
	memory device.Memory // nil: none
	buffer [8]byte
}

// minPutBytes is from which length on data is put by remote memory access. On shared memory a
// packet takes 0.05 us less for 4 KiB, and half as long again for 8 KiB.
const minPutBytes = 5 << 10

// requestRing is requests that have come, in a ring.
type requestRing struct {
	requests []request
	first    int
	count    int
}

// writeTarget is where a request wants the data.
type writeTarget struct {
	receiveOp          uint32     // the receive
	isRemotelyWritable bool       // its buffer can be written by remote memory access:
	key                device.Key // that of the buffer
	recordKey          device.Key // that of the completion record, at an offset, with a token that tells the use
	recordOffset       int
	recordToken        uint32
}

func newPacketTransport(e *Engine) *packetTransport {
	f := &packetTransport{engine: e, memory: e.port.Memory()}
	if p, ok := e.port.(device.DirectPlacer); ok {
		p.SetPlacement(f.placeData)
	}
	return f
}

// placeData says where the data of a remote write is to be.
func (f *packetTransport) placeData(src int, w *device.Head, n int) []byte {
	if h := decodeHead(w); h.kind == kindRemoteWrite && int(h.to) < len(f.engine.ops) && h.size == n {
		if o := f.engine.ops[h.to]; o.hasLiveRequest && int(o.Peer) == src && n <= len(o.Buf) {
			return o.Buf[:n]
		}
	}
	return nil
}

// oldestRequest looks at what has come if no request has.
func (f *packetTransport) oldestRequest(p *peer) *request {
	x := &p.receivedRequests
	for i := 0; i < engine.MaxPolledPackets && x.count == 0 && f.handleNextPacket(false); i++ {
	}
	f.repostIfDrained()
	if x.count == 0 {
		return nil
	}
	r := &x.requests[x.first]
	if x.first++; x.first == len(x.requests) {
		x.first = 0
	}
	x.count--
	return r
}

// append keeps a request that has come, if there is room.
func (x *requestRing) append(room int) *request {
	if x.count == room {
		return nil
	}
	if x.requests == nil {
		x.requests = make([]request, room)
	}
	i := x.first + x.count
	if i >= room {
		i -= room
	}
	x.count++
	return &x.requests[i]
}

func (f *packetTransport) postRequest(p *peer, o *op, h head) {
	if f.memory == nil || len(o.Buf) < minPutBytes {
		f.engine.sendPacket(int(p.rank), &h, nil)
		return
	}
	if !o.isExposed {
		o.key, o.isExposed = f.memory.Expose(o.Buf), true
	}
	binary.LittleEndian.PutUint64(f.buffer[:], uint64(o.key))
	f.engine.sendPacket(int(p.rank), &h, f.buffer[:])
}

// handleRequest keeps a request.
func (f *packetTransport) handleRequest(p *peer, h *head, b []byte) {
	r := p.receivedRequests.append(f.engine.sizes.requestFIFOEntries)
	if r == nil {
		f.engine.counts[requestsLost]++
		return
	}
	*r = request{context: h.context, tag: h.tag, size: h.size, serial: h.serial, lastAcceptedSerial: h.otherSerial}
	if r.receiveOp = h.from; len(b) > 0 {
		r.isRemotelyWritable, r.key = true, device.Key(binary.LittleEndian.Uint64(b))
	}
}

// writeToTarget sends the data, or puts it and then says so. Meanwhile no message may leave for the
// same rank, as it would be there before.
func (f *packetTransport) writeToTarget(p *peer, s *op, r *request) {
	s.targetReceive = r.receiveOp
	if r.isRemotelyWritable && s.Size >= minPutBytes {
		p.isPutUnderWay = true
		f.memory.Put(int(p.rank), r.key, 0, s.Buf, (&head{kind: kindPutEnded, from: s.ID()}).encode())
		return
	}
	f.noteWritten(s, s.Buf)
}

func (f *packetTransport) noteWritten(s *op, b []byte) {
	f.engine.sendPacket(int(s.Peer), &head{kind: kindRemoteWrite, mode: s.Mode, tag: s.Tag, context: s.Context, signature: s.Signature, to: s.targetReceive, size: s.Size}, b)
	f.engine.rank.Complete(&s.Op)
}

// trySendPacket sends a standard message, unless its data is put, or goes to the rank itself, or
// must wait.
func (f *packetTransport) trySendPacket(b []byte, sign engine.Signature, dst int32, context uint32, tag int32) bool {
	e, p := f.engine, f.engine.peer(dst)
	if dst == e.selfRank || p.isPutUnderWay || f.memory != nil && len(b) >= minPutBytes {
		return false
	}
	e.spend(model.MBCFSendCost)
	h := head{mode: model.StandardMode, tag: tag, context: context, signature: sign, size: len(b)}
	if r := e.claimRequest(p, context, tag, len(b)); r != nil {
		h.kind, h.to = kindRemoteWrite, r.receiveOp
	} else {
		h = e.assignSerial(p, h)
	}
	e.sendPacket(int(dst), &h, b)
	return true
}

func (f *packetTransport) enqueueMessage(p *peer, s *op) {
	h := f.engine.nextHeader(p, s)
	f.engine.sendPacket(int(p.rank), &h, s.Buf)
	f.engine.endFIFOSend(s)
}

func (f *packetTransport) runAtPeer(dst int, h *head) { f.engine.sendPacket(dst, h, nil) }

func (f *packetTransport) progress(block bool) bool {
	if !f.handleNextPacket(block) {
		return false
	}
	for i := 0; i < engine.MaxPolledPackets && len(f.engine.drainedPeers) > 0 && f.handleNextPacket(false); i++ { // what has come makes requests stale
	}
	f.repostIfDrained()
	return true
}

// repostIfDrained posts receives again if a FIFO was drained.
func (f *packetTransport) repostIfDrained() {
	if len(f.engine.drainedPeers) > 0 {
		f.engine.repostReceivesOfDrainedPeers()
	}
}

func (f *packetTransport) drainMessages(_ int32, o *op) {
	for i := 0; i < engine.MaxPolledPackets && o.list != nil && f.handleNextPacket(false); i++ {
	}
}

// handleNextPacket takes in one packet.
func (f *packetTransport) handleNextPacket(block bool) bool {
	q := f.engine.port.Recv(block)
	if q == nil {
		return false
	}
	if engine.IsAccessCompletion(&q.Head) {
		f.engine.rank.HandleAccessCompletion(q)
		return true
	}
	e, h := f.engine, decodeHead(&q.Head)
	switch h.kind {
	case kindMessage:
		p := e.peer(int32(q.Src))
		m := e.handleHeader(p, &h)
		e.appendData(m, q.Data)
		e.noteMessageTaken(p, m)
	case kindRequest:
		f.handleRequest(e.peer(int32(q.Src)), &h, q.Data)
	case kindRemoteWrite:
		f.handleWriteEnd(q, &h)
	case kindPutEnded:
		if q.Refused {
			panic(fmt.Sprintf("mbcf: rank %d: a remote write was refused: the buffer is not exposed", e.selfRank))
		}
		s := e.ops[h.from]
		p := e.peer(s.Peer)
		f.noteWritten(s, nil)
		e.resumeSends(p)
	case kindDiscardMessage, kindDiscardRequest:
		e.handleCancel(int32(q.Src), &h)
	default:
		e.handleControl(q, &h)
	}
	return true
}

// handleWriteEnd takes in the end of a remote write.
func (f *packetTransport) handleWriteEnd(q *device.Packet, h *head) {
	o := f.engine.ops[h.to]
	if !o.hasLiveRequest || int(o.Peer) != q.Src {
		panic(fmt.Sprintf("mbcf: rank %d: rank %d answers a request that is not out", f.engine.selfRank, q.Src))
	}
	if n := len(q.Data); n > 0 && &q.Data[0] != &o.Buf[0] {
		f.engine.rank.Copy(o.Buf, q.Data)
	}
	f.engine.finishRemotelyWrittenReceive(o, int32(q.Src), h.tag, h.size, h.signature)
}

func (f *packetTransport) endRemoteUse(o *op) {
	if o.isExposed {
		o.isExposed = false
		f.memory.Withdraw(o.key)
	}
}

func (f *packetTransport) recallMessage(*peer, *op) {} // what is sent is in the FIFO
func (f *packetTransport) handlePeerExit(*peer)     {}
func (f *packetTransport) beginEngineUse()          {}
func (f *packetTransport) endEngineUse()            {}
