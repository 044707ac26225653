package fabric

import "github.com/loggp/loggp/model/unit"

// With loss a switch drops a chunk that finds the buffer behind its link full. Senders recover by
// go-back-N, as RDMA interfaces do on Ethernet without priority flow control: chunks of a queue
// pair have serial numbers, and the receiver takes only the one that it expects. It asks once for a
// chunk that is missing, and the sender sends that and all later ones again. If the request or what
// was sent again does not help, the sender does so after a timeout. Acknowledgements and requests
// take the latency of the way back, and no bytes.

// goBackN is the state of go-back-N of a queue pair.
type goBackN struct {
	firstOpenTransfer, lastOpenTransfer int32 // transfers that have not arrived, in order; what is to be sent is the end of that list
	nextTransferSerial                  int64 // serial number of the first chunk of the next transfer
	nextSerial                          int64 // of the chunk that is sent next
	firstUnsentSerial                   int64 // of the first chunk that has never been sent
	expectedSerial                      int64 // of the chunk that the receiver takes next
	round                               int32 // how often the sender went back
	hasAsked                            bool  // the receiver has asked for the expected chunk
	isEntering                          bool  // a chunk waits for the interface's link
	isDelayed                           bool  // an event resumes the sender
	hasTimer                            bool
	expectedLeftAt, progressAt          unit.Time // when the expected chunk left last, and when the one before arrived
}

// lossCount counts chunks of a run.
type lossCount struct{ dropped, sentAgain, discarded int }

// enqueueRecoverable appends a transfer to a queue pair with go-back-N.
func (n *network) enqueueRecoverable(by, i int32) {
	r, s, x := &n.pair(by).goBackN, &n.senders[by], &n.transfers[i]
	x.firstSerial = r.nextTransferSerial
	r.nextTransferSerial += int64(max(1, (x.size+n.Chunk-1)/n.Chunk))
	if r.lastOpenTransfer == noIndex {
		r.firstOpenTransfer = i
	} else {
		n.transfers[r.lastOpenTransfer].nextTransfer = i
	}
	if r.lastOpenTransfer = i; s.firstTransfer != noIndex {
		return
	}
	if s.firstTransfer = i; !r.isEntering && !r.isDelayed {
		n.resumeSender(by)
	}
}

// numberChunk gives a chunk that is sent its serial number.
func (n *network) numberChunk(c *chunk, x *transfer, position int) {
	r := &n.pair(x.sender).goBackN
	c.serial, c.round = x.firstSerial+int64(position/n.Chunk), r.round
	if r.nextSerial = c.serial + 1; c.serial < r.firstUnsentSerial {
		c.isAgain = true
		n.loss.sentAgain++
	}
	r.firstUnsentSerial = max(r.firstUnsentSerial, r.nextSerial)
	r.isEntering = true
	x.chunksUnderway++
}

// leaveInterface notes that a chunk has left its interface at time t.
func (n *network) leaveInterface(c *chunk, by int32, t unit.Time) {
	r, s := &n.pair(by).goBackN, &n.senders[by]
	r.isEntering = false
	if c.isLast && c.round == r.round && s.firstTransfer == c.transfer {
		s.firstTransfer = n.transfers[c.transfer].nextTransfer
	}
	if c.serial == r.expectedSerial {
		r.expectedLeftAt = t
	}
	n.startTimer(by, t+n.Loss.Timeout)
}

// acceptChunk reports whether the receiver takes a chunk that arrives at time t, and asks for a
// missing one.
func (n *network) acceptChunk(c *chunk, by int32, t unit.Time) bool {
	q := n.pair(by)
	r := &q.goBackN
	if c.serial == r.expectedSerial {
		r.expectedSerial++
		r.hasAsked, r.progressAt = false, t
		return true
	}
	n.loss.discarded++
	if c.serial > r.expectedSerial && !r.hasAsked {
		r.hasAsked = true
		n.job.Kernel.Schedule(t+n.firstByteTimeOfHosts(q.targetHost, q.sourceHost), (*missingChunkEvent)(n), uint64(by))
	}
	return false
}

// missingChunkEvent is the event that a sender is asked for the chunk that is expected.
type missingChunkEvent network

// HandleEvent goes back, unless the chunk has arrived meanwhile.
func (e *missingChunkEvent) HandleEvent(by uint64) {
	n := (*network)(e)
	if n.pair(int32(by)).goBackN.hasAsked {
		n.goBack(int32(by))
	}
}

// goBack sends the expected chunk and all later ones again.
func (n *network) goBack(by int32) {
	r := &n.pair(by).goBackN
	if r.firstOpenTransfer == noIndex {
		return
	}
	r.round++
	r.nextSerial = r.expectedSerial
	first := &n.transfers[r.firstOpenTransfer]
	first.sentBytes = int(r.expectedSerial-first.firstSerial) * n.Chunk
	for i := first.nextTransfer; i != noIndex; i = n.transfers[i].nextTransfer {
		n.transfers[i].sentBytes = 0
	}
	if n.senders[by].firstTransfer = r.firstOpenTransfer; !r.isEntering && !r.isDelayed {
		n.resumeSender(by)
	}
}

// startTimer schedules a look at the progress of a queue pair, unless there is one.
func (n *network) startTimer(by int32, t unit.Time) {
	if r := &n.pair(by).goBackN; !r.hasTimer {
		r.hasTimer = true
		n.job.Kernel.Schedule(t, (*timeoutEvent)(n), uint64(by))
	}
}

// timeoutEvent is the event that the expected chunk of a queue pair may be late.
type timeoutEvent network

// HandleEvent goes back if the expected chunk left longer ago than the timeout.
func (e *timeoutEvent) HandleEvent(by uint64) {
	n := (*network)(e)
	r := &n.pair(int32(by)).goBackN
	r.hasTimer = false
	now := n.job.Kernel.Now()
	switch end := max(r.expectedLeftAt, r.progressAt) + n.Loss.Timeout; {
	case r.firstOpenTransfer == noIndex, r.nextSerial <= r.expectedSerial: // nothing is under way: the next chunk starts the timer
	case r.isEntering:
		n.startTimer(int32(by), now+n.Loss.Timeout)
	case end > now:
		n.startTimer(int32(by), end)
	default:
		r.hasAsked = false
		n.goBack(int32(by))
	}
}

// endRecoverable removes the first open transfer of a queue pair, which has arrived.
func (n *network) endRecoverable(i int32) {
	x := &n.transfers[i]
	r, s := &n.pair(x.sender).goBackN, &n.senders[x.sender]
	if r.firstOpenTransfer = x.nextTransfer; r.firstOpenTransfer == noIndex {
		r.lastOpenTransfer = noIndex
	}
	if s.firstTransfer == i { // it is being sent again, in vain
		s.firstTransfer = x.nextTransfer
		r.round++
	}
	x.hasArrived = true
}

// removeChunk removes a chunk that was dropped or has arrived, and its transfer after the last one.
func (n *network) removeChunk(c int32) {
	q := &n.chunks[c]
	i := q.transfer
	q.nextChunk, n.freeChunk = n.freeChunk, c
	if x := &n.transfers[i]; n.Loss != nil {
		if x.chunksUnderway--; x.hasArrived && x.chunksUnderway == 0 {
			x.nextTransfer, n.freeTransfer = n.freeTransfer, i
		}
	}
}
