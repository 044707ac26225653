package mbcf

import (
	"encoding/binary"
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/model"
)

// packetTransport is the transport for ports without queues. A request is a packet, and so is a
// message of any length. A remote write is a packet whose data the receiver, or its port, copies
// into the user's buffer. If the port has Memory, the sender puts the data of a long remote write,
// and the packet reports its arrival.
//
// The engines keep the FIFOs. The request FIFO is bounded. An arriving message is taken from its
// FIFO at once, so the message FIFO is never full. Cancels are answered within calls.
type packetTransport struct {
	engine *Engine
	memory device.Memory // nil: none
	buffer [8]byte
}

// minPutBytes is the smallest length that is put by remote memory access. On shared memory a packet
// of 4 KiB takes 0.05 us less than a put, and one of 8 KiB takes 1.5 times as long.
const minPutBytes = 5 << 10

// requestRing is a ring of received requests.
type requestRing struct {
	requests []request
	first    int
	count    int
}

// writeTarget is the destination of the data for a request.
type writeTarget struct {
	receiveOp          uint32     // operation of the receive
	isRemotelyWritable bool       // its buffer can be written by remote memory access
	key                device.Key // of the buffer
	recordKey          device.Key // of the completion record; with its offset, and a token that identifies the use
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

// placeData returns the destination of a remote write's data.
func (f *packetTransport) placeData(src int, w *device.Head, n int) []byte {
	if h := decodeHead(w); h.kind == kindRemoteWrite && int(h.to) < len(f.engine.ops) && h.size == n {
		if o := f.engine.ops[h.to]; o.hasLiveRequest && int(o.Peer) == src && n <= len(o.Buf) {
			return o.Buf[:n]
		}
	}
	return nil
}

// oldestRequest polls for packets if no request has arrived.
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

// append adds a received request if there are fewer than room.
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

// handleRequest stores a request.
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

// writeToTarget sends the data, or puts it and then reports that. During a put no message may leave
// for the same rank, because it would arrive first.
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

// trySendPacket sends a standard message, unless its data must be put, goes to the rank itself, or
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
	for i := 0; i < engine.MaxPolledPackets && len(f.engine.drainedPeers) > 0 && f.handleNextPacket(false); i++ { // messages that have arrived make requests stale
	}
	f.repostIfDrained()
	return true
}

// repostIfDrained reposts receives if a FIFO was drained.
func (f *packetTransport) repostIfDrained() {
	if len(f.engine.drainedPeers) > 0 {
		f.engine.repostReceivesOfDrainedPeers()
	}
}

func (f *packetTransport) drainMessages(_ int32, o *op) {
	for i := 0; i < engine.MaxPolledPackets && o.list != nil && f.handleNextPacket(false); i++ {
	}
}

// handleNextPacket handles one packet.
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

// handleWriteEnd handles the end of a remote write.
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

func (f *packetTransport) recallMessage(*peer, *op) {} // sent messages are in the FIFO
func (f *packetTransport) handlePeerExit(*peer)     {}
func (f *packetTransport) beginEngineUse()          {}
func (f *packetTransport) endEngineUse()            {}
